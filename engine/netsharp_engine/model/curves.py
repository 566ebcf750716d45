"""The losses of a training as an SVG picture; it knows epochs of the run log and no files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

History = Sequence[dict[str, Any]]
#: A name, a colour, and a value for each epoch (None where there is none).
Series = tuple[str, str, list[float | None]]

#: Pixels: the picture, and the margins for numbers and names.
WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 28, 40
COLORS = {"training": "#4c78a8", "validation": "#e4772e"}
STYLE = """
  svg { font: 12px ui-sans-serif, system-ui, sans-serif; color-scheme: light dark; }
  .paper { fill: #ffffff; } .text { fill: #3a4252; } .grid { stroke: #d9dee7; }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #15181e; } .text { fill: #c6cddb; } .grid { stroke: #343b48; }
  }
"""


def series_of(history: History) -> list[Series]:
    """Return the losses of training and, if it was measured, of validation, one value an epoch."""
    training = [_finite(event.get("loss")) for event in history]
    series = [("training", COLORS["training"], training)]
    if any(event.get("validation") for event in history):
        losses = [_finite((event.get("validation") or {}).get("loss")) for event in history]
        series.append(("validation", COLORS["validation"], losses))
    return series


def _finite(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def curve_svg(history: History) -> str:
    """Return the curve as an SVG document that follows the viewer's theme."""
    series = series_of(history)
    known = [value for _name, _color, values in series for value in values if value is not None]
    high = max(known, default=1.0) or 1.0
    epochs = max(len(history), 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Loss by epoch">',
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
    ]
    for tick in range(5):
        value = high * tick / 4
        y = _y(value, high)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        label = f'<text class="text" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">'
        parts.append(f"{label}{value:.3g}</text>")
    for position, (name, color, values) in enumerate(series):
        parts.append(
            f'<path fill="none" stroke="{color}" stroke-width="2" d="'
            f'{_path(values, epochs, high)}"/>'
        )
        parts.append(f'<text x="{LEFT + 8 + 96 * position}" y="18" fill="{color}">{name}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    bottom = HEIGHT - 12
    parts.append(f'<text class="text" x="{middle}" y="{bottom}" text-anchor="middle">epoch</text>')
    last = f'<text class="text" x="{WIDTH - RIGHT}" y="{bottom}" text-anchor="end">{epochs}</text>'
    parts += [f'<text class="text" x="{LEFT}" y="{bottom}">1</text>', last]
    return "\n".join([*parts, "</svg>", ""])


def _path(values: list[float | None], epochs: int, high: float) -> str:
    steps, pen = [], "M"
    for position, value in enumerate(values):
        if value is None:
            pen = "M"
            continue
        x = LEFT + (WIDTH - RIGHT - LEFT) * (position / max(epochs - 1, 1))
        steps.append(f"{pen}{x:.1f} {_y(value, high):.1f}")
        pen = "L"
    return "".join(steps)


def _y(value: float, high: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / high
