"""For which processors code is written, and how the products of a layer are added on each: of full
bundles, and of convolutions that copy their windows.

Knows the network in integers, and nothing of what becomes of a sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from netsharp_compile.bundles import ConvolvedBundle
from netsharp_compile.refusal import CompileError
from netsharp_compile.writing.c_arrays import StoredArray, arrays_of, c_type, is_full, layer_name
from netsharp_compile.writing.device_steps import copies_windows, steps_of
from netsharp_compile.writing.products.lanes import (
    MOST_COPIED,
    LaneKind,
    in_lanes,
    lane_functions,
    lane_kinds,
    laned,
    side_by_side,
)
from netsharp_compile.writing.products.row import (
    APART,
    LayerProducts,
    ProductKind,
    product_kinds,
    row_by_row,
    row_function,
    schemes_read,
)
from netsharp_compile.writing.products.rows import RowsKind, in_rows, rows_functions, several_rows

if TYPE_CHECKING:
    from netsharp_compile.integers import IntegerNetwork
    from netsharp_engine.devices.footprint import DeviceStep

#: The default first; all give the same bits.
Target = Literal["c99", "cortex-m", "host"]
TARGETS: tuple[str, ...] = get_args(Target)
#: A row of weights at a time, several rows, or nodes side by side.
Way = Literal["row", "rows", "lanes"]


def require_target(target: str) -> None:
    """Raise CompileError for a target that is none."""
    if target not in TARGETS:
        raise CompileError(f"target is one of {', '.join(TARGETS)}; {target!r} is none.")


class StepProducts:
    """The way the products of a step's layer are added on a target; ``way`` is None where its nodes
    read neither all values nor copied windows.
    """

    def __init__(self, network: IntegerNetwork, step: DeviceStep, prefix: str, target: str) -> None:
        self.layer, self._prefix = network.layers[step.layer], prefix
        self.name = layer_name(network, step.layer, prefix)
        self.copied = copies_windows(self.layer, pooled=step.pool is not None)
        self.kinds = product_kinds(network, self.layer)
        self._read = schemes_read(network, self.layer)
        self.counts = [
            one.bundle.taps
            if self.copied and isinstance(one.bundle, ConvolvedBundle)
            else one.bundle.source.size
            for one in self.layer.parts
        ]
        #: One function adds to whole rows and to parts of longer ones, where any are.
        self._parted = any(len(one.parts) > 1 and is_full(one) for one in network.layers)
        self.way = self._way(target)
        self.lanes = lane_kinds(self.kinds, self._rows) if self.way == "lanes" else []

    @property
    def _rows(self) -> int:
        """Return the number of nodes, or of maps over a copied window; 0 where kernels are more
        than maps of one dimension.
        """
        first = self.layer.parts[0].bundle
        if not self.copied or not isinstance(first, ConvolvedBundle):
            return self.layer.nodes
        count = prod(first.maps)
        return count if max(first.maps) == count == len(self.layer.multipliers) else 0

    def _way(self, target: str) -> Way | None:
        layer = self.layer
        if layer.pool is not None or not (self.copied or is_full(layer)):
            return None
        if target == "cortex-m" and in_rows(self.kinds, self._read, self._rows):
            return "rows"
        if target == "host" and in_lanes(self.kinds, self._read, self._rows):
            kinds = lane_kinds(self.kinds, self._rows)
            if max(self.counts) <= MOST_COPIED or not (self.copied or self._widened(kinds)):
                return "lanes"
        return "row"

    def _widened(self, kinds: list[LaneKind]) -> list[int]:
        """Return the bundles whose values are copied into wider numbers."""
        return [
            number
            for number, (kind, one) in enumerate(zip(self.kinds, kinds, strict=True))
            if kind.values.endswith("8") != one.values.endswith("8")
        ]

    @property
    def own_windows(self) -> bool:
        """Return whether windows are on the stack, so that the caller gives none."""
        return self.way == "lanes" and self.copied

    def windows(self, places: int) -> list[str]:
        """Return the lines that declare the windows of a number of places, where the caller gives
        none.
        """
        lines: list[str] = []
        for number, (stored, count, whole) in enumerate(self._windows):
            lines.append(f"{stored} windows{number}[{places * whole}];")
            for i in range(count, whole):
                lines.append(f"for (int i = {i}; i < {places * whole}; i += {whole})")
                lines.append(f"    windows{number}[i] = 0;")
        return lines

    def seen(self, place: str) -> list[str]:
        """Return the lines that name the windows of a place."""
        return [
            f"{stored} *const seen{number} = windows{number} + {place} * {whole};"
            for number, (stored, _, whole) in enumerate(self._windows)
        ]

    @property
    def _windows(self) -> list[tuple[str, int, int]]:
        """Return the type in C of each window on the stack, its values, and those of whole
        groups.
        """
        if not self.own_windows:
            return []
        widened = self._widened(self.lanes)
        return [
            (f"{lane.values if number in widened else kind.values}_t", count, lane.padded(count))
            for number, (kind, lane, count) in enumerate(
                zip(self.kinds, self.lanes, self.counts, strict=True)
            )
        ]

    def copies_runs(self, number: int) -> bool:
        """Return whether windows of a bundle have cells of the source's type."""
        return self.way == "lanes" and number not in self._widened(self.lanes)

    def added(self) -> LayerProducts:
        """Return the C that adds products."""
        weights = [
            f"{self.name}_weights{self._ending(number)}" for number in range(len(self.kinds))
        ]
        values = [f"{'seen' if self.copied else 'x'}{number}" for number in range(len(self.kinds))]
        if self.way == "lanes":
            return self._by_lanes(weights, values)
        whole = sum(self.counts)
        bias = row = "k" if self.copied and self.way == "row" else "n"
        first, rows = 0, []
        for array, value, count in zip(weights, values, self.counts, strict=True):
            length = count if self.copied else whole
            begin = f"{array} + {row} * {length}" + (f" + {first}" if first else "")
            rows.append((begin, value, count, length))
            first += 0 if self.copied else count
        if self.way == "rows":
            kinds = self.rows_kinds()
            return several_rows(kinds, rows, f"{self.name}_biases", self._prefix)
        plain = [(begin, value, count) for begin, value, count, _ in rows]
        return row_by_row(self.kinds, plain, f"{self.name}_biases[{bias}]", self._prefix)

    def _by_lanes(self, weights: list[str], values: list[str]) -> LayerProducts:
        before, rows, first = [], [], 0
        padded = [kind.padded(count) for kind, count in zip(self.lanes, self.counts, strict=True)]
        for number, (kind, one) in enumerate(zip(self.kinds, self.lanes, strict=True)):
            value, count = values[number], self.counts[number]
            if number in self._widened(self.lanes) and not self.copied:
                before += [
                    f"{one.values}_t wide{number}[{count}];",
                    f"for (int i = 0; i < {count}; i++)",
                    f"    wide{number}[i] = {value}[i];",
                ]
                value = f"wide{number}"
            elif kind.values != one.values and kind.values.endswith("16"):
                value = f"(const {one.values}_t *){value}"
            whole = padded[number] if self.copied else sum(padded)
            begin = f"{weights[number]} + n * {whole}" + (f" + {first}" if first else "")
            rows.append((begin, value, padded[number] if self.copied else count))
            first += 0 if self.copied else one.lanes * padded[number]
        found = side_by_side(self.lanes, rows, f"{self.name}_biases", self._prefix)
        return found._replace(before=before)

    def rows_kinds(self) -> list[RowsKind]:
        """Return the kind of several rows of each bundle."""
        found = [RowsKind(kind, self._parted, rest=False) for kind in self.kinds]
        return [
            kind._replace(rest=count % kind.step > 0)
            for kind, count in zip(found, self.counts, strict=True)
        ]

    def lane_rests(self) -> dict[LaneKind, bool]:
        """Return the kinds of functions for lanes, with whether some values are not a whole
        group.
        """
        found: dict[LaneKind, bool] = {}
        for kind, count in zip(self.lanes, self.counts, strict=False):
            rest = not self.copied and kind.padded(count) > count
            found[kind] = found.get(kind, False) or rest
        return found

    def stored(self) -> Iterator[StoredArray]:
        """Yield the arrays that the layer reads, in the order of its way."""
        for one in arrays_of(self.name, self.layer, copied=self.copied):
            ending = one.name.removeprefix(f"{self.name}_")
            if self.way == "lanes" and ending.startswith("weights"):
                chosen = range(len(self.lanes))
                if self.copied and ending != "weights":
                    chosen = range(int(ending.removeprefix("weights")), len(self.lanes))[:1]
                blocks = [laned(self.lanes[n], self.layer.parts[n].weights) for n in chosen]
                numbers = np.concatenate(blocks, axis=1).reshape(-1)
                yield StoredArray(one.name, c_type(numbers.dtype), numbers)
            elif self.way == "lanes" and ending == "biases":
                missing = -len(one.numbers) % self.lanes[0].lanes
                yield one._replace(numbers=np.pad(one.numbers, (0, missing)))
            else:
                yield one

    def _ending(self, number: int) -> str:
        return str(number) if self.copied and len(self.kinds) > 1 else ""


def product_functions(network: IntegerNetwork, prefix: str, target: str) -> Iterator[str]:
    """Yield the functions that add products for all layers of a network."""
    single: set[ProductKind] = set()
    several: list[RowsKind] = []
    lanes: dict[LaneKind, bool] = {}
    for step in steps_of(network):
        one = StepProducts(network, step, prefix, target)
        single |= set(one.kinds) if one.way == "row" else set()
        several += one.rows_kinds() if one.way == "rows" else []
        for kind, rest in one.lane_rests().items():
            lanes[kind] = lanes.get(kind, False) or rest
    if single or several:
        yield from APART
        yield ""
    for each in sorted(single):
        yield from row_function(each, prefix)
        yield ""
    yield from rows_functions(several, prefix)
    yield from lane_functions(lanes, prefix)
