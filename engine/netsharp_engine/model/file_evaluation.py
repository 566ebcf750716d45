"""A model's answers for the rows of files, and the quality of its answers.

Rows are read as a stream, so that memory does not depend on their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from netsharp_engine.data import ProgressCallback, ReadOptions, Table
from netsharp_engine.data.answers import Predictions
from netsharp_engine.data.stream import EncodedRows, RowQuery
from netsharp_engine.data.table import translate_classes
from netsharp_engine.model.trained import Model
from netsharp_engine.train.measure import Measurement
from netsharp_engine.train.preparation import encode_table
from netsharp_engine.train.report import Report


def predict_stream(
    model: Model,
    paths: str | Sequence[str],
    options: ReadOptions | None = None,
    *,
    keep: Sequence[str] = (),
    directory: str = ".",
    progress: ProgressCallback | None = None,
) -> Iterator[Predictions]:
    """Return answers for every row of the files, in order, at constant memory; classes by their
    names.

    Columns are found as by ``stream_rows``; faults in the columns are raised at the call, those of
    cells while reading (DataError).
    """
    options = options or model.read_options()
    query = RowQuery(paths, options, keep, directory=directory, progress=progress)
    return (model.answered(model.compute(part.features), part.kept) for part in model.rows(query))


def evaluate(
    model: Model,
    paths: str | Sequence[str],
    options: ReadOptions | None = None,
    *,
    directory: str = ".",
    progress: ProgressCallback | None = None,
    part: str = "test",
) -> Report:
    """Return the figures of the model on labelled files, read as a stream.

    Raises DataError. Memory is constant except for two classes, whose AUC needs 25 bytes a row (and
    as many for the baseline's).
    """
    options = options or model.read_options()
    measurement = Measurement(model.meter, model.answer)
    classes = model.classes or ()
    query = RowQuery(paths, options, (), True, classes, directory, progress)
    for rows in model.rows(query):
        _measure(model, measurement, rows)
    return measurement.report(part)


def evaluate_table(model: Model, table: Table, part: str = "test") -> Report:
    """Return the figures of the model on a labelled table. Raises DataError."""
    features = encode_table(table, model.encoding, model.settings.dtype)
    codes = None if model.classes is None else translate_classes(table, model.classes)
    measurement = Measurement(model.meter, model.answer)
    rows = EncodedRows(features, (), codes, table.targets, table.weights)
    _measure(model, measurement, rows)
    return measurement.report(part)


def _measure(model: Model, measurement: Measurement, rows: EncodedRows) -> None:
    targets = rows.targets if model.classes is None else rows.class_codes
    assert targets is not None
    features, weights = rows.features, rows.weights
    whole = ~np.isnan(features).any(axis=1)
    if not whole.all():
        features, targets = features[whole], targets[whole]
        weights = None if weights is None else weights[whole]
    model.normalizer.apply(features)
    measurement.add(features, targets, weights)
