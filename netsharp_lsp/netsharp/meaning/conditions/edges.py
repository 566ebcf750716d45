"""The edges of a filtered bundle: which pairs of nodes are connected, by groups of indices.

Plain values; `predicates` creates and counts them.
"""

from __future__ import annotations

from itertools import product as grid

from netsharp_engine.geometry import product

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.netsharp.findings import Finding
    from netsharp_lsp.netsharp.meaning.conditions.blocks import PairBlock
    from netsharp_lsp.netsharp.meaning.conditions.terms import Group

    Shape = tuple[int, ...]


class Edges:
    """The edges of a filtered bundle, by independent groups of indices.

    `count` is None until the groups are walked, which `check` leaves out above `EVALUATION_LIMIT`
    evaluations and others do in blocks. `faults` are findings about the condition. The pairs of a
    group may be dropped; they are computed again on request.
    """

    def __init__(self, source: Shape, destination: Shape) -> None:
        self.source = source
        self.destination = destination
        #: Whether the pairs are few enough to be kept while rules ask for them.
        self.few = True
        self.groups: list[Group] = []
        self.faults: list[Finding] = []
        #: Whether every part of the condition is known; the code that finds the reason reports it.
        self.known = True
        self.evaluations = 0
        self.count: int | None = None
        #: The limit within which they could not be counted.
        self.beyond = 0
        self._pattern: int | None = None

    @property
    def sound(self) -> bool:
        """Return whether the condition can be walked."""
        return self.known and not self.faults

    @property
    def unused_destination_indices(self) -> list[int]:
        """Return the dimensions of the destination that the condition never reads."""
        used = {i for group in self.groups for i in group.destinations}
        return [i for i in range(len(self.destination)) if i not in used]

    def drop_pairs(self) -> None:
        """Drop the pairs, which take far more memory than their count."""
        for group in self.groups:
            group.rows = {}

    def _find(self) -> None:
        for group in self.groups:
            if not group.rows:
                group.keep(self.source, self.destination)

    def empty_destinations(self) -> tuple[int, Shape | None]:
        """Return the number of destination nodes without an edge, and the first of them."""
        self._find()
        filled = {id(g): {d for d, sources in g.rows.items() if sources} for g in self.groups}
        parts = [(group.destinations, filled[id(group)]) for group in self.groups]
        return gaps(self.destination, parts)

    def unused_sources(self) -> tuple[int, Shape | None]:
        """Return the number of source nodes without an edge, and the first of them."""
        self._find()
        parts = []
        for group in self.groups:
            reached = {s for sources in group.rows.values() for s in sources}
            parts.append((group.sources, reached))
        return gaps(self.source, parts)

    def _blocks(self, group: Group) -> Iterable[PairBlock]:
        from netsharp_lsp.netsharp.meaning.conditions.blocks import BlockWalk, PairBlock

        if not self.few:
            return BlockWalk(group, self.source, self.destination)
        rows = group.rows.items() or group.walk(self.source, self.destination)
        return (PairBlock((), (), rows),)

    def count_blocks(self, allowed: int) -> int:
        """Count the edges in blocks; return the number of evaluations.

        Leaves `count` None above ``allowed`` evaluations. Raises as `Group.walk` does.
        """
        from netsharp_lsp.netsharp.meaning.conditions.blocks import (
            BlockWalk,
            TooCostlyError,
            counted,
        )

        count, spent = 1, 0
        for group in self.groups:
            walk = BlockWalk(group, self.source, self.destination, allowed - spent)
            try:
                count *= counted(walk)
            except TooCostlyError:
                return allowed
            spent += walk.spent
        self.count = count * self._free_pairs()
        return spent

    def count_pairs(self) -> None:
        """Count the edges pair by pair and keep them.  Raises as `Group.walk` does."""
        count = self._free_pairs()
        for group in self.groups:
            count *= group.keep(self.source, self.destination)
        self.count = count

    def _free_pairs(self) -> int:
        """Return the number of pairs of nodes that differ only in indices that no term reads."""
        sources = free_of(self.source, [group.sources for group in self.groups])
        destinations = free_of(self.destination, [group.destinations for group in self.groups])
        return product(
            (*(self.source[i] for i in sources), *(self.destination[i] for i in destinations))
        )

    def pattern(self) -> int:
        """Return a number that is equal for two bundles of one size if they have the same edges."""
        from netsharp_lsp.netsharp.meaning.conditions import blocks

        if self._pattern is None:
            sides = (
                (blocks.SOURCE, self.source, [group.sources for group in self.groups]),
                (blocks.DESTINATION, self.destination, [g.destinations for g in self.groups]),
            )
            found, powers = 1, []
            for base, shape, grouped in sides:
                step = steps(shape)
                powers.append([blocks.Powers(base, [step[i] for i in one]) for one in grouped])
                free = free_of(shape, grouped)
                over_free = blocks.Powers(base, [step[i] for i in free])
                found *= over_free.over([range(shape[i]) for i in free])
            for group, sources, destinations in zip(self.groups, *powers, strict=True):
                found *= blocks.pattern(self._blocks(group), sources, destinations)
            self._pattern = found % blocks.PRIME
        return self._pattern

    def pairs(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each destination node with its source nodes, both as flat indices in order."""
        from netsharp_lsp.netsharp.meaning.conditions.blocks import source_offsets

        source_steps, destination_steps = steps(self.source), steps(self.destination)
        free = free_of(self.source, [group.sources for group in self.groups])
        spread = offsets(
            [tuple(p) for p in grid(*(range(self.source[i]) for i in free))], free, source_steps
        )
        lists: list[dict[Shape, list[int]]] = [
            source_offsets(
                self._blocks(group),
                grid(*(range(self.destination[i]) for i in group.destinations)),
                [source_steps[i] for i in group.sources],
            )
            for group in self.groups
        ]
        for node in grid(*(range(size) for size in self.destination)):
            sums = spread
            for group, rows in zip(self.groups, lists, strict=True):
                part = rows[tuple(node[i] for i in group.destinations)]
                sums = [left + right for left in sums for right in part]
            flat = sum(i * step for i, step in zip(node, destination_steps, strict=True))
            yield flat, sorted(sums)


def steps(shape: Shape) -> list[int]:
    """Return the distance of neighbours in each dimension, row-major."""
    return [product(shape[i + 1 :]) for i in range(len(shape))]


def free_of(shape: Shape, grouped: list[list[int]]) -> list[int]:
    """Return the dimensions that are in none of the groups."""
    used = {i for group in grouped for i in group}
    return [i for i in range(len(shape)) if i not in used]


def offsets(parts: list[Shape], dimensions: list[int], step: list[int]) -> list[int]:
    """Return flat offsets of index parts."""
    return [sum(i * step[d] for i, d in zip(part, dimensions, strict=True)) for part in parts]


def gaps(shape: Shape, parts: list[tuple[list[int], set[Shape]]]) -> tuple[int, Shape | None]:
    """Return the number of nodes with an index part outside its set, and the first of them."""
    inside = product(shape)
    first: Shape | None = None
    for dimensions, valid in parts:
        everything = [range(shape[i]) for i in dimensions]
        inside = inside // product(tuple(len(r) for r in everything)) * len(valid)
        for part in grid(*everything):
            if part not in valid:
                node = [0] * len(shape)
                for i, index in zip(dimensions, part, strict=True):
                    node[i] = index
                first = tuple(node) if first is None else min(first, tuple(node))
                break
    return product(shape) - inside, first
