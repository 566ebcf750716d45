"""Which rows `netsharp compile` reads ranges from and judges by, from its flags, a model, and the
run file beside that.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from netsharp_compile.calibrating.rows import labelled_rows_of, rows_of, training_rows
from netsharp_compile.refusal import CompileError
from netsharp_engine.data import DataError, find_files
from netsharp_engine.train.settings import read_settings
from netsharp_lsp.project.roots import roots_around
from netsharp_lsp.project.run_file import run_file_path
from netsharp_lsp.settings import SettingsError, read_toml

if TYPE_CHECKING:
    import argparse

    from netsharp_compile.calibrating.rows import LabelledRows, Rows
    from netsharp_engine.model import Model
    from netsharp_engine.train.settings import TrainingSettings


class CompileRows(NamedTuple):
    """The rows that ranges are read from, and those that are held back; None where there are none.

    ``what`` says which those are.
    """

    calibration: Rows
    held_back: LabelledRows | None
    what: str


def compile_rows(args: argparse.Namespace, model: Model) -> CompileRows:
    """Return the rows that the flags name, else those of the training.

    Raises CompileError where nothing names any, DataError for files that are not there.
    """
    named, held = args.calibrate, args.holdout
    held_back: LabelledRows | None = None
    what = ""
    if held:
        held_back = labelled_rows_of(model, held, model.read_options())
        what = ", ".join(held)
    calibration: Rows | None = None
    if named:
        calibration = rows_of(model, named, model.read_options())
    if calibration is not None and held_back is not None:
        return CompileRows(calibration, held_back, what)
    settings = _settings(model, args.model)
    if settings is None:
        if calibration is not None:
            return CompileRows(calibration, None, "")
        lacks = "was trained on arrays" if model.network is None else "does not name its rows"
        raise CompileError(
            f"the model {lacks}, and ranges are read from rows: name files of them with "
            "--calibrate."
        )
    try:
        found = training_rows(model, settings)
    except DataError:
        # Who names rows needs none of the training.
        if calibration is None:
            raise
        return CompileRows(calibration, held_back, what)
    if held_back is None and found.held_back is not None:
        held_back, what = found.held_back, f"the {found.what} rows of the training"
    return CompileRows(calibration or found.learned, held_back, what)


def _settings(model: Model, path: str) -> TrainingSettings | None:
    """The settings of the training if they name files that are there, else those of the run file
    beside the model; None where nothing names any.
    """
    given = model.settings
    if given.train and all(_is_there(name) for name in given.train):
        return given
    beside = _beside(path)
    return beside or (given if given.train else None)


def _is_there(name: str) -> bool:
    try:
        return bool(find_files([name]))
    except DataError:
        return False


def _beside(model: str) -> TrainingSettings | None:
    path = run_file_path(model)
    if path is None or not os.path.isfile(path):
        return None
    if not roots_around([model]).holds(path):
        raise CompileError(
            f"{path}: is a link that leads out of the model's folder. Name rows with --calibrate."
        )
    try:
        table = read_toml(path)
    except SettingsError as error:
        raise CompileError(str(error)) from None
    found = read_settings(table, directory=os.path.dirname(path), file_name=os.path.basename(path))
    if isinstance(found, list):
        raise CompileError(" ".join(found))
    return found if found.train else None
