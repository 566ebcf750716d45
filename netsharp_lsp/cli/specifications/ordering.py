"""A run as requested: its text, settings and files, validated before anything is loaded.

It trains nothing, and knows no process but this one.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from netsharp_engine.data import DataError, find_files
from netsharp_engine.data.reading.arrays import beside_labels
from netsharp_engine.plain_files import may_be_file
from netsharp_engine.train import read_settings
from netsharp_lsp.cli.arguments.settings import roots_for
from netsharp_lsp.cli.arguments.training import given_flags
from netsharp_lsp.cli.inputs.files import STDIN, Input, named_input, read_source
from netsharp_lsp.cli.outputs.curve import check_picture
from netsharp_lsp.cli.specifications.calls import Trainee, table_of
from netsharp_lsp.language import family_of, main_family, trained_families
from netsharp_lsp.outcome import ReadError
from netsharp_lsp.project.writing import refusal
from netsharp_lsp.settings import SettingsError, read_toml
from netsharp_lsp.workspace import outside

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from netsharp_engine.train import TrainingSettings
    from netsharp_lsp.family import Training
    from netsharp_lsp.project.roots import Roots

#: The name of a specification from stdin, without its suffix, unless a flag names it.
STDIN_STEM = "network"
#: Settings that name files which are read, and which are written.
INPUTS, OUTPUTS = ("train", "test", "labels", "validation"), ("model", "log", "plot")


class RunError(Exception):
    """A run that cannot start, as one or more sentences."""

    def __init__(self, *sentences: str) -> None:
        super().__init__(" ".join(sentences))
        self.sentences = sentences


class RunOrder(NamedTuple):
    """The subject of training, its settings, and what its family does for it.

    ``name`` is that of the file, which a specification may be one of several in; ``flags`` are the
    settings that the command line gives, which alone may lead out of ``roots``.
    """

    name: str
    trainee: Trainee
    training: Training
    settings: TrainingSettings
    flags: dict[str, Any]
    roots: Roots

    @property
    def path(self) -> str:
        """Return the path of the model: as set, else beside the specification."""
        return self.settings.model or f"{os.path.splitext(self.name)[0]}.safetensors"

    def require_inputs(self, settings: TrainingSettings) -> None:
        """Raise RunError where these settings would read files outside the roots."""
        _stay_inside(INPUTS, settings, self.flags, self.roots)

    def require_outputs(self, *, written: bool) -> None:
        """Raise RunError where a file would be written outside, or, if ``written``, cannot be."""
        inside = replace(self.settings, model=self.path)
        _stay_inside(OUTPUTS, inside, self.flags, self.roots)
        if written:
            _check_outputs(self.settings, self.path)


def ordered(args: argparse.Namespace) -> RunOrder:
    """Return the run that the arguments request. Raises RunError where they are contradictory."""
    stdin_name = args.stdin_filename or f"{STDIN_STEM}{next(iter(main_family().suffixes))}"
    item = named_input(args.specification, stdin_name)
    training = _training_of(item)
    if args.format != "text" and not args.examine:
        raise RunError("--format goes with --examine, which looks at the start alone.")
    if args.rx_log and (args.events or args.quiet or args.examine):
        raise RunError("--rx-log prints a run: it does not go with --events, --quiet or --examine.")
    roots = _roots(args, item)
    trainee = _read_trainee(item, roots)
    settings = _settings(args, item.name, trainee, roots)
    return RunOrder(item.name, trainee, training, settings, given_flags(args), roots)


def _training_of(item: Input) -> Training:
    """Return the training of a file's family; raises RunError where it has none."""
    trained = family_of(item.language)
    if trained.training is not None:
        return trained.training
    if trained.experiments is not None:
        raise RunError(
            f"{item.name}: no run begins with it. Name {trained.experiments.beginning} that uses "
            "it."
        )
    raise RunError(
        f"{item.name}: only {trained_families()} is trained here. "
        f"'netsharp check' and 'netsharp describe' read {trained.title}."
    )


def _read_trainee(item: Input, roots: Roots) -> Trainee:
    """Return the specification in a file that is to be trained."""
    source = read_source(item)
    if isinstance(source, ReadError):
        raise RunError(source.message)
    assert source is not None
    if item.host is None:
        return Trainee(item.name, source.text, None, None)
    from netsharp_lsp.cli.specifications.trainees import trainee_in

    found = trainee_in(item, source.text, roots)
    if isinstance(found, str):
        raise RunError(found)
    return found


def _roots(args: argparse.Namespace, item: Input) -> Roots:
    """Return the roots of the run file; raises RunError where the user's settings are invalid."""
    named = [item.path or item.name, *([args.run_file] if args.run_file else [])]
    try:
        return roots_for(named, args)
    except SettingsError as error:
        raise RunError(str(error)) from None


def _stay_inside(
    names: Sequence[str], settings: TrainingSettings, given: dict[str, Any], roots: Roots
) -> None:
    """Raise RunError where a file would be read or written outside that no flag names.

    Flags that a stored run remembers do not count as given by the user who resumes it.
    """
    for name in names:
        value = getattr(settings, "validation_path" if name == "validation" else name)
        if given.get(name) is not None or not value:
            continue
        for path in (value,) if isinstance(value, str) else value:
            if path != STDIN and any(
                roots.target(one) is None for one in (path, *_meant(name, path, roots))
            ):
                raise RunError(f"'{name}' is not named by a flag, and {outside(path)}")


def _meant(name: str, path: str, roots: Roots) -> Iterator[str]:
    """Yield the files that a path or pattern means, and the one that belongs to each."""
    if name in OUTPUTS or not roots.holds(path):
        return
    with suppress(DataError):
        for file in find_files(path):
            yield file
            labels = beside_labels(file)
            if labels is not None:
                yield labels


def _settings(
    args: argparse.Namespace, name: str, trainee: Trainee, roots: Roots
) -> TrainingSettings:
    """Return the settings: of flags, of the run file, of the call in the file, in this order."""
    path = args.run_file or f"{os.path.splitext(name)[0]}.toml"
    table: dict[str, Any] = {}
    if args.run_file is None and os.path.isfile(path) and not roots.holds(path):
        raise RunError(f"{path}: is a link, and {outside(os.path.realpath(path))}")
    if args.run_file or may_be_file(path):
        table = _run_file(path)
    known = {} if trainee.embedded is None else trainee.embedded.region.context.known()
    call = trainee.call
    read = read_settings(
        table,
        given_flags(args),
        directory=os.path.dirname(path),
        file_name=os.path.basename(path),
        call={"train": known} if call is None else table_of(call, name),
        call_name=name if call is None else f"{name}:{call.line}",
    )
    if isinstance(read, list):
        raise RunError(*read)
    return read


def _run_file(path: str) -> dict[str, Any]:
    try:
        return read_toml(path)
    except SettingsError as error:
        raise RunError(str(error)) from None


def _check_outputs(settings: TrainingSettings, model: str) -> None:
    """Say before the run what would fail after it."""
    for path in filter(None, (model, settings.log, settings.plot)):
        reason = refusal(path)
        if reason is not None:
            raise RunError(reason)
    if settings.plot:
        check_picture(settings.plot)
