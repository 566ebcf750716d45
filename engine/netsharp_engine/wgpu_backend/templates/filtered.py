"""Kernels of filtered layers: a weight for each edge of a list in tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from netsharp_engine.wgpu_backend.building import Building
from netsharp_engine.wgpu_backend.kernels import (
    BACKWARD,
    FORWARD,
    GRADIENT,
    Buffer,
    LoopNest,
    Turning,
)

FAMILY = "filtered"


class EdgeTables(NamedTuple):
    """Edges sorted by one end: those of node k at ``starts[k]:starts[k + 1]``.

    ``most`` is how many one node has; ``ends`` are the others, ``numbers`` those of the weights
    (None: edge and weight have the same).
    """

    starts: Buffer
    ends: Buffer
    most: int
    numbers: Buffer | None = None


def by_destination(
    build: Building, what: str, destinations: Sequence[int], sources: Sequence[int], nodes: int
) -> EdgeTables:
    """Return edges by their destinations."""
    return _sorted(build, what, list(zip(destinations, sources, strict=True)), nodes, False)


def by_source(
    build: Building, what: str, destinations: Sequence[int], sources: Sequence[int], nodes: int
) -> EdgeTables:
    """Return edges by their sources."""
    return _sorted(build, what, list(zip(sources, destinations, strict=True)), nodes, True)


def _sorted(
    build: Building, what: str, edges: list[tuple[int, int]], nodes: int, turned: bool
) -> EdgeTables:
    order = sorted(range(len(edges)), key=edges.__getitem__) if turned else range(len(edges))
    counts = [0] * (nodes + 1)
    for owner, _ in edges:
        counts[owner + 1] += 1
    most = max(counts)
    for node in range(nodes):
        counts[node + 1] += counts[node]
    side = "sources" if turned else "destinations"
    starts = build.table(f"{what}: {side}, where their edges begin", counts)
    ends = build.table(f"{what}: others of the {side}", [edges[k][1] for k in order])
    numbers = build.table(f"{what}: weights of the {side}", order) if turned else None
    return EdgeTables(starts, ends, most, numbers)


def _loop(edges: EdgeTables) -> Turning:
    starts = edges.starts.number
    return Turning("k", f"b{starts}[i]", f"b{starts}[i + 1]", edges.most)


def forward(
    build: Building, what: str, x: Buffer, w: Buffer, edges: EdgeTables, out: Buffer
) -> None:
    """Add the kernel of the sum over the edges of each destination."""
    term = f"b{w.number}[k] * b{x.number}[n * INPUTS + b{edges.ends.number}[k]]"
    nest = LoopNest(term, (_loop(edges),), (), (("INPUTS", x.width),))
    build.kernel(f"{what}: product", FAMILY, FORWARD, out, nest)


def backward(
    build: Building, what: str, g: Buffer, w: Buffer, edges: EdgeTables, out: Buffer
) -> None:
    """Add the kernel of the sum over the edges of each source."""
    assert edges.numbers is not None
    weight = f"b{w.number}[b{edges.numbers.number}[k]]"
    term = f"{weight} * b{g.number}[n * OUTPUTS + b{edges.ends.number}[k]]"
    nest = LoopNest(term, (_loop(edges),), (), (("OUTPUTS", g.width),))
    build.kernel(f"{what}: error of the source", FAMILY, BACKWARD, out, nest)


def gradient(
    build: Building,
    what: str,
    x: Buffer,
    g: Buffer,
    destinations: Sequence[int],
    sources: Sequence[int],
    out: Buffer,
) -> None:
    """Add the kernel of the product of both ends of each edge, summed over samples."""
    first = build.table(f"{what}: destination of each edge", destinations)
    second = build.table(f"{what}: source of each edge", sources)
    term = f"b{g.number}[r * OUTPUTS + to] * b{x.number}[r * INPUTS + from_]"
    lets = (("to", f"b{first.number}[e]"), ("from_", f"b{second.number}[e]"))
    loop = Turning("r", "0", str(build.rows), build.rows)
    nest = LoopNest(term, (loop,), lets, (("OUTPUTS", g.width), ("INPUTS", x.width)))
    build.kernel(f"{what}: gradient", FAMILY, GRADIENT, out, nest)
