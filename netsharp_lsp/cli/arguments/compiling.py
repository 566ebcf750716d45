"""A model as the network in integers that arguments ask for."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from netsharp_compile.compiled import compile_model, explain_model
from netsharp_compile.evaluating.gate import GateRows
from netsharp_compile.refusal import CompileError
from netsharp_engine.data import DataError
from netsharp_lsp.cli.arguments.models import files_query, name_classes
from netsharp_lsp.cli.arguments.quantisation import settings_of
from netsharp_lsp.cli.console.terminal import complain
from netsharp_lsp.cli.inputs.compile_rows import NamedRows, compile_rows
from netsharp_lsp.language import trained_on
from netsharp_lsp.project.roots import roots_around
from netsharp_lsp.questions import Performance
from netsharp_lsp.settings import SettingsFinder

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from netsharp_compile.calibrating.rows import Rows
    from netsharp_compile.compiled import CompiledNetwork
    from netsharp_compile.evaluating.room import DeviceRoom
    from netsharp_engine.data import ReadOptions
    from netsharp_engine.data.answers import SampleQuery
    from netsharp_engine.model import Model
    from netsharp_lsp.outcome import TrainedOn
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.settings import Settings

NOT_EVALUATED = (
    "note: no held-out rows to evaluate it on: name labelled ones with --holdout, or train with "
    "validation rows"
)


class AskedNetwork(NamedTuple):
    """A compiled network, the rows that gave its ranges, and notes on what was not named by the
    user.
    """

    network: CompiledNetwork
    rows: Rows
    notes: list[str]


def about_model(path: str, error: Exception) -> str:
    """Return the sentence of an error about a model, with its file unless it names that already."""
    message = str(error)
    return (
        message
        if f"' in {path} " in message or message.startswith(f"{path}: ")
        else f"{path}: {message}"
    )


def compiled_as_asked(
    args: argparse.Namespace,
    model: Model,
    room: DeviceRoom | None = None,
    compared: Sequence[str] = (),
) -> AskedNetwork:
    """Return a model as the arguments ask for it, compared with the room of a device; ``compared``
    are files that the caller reads as those of --calibrate and --holdout are.

    Raises CompileError for what cannot be compiled, DataError for rows that cannot be read, and
    SettingsError for settings around the run of a model of another program.
    """
    settings = settings_of(args)
    if model.network is not None:
        if args.run_file is not None:
            raise CompileError("--run-file is for models of specifications; name rows themselves.")
        if (args.stream or args.reader) and not (args.calibrate or args.holdout or compared):
            flag = "--stream" if args.stream else "--reader"
            raise CompileError(
                f"{flag} says how named files are read: name some with --calibrate or --holdout, "
                "or leave it out."
            )
        explain_model(model, settings)  # An unsupported model is reported before missing rows.
    elif args.stream or args.reader:
        raise CompileError("--stream and --reader are for models whose inputs have names.")
    trained = _Trained(args.model, model)
    calibration, held_back = (_query(model, args, one) for one in (args.calibrate, args.holdout))
    named = NamedRows(calibration, held_back, args.run_file)
    rows = compile_rows(model, args.model, named, trained)
    notes = [*([f"note: {rows.note}"] if rows.note else []), *_name_classes(model, args, trained)]
    gate = None
    if rows.held_back is not None:
        gate = GateRows(rows.held_back, rows.what, args.max_drop)
    elif args.max_drop is not None:
        raise CompileError(
            "--max-drop applies to held-out rows, and the training had none for "
            "validation or test: name labelled ones with --holdout."
        )
    made = compile_model(
        model, rows.calibration, settings, gate, auto_widths=bool(args.auto_widths), room=room
    )
    return AskedNetwork(made, rows.calibration, notes)


def compiled_options(model: Model, args: argparse.Namespace) -> ReadOptions:
    """Return how files of rows to compile with are read: as in the training, except for --label."""
    options = model.read_options()
    if args.label is None:
        return options
    return replace(options, label=args.label, more_labels=())


def _query(model: Model, args: argparse.Namespace, paths: list[str] | None) -> SampleQuery | None:
    return files_query(args, paths, compiled_options(model, args)) if paths else None


class _Trained:
    """The samples that a model of another program was trained on, searched for once."""

    def __init__(self, path: str, model: Model) -> None:
        self._path, self._model = path, model
        self._found: list[TrainedOn | None] = []

    def __call__(self) -> TrainedOn | None:
        """Return the samples; DataError where they cannot be determined."""
        if not self._found:
            label = "" if self._model.network is None else self._model.network.compared
            request = Performance((), os.curdir, roots_around, _settings_of)
            self._found.append(trained_on(self._path, label, request))
        return self._found[0]


def _settings_of(folder: str, roots: Roots) -> Settings:
    return SettingsFinder(roots.leads_out, complain).find(folder)


def _name_classes(model: Model, args: argparse.Namespace, trained: _Trained) -> list[str]:
    """Give classes the names of a file that is named, else of the mapping of the run."""
    if args.classes is not None or model.network is None or model.classes is None:
        name_classes(model, args.classes)
        return []
    try:
        found = trained()
    except DataError:
        return []
    if found is None or not found.classes:
        return []
    try:
        model.name_classes(found.classes)
    except ValueError as error:
        return [f"note: classes are numbered, as their mapping does not fit. {error}"]
    return []
