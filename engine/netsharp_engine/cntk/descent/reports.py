"""The events of a training, and how it ends, as plain values. It must not know how they are
shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from netsharp_engine.cntk.descent.adjusting import Control
from netsharp_engine.program import Memory

if TYPE_CHECKING:
    from netsharp_engine.cntk.generators import Array
    from netsharp_engine.program import Tensors

FINISHED, INTERRUPTED, DIVERGED = "finished", "interrupted", "diverged"


class State(NamedTuple):
    """The state of a training after a number of ``epochs``, from which the next one begins.

    ``blocks`` has the momentum of blocks by parameter, as many numbers of float64, where models are
    averaged with one.
    """

    epochs: int
    samples: int
    values: Tensors
    memory: Memory
    control: Control = Control()
    blocks: Mapping[str, Array] = {}


class CriterionMeans(NamedTuple):
    """Mean values of the criteria, the one that is trained first, over some samples; those that are
    ``gathered`` have the value of the epoch up to now, and count as one sample.
    """

    means: Mapping[str, float]
    samples: int
    gathered: frozenset[str] = frozenset()


def criterion_means(
    names: Sequence[str],
    sums: Sequence[float],
    rows: int,
    gathered: frozenset[str],
) -> CriterionMeans:
    """Return the means of sums over ``rows`` samples; those of ``gathered`` criteria stay sums."""
    means = (
        one / (1 if name in gathered else max(rows, 1))
        for name, one in zip(names, sums, strict=True)
    )
    return CriterionMeans(dict(zip(names, means, strict=True)), rows, gathered)


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
    figures: CriterionMeans
    seconds: float
    samples: int
    rate: float


class EpochEnded(NamedTuple):
    """A finished epoch; ``samples`` are those of all epochs so far."""

    epoch: int
    figures: CriterionMeans
    samples: int
    minibatches: int
    rate: float
    seconds: float
    validation: CriterionMeans | None = None


class Tried(NamedTuple):
    """A trial before an epoch (from 1), which is forgotten."""

    epoch: int
    figures: CriterionMeans
    rate: float
    size: int


class RateChanged(NamedTuple):
    """The rate of the next epochs, by what ``change``."""

    rate: float
    change: str


class RolledBack(NamedTuple):
    """Epochs that made the criterion worse: training continues after an ``epoch`` before
    ``last``.
    """

    epoch: int
    last: int


class Watcher(Protocol):
    """The receiver of a training's events, which also decides whether it continues."""

    def begun(self, event: EpochBegun) -> None:
        """Receive the beginning of an epoch."""

    def shown(self, event: Shown) -> None:
        """Receive the figures of some minibatches."""

    def ended(self, event: EpochEnded) -> None:
        """Receive the end of an epoch."""

    def kept(self, state: State) -> None:
        """Keep the state after an epoch."""

    def tried(self, event: Tried) -> None:
        """Receive the result of a trial."""

    def changed(self, event: RateChanged) -> None:
        """Receive the change of a rate."""

    def recalled(self, epoch: int) -> State:
        """Return the state that was kept after a number of epochs."""

    def rolled_back(self, event: RolledBack, state: State) -> None:
        """Forget later epochs and keep this state instead."""

    def completed(self, state: State) -> None:
        """Take the model of this state as the final one: training is complete before its last
        epoch.
        """

    def stops(self) -> bool:
        """Return whether training was asked to stop."""


class Ending(NamedTuple):
    """The end of a training: a status word, and a sentence."""

    status: str
    message: str = ""
