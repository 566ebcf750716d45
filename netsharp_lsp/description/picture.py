"""Coordinates of each layer and each bundle of a described network; knows no file format.

A layer may be in nested frames, each of which is laid out as a level of its own. The coordinates
are computed here once, in pixels, and every view draws the same ones.
"""

from __future__ import annotations

from netsharp_lsp.description.level import MARGIN, Level, Placed, Wire
from netsharp_lsp.description.nodes import as_layers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Description = dict[str, Any]
    Point = tuple[float, float]

BOX_HEIGHT = 54.0
BOX_LEAST = 104.0
BOX_PADDING = 24.0
LETTER = 7.2
#: Names are bold.
NAME_LETTER = 8.6
#: The room for the label above the contents of a frame that nothing enters.
FRAME_HEAD = 32.0
#: Between bundles that join the same two layers.
PARALLEL_GAP = 16.0


class Box(Placed):
    """One layer: its place and its lines of text, `label` first.

    `cost` is its share of all multiply-adds.
    """

    __slots__ = ("cost", "kind", "label", "lines", "name")

    def __init__(
        self, name: str, label: str, kind: str, lines: tuple[str, ...], cost: float
    ) -> None:
        self.name = name
        self.label = label
        self.kind = kind
        self.lines = lines
        self.cost = cost
        longest = max(len(label) * NAME_LETTER, *(len(line) * LETTER for line in lines))
        super().__init__(max(BOX_LEAST, longest + BOX_PADDING), BOX_HEIGHT)


class Arrow:
    """One bundle: from the source's lower edge to the layer's upper edge, through `points`."""

    __slots__ = ("destination", "kind", "label", "points", "source")

    def __init__(self, source: str, destination: str, kind: str, label: str) -> None:
        self.source = source
        self.destination = destination
        self.kind = kind
        self.label = label
        self.points: list[Point] = []


class BoxFrame(Placed):
    """An open group: a level of its own within another; the whole picture's frame has no key."""

    __slots__ = ("items", "key", "label", "level", "links", "parent")

    def __init__(self, key: str, label: str, parent: BoxFrame | None) -> None:
        super().__init__(0.0, 0.0)
        self.key = key
        self.label = label
        self.parent = parent
        self.items: list[Placed] = []
        self.links: list[Wire] = []
        self.level: Level | None = None

    def lay_out(self, near: bool) -> None:
        """Lay out its contents; the frames in it are laid out already."""
        for link in self.links:
            if isinstance(link.source, BoxFrame) and link.source.level is not None:
                link.out = link.source.level.exits[link.name]
            if isinstance(link.destination, BoxFrame) and link.destination.level is not None:
                link.into = link.destination.level.entries[link.name]
        inside = self.parent is not None
        least = len(self.label) * NAME_LETTER + BOX_PADDING if inside else 0.0
        head = FRAME_HEAD if inside else MARGIN
        level = self.level = Level(self.items, self.links, near=near, head=head, least=least)
        self.width, self.height = level.width, level.height


class Picture:
    """A network laid out: boxes, arrows and frames in the order of the text, and the whole size."""

    __slots__ = ("arrows", "boxes", "frames", "height", "width")

    def __init__(self, boxes: list[Box], arrows: list[Arrow], frames: list[BoxFrame]) -> None:
        self.boxes = boxes
        self.arrows = arrows
        self.frames = frames
        self.width = 0.0
        self.height = 0.0


def lay_out(description: Description) -> Picture:
    """Lay a description out; equal descriptions give equal pictures."""
    layers = description["layers"] or as_layers(description)
    boxes = {layer["name"]: _box(layer, description["multiply_adds"]) for layer in layers}
    frames = {"": BoxFrame("", "", None)}
    for one in description.get("frames", ()):
        around = frames[one["within"]]
        frames[one["key"]] = BoxFrame(one["key"], one["label"], around)
        around.items.append(frames[one["key"]])
    homes = {layer["name"]: frames[layer.get("within", "")] for layer in layers}
    for name, box in boxes.items():
        homes[name].items.append(box)
    arrows = []
    wires = []
    for layer in layers:
        for bundle in layer["bundles"]:
            source, name = bundle["source"], layer["name"]
            if source in boxes:
                arrows.append(Arrow(source, name, bundle["kind"], _label(bundle)))
                wires.append(_wire((boxes[source], homes[source]), (boxes[name], homes[name])))
                for _, link in wires[-1]:
                    link.returns = bool(bundle.get("delayed"))
    for wire, shift in zip(wires, _shifts(arrows), strict=True):
        wire[0][1].leaves = wire[-1][1].arrives = shift
    for frame in reversed(frames.values()):
        frame.lay_out("nodes" in description)
    whole, *inner = frames.values()
    for frame in inner:
        _move(frame, frame.parent)
    for name, box in boxes.items():
        _move(box, homes[name])
    for arrow, wire in zip(arrows, wires, strict=True):
        arrow.points = [(x + at.x, y + at.y) for at, link in wire for x, y in link.points]
    picture = Picture(list(boxes.values()), arrows, inner)
    picture.width, picture.height = whole.width, whole.height
    return picture


def _wire(
    source: tuple[Box, BoxFrame], destination: tuple[Box, BoxFrame]
) -> list[tuple[BoxFrame, Wire]]:
    """Return the links of an arrow with the frames that contain them: out of those around its
    source, and into those around its destination.
    """
    (first, out), (last, into) = source, destination
    outside = _around(into)
    way: list[tuple[BoxFrame, Placed | None, Placed | None]] = []
    upper: Placed = first
    while out not in outside:
        way.append((out, upper, None))
        assert out.parent is not None
        upper, out = out, out.parent
    inner: list[tuple[BoxFrame, Placed | None, Placed | None]] = []
    lower: Placed = last
    while into is not out:
        inner.append((into, None, lower))
        assert into.parent is not None
        lower, into = into, into.parent
    wire = []
    for at, one, other in (*way, (out, upper, lower), *reversed(inner)):
        alone = isinstance(one, Box) and isinstance(other, Box)
        wire.append((at, Wire(one, other, first.name, alone=alone)))
        at.links.append(wire[-1][1])
    return wire


def _around(frame: BoxFrame | None) -> list[BoxFrame]:
    """Return a frame and those around it."""
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.parent
    return found


def _move(item: Placed, into: BoxFrame | None) -> None:
    """Move an item to the coordinates of the whole picture; its frame has them already."""
    if into is not None:
        item.x += into.x
        item.y += into.y


def drawn(picture: Picture) -> dict[str, Any]:
    """Return a picture as JSON: `boxes` by layer, `arrows` in the order of the connections."""
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
        "frames": {
            frame.key: {
                "x": frame.x,
                "y": frame.y,
                "width": frame.width,
                "height": frame.height,
            }
            for frame in picture.frames
        },
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
    return Box(
        layer["name"],
        str(layer.get("label", layer["name"])),
        layer["kind"],
        tuple(lines),
        known / total if total else 0.0,
    )


def _leader(layer: Description) -> str | None:
    """Return the layer whose parameters this one shares entirely; None where it has its own."""
    learnt = [bundle["shared_with"] for bundle in layer["bundles"] if bundle["parameters"]]
    names = {None if shared is None else shared.rpartition(" => ")[2] for shared in learnt}
    return names.pop() if len(names) == 1 else None


def _label(bundle: Description) -> str:
    if bundle["kind"] == "value":
        return ""
    kernels = f", {bundle['kernels']:,} kernels" if bundle["kernels"] else ""
    return f"{bundle['kind']}{kernels}"


def _shifts(arrows: list[Arrow]) -> list[float]:
    """Return the sideways offset of each arrow, so that parallel ones are apart."""
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
