"""Rows from which ranges are read, and rows that are held out: those of a training, or of files.

Knows no network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from netsharp_compile.refusal import CompileError
from netsharp_engine.data.answers import SampleQuery
from netsharp_engine.data.stream import RowQuery
from netsharp_engine.train.failures import TrainingError
from netsharp_engine.train.loading.load import load_data

if TYPE_CHECKING:
    import numpy.typing as npt

    from netsharp_engine.data.stream import EncodedRows
    from netsharp_engine.model import Model
    from netsharp_engine.train.settings import TrainingSettings

    Features = npt.NDArray[np.floating]
    Answers = npt.NDArray[np.generic]

#: A function that yields features [rows, features] in parts, from the first row at each call.
Rows: TypeAlias = "Callable[[], Iterator[Features]]"
#: The same with the targets: numbers of classes [rows], or numbers.
LabelledRows: TypeAlias = "Callable[[], Iterator[tuple[Features, Answers]]]"


class TrainingRows(NamedTuple):
    """The rows that a network was trained on, and those held out from it with a word for these;
    None where none are.
    """

    learned: Rows
    held_back: LabelledRows | None
    what: str


def rows_of(model: Model, query: SampleQuery) -> Rows:
    """Return a function that yields the rows of files as features [rows, features] in parts, not
    normalised; those that a training leaves out are left out.
    """

    def rows() -> Iterator[Features]:
        for part in _encoded(model, query, labelled=False):
            yield part.features[_whole(part.features)]

    return rows


def labelled_rows_of(model: Model, query: SampleQuery) -> LabelledRows:
    """Return the rows of files with what is to be answered, by the classes of the model."""

    def rows() -> Iterator[tuple[Features, Answers]]:
        for part in _encoded(model, query, labelled=True):
            wanted = part.targets if model.classes is None else part.class_codes
            assert wanted is not None
            whole = _whole(part.features)
            yield part.features[whole], wanted[whole]

    return rows


def _encoded(model: Model, query: SampleQuery, *, labelled: bool) -> Iterator[EncodedRows]:
    """Yield the rows of tables, or the samples of files that have the streams of inputs."""
    network = model.network
    if network is not None and network.brought_by(query):
        return network.features(query, labelled=labelled)
    classes = (model.classes or ()) if labelled else ()
    row_query = RowQuery(
        query.paths, query.options, labelled=labelled, classes=classes, directory=query.directory
    )
    return model.rows(row_query)


def training_rows(model: Model, settings: TrainingSettings) -> TrainingRows:
    """Return the rows that settings name for training, without those for validation.  Rows for
    validation are held out, else those of the test files.

    Raises DataError for files that are missing, and CompileError where their rows have changed.
    """
    options = settings.read_options()
    learned = rows_of(model, SampleQuery(settings.train, options))
    if settings.validation:
        mask = _validation_rows(settings)
        if mask is not None:
            every = labelled_rows_of(model, SampleQuery(settings.train, options))
            return TrainingRows(
                lambda: (features for features, _ in _chosen(every, ~mask)),
                lambda: _chosen(every, mask),
                "validation",
            )
        path = settings.validation_path
        assert path is not None
        held_back = SampleQuery([path], replace(options, labels=()))
        return TrainingRows(learned, labelled_rows_of(model, held_back), "validation")
    if settings.test:
        others = replace(options, labels=(), rows=None)
        return TrainingRows(
            learned, labelled_rows_of(model, SampleQuery(settings.test, others)), "test"
        )
    return TrainingRows(learned, None, "")


def _whole(features: Features) -> npt.NDArray[np.bool_]:
    """Return which rows have no missing number [rows]: a training leaves the others out, or has
    none.
    """
    return np.asarray(~np.isnan(features).any(axis=1))


def _validation_rows(settings: TrainingSettings) -> npt.NDArray[np.bool_] | None:
    """Return which rows of the table are for validation [rows]; None where they have a file of
    their own.
    """
    try:
        data = load_data(settings)
    except TrainingError as error:
        raise CompileError(f"The rows of the training cannot be read again: {error}") from None
    if data.validation is None or data.validation.matrix is not data.train.matrix:
        return None
    mask = np.zeros(len(data.train.matrix), np.bool_)
    mask[data.validation.index] = True
    return mask


def _chosen(rows: LabelledRows, mask: npt.NDArray[np.bool_]) -> Iterator[tuple[Features, Answers]]:
    at = 0
    for features, wanted in rows():
        part = mask[at : at + len(features)]
        if len(part) < len(features):
            break
        yield features[part], wanted[part]
        at += len(features)
    if at != len(mask):
        raise CompileError(
            f"The training had {len(mask):,} rows, and its files have others now. Name rows with "
            "--calibrate and --holdout."
        )
