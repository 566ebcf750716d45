"""What a training tells on the way, and how it ends, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from netsharp_engine.cntk.descent.adjusting import Control
from netsharp_engine.program import Memory

if TYPE_CHECKING:
    from netsharp_engine.program import Tensors

FINISHED, INTERRUPTED, DIVERGED = "finished", "interrupted", "diverged"


class State(NamedTuple):
    """Where a training stands behind so many ``epochs``: what the next one begins with."""

    epochs: int
    samples: int
    values: Tensors
    memory: Memory
    control: Control = Control()


class Told(NamedTuple):
    """Mean values of the criteria, the one that is trained first, over some samples; those that are
    ``gathered`` have the value of the epoch up to now, and count as one sample.
    """

    means: Mapping[str, float]
    samples: int
    gathered: frozenset[str] = frozenset()


def told_of(
    names: Sequence[str],
    sums: Sequence[float],
    rows: int,
    gathered: frozenset[str],
) -> Told:
    """Means of what was summed over so many samples."""
    means = (
        one / (1 if name in gathered else max(rows, 1))
        for name, one in zip(names, sums, strict=True)
    )
    return Told(dict(zip(names, means, strict=True)), rows, gathered)


class EpochBegun(NamedTuple):
    """An epoch (from 1) that begins."""

    epoch: int
    rate: float
    effective_momentum: float
    time_constant: float


class Shown(NamedTuple):
    """Minibatches ``start`` to ``end`` (from 1) of an epoch; ``share`` of it that is done."""

    epoch: int
    start: int
    end: int
    share: float
    figures: Told
    seconds: float
    samples: int
    rate: float


class EpochEnded(NamedTuple):
    """A finished epoch; ``samples`` are those of all epochs so far."""

    epoch: int
    figures: Told
    samples: int
    minibatches: int
    rate: float
    seconds: float
    validation: Told | None = None


class Tried(NamedTuple):
    """A trial before an epoch (from 1), which is forgotten."""

    epoch: int
    figures: Told
    rate: float
    size: int


class RateChanged(NamedTuple):
    """The rate of the next epochs, by what ``change``."""

    rate: float
    change: str


class RolledBack(NamedTuple):
    """Epochs that lead to something worse: training goes on behind an ``epoch`` before ``last``."""

    epoch: int
    last: int


class Watcher(Protocol):
    """Who is told what happens, and asked whether to go on."""

    def begun(self, event: EpochBegun) -> None:
        """An epoch begins."""

    def shown(self, event: Shown) -> None:
        """Some minibatches are done."""

    def ended(self, event: EpochEnded) -> None:
        """An epoch is done."""

    def kept(self, state: State) -> None:
        """The state behind an epoch, which is to be kept."""

    def tried(self, event: Tried) -> None:
        """A trial is done."""

    def changed(self, event: RateChanged) -> None:
        """A rate was adjusted."""

    def recalled(self, epoch: int) -> State:
        """The state that was kept behind so many epochs."""

    def rolled_back(self, event: RolledBack, state: State) -> None:
        """Later epochs are to be forgotten, and this state to be kept instead."""

    def completed(self, state: State) -> None:
        """Training is complete before its last epoch: the model of this state is the final one."""

    def stops(self) -> bool:
        """Whether somebody wants an end."""


class Ending(NamedTuple):
    """How a training ended: one of these words, and a sentence."""

    status: str
    message: str = ""
