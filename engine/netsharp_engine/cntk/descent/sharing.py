"""Training of a network of CNTK's by several processes together: by sums of gradients, or means of
models (CNTK: SGDLib/SimpleDistGradAggregator.h, MASGD.h and BlockMomentumSGD.h).

Each takes its share of a minibatch, whose size is that of all. Random draws, and the statistics of
batch normalisation, are those of a share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.minibatches import Minibatch, Parts, Sweeps
from netsharp_engine.data.errors import DataError
from netsharp_engine.distributed.ranks import Ranks
from netsharp_engine.graph import GraphError
from netsharp_engine.phases import PhasedProgram
from netsharp_engine.program import Figures, Memory

Values = Mapping[str, Array]


class Sharing(NamedTuple):
    """The exchange between processes from the epoch ``first`` (from 0) on: gradients at every step.

    With a ``block`` of samples over all of them: models, after each block and each epoch.
    ``momentum`` is the share of a block's change that the next block repeats, ``nesterov`` applies
    it in advance; ``rate`` weights a block's change, and ``resets`` lets every block begin without
    momentum of its own.
    """

    first: int = 0
    block: int = 0
    momentum: float | None = None
    nesterov: bool = True
    rate: float = 1.0
    resets: bool = True

    def keeps_blocks(self, epochs: int) -> bool:
        """Return whether a momentum of blocks exists after some epochs."""
        return self.block > 0 and self.momentum is not None and epochs > self.first


#: Gradients from the first epoch on.
GRADIENTS = Sharing()


def require_same_samples(ranks: Ranks, source: Sweeps) -> None:
    """Raise DataError, a sentence, where processes that train together have other samples."""
    if ranks.alone:
        return
    found = [each.decode() for each in ranks.comm.gather(source.sequences.fingerprint().encode())]
    for rank, samples in enumerate(found):
        if samples != found[0]:
            raise DataError(
                f"The processes have not the same data: {found[0]} (process 0), {samples} "
                f"(process {rank})."
            )


class Workers:
    """The processes of a descent, as one of them sees them.

    Raises GraphError where the device that trains cannot exchange gradients.
    """

    def __init__(self, ranks: Ranks, sharing: Sharing, program: PhasedProgram) -> None:
        if not (ranks.alone or sharing.block or hasattr(program, "exchange_gradient")):
            raise GraphError(
                "This device does not train in several processes. Leave --procs and --nodes out, "
                "or choose another --device."
            )
        self._ranks, self._sharing, self._program = ranks, sharing, program
        self._before: Values = {}
        #: The momentum of blocks by parameter, the same for all; it is replaced, never changed.
        self.blocks: Values = {}
        self._seen = self._own = 0
        self._shares = False

    def begin(self, epoch: int) -> None:
        """Begin an epoch, or a trial of one."""
        self._shares = not self._ranks.alone and epoch >= self._sharing.first
        self._seen = self._own = 0
        if self._averages:
            self._before = self._program.store()

    @property
    def _averages(self) -> bool:
        return self._shares and self._sharing.block > 0

    def computed(
        self, batch: Minibatch, source: Sweeps, compute: Callable[[Minibatch], bool]
    ) -> tuple[bool, int]:
        """Compute a share of a minibatch, count that of all, and leave the gradient to change by.

        Whether all numbers are finite, and the columns that the change is of; 0: nothing changes.
        """
        if self._ranks.alone:
            return compute(batch), batch.columns
        own = self._share(batch, source) if self._shares else batch
        program = self._program
        before = program.figures()
        program.count(Figures())
        works = own is not None and own.samples > 0
        fine = not works or (own is not None and compute(own))
        figures = program.figures()
        numbers = np.array([*figures.sums, figures.rows])
        if not fine:
            numbers[:] = math.nan
        self._exchange(numbers, fresh=works and fine)
        if not np.isfinite(numbers[0]):
            return False, 0
        *sums, rows = numbers.tolist()
        sums = [known + new for known, new in zip(before.sums, sums, strict=True)]
        rows = before.rows + int(rows)
        program.count(Figures(tuple(sums), float(rows), rows, before.steps + 1))
        self._seen += batch.samples
        self._own += own.samples if own is not None and works else 0
        if not self._averages:
            return True, batch.columns
        return True, own.columns if own is not None and works else 0

    def _share(self, batch: Minibatch, source: Sweeps) -> Minibatch | None:
        """Return the share of this process, in whole sequences; None where there are too few."""
        comm = self._ranks.comm
        parts = list(Parts(comm.size).of(batch, source, batch.samples))
        return parts[comm.rank] if comm.rank < len(parts) else None

    def _exchange(self, numbers: Array, *, fresh: bool) -> None:
        """Add up the sums, and gradients where these are exchanged."""
        if self._shares and not self._averages:
            self._program.exchange_gradient(
                lambda arrays: self._ranks.exchange(arrays, numbers), fresh=fresh
            )
            return
        if not self._shares and self._ranks.comm.rank:
            numbers[:] = 0.0 * numbers  # all have computed the same, and one is counted
        self._ranks.exchange((), numbers)

    def updated(self) -> None:
        """Average models where a block is full; called after each update."""
        if self._averages and self._seen >= self._sharing.block:
            self.average()

    def average(self) -> None:
        """Take the average model of all processes, as at the end of an epoch."""
        if not self._averages or not self._seen:
            return
        program, momentum = self._program, self._sharing.momentum
        own = program.store()
        if momentum is None:
            share = self._own / self._total()
            values = self._summed({name: one * share for name, one in own.items()})
        else:
            values = self._moved(own, momentum)
        kinds = {name: one.astype(own[name].dtype) for name, one in values.items()}
        program.load(kinds)
        self._before = kinds
        if momentum is not None and self._sharing.resets:
            memory = program.store_memory()
            zeros = {
                kind: {name: np.zeros_like(one) for name, one in found.items()}
                for kind, found in memory.arrays.items()
            }
            program.load_memory(Memory(memory.updates, zeros))
        self._seen = self._own = 0

    def _moved(self, own: Values, momentum: float) -> dict[str, Array]:
        """Return the previous model, changed by the sum of the blocks' changes. Source:
        SGDLib/BlockMomentumSGD.h.
        """
        sharing, moved = self._sharing, {}
        gain = (1 - momentum) * sharing.rate
        changes = self._summed({name: self._before[name] - one for name, one in own.items()})
        blocks: dict[str, Array] = {}
        for name, change in changes.items():
            # A stored one may have the shape of its file.
            before = self.blocks.get(name, np.zeros_like(change)).reshape(change.shape)
            smoothed = blocks[name] = momentum * before + gain * change
            ahead = momentum * smoothed if sharing.nesterov else 0.0
            moved[name] = self._before[name] - smoothed - ahead
        self.blocks = blocks
        return moved

    def _total(self) -> float:
        total = np.array([float(self._own)])
        self._ranks.comm.all_reduce_(total)
        return max(float(total[0]), 1.0)

    def _summed(self, values: Values) -> dict[str, Array]:
        """Return the sums of arrays over all processes, in float64."""
        flat = np.concatenate([one.reshape(-1).astype(np.float64) for one in values.values()])
        self._ranks.comm.all_reduce_(flat)
        ends = np.cumsum([one.size for one in values.values()])[:-1]
        parts = np.split(flat, ends)
        return {
            name: part.reshape(one.shape)
            for (name, one), part in zip(values.items(), parts, strict=True)
        }
