"""Coordinates of the boxes and wires of one level; knows no network and no format.

Boxes are in ranks from top to bottom, each below all its sources; wires that pass a rank have a
place of their own there, and those that close a loop lead back on the right. A level within a frame
also has ports, where wires from outside enter above and leave below.
"""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    Point = tuple[float, float]
    #: An item, or a port by its side and name.
    Key = int | tuple[str, str]

ENTRY, EXIT = "entry", "exit"
MARGIN = 16.0
RANK_GAP = 46.0
BOX_GAP = 28.0
DUMMY_WIDTH = 12.0
#: Between ways back that pass the same ranks.
LANE_GAP = 12.0
#: How often the ranks are sorted by their neighbours' places, down and up.
SWEEPS = 8
#: With more passages, long arrows take a lane at the side: every layer of a long chain that reads
#: the input would make as many passages as there are pairs of layers, and a picture as wide.
MOST_PASSAGES = 5_000


class Placed:
    """An item of a level: its size is known before the layout, its place afterwards."""

    __slots__ = ("height", "width", "x", "y")

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self.height = height
        self.x = 0.0
        self.y = 0.0


class Wire:
    """A wire from one item to another; None is the port of its name.

    `out` and `into` are where it leaves and enters a frame, from the left side of that frame,
    `leaves` and `arrives` how far from the middle of a box. `alone`: no other is merged with it.
    """

    __slots__ = (
        "alone",
        "arrives",
        "destination",
        "into",
        "leaves",
        "name",
        "out",
        "points",
        "returns",
        "source",
    )

    def __init__(
        self, source: Placed | None, destination: Placed | None, name: str, *, alone: bool
    ) -> None:
        self.source = source
        self.destination = destination
        self.name = name
        self.alone = alone
        #: Whether it carries a value of another step, so that its end may be above its start.
        self.returns = False
        self.out: float | None = None
        self.into: float | None = None
        self.leaves = 0.0
        self.arrives = 0.0
        self.points: list[Point] = []


class _Slot:
    """A place in a rank: a box, a port, or the passage of a long arrow."""

    __slots__ = ("above", "below", "height", "item", "low", "order", "rank", "width", "x", "y")

    def __init__(self, item: Placed | None, rank: int) -> None:
        self.item = item
        self.rank = rank
        self.width = DUMMY_WIDTH if item is None else item.width
        self.height = 0.0 if item is None else item.height
        self.x = 0.0
        self.y = 0.0
        #: Whether it is on the lower edge of its rank.
        self.low = False
        self.order = 0
        self.above: list[_Slot] = []
        self.below: list[_Slot] = []

    def at(self, offset: float | None) -> float:
        """Return where a wire meets it: at its middle without an offset."""
        return self.x + (self.width / 2 if offset is None else offset)


class Level:
    """Items and links laid out in coordinates of their own."""

    def __init__(
        self, items: list[Placed], links: list[Wire], *, near: bool, head: float, least: float
    ) -> None:
        """Lay out the items: `near` puts those without a source right above their first reader;
        `head` is the room above, `least` the smallest width.
        """
        self.width = 0.0
        self.height = 0.0
        #: The positions of the ports of links from and to the outside, from the left side.
        self.entries: dict[str, float] = {}
        self.exits: dict[str, float] = {}
        self._links = links
        self._head = head
        ranks = _ranks(items, links)
        lowered = _draw_near(ranks, links) if near else set()
        self._first = int(any(link.source is None for link in links))
        leaves = int(any(link.destination is None for link in links))
        count = max(ranks.values(), default=-1) + 1 + self._first
        self._rows: list[list[_Slot]] = [[] for _ in range(count + leaves)]
        self._slots: dict[Key, _Slot] = {}
        for item in items:
            self._enter(id(item), item, ranks[id(item)] + self._first)
            self._slots[id(item)].low = id(item) in lowered
        for link in links:
            if link.source is None:
                self._enter((ENTRY, link.name), None, 0)
            if link.destination is None:
                self._enter((EXIT, link.name), None, count)
        routes = self._routes()
        _order(self._rows)
        self._place(least)
        self._draw(routes)

    def _enter(self, key: Key, item: Placed | None, rank: int) -> None:
        if key not in self._slots:
            slot = self._slots[key] = _Slot(item, rank)
            self._rows[rank].append(slot)

    def _ends(self, link: Wire) -> tuple[_Slot, _Slot]:
        source = (ENTRY, link.name) if link.source is None else id(link.source)
        destination = (EXIT, link.name) if link.destination is None else id(link.destination)
        return self._slots[source], self._slots[destination]

    def _routes(self) -> list[list[_Slot]]:
        """Return the slots that each link passes, both ends included; existing wires are shared."""
        ends = [self._ends(link) for link in self._links]
        passages = sum(max(0, last.rank - first.rank - 1) for first, last in ends)
        through = passages <= MOST_PASSAGES
        known: dict[tuple[int, int, str], list[_Slot]] = {}
        routes = []
        for link, (first, last) in zip(self._links, ends, strict=True):
            key = (id(first), id(last), link.name)
            if link.alone or key not in known:
                known[key] = _route(first, last, self._rows if through else None)
            routes.append(known[key])
        return routes

    def _place(self, least: float) -> None:
        """Centre each rank on the widest one."""
        widths = [sum(slot.width for slot in row) + BOX_GAP * (len(row) - 1) for row in self._rows]
        whole = max([*widths, least])
        for row, width in zip(self._rows, widths, strict=True):
            left = MARGIN + (whole - width) / 2
            for slot in row:
                slot.x = left
                left += slot.width + BOX_GAP
                self.width = max(self.width, slot.x + slot.width + MARGIN)
        self.width = max(self.width, least)
        for key, slot in self._slots.items():
            if isinstance(key, tuple):
                ports = self.entries if key[0] == ENTRY else self.exits
                ports[key[1]] = slot.at(None)

    def _draw(self, routes: list[list[_Slot]]) -> None:
        heights = [max((slot.height for slot in row), default=0.0) for row in self._rows]
        top = 0.0 if self._first else self._head
        tops = []
        for rank, height in enumerate(heights):
            tops.append(top)
            for slot in self._rows[rank]:
                slot.y = top + (height - slot.height if slot.low else 0.0)
                if slot.item is not None:
                    slot.item.x, slot.item.y = slot.x, slot.y
            self.height = top + height
            top += height + RANK_GAP
        if heights and not self.exits:
            self.height += MARGIN
        lanes = _Lanes(self._rows, tops)
        for link, route in zip(self._links, routes, strict=True):
            first, last = route[0], route[-1]
            x, y = first.at(link.out) + link.leaves, first.y + first.height
            link.points = [(x, y)]
            below = tops[first.rank] + heights[first.rank]
            if last.rank <= first.rank:
                lane = lanes.between(last.rank, first.rank)
                link.points += [(lane, y), (lane, last.y)]
                self.width = max(self.width, lane + MARGIN)
            else:
                # What is lower than others in its rank is left straight until they end.
                link.points += [(x, below), (x, below)] if y < below else []
                for passage in route[1:-1]:
                    middle, top = passage.at(None), tops[passage.rank]
                    link.points += [(middle, top), (middle, top + heights[passage.rank])]
                link.points += _lane(below, tops[last.rank]) if len(route) == 2 else []
            link.points.append((last.at(link.into) + link.arrives, last.y))


def _ranks(items: list[Placed], links: list[Wire]) -> dict[int, int]:
    """Return the longest path from an input to each item; loops are cut at their delays, and other
    cycles where they are found.
    """
    sources: dict[int, list[int]] = {id(item): [] for item in items}
    for link in links:
        if link.source is not None and link.destination is not None and not link.returns:
            sources[id(link.destination)].append(id(link.source))
    ranks: dict[int, int] = {}
    for start in sources:
        stack = [start]
        entered: set[int] = set()
        while stack:
            name = stack[-1]
            waiting = [source for source in sources[name] if source not in ranks]
            waiting = [source for source in waiting if source not in entered]
            entered.add(name)
            if name in ranks or not waiting:
                stack.pop()
                above = [ranks[source] for source in sources[name] if source in ranks]
                ranks.setdefault(name, 1 + max(above, default=-1))
            else:
                stack.extend(waiting)
    return ranks


def _draw_near(ranks: dict[int, int], links: list[Wire]) -> set[int]:
    """Move items without a source right above their first reader; return those moved."""
    fed = {id(link.destination) for link in links}
    readers: dict[int, list[int]] = {}
    for link in links:
        source = id(link.source)
        if source in ranks and source not in fed and link.destination is not None:
            readers.setdefault(source, []).append(ranks[id(link.destination)])
    for item, found in readers.items():
        ranks[item] = max(0, min(found) - 1)
    return set(readers)


def _route(first: _Slot, last: _Slot, rows: list[list[_Slot]] | None) -> list[_Slot]:
    """Return the slots that a wire passes, both ends included; long ones add slots to `rows`."""
    if last.rank <= first.rank:
        return [first, last]
    passages = []
    if rows is not None:
        for rank in range(first.rank + 1, last.rank):
            passage = _Slot(None, rank)
            rows[rank].append(passage)
            passages.append(passage)
    route = [first, *passages, last]
    for upper, lower in pairwise(route):
        upper.below.append(lower)
        lower.above.append(upper)
    return route


def _order(rows: list[list[_Slot]]) -> None:
    """Sort each rank by the mean place of its neighbours, downwards and upwards in turn."""
    for row in rows:
        _number(row)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else rows[::-1]:
            row.sort(key=lambda slot: _mean(slot, slot.above if down else slot.below))
            _number(row)


def _number(row: list[_Slot]) -> None:
    for position, slot in enumerate(row):
        slot.order = position


def _mean(slot: _Slot, neighbours: list[_Slot]) -> float:
    if not neighbours:
        return float(slot.order)
    return sum(neighbour.order for neighbour in neighbours) / len(neighbours)


class _Lanes:
    """Ways upwards, each to the right of the ranks that it passes and apart from the others."""

    __slots__ = ("_edges", "_taken", "_tops")

    def __init__(self, rows: list[list[_Slot]], tops: list[float]) -> None:
        self._tops = tops
        self._edges = [max((slot.x + slot.width for slot in row), default=0.0) for row in rows]
        self._taken: list[tuple[float, int, int]] = []

    def between(self, top: int, bottom: int) -> float:
        """Reserve a way from one rank up to another; return its x."""
        x = max(self._edges[top : bottom + 1]) + LANE_GAP
        for taken, first, last in sorted(self._taken):
            if first <= bottom and top <= last and abs(taken - x) < LANE_GAP:
                x = taken + LANE_GAP
        self._taken.append((x, top, bottom))
        return x


def _lane(top: float, bottom: float) -> list[Point]:
    """Return the way along the left side for an arrow that passes ranks without a place there."""
    if bottom - top <= RANK_GAP:
        return []
    return [(MARGIN / 2, top + RANK_GAP / 2), (MARGIN / 2, bottom - RANK_GAP / 2)]
