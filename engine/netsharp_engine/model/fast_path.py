"""The short way from plain numbers to answers: what ``Model.predict`` does, in few calls.

It takes arrays of finite features alone, and leaves all else, and every error, to the long way,
which computes the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from netsharp_engine.data import Encoding, Normalizer
from netsharp_engine.data.answers import Predictions
from netsharp_engine.data.labels import Labels
from netsharp_engine.train.measure import Meter


class FastPath:
    """The facts about a model that do not depend on rows: immutable, so that several threads may
    use it.
    """

    __slots__ = ("_compute", "_dtype", "_labels", "_normal", "_objective", "labels", "normalizer")

    def __init__(self, meter: Meter, normalizer: Normalizer, labels: Labels | None) -> None:
        assert meter.direct is not None
        self.normalizer, self.labels = normalizer, labels
        self._compute, self._objective = meter.direct.compute, meter.objective
        self._dtype = np.dtype(meter.dtype)
        self._normal = None if normalizer.name == "none" else normalizer.as_rows(meter.dtype)
        self._labels = None if labels is None else labels.array()

    def predicted(self, features: Any) -> Predictions | None:
        """Return the answers for features [rows, features]; None where they need the long way."""
        if type(features) is not np.ndarray:
            return None
        objective = self._objective
        outputs = np.empty((len(features), objective.outputs), self._dtype)
        if not self._compute(features, self._normal, outputs, True):
            return None
        if objective.classes is None:
            return Predictions(objective.predicted(outputs).astype(np.float64), None)
        rows, count = outputs.shape
        codes, shares = np.empty(rows, np.intp), np.empty((rows, max(count, 2)))
        if not objective.decide(outputs, codes, shares):
            return None
        if self._labels is None:
            classes = objective.classes
            return Predictions([classes[code] for code in codes.tolist()], shares)
        return Predictions(self._labels[codes], shares)


def fast_path_of(
    meter: Meter, encoding: Encoding, normalizer: Normalizer, labels: Labels | None
) -> FastPath | None:
    """Return the short way; None where its program has none, where rows of numbers may be columns
    that are encoded first, and where a normaliser does more than cut, subtract and multiply.
    """
    columns = len(encoding.columns)
    features = encoding.plain or encoding.features != columns
    if meter.direct is None or not features or normalizer.name == "binning":
        return None
    return FastPath(meter, normalizer, labels)
