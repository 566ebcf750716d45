"""Numbers of maps, positions and cells of windows, as expressions of C.

Knows the axes of a convolution, and no function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netsharp_compile.bundles import ConvolvedBundle, WindowAxis


def times(name: str, factor: int) -> str:
    """Return a name times a factor."""
    return name if factor == 1 else f"{name} * {factor}"


def tap_number(axes: Sequence[WindowAxis]) -> str:
    """Return the number of a cell of a window."""
    found, stride = [], 1
    for d in reversed(range(len(axes))):
        if axes[d].kernel > 1:
            found.append(times(f"t{d}", stride))
        stride *= axes[d].kernel
    return " + ".join(reversed(found)) or "0"


def map_number(maps: Sequence[int]) -> str:
    """Return the number of a map among those of all dimensions."""
    found, stride = [], 1
    for d in reversed(range(len(maps))):
        if maps[d] > 1:
            found.append(times(f"m{d}", stride))
        stride *= maps[d]
    return " + ".join(reversed(found)) or "0"


def grid_names(bundle: ConvolvedBundle) -> dict[str, str]:
    """Return the map and the position of node n in each dimension, where there are several."""
    found, stride = {}, 1
    for d in reversed(range(len(bundle.axes))):
        for name, extent in ((f"p{d}", bundle.axes[d].count), (f"m{d}", bundle.maps[d])):
            if extent > 1:
                found[name] = f"n / {stride} % {extent}"
            stride *= extent
    return found
