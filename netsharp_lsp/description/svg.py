"""A described network as an SVG picture that follows the viewer's light or dark theme."""

from __future__ import annotations

from html import escape

from netsharp_lsp.description.picture import lay_out
from netsharp_lsp.text.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from netsharp_lsp.description.picture import Arrow, Box, BoxFrame

STYLE = """
  svg { font: 12px ui-sans-serif, system-ui, sans-serif; color-scheme: light dark; }
  .paper { fill: #ffffff; } .name { font-weight: 600; fill: #1a1f29; } .text { fill: #4a5262; }
  .label { font-size: 10px; fill: #6b7485; stroke: #ffffff;
    stroke-width: 4px; paint-order: stroke; } .box { stroke: #5b6577; stroke-width: 1.2; }
  .arrow { fill: none; stroke-width: 1.4; } .head { stroke: none; }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #15181e; } .name { fill: #eef1f6; } .text { fill: #b6becc; }
    .label { fill: #98a1b2; stroke: #15181e; } .box { stroke: #8893a7; }
  }
"""

#: The colour of each kind of bundle; readable on light and dark paper.
COLORS = {
    "all": "#4c78a8",
    "where": "#b279a2",
    "convolve": "#e4772e",
    "max pool": "#4f9d5d",
    "mean pool": "#3f9c95",
    "response norm": "#b8962e",
    "value": "#4c78a8",
    "delay": "#b279a2",
}
UNKNOWN_COLOR = "#888888"
#: What tints a box by its share of the cost.
HEAT = "#e4772e"
#: The width of the bend of an arrow that turns around.
TURN = 20.0
ROUNDING = {"input": 22, "hidden": 6, "output": 6}


def render_svg(description: dict[str, Any]) -> str:
    """Return the picture of a description as a standalone SVG document."""
    picture = lay_out(description)
    width, height = _number(picture.width), _number(picture.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="Network">',
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
    ]
    parts += [_frame(frame) for frame in picture.frames]
    parts += [_arrow(arrow) for arrow in picture.arrows]
    parts += [_box(box) for box in picture.boxes]
    return "\n".join([*parts, "</svg>", ""])


def _escaped(text: str) -> str:
    return escape(visible(text))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _frame(frame: BoxFrame) -> str:
    """Return an open group; its label is above its upper edge, to the left of the arrows."""
    x, y, width, height = (_number(v) for v in (frame.x, frame.y, frame.width, frame.height))
    return (
        f'<g class="group" data-key="{_escaped(frame.key)}">'
        f'<rect fill="none" stroke="{UNKNOWN_COLOR}" stroke-dasharray="4 3" '
        f'x="{x}" y="{y}" width="{width}" height="{height}" rx="{ROUNDING["hidden"]}"/>'
        f'<text class="name" x="{_number(frame.x + 8)}" y="{_number(frame.y + 16)}">'
        f"{_escaped(frame.label)}</text></g>"
    )


def _box(box: Box) -> str:
    x, y, width, height = (_number(v) for v in (box.x, box.y, box.width, box.height))
    middle = _number(box.x + box.width / 2)
    shape = f'x="{x}" y="{y}" width="{width}" height="{height}" rx="{ROUNDING[box.kind]}"'
    lines = [
        f'<g class="layer {box.kind}" data-name="{_escaped(box.name)}">',
        f'<rect class="paper" {shape}/>',
        f'<rect class="box" {shape} fill="{HEAT}" fill-opacity="{0.06 + 0.44 * box.cost:.2f}"/>',
        f'<text class="name" x="{middle}" y="{_number(box.y + 18)}" text-anchor="middle">'
        f"{_escaped(box.label)}</text>",
    ]
    lines += [
        f'<text class="text" x="{middle}" y="{_number(box.y + 18 + 14 * number)}" '
        f'text-anchor="middle">{_escaped(line)}</text>'
        for number, line in enumerate(box.lines, 1)
    ]
    return "\n".join([*lines, "</g>"])


def _arrow(arrow: Arrow) -> str:
    color = COLORS.get(arrow.kind, UNKNOWN_COLOR)
    path = _path(arrow.points)
    x, y = arrow.points[-1]
    head = f"M{_number(x - 4)} {_number(y - 8)}L{_number(x + 4)} {_number(y - 8)}"
    label_x, label_y, anchor = _label_place(arrow)
    return (
        f'<g class="bundle" data-source="{_escaped(arrow.source)}" '
        f'data-destination="{_escaped(arrow.destination)}">'
        f'<path class="arrow" stroke="{color}" d="{path}"/>'
        f'<path class="head" fill="{color}" d="{head}L{_number(x)} {_number(y)}Z"/>'
        f'<text class="label" x="{_number(label_x)}" y="{_number(label_y)}"'
        f"{anchor}>{_escaped(arrow.label)}</text></g>"
    )


def _label_place(arrow: Arrow) -> tuple[float, float, str]:
    """Return the place beside an arrow's last stretch, or before the stretch upwards of a loop."""
    (x0, y0), (x1, y1) = arrow.points[-2:]
    if y0 == y1:
        x, below = arrow.points[-3]
        return x - 6, (below + y0) / 2 + 3, ' text-anchor="end"'
    return (x0 + x1) / 2 + 6, (y0 + y1) / 2 + 3, ""


def _path(points: list[tuple[float, float]]) -> str:
    """Return smooth curves between ranks, straight lines through the ranks that an arrow passes,
    and turns where it leads back.
    """
    x, y = points[0]
    steps = [f"M{_number(x)} {_number(y)}"]
    for number, (to_x, to_y) in enumerate(points[1:]):
        if number % 2:
            steps.append(f"L{_number(to_x)} {_number(to_y)}")
        else:
            turn = TURN if number == 0 else -TURN
            bend = y + turn if y == to_y else (y + to_y) / 2
            steps.append(
                f"C{_number(x)} {_number(bend)} {_number(to_x)} {_number(bend)} "
                f"{_number(to_x)} {_number(to_y)}"
            )
        x, y = to_x, to_y
    return "".join(steps)
