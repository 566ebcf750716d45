"""Training data that was prepared once, kept in a file and mapped again at the next start.

It knows which settings shape the data, and the layout of the rest in a file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsharp_engine import stored
from netsharp_engine.data import Encoding, Normalizer
from netsharp_engine.data.scaling import TargetScale
from netsharp_engine.data.storage.files import KeptArrays, KeptStore, read_kept
from netsharp_engine.data.storage.places import (
    Stamp,
    folder_for,
    made_folder,
    place_of,
    stamps_in,
    stamps_out,
    thinned,
)
from netsharp_engine.data.storage.stores import blocks
from netsharp_engine.train.preparation import Part, TrainingData, task_of
from netsharp_engine.train.settings import TrainingSettings
from netsharp_engine.train.tasks import OutputForm, as_regression

#: Raised when the same files and settings give other data.
PREPARATION = 1
#: Settings that shape the data, unchanged.
SHAPING = (
    *("label", "weight", "header", "delimiter", "decimal", "encoding", "categorical", "columns"),
    *("exclude", "missing", "unknown_level", "rows", "task", "host", "normalizer", "bins", "loss"),
    *("scale_label", "class_weights", "dtype"),
)
PARTS = ("train", "validation")
ARRAYS = ("matrix", "index", "targets", "weights", "sample_weights")
OPTIONAL = frozenset(("weights", "sample_weights"))


@dataclass(frozen=True, slots=True)
class WantedData:
    """Data that settings ask for: ``request`` are plain values, ``stamps`` those of the files."""

    settings: TrainingSettings
    request: Mapping[str, Any]
    stamps: tuple[Stamp, ...]
    path: str

    @classmethod
    def of(
        cls,
        settings: TrainingSettings,
        files: Sequence[str],
        others: Sequence[str],
        output: OutputForm | None,
        model: str | None,
    ) -> WantedData:
        """Return the data that is wanted of ``files`` and of ``others``, such as validation rows.

        ``model`` is the path beside which it is kept, None for the user's folder. Raises OSError.
        """
        fraction = settings.validation if isinstance(settings.validation, float) else None
        request = {
            "preparation": PREPARATION,
            "files": [_named(path) for path in files],
            "others": [_named(path) for path in others],
            "settings": {name: getattr(settings, name) for name in SHAPING},
            "task_is_set": settings.origins["task"] != "default",
            "validation": settings.validation,
            "seed": None if fraction is None else settings.seed,
            "output": None if output is None else list(output),
        }
        stamps = tuple(Stamp.of(path) for path in (*files, *others))
        return cls(settings, request, stamps, place_of(folder_for(model), request))

    def found(self) -> TrainingData | None:
        """Return the data as it was kept; None where there is none, or it is stale or damaged."""
        kept = read_kept(self.path)
        try:
            if kept is None or stamps_in(kept.values) != self.stamps:
                return None
            if kept.values["asked"] != json.loads(json.dumps(self.request)):
                return None
            return _data_of(kept, self.settings)
        except (ValueError, TypeError, KeyError):
            return None

    def store(self) -> KeptStore:
        """Return the store in which new data is made, in a temporary file. Raises StoreError."""
        made_folder(os.path.dirname(self.path))
        return KeptStore(self.path)

    def keep(self, store: KeptStore, data: TrainingData) -> bool:
        """Let data that was made in a store be found from now on.

        False where a file has changed while it was read.  Raises StoreError.
        """
        if not all(stamp.holds() for stamp in self.stamps):
            return False
        for name, part in zip(PARTS, (data.train, data.validation), strict=True):
            for field in ARRAYS if part is not None else ():
                array = getattr(part, field)
                if array is not None:
                    store.keep(f"{name}.{field}", array)
        scale = data.scale
        store.commit(
            {
                "sources": stamps_out(self.stamps),
                "asked": self.request,
                "encoding": data.encoding.to_json(),
                "normalizer": data.normalizer.to_json(),
                "classes": None if data.classes is None else list(data.classes),
                "settled": data.settings.task != self.settings.task,
                "notes": list(data.notes),
                "scale": None if scale is None else scale.to_json(),
            }
        )
        thinned(os.path.dirname(self.path))
        return True


def _named(path: str) -> list[str]:
    """Return the canonical path of a file, and its name, which decides how it is read."""
    return [os.path.realpath(path), os.path.basename(path)]


def _data_of(kept: KeptArrays, settings: TrainingSettings) -> TrainingData:
    """Return the data in a file; ValueError, TypeError or KeyError for other contents."""
    values = kept.values
    classes = stored.optional(values, "classes", stored.items)
    scale = stored.optional(values, "scale", stored.table)
    encoding = Encoding.from_json(stored.table(values, "encoding"))
    settled = as_regression(settings) if stored.truth(values, "settled") else settings
    train, validation = (_part_of(kept, name) for name in PARTS)
    if train is None:
        raise ValueError("there are no training rows")
    for part in (train, validation):
        if part is not None:
            count = None if classes is None else len(classes)
            _check_part(part, encoding.features, np.dtype(settings.dtype), count)
    names = None if classes is None else tuple(stored.as_text(each, "class") for each in classes)
    return TrainingData(
        train,
        validation,
        encoding,
        Normalizer.from_json(stored.table(values, "normalizer")),
        names,
        task_of(names, settled),
        settled,
        None,
        tuple(stored.as_text(each, "note") for each in stored.items(values, "notes")),
        None if scale is None else TargetScale.from_json(scale),
    )


def _part_of(kept: KeptArrays, name: str) -> Part | None:
    if f"{name}.matrix" not in kept.arrays:
        return None
    given: dict[str, Any] = {field: kept.arrays.get(f"{name}.{field}") for field in ARRAYS}
    if any(given[field] is None for field in ARRAYS if field not in OPTIONAL):
        raise ValueError("an array is not there")
    return Part(**given)


def _check_part(part: Part, features: int, dtype: np.dtype[Any], classes: int | None) -> None:
    """Refuse rows that do not go together: compiled code trusts them.  Raises ValueError."""
    rows = len(part.matrix)
    if part.matrix.shape != (rows, features) or part.matrix.dtype != dtype:
        raise ValueError("its features are not a matrix of numbers of this run")
    for weights in (part.weights, part.sample_weights):
        if weights is not None and (weights.shape != (rows,) or weights.dtype != np.float64):
            raise ValueError("its weights are not those of its rows")
    if len(part.targets) != rows or not len(part.index):
        raise ValueError("its arrays do not go together")
    inside = _within(part.index, rows)
    if not inside or (classes is not None and not _within(part.targets, classes)):
        raise ValueError("its rows or classes are numbered beyond what there is")
    if classes is None and (part.targets.dtype.kind != "f" or part.targets.ndim > 2):
        raise ValueError("its targets are not numbers")


def _within(numbers: Any, most: int) -> bool:
    """Return whether whole numbers are from 0 to below a limit."""
    if numbers.ndim != 1 or numbers.dtype.kind != "i":
        return False
    cuts = blocks(len(numbers), 1)
    return all(int(np.min(numbers[c])) >= 0 and int(np.max(numbers[c])) < most for c in cuts)


def with_notes(data: TrainingData, *notes: str) -> TrainingData:
    """Return the data with more sentences about it."""
    return replace(data, notes=(*data.notes, *notes))
