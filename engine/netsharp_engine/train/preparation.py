"""The data of the training loop, from tables and settings: features, targets, weights.

Encoding and normaliser are fitted here, on the training rows only.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from netsharp_engine.cells import is_number
from netsharp_engine.data import (
    DataError,
    Encoding,
    Normalizer,
    Table,
    fit_normalizer,
    split_rows,
)
from netsharp_engine.data.doubts import doubts
from netsharp_engine.data.errors import nearest
from netsharp_engine.data.labels import Labels
from netsharp_engine.data.normalizers import Matrix, Rows
from netsharp_engine.data.scaling import TargetScale
from netsharp_engine.data.split import row_numbers
from netsharp_engine.data.storage.stores import MEMORY, Store, blocks
from netsharp_engine.data.table import Codes, Column, translate_classes
from netsharp_engine.limits import CLASSES
from netsharp_engine.train.failures import TrainingError
from netsharp_engine.train.settings import TrainingSettings
from netsharp_engine.train.settings.keys import HOSTS
from netsharp_engine.train.tasks import OutputForm, resolved_task, with_numbers

FINGERPRINT_ROWS = 256
MANY_CLASSES = 20
MANY_LEVELS = 1000
WeightedTargets = tuple[npt.NDArray[np.generic], npt.NDArray[np.float64]]


@dataclass(slots=True)
class Part:
    """Rows of one purpose: indexes into a matrix of normalised features and what belongs to it.

    All but ``index`` are as long as the matrix.  ``targets`` are class codes or numbers;
    ``weights``, for the loss, are ``sample_weights`` times class weights; None when all are 1.
    """

    matrix: Matrix
    index: Rows
    targets: npt.NDArray[np.generic]
    weights: npt.NDArray[np.float64] | None
    sample_weights: npt.NDArray[np.float64] | None

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(self.index)

    def weighted_targets(self) -> Iterator[WeightedTargets]:
        """Yield the targets of its rows and their sample weights, 1 by default, in blocks."""
        for cut in blocks(self.rows, 1):
            rows = self.index[cut]
            own = self.sample_weights
            yield self.targets[rows], np.ones(len(rows)) if own is None else own[rows]


@dataclass(slots=True)
class TrainingData:
    """The data that a run learns from, ready for the network.

    ``classes`` is None for regression, ``labels`` are their values in Python; ``task`` is
    ``binary``, ``multiclass`` or ``regression``. ``notes`` are sentences on what was found in the
    data. ``scale`` are the units in which numbers are learned; targets are in their own.
    """

    train: Part
    validation: Part | None
    encoding: Encoding
    normalizer: Normalizer
    classes: tuple[str, ...] | None
    task: str
    settings: TrainingSettings
    labels: Labels | None = None
    notes: tuple[str, ...] = ()
    scale: TargetScale | None = None

    @property
    def features(self) -> int:
        """Return the number of features after encoding."""
        return self.encoding.features

    @property
    def outputs(self) -> int:
        """Return the number of values that a regression predicts."""
        return 1 if self.train.targets.ndim == 1 else self.train.targets.shape[1]

    def context(self) -> dict[str, Any]:
        """Return the values that replace ``auto``; ``outputs`` is absent where a network may
        choose.
        """
        context: dict[str, Any] = {
            "features": self.features,
            "hidden_nodes": self.settings.hidden_nodes,
            "task": self.task,
            "host": self.settings.host or HOSTS[0],
        }
        if self.task == "multiclass":
            context["outputs"] = len(self.classes or ())
        elif self.task == "regression":
            context["outputs"] = self.outputs
        return context

    def fingerprint(self) -> str:
        """Return a short text that differs for other rows: their number and a checksum of some."""
        part = self.train
        step = max(part.rows // FINGERPRINT_ROWS, 1)
        some = part.index[::step]
        checksum = zlib.crc32(np.ascontiguousarray(part.matrix[some]).tobytes())
        for cut in blocks(part.rows, 1):
            targets = np.ascontiguousarray(part.targets[part.index[cut]])
            checksum = zlib.crc32(targets.tobytes(), checksum)
        held = 0 if self.validation is None else self.validation.rows
        return f"{part.rows}+{held} rows of {self.features}, checksum {checksum:08x}"


class Fitted(Protocol):
    """The parts that were fitted once and are used again: of a model, or of earlier training
    data.
    """

    encoding: Encoding
    normalizer: Normalizer
    classes: tuple[str, ...] | None
    labels: Labels | None
    scale: TargetScale | None


def prepare(
    table: Table,
    settings: TrainingSettings,
    validation_table: Table | None = None,
    *,
    fitted: Fitted | None = None,
    consume: bool = False,
    output: OutputForm | None = None,
    store: Store = MEMORY,
) -> TrainingData:
    """Split, encode and normalise a labelled table.

    With ``fitted`` its encoding, normaliser and classes are used instead of new ones, for training
    further on other rows. With ``consume`` the table's own numbers become the features, so that
    nothing is in memory twice, and the table must not be used again. ``output`` is what the
    network's output layer is: where no task is set, it says whether numbers are predicted, and the
    data's ``settings`` have the task. The features lie in ``store``, as the table's. Raises
    DataError or TrainingError, and ValueError for an unknown normaliser.
    """
    if fitted is not None:
        return _prepare_alike(table, settings, fitted)
    if not table.labelled:
        raise DataError("The training data has no labels.")
    settings = resolved_task(table, settings, output)
    if settings.regression:
        table = with_numbers(table)
        validation_table = None if validation_table is None else with_numbers(validation_table)
    table, places = _complete(table, store, drops=settings.missing == "drop")
    fraction = settings.validation if isinstance(settings.validation, float) else None
    _check_classes(table, settings)
    _check_levels(table)
    train, held = split_rows(table, None if validation_table else fraction, settings.seed)
    encoding = Encoding.fit(table, train, unknown=settings.unknown_level, missing=settings.missing)
    notes = (*table.notes, *doubts(table, train, encoding))
    classes = table.classes
    weights = _weights(table, classes, train, settings)
    matrix = encoding.encode(table, dtype=settings.dtype, consume=consume, store=store)
    check_finite(matrix, encoding, places)
    normalizer = fit_normalizer(
        settings.normalizer,
        matrix,
        None if len(train) == table.rows else train,
        bins=settings.bins,
        weights=table.weights,
        store=store,
    )
    matrix = normalizer.applied(matrix, store)
    targets = _targets(table, classes)
    part = Part(matrix, train, targets, weights, table.weights)
    validation = Part(matrix, held, targets, weights, table.weights) if len(held) else None
    if validation_table is not None:
        validation = _other_part(validation_table, encoding, normalizer, classes, settings, store)
    task = task_of(classes, settings)
    scale = None
    if classes is None and settings.scale_label:
        scale = TargetScale.fit(targets, weights, train)
    return TrainingData(
        part,
        validation,
        encoding,
        normalizer,
        classes,
        task,
        settings,
        table.labels,
        notes,
        scale,
    )


def _complete(table: Table, store: Store, *, drops: bool) -> tuple[Table, Rows | None]:
    """Return the rows that are trained on: where ``drops``, those without a missing number or
    label, and their former places, None where none is left out.
    """
    if not drops:
        return table, None
    whole = np.empty(table.rows, np.bool_)
    for cut in blocks(*table.numbers.shape):
        whole[cut] = ~np.isnan(table.numbers[cut]).any(axis=1)
    if table.class_codes is not None:
        whole &= table.class_codes >= 0
    if table.targets is not None:
        whole &= ~np.isnan(table.targets.reshape(table.rows, -1)).any(axis=1)
    if whole.all():
        return table, None
    if not whole.any():
        raise DataError(
            'Every row has a missing number or label, and missing = "drop" leaves such rows out. '
            "Set "
            'missing = "mean", or leave columns out (exclude).'
        )
    places = np.flatnonzero(whole)
    return table.only(places, store), places


def _check_levels(table: Table) -> None:
    """Refuse a categorical column that tells rows apart, such as an id."""
    for column in table.columns:
        count = len(column.levels or ())
        if count > MANY_LEVELS and count > table.rows / 2:
            raise DataError(
                f"The categorical column '{column.name}' has {count:,} levels in {table.rows:,} "
                f'rows. If it only names the rows, leave it out: exclude = ["{column.name}"].'
            )


def _check_classes(table: Table, settings: TrainingSettings) -> None:
    """Refuse numbers that are taken for classes only because no task was set, and too many."""
    classes = table.classes
    if classes is None or len(classes) <= MANY_CLASSES:
        return
    if settings.task == "classification":
        numbers = [name for name in classes if is_number(name)]
        fractions = any("." in name for name in numbers)
        if len(numbers) == len(classes) and (fractions or len(classes) > table.rows / 2):
            raise TrainingError(
                f"The label has {len(classes):,} different numbers in {table.rows:,} rows. To "
                'predict numbers set task = "regression", or make the output layer linear; if '
                'they are classes set task = "multiclass".'
            )
    if len(classes) > CLASSES.most:
        raise TrainingError(
            f"The label has {len(classes):,} classes in {table.rows:,} rows; a network is trained "
            f"for at most {CLASSES}. Is it the right label column?"
        )


def _prepare_alike(table: Table, settings: TrainingSettings, fitted: Fitted) -> TrainingData:
    if not table.labelled:
        raise DataError("The training data has no labels.")
    encoding, normalizer, classes = fitted.encoding, fitted.normalizer, fitted.classes
    part = _other_part(table, encoding, normalizer, classes, settings)
    task = task_of(classes, settings)
    return TrainingData(
        part, None, encoding, normalizer, classes, task, settings, fitted.labels, scale=fitted.scale
    )


def task_of(classes: tuple[str, ...] | None, settings: TrainingSettings) -> str:
    """Return the task of data with these classes, None for numbers; TrainingError where the
    settings say another.
    """
    if classes is None:
        return "regression"
    if settings.task == "binary" and len(classes) != 2:
        raise TrainingError(
            f"The task is binary, but the labels have {len(classes)} classes. "
            'Set task = "multiclass", or name another label column.'
        )
    return "binary" if len(classes) == 2 and settings.task != "multiclass" else "multiclass"


def _targets(table: Table, classes: tuple[str, ...] | None) -> npt.NDArray[np.generic]:
    if classes is None:
        assert table.targets is not None
        return table.targets
    codes: Codes = translate_classes(table, classes)
    return codes


def check_finite(matrix: Matrix, encoding: Encoding, places: Rows | None = None) -> None:
    """Raise DataError for a number that is not finite: tables made of arrays were not checked cell
    by cell. ``places`` says which row of the data each is. ``matrix`` is [rows, features].
    """
    step = max((1 << 18) // max(matrix.shape[1], 1), 1)
    for start in range(0, len(matrix), step):
        wrong = np.argwhere(~np.isfinite(matrix[start : start + step]))
        if len(wrong):
            row, column = wrong[0].tolist()
            place = start + row if places is None else int(places[start + row])
            raise DataError(
                f"Row {place + 1}, feature '{encoding.names[column]}': the value is missing "
                'or not finite. Fill it, or set missing = "mean", "zero", "indicator" or "drop".'
            )


def _weights(
    table: Table, classes: tuple[str, ...] | None, train: Rows, settings: TrainingSettings
) -> npt.NDArray[np.float64] | None:
    weights = table.weights
    if weights is not None and not np.any(weights[train] > 0):
        raise DataError("All training rows have the weight 0: nothing can be learned.")
    if classes is None or settings.class_weights is None:
        return weights
    by_class = class_weights(settings.class_weights, classes, table, train)
    assert table.class_codes is not None
    own = by_class[table.class_codes]
    return own if weights is None else own * weights


def class_weights(
    chosen: str | Mapping[str, float], classes: tuple[str, ...], table: Table, train: Rows
) -> npt.NDArray[np.float64]:
    """Return the weight of each class, [classes]; a class that is not named has 1.

    ``balanced``: rows / (classes * rows of the class), by sample weight, over training rows (King
    and Zeng, 2001). Raises TrainingError for a class that is not there.
    """
    if isinstance(chosen, str):
        assert table.class_codes is not None
        rows = None if table.weights is None else table.weights[train]
        counts = np.bincount(table.class_codes[train], rows, len(classes)).astype(np.float64)
        result = np.zeros(len(classes))
        np.divide(counts.sum() / len(classes), counts, out=result, where=counts > 0)
        return result
    for name in chosen:
        if name not in classes:
            raise TrainingError(
                f"class_weights names a class '{name}' that no row has.{nearest(name, classes)}"
            )
    return np.array([chosen.get(name, 1.0) for name in classes])


def _other_part(
    table: Table,
    encoding: Encoding,
    normalizer: Normalizer,
    classes: tuple[str, ...] | None,
    settings: TrainingSettings,
    store: Store = MEMORY,
) -> Part:
    """Return validation rows of another table, encoded as the training table."""
    table, places = _complete(table, store, drops=encoding.leaves_out)
    matrix = encode_table(table, encoding, settings.dtype, store)
    check_finite(matrix, encoding, places)
    matrix = normalizer.applied(matrix, store)
    everything = row_numbers(table.rows)
    weights = table.weights
    if classes is not None:
        named = replace(table, classes=classes, class_codes=translate_classes(table, classes))
        weights = _weights(named, classes, everything, settings)
    return Part(matrix, everything, _targets(table, classes), weights, table.weights)


def encode_table(table: Table, encoding: Encoding, dtype: str, store: Store = MEMORY) -> Matrix:
    """Return features [rows, features] of a table whose columns are matched to the encoding's by
    name or position. DataError where a column is missing.
    """
    named = table.named and encoding.named
    places = {column.name: place for place, column in enumerate(table.columns)}
    absent = [column.name for column in encoding.columns if column.name not in places]
    if named and absent:
        raise DataError(
            f"The table has no column '{absent[0]}', which the model was trained on."
            f"{nearest(absent[0], places)}"
        )
    if len(table.columns) < len(encoding.columns):
        raise DataError(
            f"The table has {len(table.columns)} feature columns; {len(encoding.columns)} are "
            "needed."
        )
    order = [
        places[column.name] if named else place for place, column in enumerate(encoding.columns)
    ]
    columns = [table.columns[place] for place in order]
    for column, fitted in zip(columns, encoding.columns, strict=True):
        if (column.levels is None) != (fitted.levels is None):
            kinds = ("texts", "numbers")
            now, then = kinds[column.levels is None], kinds[fitted.levels is None]
            raise DataError(
                f"Column '{column.name}' holds {now}; the model was trained on {then} in it."
            )
    return encoding.encode(_reordered(table, columns, store), dtype=dtype, store=store)


def _reordered(table: Table, columns: Sequence[Column], store: Store) -> Table:
    numeric = [column.name for column in table.columns if column.levels is None]
    coded = [column.name for column in table.columns if column.levels is not None]
    number_of = {name: index for index, name in enumerate(numeric)}
    code_of = {name: index for index, name in enumerate(coded)}
    picks = [number_of[column.name] for column in columns if column.levels is None]
    numbers = table.numbers
    if picks != list(range(numbers.shape[1])):
        numbers = store.computed(
            table.rows, len(picks), numbers.dtype, lambda cut: table.numbers[cut, picks]
        )
    return Table(
        columns=tuple(columns),
        numbers=numbers,
        codes=tuple(
            table.codes[code_of[column.name]] for column in columns if column.levels is not None
        ),
        named=table.named,
        width=table.width,
    )
