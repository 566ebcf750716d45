"""Feeds a plan with mini-batches of the training rows, in an order that the seed decides.

Gathers into buffers made once; knows nothing of updates.
"""

from __future__ import annotations

import numpy as np

from netsharp_engine.numpy_backend import Plan

from .preparation import Part

SHUFFLE_STREAM = 0x5AFF


class Feeder:
    """Mini-batches of one part for one plan: ``steps`` an epoch, ``count`` rows in the last."""

    def __init__(self, plan: Plan, part: Part, *, shuffle: bool, seed: int) -> None:
        self._plan = plan
        self._part = part
        self._shuffle = shuffle
        self._seed = seed
        batch = plan.batch
        self.steps = -(-part.rows // batch)
        self.count = 0
        self._order = part.index
        self._features = np.empty((batch, part.matrix.shape[1]), part.matrix.dtype)
        self._targets = np.empty(batch, part.targets.dtype)
        self._weights = None if part.weights is None else np.empty(batch)
        self._mean = 1.0 if part.weights is None else float(part.weights[part.index].mean())

    def start_epoch(self, epoch: int) -> None:
        """Choose the order of epoch number ``epoch``: the same for the same seed."""
        if self._shuffle:
            random = np.random.default_rng([SHUFFLE_STREAM, self._seed, epoch])
            self._order = random.permutation(self._part.index)

    def feed(self, position: int) -> float:
        """Feed batch number ``position`` of the epoch; gives the sum of its weights.

        With the sum 0 nothing was fed, and the step must be left out.
        """
        size = self._plan.batch
        rows = self._order[position * size : (position + 1) * size]
        count = self.count = len(rows)
        features, targets = self._features[:count], self._targets[:count]
        np.take(self._part.matrix, rows, axis=0, out=features, mode="clip")
        np.take(self._part.targets, rows, out=targets, mode="clip")
        if self._weights is None:
            self._plan.feed(features, targets)
            return float(count)
        assert self._part.weights is not None
        weights = self._weights[:count]
        np.take(self._part.weights, rows, out=weights, mode="clip")
        total = float(np.add.reduce(weights))
        if total:
            self._plan.feed(features, targets, weights)
        return total

    def importance(self, total: float) -> float:
        """What a batch whose weights sum to ``total`` counts beside an average one.

        A plan's gradient is a weighted mean, which alone would make all batches count alike.
        """
        return total / (self.count * self._mean)

    def right(self, count_classes: bool) -> int:
        """How many of the batch just stepped the network classified rightly."""
        outputs = self._plan.output
        if not count_classes:
            return 0
        predicted = outputs[:, 0] > 0.5 if outputs.shape[1] == 1 else outputs.argmax(axis=1)
        return int(np.count_nonzero(predicted == self._targets[: self.count]))
