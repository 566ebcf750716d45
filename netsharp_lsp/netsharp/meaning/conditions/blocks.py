"""The edges of a group of indices in blocks: where a condition is true for all pairs of ranges.

A block of pairs is evaluated at once (`spans`), halved where that gives no result, and evaluated
pair by pair where it is small: the time grows with the border between true and false.
"""

from __future__ import annotations

from itertools import product as grid
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.geometry import product
from netsharp_lsp.netsharp.meaning.values.evaluate import UndefinedValueError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from netsharp_lsp.netsharp.meaning.conditions.spans import RangeTruth
    from netsharp_lsp.netsharp.meaning.conditions.terms import Group

    Shape = tuple[int, ...]
    Ranges = tuple[range, ...]
    Rows = Iterable[tuple[Shape, list[Shape]]]

#: Pairs with at most this many evaluations are evaluated one by one.
SMALL = 1024
#: The cost of evaluating a block, in evaluations.
LOOK = 64
#: A condition of more operations is evaluated pair by pair: a block would take too long.
MOST_WEIGHT = 1_000
#: A prime, and the bases of the powers that stand for a source and for a destination.
PRIME = 2**127 - 1
SOURCE, DESTINATION = 0x2545F4914F6CDD1D9E3779B97F4A7C15, 0x1B873593CC9E2D51C2B2AE3D27D4EB4F


class TooCostlyError(Exception):
    """The blocks take more evaluations than are allowed."""


class PairBlock(NamedTuple):
    """Ranges of indices, and which of the pairs are connected: None for all of them."""

    sources: Ranges
    destinations: Ranges
    rows: Rows | None


class BlockWalk:
    """The blocks of one group between two layers; `spent` counts the evaluations.

    Yields all blocks that have edges; raises `TooCostlyError` above `allowed` evaluations, and at
    its end the exception of the first pair without a value.
    """

    def __init__(
        self, group: Group, source: Shape, destination: Shape, allowed: int | None = None
    ) -> None:
        self.group = group
        self.source = tuple(range(source[i]) for i in group.sources)
        self.destination = tuple(range(destination[i]) for i in group.destinations)
        self.ranks = len(source), len(destination)
        self.allowed = allowed
        self.spent = 0
        self.names = [f"s{i}" for i in group.sources] + [f"d{i}" for i in group.destinations]
        self._row_of = group.row_finder()
        #: The first pair known to have no value, and why.
        self._first: tuple[Shape, Shape] | None = None
        self._fault: Exception | None = None

    def __iter__(self) -> Iterator[PairBlock]:
        truth_in = self._truth_in()
        yield from self._row_by_row() if truth_in is None else self._halved(truth_in)
        if self._fault is not None:
            raise self._fault

    def _truth_in(self) -> RangeTruth | None:
        if sum(term.weight for term in self.group.terms) > MOST_WEIGHT:
            return None
        from netsharp_lsp.netsharp.meaning.conditions.spans import truth_of

        return truth_of(self.group.condition)

    def _row_by_row(self) -> Iterator[PairBlock]:
        whole = grid(*((range(index, index + 1) for index in one) for one in self.destination))
        for destinations in whole:
            yield self._evaluated_pairs(self.source, destinations)
            if self._fault is not None:
                return

    def _halved(self, truth_in: RangeTruth) -> Iterator[PairBlock]:
        middle = len(self.source)
        blocks = [(*self.source, *self.destination)]
        periods = self._periods()
        while blocks:
            block = blocks.pop()
            sources, destinations = block[:middle], block[middle:]
            if self._is_after_the_fault(sources, destinations):
                continue
            self._count_evaluations(LOOK)
            truth = truth_in(dict(zip(self.names, block, strict=True)))
            if truth is not None:
                if truth:
                    yield PairBlock(sources, destinations, None)
            elif periods:
                blocks += _by_residues(block, periods)
                periods = []
            elif (
                pairs := product(tuple(map(len, block)))
            ) * self.group.cost <= SMALL or pairs == 1:
                yield self._evaluated_pairs(sources, destinations)
            else:
                blocks += _halves(block)

    def _periods(self) -> list[int]:
        """Return the period of the condition in each index; none if that makes too many blocks."""
        from netsharp_lsp.netsharp.meaning.conditions.spans import periods_of

        known = periods_of(self.group.condition)
        periods = [known.get(name, 1) for name in self.names]
        pairs = product(tuple(map(len, (*self.source, *self.destination))))
        return periods if 1 < product(tuple(periods)) <= pairs // SMALL else []

    def _evaluated_pairs(self, sources: Ranges, destinations: Ranges) -> PairBlock:
        pairs = product(tuple(map(len, (*sources, *destinations))))
        self._count_evaluations(pairs * self.group.cost)
        rows = []
        for part in grid(*destinations):
            try:
                rows.append((part, self._row_of(*part, *sources)))
            except (UndefinedValueError, OverflowError):
                self._note_fault(part, sources)
                break
        return PairBlock(sources, destinations, rows)

    def _note_fault(self, part: Shape, sources: Ranges) -> None:
        candidate, fault = self.group.first_fault(part, sources, *self.ranks)
        if self._first is None or (part, candidate) < self._first:
            self._first, self._fault = (part, candidate), fault

    def _is_after_the_fault(self, sources: Ranges, destinations: Ranges) -> bool:
        if self._first is None:
            return False
        return (_first(destinations), _first(sources)) > self._first

    def _count_evaluations(self, evaluations: int) -> None:
        self.spent += evaluations
        if self.allowed is not None and self.spent > self.allowed:
            raise TooCostlyError


def _first(ranges: Ranges) -> Shape:
    return tuple(one[0] for one in ranges)


def _by_residues(block: Ranges, periods: list[int]) -> list[Ranges]:
    """Return the parts of a block in which every index has one remainder by its period."""
    parts = [
        [one[at::period] for at in range(min(period, len(one)))]
        for one, period in zip(block, periods, strict=True)
    ]
    return list(grid(*parts))


def _halves(block: Ranges) -> tuple[Ranges, Ranges]:
    """Return a block cut in the middle of its longest range, the second half first."""
    at = max(range(len(block)), key=lambda place: len(block[place]))
    middle = len(block[at]) // 2
    return (
        (*block[:at], block[at][middle:], *block[at + 1 :]),
        (*block[:at], block[at][:middle], *block[at + 1 :]),
    )


def counted(blocks: Iterable[PairBlock]) -> int:
    """Return the number of connected pairs."""
    count = 0
    for block in blocks:
        if block.rows is None:
            count += product(tuple(map(len, (*block.sources, *block.destinations))))
        else:
            count += sum(len(row) for _part, row in block.rows)
    return count


def source_offsets(
    blocks: Iterable[PairBlock], destinations: Iterable[Shape], steps: Sequence[int]
) -> dict[Shape, list[int]]:
    """Return for each part of a destination's indices the flat offsets of its sources."""
    found: dict[Shape, list[int]] = {part: [] for part in destinations}
    for block in blocks:
        if block.rows is None:
            spread = [_offset(part, steps) for part in grid(*block.sources)]
            for part in grid(*block.destinations):
                found[part] += spread
        else:
            for part, row in block.rows:
                found[part] += [_offset(one, steps) for one in row]
    return found


def _offset(part: Shape, steps: Sequence[int]) -> int:
    return sum(i * step for i, step in zip(part, steps, strict=True))


class Powers:
    """Sums of powers of a base, one for each node of a layer, by the ranges of its indices."""

    def __init__(self, base: int, steps: Sequence[int]) -> None:
        self._bases = [pow(base, step, PRIME) for step in steps]
        self._sums: dict[tuple[int, range], int] = {}
        self._powers: dict[Shape, int] = {}

    def over(self, ranges: Sequence[range]) -> int:
        """Return the sum over all nodes whose indices are in the ranges."""
        found = 1
        for place, one in enumerate(ranges):
            known = self._sums.get((place, one))
            if known is None:
                known = self._sums[place, one] = _geometric(self._bases[place], one)
            found = found * known % PRIME
        return found

    def of(self, part: Shape) -> int:
        """Return the power of one node."""
        known = self._powers.get(part)
        if known is None:
            known = 1
            for base, index in zip(self._bases, part, strict=True):
                known = known * pow(base, index, PRIME) % PRIME
            self._powers[part] = known
        return known


def _geometric(base: int, indices: range) -> int:
    first, ratio = pow(base, indices[0], PRIME), pow(base, indices.step, PRIME)
    if len(indices) == 1:
        return first
    whole = (pow(ratio, len(indices), PRIME) - 1) * pow(ratio - 1, -1, PRIME)
    return first * whole % PRIME


def pattern(blocks: Iterable[PairBlock], sources: Powers, destinations: Powers) -> int:
    """Return the sum over all edges of a power for the source times one for the destination.

    It does not depend on the blocks, and two patterns of edges have one sum only by chance.
    """
    total = 0
    for block in blocks:
        if block.rows is None:
            total += sources.over(block.sources) * destinations.over(block.destinations)
        else:
            for part, row in block.rows:
                total += sum(map(sources.of, row)) * destinations.of(part)
    return total % PRIME
