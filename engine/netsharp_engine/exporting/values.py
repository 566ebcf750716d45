"""A value of a network while it is written in a format: where it is, its axes, its numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy.typing as npt

Array = npt.NDArray[Any]
#: Axes before those of a sample where each step of each sequence has its own.
STEPWISE = 2


class ExportedValue(NamedTuple):
    """A tensor [*lead, *shape] of what is written.

    ``lead`` counts the axes before those of a sample: 0 of what all samples share, 1 for samples,
    2 for steps and sequences.  ``shape`` is row-major.  ``constant`` are its numbers where they
    are known, of exactly that shape.
    """

    name: str
    lead: int
    shape: tuple[int, ...]
    constant: Array | None = None
