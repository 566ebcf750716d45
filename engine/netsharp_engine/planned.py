"""What a back end would do in a step, as plain data: calls in order, buffers, bytes that cross.

A draft that can report it has a method ``planned``; no back end and no array library is known here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node
    from netsharp_engine.program import Draft, Job


class PlannedCall(NamedTuple):
    """One call of a library, or one program of a device.

    ``stage`` is "forward", "loss", "backward" or "update", that of its first part where it has
    several.  ``kernel`` is what computes, ``formulas`` the operations that are merged in it,
    ``reads`` and ``writes`` names of nodes and buffers.  ``layer`` says whose it is, ``origin``
    its place in the specification.  ``trips``: how often its loops run at most, where that
    is known.
    """

    stage: str
    kernel: str
    formulas: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    layer: str = ""
    origin: str = ""
    trips: int | None = None


class PlannedBuffer(NamedTuple):
    """Memory that is made once: ``offset`` bytes after the start of ``space``, and its shape.

    Where memory has no place beforehand, ``offset`` is None.
    """

    name: str
    space: str
    offset: int | None
    size: int
    shape: tuple[int, ...]


class Planned(NamedTuple):
    """What would run for one step of ``rows`` rows.

    ``sent`` and ``received`` are the bytes that cross between host and device in each step;
    ``merged`` counts operations that need no call of their own.
    """

    rows: int
    dtype: str
    calls: tuple[PlannedCall, ...]
    buffers: tuple[PlannedBuffer, ...]
    sent: int
    received: int

    @property
    def merged(self) -> int:
        """Return the number of operations that are merged into the calls of others."""
        return sum(max(len(call.formulas) - 1, 0) for call in self.calls)


def planned(draft: Draft) -> Planned | None:
    """Return the plan of a step of a draft; None where its back end does not report it."""
    found: Callable[[], Planned] | None = getattr(draft, "planned", None)
    return None if found is None else found()


def labels_of(nodes: list[Node]) -> dict[Node, str]:
    """Return a name for each node, in order: its own, or its operation and number."""
    return {node: node.name or f"{node.op} {number}" for number, node in enumerate(nodes)}


def place_of(node: Node) -> str:
    """Return a node's place in the specification, empty where unknown."""
    return "" if node.origin is None else str(node.origin)


def crossing(job: Job, width: int) -> int:
    """Return the bytes of a batch of a job: its inputs, and what they are compared with."""
    numbers = sum(node.size for node in job.graph.inputs)
    codes = 8 if job.graph.targets else 0
    return job.rows * (numbers * width + codes)
