"""How kernels walk over an image, as loops with bounds: what a place sees, who sees a cell.

Conditions at borders become bounds of loops, so that no loop holds a branch. Source: S. Puri, US
patent 7,747,070, equations 4.13, 4.19, 4.21 and 4.23 to 4.26, for two dimensions and strides of 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from netsharp_engine.wgpu_backend.kernels import Turning
from netsharp_engine.wgpu_backend.templates.arithmetic import (
    coordinates,
    plus,
    shifted,
    strides,
    times,
)

if TYPE_CHECKING:
    from netsharp_engine.geometry import Axis

Lets = tuple[tuple[str, str], ...]


class Dim(NamedTuple):
    """One dimension: cells of the source, taps, stride, the first cell, places, maps, sharing."""

    size: int
    kernel: int
    stride: int
    first: int
    places: int
    maps: int = 1
    shared: bool = True

    @property
    def inside(self) -> bool:
        """Return whether no kernel reaches beyond the source."""
        return self.first >= 0 and self.first + (self.places - 1) * self.stride + self.kernel <= (
            self.size
        )

    @property
    def most(self) -> int:
        """Return the maximum number of places that read one cell."""
        return min(self.places, -(-self.kernel // self.stride))


class Seen(NamedTuple):
    """Loops over what is seen, whole numbers before them, and where it lies."""

    lets: Lets
    loops: tuple[Turning, ...]
    #: The cell, the place and the weight that belong to each turn.
    cell: str = "0"
    place: str = "0"
    weight: str = "0"
    #: How many real cells each place sees, as a whole number.
    real: str = ""


class KernelWay:
    """A kernel's walk over its source in any number of dimensions."""

    def __init__(self, dims: Sequence[Dim], extra: int = 0) -> None:
        self.dims = tuple(dims)
        self.sizes = [dim.size for dim in dims]
        self.places = [dim.maps * dim.places for dim in dims]
        self.taps = prod(dim.kernel for dim in dims)
        #: Numbers of one kernel: its weights and what follows them.
        self.row = self.taps + extra
        self.inputs, self.outputs = prod(self.sizes), prod(self.places)
        self._cells = strides(self.sizes)
        self._outs = strides(self.places)
        self._tapped = strides([dim.kernel for dim in dims])
        radix = [n for dim in dims for n in (dim.maps, 1 if dim.shared else dim.places)]
        self.kernels = prod(radix)
        self._radix = radix
        self._kernel = strides(radix)

    @property
    def whole(self) -> bool:
        """Return whether each map has one place, from which it sees all of the source."""
        return all(
            dim.places == 1 and dim.first == 0 and dim.kernel == dim.size for dim in self.dims
        )

    def shares(self) -> list[float]:
        """Return one over the number of real cells at each place."""
        found = [1.0]
        for dim in self.dims:
            counts = []
            for place in range(dim.places):
                start = dim.first + place * dim.stride
                counts.append(min(start + dim.kernel, dim.size) - max(start, 0))
            found = [known / count for known in found for count in counts]
        return found

    def _number(self, maps: Sequence[str], places: Sequence[str]) -> str:
        """Return the number of a kernel."""
        parts = []
        for d, dim in enumerate(self.dims):
            parts.append(times(maps[d], self._kernel[2 * d]))
            if not dim.shared:
                parts.append(times(places[d], self._kernel[2 * d + 1]))
        return plus(*parts)

    def _split(self, index: str) -> tuple[list[str], list[str]]:
        """Return maps and places of an output's index."""
        maps, places = [], []
        for dim, text in zip(self.dims, coordinates(index, self.places), strict=True):
            if dim.maps == 1:
                maps.append("0")
                places.append(text)
            elif dim.places == 1:
                maps.append(text)
                places.append("0")
            else:
                maps.append(f"{text} / {dim.places}")
                # A remainder of a remainder is that of the inner one.
                places.append(f"{text} % {dim.places}")
        return maps, places

    def bias(self, index: str) -> str:
        """Return the offset of an output's bias: after the weights of its kernel."""
        maps, places = self._split(index)
        named = [f"({text})" if text != "0" else text for text in maps]
        sited = [f"({text})" if text != "0" else text for text in places]
        number = self._number(named, sited)
        return shifted(times(f"({number})" if number != "0" else number, self.row), self.taps)

    def under(self, index: str = "i") -> Seen:
        """Return the inputs of an output: the taps on real cells."""
        maps, places = self._split(index)
        lets: list[tuple[str, str]] = []
        loops, cells, taps, real = [], [], [], []
        for d, dim in enumerate(self.dims):
            m, p = _named(lets, f"m{d}", maps[d]), _named(lets, f"p{d}", places[d])
            maps[d], places[d] = m, p
            start = shifted(times(p, dim.stride), dim.first)
            if dim.kernel == 1 and dim.inside:
                cells.append(times(_grouped(start), self._cells[d]))
                real.append("1")
                continue
            start = _named(lets, f"s{d}", start)
            if dim.inside:
                low, high = "0", str(dim.kernel)
                real.append(high)
            else:
                low = _named(lets, f"l{d}", f"max(-({start}), 0)")
                high = _named(lets, f"h{d}", f"min({dim.size} - ({start}), {dim.kernel})")
                real.append(f"({high} - {low})")
            loops.append(Turning(f"t{d}", low, high, dim.kernel))
            cells.append(times(_grouped(plus(start, f"t{d}")), self._cells[d]))
            taps.append(times(f"t{d}", self._tapped[d]))
        number = _named(lets, "q", self._number(maps, places))
        return Seen(
            tuple(lets),
            tuple(loops),
            cell=plus(*cells),
            weight=plus(times(number, self.row), *taps),
            real=" * ".join(part for part in real if part != "1") or "1",
        )

    def above(self, index: str = "i", *, maps: bool = True) -> Seen:
        """Return the places, of all maps, whose windows contain a cell, with the weight between."""
        lets: list[tuple[str, str]] = []
        loops, inner, out, taps, named, sited = [], [], [], [], [], []
        for d, dim in enumerate(self.dims):
            if maps and dim.maps > 1:
                inner.append(Turning(f"m{d}", "0", str(dim.maps), dim.maps))
                named.append(f"m{d}")
            else:
                named.append("0")
        for d, (dim, text) in enumerate(
            zip(self.dims, coordinates(index, self.sizes), strict=True)
        ):
            # Cells beyond the first tap of the first place.
            far = _named(lets, f"f{d}", shifted(text, -dim.first))
            if dim.places == 1 and dim.inside and dim.kernel == dim.size:
                place = "0"
            else:
                most = f"max({shifted(far, dim.stride)}, 0) / {dim.stride}"
                high = _named(lets, f"h{d}", f"min({dim.places}, {_unit(most)})")
                least = shifted(far, 1 - dim.kernel)
                low = f"(max({least}, 0) + {dim.stride - 1}) / {dim.stride}"
                if dim.stride == 1:
                    low = f"max({least}, 0)"
                low = _named(lets, f"l{d}", low)
                place = f"p{d}"
                loops.append(Turning(place, low, high, dim.most))
            sited.append(place)
            tap = far if place == "0" else f"({far} - {times(place, dim.stride)})"
            taps.append(times(_grouped(tap), self._tapped[d]))
            at = plus(times(named[d], dim.places), place)
            out.append(times(_grouped(at), self._outs[d]))
        number = self._number(named, sited)
        # Loops of one length for all cells turn fastest: threads of a group stay together.
        return Seen(
            tuple(lets),
            (*loops, *inner),
            cell="0",
            place=plus(*out),
            weight=plus(times(_grouped(number), self.row), *taps),
        )

    def along(self) -> Seen:
        """Return where a weight acts: places and cells, for element ``e`` of the kernels.

        A bias, after the weights, acts at all places; ``weight`` says whether it is one.
        """
        biased = self.row > self.taps
        lets = [("q", f"e / {self.row}"), ("tap", f"e % {self.row}")]
        if biased:
            lets += [("bias", f"tap == {self.taps}"), ("at", f"min(tap, {self.taps - 1})")]
        radix = coordinates("q", self._radix)
        taps = coordinates("at" if biased else "tap", [dim.kernel for dim in self.dims])
        loops, cells, out = [], [], []
        for d, dim in enumerate(self.dims):
            m = _named(lets, f"m{d}", radix[2 * d])
            t = _named(lets, f"t{d}", shifted(taps[d], dim.first))
            low, high = "0", str(dim.places)
            if not dim.inside:
                low = f"(max(-({t}), 0) + {dim.stride - 1}) / {dim.stride}"
                room = f"max({dim.size - 1 + dim.stride} - ({t}), 0)"
                high = f"min({dim.places}, {room} / {dim.stride})"
                if biased:
                    low, high = f"select({low}, 0, bias)", f"select({high}, {dim.places}, bias)"
                low, high = _named(lets, f"l{d}", low), _named(lets, f"h{d}", high)
            place, most = f"p{d}", dim.places
            if not dim.shared and dim.places > 1:
                own = _named(lets, f"o{d}", radix[2 * d + 1])
                low = own if low == "0" else f"max({low}, {own})"
                high = f"{own} + 1" if dim.inside else f"min({high}, {own} + 1)"
                most = 1
            if dim.places == 1 and dim.inside:
                place = "0"
            else:
                loops.append(Turning(place, low, high, most))
            cell = plus(times(place, dim.stride), t)
            if biased and not dim.inside:
                cell = f"clamp({cell}, 0, {dim.size - 1})"
            cells.append(times(_grouped(cell), self._cells[d]))
            out.append(times(_grouped(plus(times(m, dim.places), place)), self._outs[d]))
        return Seen(
            tuple(lets),
            tuple(loops),
            cell=plus(*cells),
            place=plus(*out),
            weight="bias" if biased else "",
        )

    def centre(self, index: str = "i") -> str:
        """Return the cell under the centre of the kernel at a place."""
        parts = []
        for d, (dim, text) in enumerate(zip(self.dims, self._split(index)[1], strict=True)):
            middle = dim.first + (dim.kernel - 1) // 2
            at = shifted(times(f"({text})" if text != "0" else text, dim.stride), middle)
            parts.append(times(_grouped(at), self._cells[d]))
        return plus(*parts)

    def centred(self, index: str = "i") -> tuple[str, str]:
        """Return the condition that a cell is under a centre, and the place of that, clamped."""
        conditions, out = [], []
        for d, (dim, text) in enumerate(
            zip(self.dims, coordinates(index, self.sizes), strict=True)
        ):
            far = shifted(text, -dim.first - (dim.kernel - 1) // 2)
            if dim.stride > 1:
                conditions.append(f"({far}) % {dim.stride} == 0")
            conditions += [f"({far}) >= 0", f"({far}) < {dim.places * dim.stride}"]
            place = f"clamp(({far}) / {dim.stride}, 0, {dim.places - 1})"
            out.append(times(place if dim.places > 1 else "0", self._outs[d]))
        return " && ".join(conditions), plus(*out)


def way_of(attributes: Any, *, extra: int = 0) -> KernelWay:
    """Return the walk of a node's attributes."""
    axes: tuple[Axis, ...] = tuple(attributes["axes"])
    sharing = attributes.get("sharing", (True,) * len(axes))
    maps = attributes.get("maps", (1,) * len(axes))
    dims = [
        Dim(axis.size, axis.kernel, axis.stride, axis.first, axis.count, count, bool(shared))
        for axis, shared, count in zip(axes, sharing, maps, strict=True)
    ]
    return KernelWay(dims, extra)


def _named(lets: list[tuple[str, str]], name: str, text: str) -> str:
    """Return a name for what takes more than one to say."""
    if text.isalnum() or (text.startswith("(-") and text[2:-1].isdigit()):
        return text
    lets.append((name, text))
    return name


def _grouped(text: str) -> str:
    """Return a sum in parentheses."""
    return f"({text})" if " + " in text or " - " in text else text


def _unit(text: str) -> str:
    """Return a division by 1 left out."""
    return text[:-4] if text.endswith(" / 1") else text
