"""The loss curve of a run: written as SVG, as PNG with matplotlib, and small for terminals."""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import TYPE_CHECKING

from netsharp_engine.model.curves import curve_svg, series_of
from netsharp_lsp.project.writing import write_atomic

if TYPE_CHECKING:
    from netsharp_engine.model.curves import History

BLOCKS = "▁▂▃▄▅▆▇█"
TERMINAL_WIDTH = 60


class CurveError(Exception):
    """A picture that cannot be made, as a sentence."""


def check_picture(path: str) -> None:
    """Raise CurveError where a picture of this name cannot be made."""
    suffix = path.rpartition(".")[2].lower()
    if suffix not in ("svg", "png"):
        raise CurveError(f"{path}: a picture of the loss ends in .svg or .png.")
    if suffix == "png" and find_spec("matplotlib") is None:
        raise CurveError(
            f"{path}: a PNG needs matplotlib: pip install 'netsharp[plot]', or ask for an .svg."
        )


def write_curve(history: History, path: str) -> None:
    """Write the picture that the suffix asks for: .svg, or .png.  Raises CurveError."""
    check_picture(path)
    picture = curve_png(history) if path.lower().endswith(".png") else curve_svg(history).encode()
    try:
        write_atomic(path, picture)
    except OSError as error:
        raise CurveError(f"{path}: cannot be written: {error.strerror}.") from None


def curve_png(history: History) -> bytes:
    """Return the curve as a PNG; needs matplotlib."""
    from io import BytesIO

    import matplotlib
    from matplotlib.figure import Figure

    # A `matplotlibrc` in the working directory may ask for programs, as `text.usetex` does.
    matplotlib.rcdefaults()
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for name, color, values in series_of(history):
        points = [math.nan if value is None else value for value in values]
        axes.plot(range(1, len(points) + 1), points, color=color, label=name)
    axes.set_xlabel("epoch")
    axes.set_ylabel("loss")
    axes.legend()
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=150)
    return picture.getvalue()


def spark_lines(history: History) -> list[str]:
    """Return a small curve for a terminal: one line of blocks for each series."""
    lines = []
    for name, _color, values in series_of(history):
        known = [value for value in values if value is not None]
        if len(known) < 2:
            continue
        low, high = min(known), max(known)
        step = max(math.ceil(len(known) / TERMINAL_WIDTH), 1)
        means = [known[i : i + step] for i in range(0, len(known), step)]
        blocks = "".join(_block(sum(part) / len(part), low, high) for part in means)
        lines.append(f"{name:<10} {known[0]:.4g} {blocks} {known[-1]:.4g}")
    return lines


def _block(value: float, low: float, high: float) -> str:
    share = (value - low) / (high - low) if high > low else 0.0
    return BLOCKS[min(int(share * len(BLOCKS)), len(BLOCKS) - 1)]
