"""What the ranks of a training share: rows of a step, its gradient, and decisions.

A run asks this and knows no transport; back ends know only that their gradients are added up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from netsharp_engine.distributed.comm import Comm, CommError, Solo
from netsharp_engine.graph import GraphError
from netsharp_engine.program import Program

if TYPE_CHECKING:
    from netsharp_engine.distributed.comm import AveragingComm

#: What is agreed on with each step: the time of rank 0, and how many ranks want to stop.
_AGREED = 2


class Ranks:
    """The processes of one training.

    All of them decide the same: by the clock of rank 0 at the last step, and by the
    request of any of them to stop.
    """

    def __init__(self, comm: Comm | None = None) -> None:
        self.comm: Comm = Solo() if comm is None else comm
        self.alone = self.comm.size == 1
        self._wish: Callable[[], bool] = lambda: False
        self._begun = time.perf_counter()
        self._now, self._stops = 0.0, False
        self._shared = np.zeros(0)

    @property
    def leads(self) -> bool:
        """Return whether this is the process that shows, logs and saves."""
        return self.comm.rank == 0

    @property
    def share(self) -> slice:
        """Return the slice of a step's rows computed here: every ``size``-th from the rank on."""
        return slice(self.comm.rank, None, self.comm.size)

    def stretch(self, rows: int, step: int = 1) -> slice:
        """Return this rank's range of rows, in whole steps of ``step`` rows.

        All together, in order of the ranks, they are all rows in their order.
        """
        steps = -(-rows // step)
        rank, size = self.comm.rank, self.comm.size
        first, last = (step * (steps * place // size) for place in (rank, rank + 1))
        return slice(first, min(last, rows))

    def most(self, rows: int) -> int:
        """Return the largest number of rows of a step that any rank computes."""
        return -(-rows // self.comm.size)

    def clock(self) -> float:
        """Seconds that say the same to all ranks."""
        return time.perf_counter() if self.alone else self._now

    def asked(self, wish: Callable[[], bool]) -> Callable[[], bool]:
        """Return a function for whether all stop after this step; ``wish`` asks for it here."""
        if self.alone:
            return wish
        self._wish = wish
        return lambda: self._stops

    def same(self, what: str, own: str) -> None:
        """Raise CommError, a sentence, where ranks have another ``what``."""
        given = [one.decode() for one in self.comm.gather(own.encode())]
        if len(set(given)) > 1:
            raise CommError(f"The processes have not the same {what}: {', '.join(given)}.")

    def earliest_of(self, order: Iterable[str]) -> Callable[[str], str]:
        """Return a function that all ranks call with a name each: the one that is first in
        ``order``. A name that is not in it comes last.
        """
        places = {name: place for place, name in enumerate(order)}

        def earliest(own: str) -> str:
            names = [one.decode() for one in self.comm.gather(own.encode())]
            return min(names, key=lambda name: places.get(name, len(places)))

        return earliest

    def answered(self, tell: Callable[[Any], object]) -> Callable[[Any], object]:
        """Return a function that reports an event, and returns rank 0's answer at an epoch."""
        if self.alone:
            return tell

        def reported(event: Any) -> object:
            answer = tell(event)
            if event["event"] != "epoch":
                return answer
            shared = np.array([bool(answer)], np.int64)
            self.comm.broadcast(shared)
            return bool(shared[0])

        return reported

    def join(self, program: Program) -> None:
        """Let a program that trains add its gradients to those of the others.

        GraphError where its back end cannot.
        """
        if self.alone:
            return
        if not hasattr(program, "exchange"):
            raise GraphError(
                "This back end does not train in several processes. Leave --procs and --nodes out, "
                "or take another --device."
            )
        program.exchange = self.exchange
        if hasattr(program, "average_by"):
            program.average_by(cast("AveragingComm", self.comm))

    def exchange(self, gradient: Sequence[Any], sums: Any) -> None:
        """Add gradients and sums of a step over all ranks, and learn what they want."""
        if isinstance(sums, np.ndarray):
            if len(self._shared) != len(sums) + _AGREED:
                self._shared = np.zeros(len(sums) + _AGREED)
            self._shared[_AGREED:] = sums
            self._fill()
            self.comm.all_reduce_(*gradient, self._shared)
            sums[:] = self._shared[_AGREED:]
        else:
            self._shared = np.zeros(_AGREED)
            self._fill()
            self.comm.all_reduce_(*gradient, sums, self._shared)
        self._now, self._stops = float(self._shared[0]), bool(self._shared[1])

    def _fill(self) -> None:
        self._shared[0] = time.perf_counter() - self._begun if self.leads else 0.0
        self._shared[1] = float(self._wish())


#: One process that trains by itself.
ALONE = Ranks()
