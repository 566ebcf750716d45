"""Cuts the training rows into mini-batches, in an order that the seed decides.

It gathers into buffers made once, and must not know programs and updates.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from netsharp_engine.data.scaling import TargetScale
from netsharp_engine.distributed.ranks import ALONE, Ranks
from netsharp_engine.graph import Graph
from netsharp_engine.program import Batch
from netsharp_engine.train.preparation import Part
from netsharp_engine.train.settings.keys import BLOCKS
from netsharp_engine.train.steps.dropping import draw_of

#: Any fixed number: with it a seed draws other numbers here than for weights or the split.
SHUFFLE_STREAM = 0x5AFF
#: Bytes of a block's rows, and how many blocks are mixed: 64 MiB are in use at a time.
BLOCK_BYTES, BLOCKS_TOGETHER = 1 << 19, 128
Matrix = npt.NDArray[np.generic]


class Rows:
    """The parts of a table by a graph's names: the columns of each input, and the target."""

    def __init__(self, graph: Graph) -> None:
        self._columns: list[tuple[str, slice]] = []
        start = 0
        for node in graph.inputs:
            self._columns.append((node.name, slice(start, start + node.size)))
            start += node.size
        self._target = graph.targets[0].name if graph.targets else ""

    def named(self, features: Matrix, targets: Matrix | None = None) -> dict[str, Matrix]:
        """Return views of a matrix [rows, features] and of targets [rows] by the names of the
        inputs.
        """
        found = {name: features[:, columns] for name, columns in self._columns}
        if targets is not None:
            found[self._target] = targets
        return found


def block_order(
    index: npt.NDArray[np.intp], row_bytes: int, random: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Return rows, [rows], in an order in which little of a large file is read at a time.

    They are cut into blocks of consecutive ones; blocks are shuffled, then the rows of
    ``BLOCKS_TOGETHER`` blocks together.
    """
    size = max(BLOCK_BYTES // max(row_bytes, 1), 1)
    starts = random.permutation(np.arange(0, len(index), size))
    order = np.empty_like(index)
    done = 0
    for first in range(0, len(starts), BLOCKS_TOGETHER):
        taken = [index[start : start + size] for start in starts[first : first + BLOCKS_TOGETHER]]
        rows = random.permutation(np.concatenate(taken))
        order[done : done + len(rows)] = rows
        done += len(rows)
    return order


class Feeder:
    """Mini-batches of ``batch`` rows of one part: ``steps`` an epoch, fewer rows in the last.

    Targets are in the units of ``scale``.  ``count`` is the number of rows of the batch that was
    cut last.  Of each batch, those are gathered that ``ranks`` compute here; masks are drawn by
    their numbers in the whole.
    """

    def __init__(
        self,
        graph: Graph,
        part: Part,
        batch: int,
        scale: TargetScale | None = None,
        *,
        shuffle: bool | str,
        seed: int,
        ranks: Ranks = ALONE,
    ) -> None:
        self._part, self._batch, self._ranks = part, batch, ranks
        self._rows = Rows(graph)
        self._shuffle = shuffle
        self._seed = seed
        self.steps = -(-part.rows // batch)
        self._order = part.index
        most = ranks.most(batch)
        self._features = np.empty((most, part.matrix.shape[1]), part.matrix.dtype)
        self._targets = np.empty((most, *part.targets.shape[1:]), part.targets.dtype)
        self._scale = scale
        if scale is not None:
            self._targets = self._targets.astype(np.float64)
        self._weights = None if part.weights is None else np.empty(most)
        self._mean = 1.0 if part.weights is None else float(part.weights[part.index].mean())
        self._batches: dict[int, Batch] = {}
        self._drops = any(node.op == "Dropout" for node in graph.nodes)
        self._epoch = 0
        self.count = 0

    def start_epoch(self, epoch: int) -> None:
        """Choose the order of epoch number ``epoch``: the same for the same seed."""
        self._epoch = epoch
        if self._shuffle:
            random = np.random.default_rng([SHUFFLE_STREAM, self._seed, epoch])
            if self._shuffle == BLOCKS:
                row_bytes = self._features.shape[1] * self._features.itemsize
                self._order = block_order(self._part.index, row_bytes, random)
            else:
                self._order = random.permutation(self._part.index)

    def rows(self, position: int) -> int:
        """Return the number of rows of the first ``position`` batches."""
        return min(position * self._batch, self._part.rows)

    def batch(self, position: int) -> Batch:
        """Return batch number ``position`` of the epoch, valid until the next.

        Batches count by their weights: a batch's expected weight is that of an average one.
        """
        batch = self._order[position * self._batch : (position + 1) * self._batch]
        self.count = len(batch)
        mine = self._local_rows(batch)
        rows = batch[mine]
        count = len(rows)
        np.take(self._part.matrix, rows, axis=0, out=self._features[:count], mode="clip")
        np.take(self._part.targets, rows, axis=0, out=self._targets[:count], mode="clip")
        if self._scale is not None and count:
            self._targets[:count] = self._scale.scaled(self._targets[:count])
        if self._weights is not None and self._part.weights is not None:
            np.take(self._part.weights, rows, out=self._weights[:count], mode="clip")
        found = self._batches.get(self.count) or self._cut(self.count, count)
        if not self._drops:
            return found
        draw = draw_of(self._seed, self._epoch, position)
        if not self._ranks.alone:
            draw = draw._replace(rows=np.arange(self.count)[mine])
        return found._replace(draw=draw)

    def _local_rows(self, batch: npt.NDArray[np.intp]) -> slice | npt.NDArray[np.intp]:
        """Return the rows of a batch that are computed here.

        Of a large file each rank reads a part of its own: where blocks are shuffled, a batch has
        rows from all over it.
        """
        if self._shuffle == BLOCKS and not self._ranks.alone:
            return np.argsort(batch, kind="stable")[self._ranks.stretch(len(batch))]
        return self._ranks.share

    def _cut(self, whole: int, count: int) -> Batch:
        """Return buffers for ``count`` rows of a whole batch, kept for all batches of that
        length.
        """
        inputs = self._rows.named(self._features[:count], self._targets[:count])
        if self._weights is not None:
            batch = Batch(inputs, self._weights[:count], whole * self._mean)
        elif self._ranks.alone:
            batch = Batch(inputs)
        else:
            batch = Batch(inputs, None, float(whole))
        self._batches[whole] = batch
        return batch
