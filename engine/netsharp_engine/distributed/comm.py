"""The communication of processes that train together, and that of a single process.

No transport is known here; ``group`` has that of torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Flat = npt.NDArray[np.generic]


#: Replaces the flat arrays of a gradient and a flat array of sums, in place, by their sums over
#: several programs.
Exchange = Callable[[Sequence[Any], Any], None]


class Exchanging(Protocol):
    """What a program may be beside: one of several that train the same network on parts of a batch.

    Its step computes the share of its rows in the gradient, none where it is fed none; then,
    before anything is checked or changed, ``exchange`` adds up gradients and the counts of the
    step.  So all programs see the same numbers and faults, and stay equal.
    """

    exchange: Exchange | None


class AveragedModule(Protocol):
    """A module of torch of which each rank computes the loss of its rows."""

    def __call__(self, *arguments: Any) -> Any:
        """Return the loss here."""

    def backward(self, loss: Any) -> None:
        """Set the gradients of the module's parameters to their means over the ranks."""


class Averaging(Exchanging, Protocol):
    """A program of torch: of the gradient it computes the mean over the ranks by itself, and
    exchanges the counts of a step alone.
    """

    def average_by(self, comm: AveragingComm) -> None:
        """Compute gradients as means over these ranks from now on."""


class CommError(Exception):
    """The other processes cannot be reached, or no longer: a sentence."""


class Comm(Protocol):
    """Processes with ranks from 0 to below ``size``.

    Everybody has to make the same calls in the same order.  Raises CommError where one is missing.
    """

    rank: int
    size: int

    def broadcast(self, array: Flat, source: int = 0) -> None:
        """Overwrite a flat array, which all have of one size and type, with that of a rank."""

    def all_reduce_(self, *arrays: Any) -> None:
        """Replace flat arrays, in place, by their sums over all ranks; all get the same bits.

        An array is numpy's, or a tensor of torch on the device that computes.
        """

    def gather(self, data: bytes) -> list[bytes]:
        """Return the data of each rank, in the order of the ranks."""

    def barrier(self) -> None:
        """Wait until all have come here."""


class AveragingComm(Comm, Protocol):
    """Processes that torch connects."""

    def averaged(self, module: Any) -> AveragedModule:
        """Return a module of torch with gradients that are averaged over the ranks."""


class Solo:
    """One process alone."""

    rank, size = 0, 1

    def broadcast(self, array: Flat, source: int = 0) -> None:
        """Leave it."""

    def all_reduce_(self, *arrays: Any) -> None:
        """Leave them: sums of one."""

    def gather(self, data: bytes) -> list[bytes]:
        """Return the data of the only rank."""
        return [data]

    def barrier(self) -> None:
        """Go on."""
