"""Where each layer and each bundle of a described network is drawn; knows no file format.

Layers stand in ranks from top to bottom, each below all its sources; edges that pass a rank
get a place of their own there, and those that close a loop lead back at the right.  The
coordinates are computed here once, in pixels, and every view draws the same ones.
"""

from __future__ import annotations

from itertools import pairwise

from netsharp_lsp.description.nodes import as_layers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Description = dict[str, Any]
    Point = tuple[float, float]

MARGIN = 16.0
BOX_HEIGHT = 54.0
RANK_GAP = 46.0
BOX_GAP = 28.0
BOX_LEAST = 104.0
BOX_PADDING = 24.0
LETTER = 7.2
#: Names are bold.
NAME_LETTER = 8.6
DUMMY_WIDTH = 12.0
#: Between bundles that join the same two layers.
PARALLEL_GAP = 16.0
#: Between ways back that pass the same ranks.
LANE_GAP = 12.0
#: How often the ranks are put in order by their neighbours' places, down and up.
SWEEPS = 8
#: With more passages, long arrows take a lane at the side: every layer of a long chain that reads
#: the input would make as many passages as there are pairs of layers, and a picture as wide.
MOST_PASSAGES = 5_000


class Box:
    """One layer: its place and what stands in it.  `cost` is its share of all multiply-adds."""

    __slots__ = ("cost", "height", "kind", "lines", "name", "width", "x", "y")

    def __init__(self, name: str, kind: str, lines: tuple[str, ...], cost: float) -> None:
        self.name = name
        self.kind = kind
        self.lines = lines
        self.cost = cost
        longest = max(len(name) * NAME_LETTER, *(len(line) * LETTER for line in lines))
        self.width = max(BOX_LEAST, longest + BOX_PADDING)
        self.height = BOX_HEIGHT
        self.x = 0.0
        self.y = 0.0


class Arrow:
    """One bundle: from the source's lower edge to the layer's upper edge, through `points`."""

    __slots__ = ("destination", "kind", "label", "points", "source")

    def __init__(self, source: str, destination: str, kind: str, label: str) -> None:
        self.source = source
        self.destination = destination
        self.kind = kind
        self.label = label
        self.points: list[Point] = []


class Picture:
    """A network laid out: boxes and arrows in the order of the text, and the whole size."""

    __slots__ = ("arrows", "boxes", "height", "width")

    def __init__(self, boxes: list[Box], arrows: list[Arrow]) -> None:
        self.boxes = boxes
        self.arrows = arrows
        self.width = 0.0
        self.height = 0.0


class _Slot:
    """A place in a rank: a box, or the passage of a long arrow."""

    __slots__ = ("above", "below", "box", "order", "width", "x")

    def __init__(self, box: Box | None) -> None:
        self.box = box
        self.width = DUMMY_WIDTH if box is None else box.width
        self.x = 0.0
        self.order = 0
        self.above: list[_Slot] = []
        self.below: list[_Slot] = []


def lay_out(description: Description) -> Picture:
    """Lay a description out; the same description always gives the same picture."""
    layers = description["layers"] or as_layers(description)
    boxes = {layer["name"]: _box(layer, description["multiply_adds"]) for layer in layers}
    ranks = _ranks(layers)
    arrows: list[Arrow] = []
    routes: list[list[_Slot]] = []
    slots = {name: _Slot(box) for name, box in boxes.items()}
    rows: list[list[_Slot]] = [[] for _ in range(max(ranks.values(), default=-1) + 1)]
    through = _passages(layers, ranks) <= MOST_PASSAGES
    for layer in layers:
        rows[ranks[layer["name"]]].append(slots[layer["name"]])
    for layer in layers:
        for bundle in layer["bundles"]:
            if bundle["source"] in boxes:
                arrow = Arrow(bundle["source"], layer["name"], bundle["kind"], _label(bundle))
                arrows.append(arrow)
                routes.append(_route(slots, ranks, arrow, rows if through else None))
    _order(rows)
    _place(rows)
    picture = Picture(list(boxes.values()), arrows)
    _draw(picture, rows, routes)
    return picture


def drawn(picture: Picture) -> dict[str, Any]:
    """A picture as JSON: `boxes` by layer, `arrows` in the order of the connections."""
    return {
        "width": picture.width,
        "height": picture.height,
        "boxes": {
            box.name: {
                "x": box.x,
                "y": box.y,
                "width": box.width,
                "height": box.height,
                "cost": box.cost,
                "lines": list(box.lines),
            }
            for box in picture.boxes
        },
        "arrows": [
            {
                "source": arrow.source,
                "destination": arrow.destination,
                "kind": arrow.kind,
                "label": arrow.label,
                "points": [list(point) for point in arrow.points],
            }
            for arrow in picture.arrows
        ],
    }


def _box(layer: Description, total: int | None) -> Box:
    shape = "auto" if layer["shape"] is None else str(layer["shape"])
    lines = [f"{shape} {layer['activation']}" if layer["activation"] else shape]
    leader = _leader(layer)
    if leader is not None:
        lines.append(f"shares with {leader}")
    elif layer["parameters"]:
        lines.append(f"{layer['parameters']:,} parameters")
    costs = [bundle["multiply_adds"] for bundle in layer["bundles"]]
    known = sum(cost for cost in costs if cost is not None)
    return Box(layer["name"], layer["kind"], tuple(lines), known / total if total else 0.0)


def _leader(layer: Description) -> str | None:
    """The layer from which this one has all that it learns; None where it learns by itself."""
    learnt = [bundle["shared_with"] for bundle in layer["bundles"] if bundle["parameters"]]
    names = {None if shared is None else shared.rpartition(" => ")[2] for shared in learnt}
    return names.pop() if len(names) == 1 else None


def _label(bundle: Description) -> str:
    if bundle["kind"] == "value":
        return ""
    kernels = f", {bundle['kernels']:,} kernels" if bundle["kernels"] else ""
    return f"{bundle['kind']}{kernels}"


def _ranks(layers: Iterable[Description]) -> dict[str, int]:
    """The longest way from an input, for each layer; loops are cut where they are delayed, and
    cycles that are no loops where they are met.
    """
    sources = {
        layer["name"]: [one["source"] for one in layer["bundles"] if not one.get("delayed")]
        for layer in layers
    }
    ranks: dict[str, int] = {}
    for start in sources:
        stack = [start]
        entered: set[str] = set()
        while stack:
            name = stack[-1]
            waiting = [s for s in sources[name] if s in sources and s not in ranks]
            waiting = [source for source in waiting if source not in entered]
            entered.add(name)
            if name in ranks or not waiting:
                stack.pop()
                above = [ranks[source] for source in sources[name] if source in ranks]
                ranks.setdefault(name, 1 + max(above, default=-1))
            else:
                stack.extend(waiting)
    return ranks


def _passages(layers: Iterable[Description], ranks: dict[str, int]) -> int:
    """How many ranks all arrows together pass."""
    return sum(
        max(0, ranks[layer["name"]] - ranks[bundle["source"]] - 1)
        for layer in layers
        for bundle in layer["bundles"]
        if bundle["source"] in ranks
    )


def _route(
    slots: dict[str, _Slot], ranks: dict[str, int], arrow: Arrow, rows: list[list[_Slot]] | None
) -> list[_Slot]:
    """The slots that an arrow passes, both ends included; long arrows make new ones in `rows`."""
    first, last = ranks[arrow.source], ranks[arrow.destination]
    passages = []
    if last <= first:
        return [slots[arrow.source], slots[arrow.destination]]
    if rows is not None:
        for row in rows[first + 1 : last]:
            passage = _Slot(None)
            row.append(passage)
            passages.append(passage)
    route = [slots[arrow.source], *passages, slots[arrow.destination]]
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


def _place(rows: list[list[_Slot]]) -> None:
    """Centre each rank on the widest one."""
    widths = [sum(slot.width for slot in row) + BOX_GAP * (len(row) - 1) for row in rows]
    whole = max(widths, default=0.0)
    for row, width in zip(rows, widths, strict=True):
        left = MARGIN + (whole - width) / 2
        for slot in row:
            slot.x = left
            left += slot.width + BOX_GAP


def _draw(picture: Picture, rows: list[list[_Slot]], routes: list[list[_Slot]]) -> None:
    tops: dict[int, float] = {}
    for rank, row in enumerate(rows):
        top = MARGIN + rank * (BOX_HEIGHT + RANK_GAP)
        for slot in row:
            tops[id(slot)] = top
            if slot.box is not None:
                slot.box.x, slot.box.y = slot.x, top
            picture.width = max(picture.width, slot.x + slot.width + MARGIN)
            picture.height = top + BOX_HEIGHT + MARGIN
    lanes = _Lanes(rows, tops)
    for arrow, route, shift in zip(picture.arrows, routes, _shifts(picture.arrows), strict=True):
        arrow.points = [(route[0].x + route[0].width / 2 + shift, tops[id(route[0])] + BOX_HEIGHT)]
        for passage in route[1:-1]:
            middle = passage.x + passage.width / 2
            top = tops[id(passage)]
            arrow.points += [(middle, top), (middle, top + BOX_HEIGHT)]
        end = route[-1]
        if tops[id(end)] <= tops[id(route[0])]:
            lane = lanes.between(tops[id(end)], tops[id(route[0])])
            arrow.points += [(lane, arrow.points[0][1]), (lane, tops[id(end)])]
            picture.width = max(picture.width, lane + MARGIN)
        elif len(route) == 2:
            arrow.points += _lane(arrow.points[0][1], tops[id(end)])
        arrow.points.append((end.x + end.width / 2 + shift, tops[id(end)]))


class _Lanes:
    """Ways upwards, each to the right of the ranks that it passes and apart from the others."""

    __slots__ = ("_edges", "_taken")

    def __init__(self, rows: list[list[_Slot]], tops: dict[int, float]) -> None:
        self._edges = {
            tops[id(row[0])]: max(slot.x + slot.width for slot in row) for row in rows if row
        }
        self._taken: list[tuple[float, float, float]] = []

    def between(self, top: float, bottom: float) -> float:
        """Take a way from one rank up to another, by their upper edges; its x."""
        passed = [edge for place, edge in self._edges.items() if top <= place <= bottom]
        x = max(passed) + LANE_GAP
        for taken, first, last in sorted(self._taken):
            if first <= bottom and top <= last and abs(taken - x) < LANE_GAP:
                x = taken + LANE_GAP
        self._taken.append((x, top, bottom))
        return x


def _lane(top: float, bottom: float) -> list[Point]:
    """The way along the left side for an arrow that passes ranks without a place there."""
    if bottom - top <= RANK_GAP:
        return []
    return [(MARGIN / 2, top + RANK_GAP / 2), (MARGIN / 2, bottom - RANK_GAP / 2)]


def _shifts(arrows: list[Arrow]) -> list[float]:
    """How far to the side each arrow stands, so that parallel ones stay apart."""
    seen: dict[tuple[str, str], int] = {}
    number = []
    for arrow in arrows:
        key = (arrow.source, arrow.destination)
        number.append(seen.get(key, 0))
        seen[key] = number[-1] + 1
    return [
        (position - (seen[(arrow.source, arrow.destination)] - 1) / 2) * PARALLEL_GAP
        for position, arrow in zip(number, arrows, strict=True)
    ]
