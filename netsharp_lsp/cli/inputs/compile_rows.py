"""The rows from which `netsharp compile` reads ranges and by which it evaluates: those that are
named, else those of the training, as in the model, the run file beside it or another program's run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from netsharp_compile.calibrating.rows import labelled_rows_of, rows_of, training_rows
from netsharp_compile.refusal import CompileError
from netsharp_engine.data import DataError, find_files
from netsharp_engine.data.answers import SampleQuery
from netsharp_engine.train.settings import read_settings
from netsharp_lsp.project.roots import roots_around
from netsharp_lsp.project.run_file import run_file_path
from netsharp_lsp.settings import SettingsError, read_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_compile.calibrating.rows import Features, LabelledRows, Rows
    from netsharp_engine.model import Model
    from netsharp_engine.train.settings import TrainingSettings
    from netsharp_lsp.outcome import ReadSamples, TrainedOn

_NAME_ROWS = (
    "Name rows with --calibrate FILE: those that the reader of its run reads (file = FILE), or "
    "others that predict takes."
)


class CompileRows(NamedTuple):
    """The rows that ranges are read from, and those that are held out; None where there are none.

    ``what`` is a word for the latter, ``note`` describes rows that the user did not name.
    """

    calibration: Rows
    held_back: LabelledRows | None
    what: str
    note: str = ""


class NamedRows(NamedTuple):
    """The rows that flags name: for ranges, and as held out; None where they name none.

    ``run_file`` names rows where the model's own are missing, in place of the one beside it.
    """

    calibration: SampleQuery | None
    held_back: SampleQuery | None
    run_file: str | None = None


def compile_rows(
    model: Model, path: str, named: NamedRows, trained: Callable[[], TrainedOn | None]
) -> CompileRows:
    """Return the rows that are named, else those of the training of the model at ``path``.

    ``trained`` returns the samples that another program trained it on.  Raises CompileError where
    no rows are known, DataError for missing files.
    """
    held_back: LabelledRows | None = None
    what = ""
    if named.held_back is not None:
        held_back = labelled_rows_of(model, named.held_back)
        what = ", ".join(named.held_back.paths)
    calibration: Rows | None = None
    if named.calibration is not None:
        calibration = rows_of(model, named.calibration)
    if calibration is not None and held_back is not None:
        return CompileRows(calibration, held_back, what)
    if model.network is not None:
        return _of_run(model, CompileRows(calibration or _none, held_back, what), trained)
    settings = _settings(model, named.run_file or _beside(path))
    if settings is None:
        if calibration is not None:
            return CompileRows(calibration, None, "")
        raise CompileError(
            "the model was trained on arrays, and ranges are read from rows: name files of them "
            "with --calibrate."
        )
    try:
        found = training_rows(model, settings)
    except DataError:
        # If rows are named, those of the training are not needed.
        if calibration is None:
            raise
        return CompileRows(calibration, held_back, what)
    if held_back is None and found.held_back is not None:
        held_back, what = found.held_back, f"the {found.what} rows of the training"
    return CompileRows(calibration or found.learned, held_back, what)


def _of_run(
    model: Model, named: CompileRows, trained: Callable[[], TrainedOn | None]
) -> CompileRows:
    """Return rows with those of another program's run for what the user did not name."""
    is_named = named.calibration is not _none
    try:
        found = trained()
    except DataError as error:
        if is_named:
            return named
        raise CompileError(f"{error} {_NAME_ROWS}") from None
    if found is None:
        if is_named:
            return named
        raise CompileError(
            "no run is known that trained the model: neither does its checkpoint name one, nor do "
            f"configurations here, in its folder or in settings write it. {_NAME_ROWS}"
        )
    note = ""
    calibration, held_back, what = named.calibration, named.held_back, named.what
    if not is_named:
        calibration = rows_of(model, _samples(model, found.learned))
        note = f"ranges are read from {_called(found.learned)}, on which {found.command} of "
        note += f"{found.run} trains it"
    other = found.held_back
    assert model.network is not None
    if held_back is None and other is not None and model.network.compared in other.streams:
        held_back = labelled_rows_of(model, _samples(model, other))
        what = f"{_called(other)}, the {found.what} rows of the training"
    return CompileRows(calibration, held_back, what, note)


def _none() -> Iterator[Features]:
    return iter(())


def _called(samples: ReadSamples) -> str:
    """Return the name of the file of samples for people."""
    found = os.path.relpath(samples.path)
    return samples.path if found.startswith(os.pardir) else found


def _samples(model: Model, samples: ReadSamples) -> SampleQuery:
    return SampleQuery([samples.path], model.read_options(), reading=samples.read)


def _settings(model: Model, run_file: str | None) -> TrainingSettings | None:
    """Return the settings of the training if they name existing files, else those of a run file;
    None where neither names any.
    """
    given = model.settings
    if given.train and all(_is_there(name) for name in given.train):
        return given
    found = None if run_file is None else _settings_in(run_file)
    return found or (given if given.train else None)


def _is_there(name: str) -> bool:
    try:
        return bool(find_files([name]))
    except DataError:
        return False


def _beside(model: str) -> str | None:
    """Return the run file beside a model, None where there is none."""
    path = run_file_path(model)
    if path is None or not os.path.isfile(path):
        return None
    if not roots_around([model]).holds(path):
        raise CompileError(
            f"{path}: is a link that leads out of the model's folder. Name rows with --calibrate."
        )
    return path


def _settings_in(path: str) -> TrainingSettings | None:
    try:
        table = read_toml(path)
    except SettingsError as error:
        raise CompileError(str(error)) from None
    found = read_settings(table, directory=os.path.dirname(path), file_name=os.path.basename(path))
    if isinstance(found, list):
        raise CompileError(" ".join(found))
    return found if found.train else None
