"""The function in C of each layer: one way for each kind of bundle, with literal sizes.

Knows the network in integers, and nothing of the files that the functions stand in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_compile.bundles import (
    ConvolvedBundle,
    FilteredBundle,
    PooledBundle,
    have_one_grid,
)
from netsharp_compile.writing.c_arrays import c_comment, c_type, degree_of, sum_type
from netsharp_compile.writing.c_formulas import computed_value
from netsharp_compile.writing.c_numbers import grid_names, map_number, tap_number, times
from netsharp_compile.writing.c_rescaling import reads_channel, rescaled_code
from netsharp_compile.writing.device_steps import (
    folded_bound,
    has_biases_of_kernels,
    windows_over,
)
from netsharp_compile.writing.products.lanes import COPY
from netsharp_compile.writing.products.targets import StepProducts

if TYPE_CHECKING:
    from netsharp_compile.bundles import Bundle, WindowAxis
    from netsharp_compile.integers import IntegerNetwork
    from netsharp_compile.writing.products.row import LayerProducts
    from netsharp_engine.devices.footprint import DeviceStep, WalkedAxis


def step_function(network: IntegerNetwork, step: DeviceStep, prefix: str, target: str) -> list[str]:
    """Return the lines of the function that works a step out on a target."""
    return _Function(network, step, StepProducts(network, step, prefix, target)).lines


class _Function:
    """The lines of one function."""

    def __init__(self, network: IntegerNetwork, step: DeviceStep, products: StepProducts) -> None:
        self._products = products
        self.layer, self.name = products.layer, products.name
        self.over: dict[int, WalkedAxis] = {}
        self.pool = None if step.pool is None else network.layers[step.pool].pool
        if self.pool is not None:
            self.over = windows_over(self.layer.parts[0].bundle, self.pool) or {}
        self.made = network.layers[step.made]
        self.lines: list[str] = []
        self._depth = 0
        places = prod(one.kernel for one in self.over.values())
        windows = products.windows(places)
        given = [
            f"const {kind.values}_t x{number}[{part.bundle.source.size}]"
            for number, (kind, part) in enumerate(
                zip(products.kinds, self.layer.parts, strict=True)
            )
        ]
        given.append(f"{self._kind} y[{self.made.nodes}]")
        if products.copied and not windows:
            given += [
                f"{kind.values}_t *restrict seen{number}"
                for number, kind in enumerate(products.kinds)
            ]
        if self.layer.table is not None:
            given.append(f"const {self._kind} table[{self.layer.result.size}]")
        self._comment(network, step)
        with self._block(f"static void {self.name}({', '.join(given)})", own_line=True):
            self._add(*windows)
            self._body()

    @property
    def _kind(self) -> str:
        return c_type(self.layer.target.dtype)

    def _comment(self, network: IntegerNetwork, step: DeviceStep) -> None:
        numbers = [step.layer] if step.pool is None else [step.layer, step.pool]
        shown = []
        for layer in (network.layers[number] for number in numbers):
            kinds = ", ".join(dict.fromkeys(one.bundle.kind for one in layer.parts))
            origin = f", {layer.origin}" if layer.origin else ""
            shown.append(f"{layer.name}{origin} ({kinds}, {layer.function})")
        bound = folded_bound(self.layer) if self._products.copied else self.layer.bound
        ends = f"sums of at most {bound}"
        self._add(f"/* {c_comment('; '.join(shown))}: {ends} */")

    def _add(self, *lines: str) -> None:
        self.lines += ["    " * self._depth + line for line in lines]

    @contextmanager
    def _block(self, head: str, *, own_line: bool = False) -> Iterator[None]:
        self._add(*([head, "{"] if own_line else [f"{head} {{".strip()]))
        self._depth += 1
        yield
        self._depth -= 1
        self._add("}")

    @contextmanager
    def _loops(self, loops: Sequence[tuple[str, str | int, str | int]]) -> Iterator[None]:
        """Write loops in each other around a block; each has a name, a first value and an end."""
        if not loops:
            yield
            return
        (name, first, end), *others = loops
        head = f"for (int {name} = {first}; {name} < {end}; {name}++)"
        with self._block(head), self._loops(others):
            yield

    def _body(self) -> None:
        bundles = [one.bundle for one in self.layer.parts]
        for number, bundle in enumerate(bundles):
            if isinstance(bundle, FilteredBundle):
                self._add(f"int32_t e{number} = 0;")
        if self.layer.pool is not None:
            self._pooled(self.layer.pool)
        elif self._products.copied and isinstance(bundles[0], ConvolvedBundle):
            self._copied(bundles[0])
        elif self._products.way is not None:
            self._full()
        elif isinstance(bundles[0], ConvolvedBundle) and all(
            have_one_grid(one, bundles[0]) for one in bundles
        ):
            self._convolved(bundles[0])
        else:
            self._one_by_one(bundles)

    def _full(self) -> None:
        products = self._products.added()
        self._add(*products.before)
        if products.size > 1:
            with self._blocks(products, self.layer.nodes):
                self._ends("n + r", "n + r", "sums[r]")
            return
        with self._loops([("n", 0, self.layer.nodes)]):
            self._add(*products.inside)
            self._ends("n", "n")

    # Nodes one after the other, whatever bundles they have.

    def _one_by_one(self, bundles: Sequence[Bundle]) -> None:
        with self._loops([("n", 0, self.layer.nodes)]):
            channel, of_node, first = "n", self.layer.channels, bundles[0]
            if isinstance(first, ConvolvedBundle) and (of_node != np.arange(len(of_node))).any():
                channel = "c"  # All have the kernels of the first, if not its windows.
                self._add(f"const int c = {self._kernel(first, grid_names(first))};")
            self._sum_begins("n" if len(self.layer.biases) == len(of_node) else channel)
            for number, bundle in enumerate(bundles):
                if isinstance(bundle, FilteredBundle):
                    self._gathered(number, bundle)
                elif isinstance(bundle, ConvolvedBundle):
                    with self._block(""):
                        self._places_of_node(bundle)
                        self._add(f"const int k = {self._kernel(bundle)};")
                        self._windows(number, bundle)
                else:
                    size = bundle.source.size
                    self._add(f"for (int i = 0; i < {size}; i++)")
                    self._add(f"    {self._added(number, f'n * {size} + i', 'i')}")
            self._ends(channel, "n")

    @contextmanager
    def _blocks(self, products: LayerProducts, count: int) -> Iterator[None]:
        """Write loops around a block over nodes, several at a time with their sums."""
        size = products.size
        blocks, left = -(-count // size), count % size
        with self._loops([("b", 0, blocks)]):
            start, end = f"{size} * b", str(size)
            if left and products.overlaps:
                start = f"b < {blocks - 1} ? {start} : {count - size}"
            elif left:
                end = str(left) if blocks == 1 else f"(b < {blocks - 1} ? {size} : {left})"
            self._add(f"const int n = {start};", *products.inside)
            with self._loops([("r", 0, end)]):
                yield

    def _gathered(self, number: int, bundle: FilteredBundle) -> None:
        degree, ending = degree_of(bundle), self._ending(number)
        if degree is None:
            self._add(f"for (; e{number} < {self.name}_ends{ending}[n]; e{number}++)")
        else:
            self._add(f"for (int i = 0; i < {degree}; i++, e{number}++)")
        place = f"{self.name}_places{ending}[e{number}]"
        self._add(f"    {self._added(number, f'e{number}', place)}")

    def _places_of_node(self, bundle: ConvolvedBundle) -> None:
        """Declare the position of a node in its grid."""
        for name, place in grid_names(bundle).items():
            self._add(f"const int {name} = {place};")

    # Windows over a grid.

    def _convolved(self, bundle: ConvolvedBundle) -> None:
        axes, maps = bundle.axes, bundle.maps
        with self._loops(self._grid_loops(axes, maps)):
            self._add(f"const int k = {self._kernel(bundle)};")
            if self.pool is None:
                node = self._node(axes, maps)
                self._sum_of_kernel("k" if has_biases_of_kernels(self.layer) else node)
                self._ends("k", node)
                return
            self._add(f"{sum_type(self.layer)} best = {self._least_sum};")
            with self._windows_of_pool():
                self._sum_of_kernel()
                self._add("if (sum > best)", "    best = sum;")
            self._ends("k", self._node(axes, maps), "best")

    def _copied(self, bundle: ConvolvedBundle) -> None:
        """Write loops over positions, and at each over all maps that read one copy of its
        window.
        """
        axes, maps = bundle.axes, bundle.maps
        loops = self._grid_loops(axes, maps)
        inside = [one for one in loops if one[0].startswith("m")]
        kernel, node = f"const int k = {self._kernel(bundle)};", self._node(axes, maps)
        with self._loops([one for one in loops if one not in inside]):
            if self.pool is None:
                self._add(*self._products.seen("0"))
                self._copies()
                self._sums_of_copies(inside, kernel, lambda total: self._ends("k", node, total))
                return
            count, best = prod(maps), f"best[{map_number(maps)}]"
            kind = sum_type(self.layer)
            self._add(
                "/* A compiler that knew the number would move it by floating-point registers. */",
                f"const volatile {kind} unknown = {self._least_sum};",
                f"const {kind} least = unknown;",
                f"{kind} best[{count}];",
                f"for (int m = 0; m < {count}; m++)",
                "    best[m] = least;",
            )
            if self._products.way == "lanes":
                self._best_of_lanes(inside, kernel, best)
            else:
                with self._windows_of_pool():
                    self._copies()
                    self._sums_of_copies(
                        inside,
                        kernel,
                        lambda total: self._add(f"if ({total} > {best})", f"    {best} = {total};"),
                    )
            with self._loops(inside):
                self._add(*[kernel] * reads_channel(self.layer))
                self._ends("k", node, best)

    def _best_of_lanes(
        self, inside: Sequence[tuple[str, str | int, str | int]], kernel: str, best: str
    ) -> None:
        """Write the largest sums of a pool's windows: all windows are copied before the first is
        read, since a load that follows narrower stores to the same bytes stalls.
        """
        self._add("int taken = 0;")
        with self._windows_of_pool():
            self._add(*self._products.seen("taken"), "taken++;")
            self._copies()
        with self._loops([("v", 0, "taken")]):
            self._add(*self._products.seen("v"))
            self._sums_of_copies(
                inside,
                kernel,
                lambda total: self._add(f"{best} = {total} > {best} ? {total} : {best};"),
            )

    def _sums_of_copies(
        self,
        inside: Sequence[tuple[str, str | int, str | int]],
        kernel: str,
        ends: Callable[[str], None],
    ) -> None:
        """Write the sum of each map over a copied window, and what is done with it."""
        products = self._products.added()
        self._add(*products.before)
        if products.size == 1:
            with self._loops(inside):
                self._add(kernel, *products.inside)
                ends("sum")
            return
        ((name, _, count),) = inside
        with self._blocks(products, int(count)):
            self._add(f"const int {name} = n + r;")
            if self.pool is None and reads_channel(self.layer):
                self._add(kernel)
            ends("sums[r]")

    def _copies(self) -> None:
        """Copy the window of each bundle."""
        for number, part in enumerate(self.layer.parts):
            bundle = part.bundle
            assert isinstance(bundle, ConvolvedBundle)
            if bundle.padded:
                self._add(f"for (int i = 0; i < {bundle.taps}; i++)")
                self._add(f"    seen{number}[i] = {part.zero};")
            with self._block(""):
                loops, place = self._window(bundle.axes)
                run = self._run_of(number, bundle, loops)
                with self._loops(loops[:-1] if run else loops):
                    if run:
                        self._add(f"const int {loops[-1][0]} = 0;")
                        cells = f"seen{number} + {tap_number(bundle.axes)}, x{number} + {place}"
                        self._add(f"{run}({cells}, {loops[-1][2]});")
                        continue
                    self._add(f"seen{number}[{tap_number(bundle.axes)}] = x{number}[{place}];")

    def _run_of(
        self, number: int, bundle: ConvolvedBundle, loops: Sequence[tuple[str, Any, Any]]
    ) -> str:
        """Return the macro that copies the cells of the last loop, where they are contiguous."""
        copied = self._products.copies_runs(number)
        if not copied or not loops or isinstance(loops[-1][2], str):
            return ""
        inner = prod(axis.size for axis in bundle.axes[int(loops[-1][0][1:]) + 1 :])
        return COPY if inner == 1 and loops[-1][1] == 0 else ""

    @contextmanager
    def _windows_of_pool(self) -> Iterator[None]:
        """Write loops around a block over the positions in the windows of a pool."""
        inner: list[tuple[str, str | int, str | int]] = []
        for d, over in sorted(self.over.items()):
            inner.append((f"v{d}", *self._clipped(f"q{d}", f"w{d}", over)))
        with self._loops(inner):
            for d in sorted(self.over):
                self._add(f"const int p{d} = w{d} + v{d};")
            yield

    @property
    def _least_sum(self) -> str:
        return "-INT64_MAX" if self.layer.wide else "-INT32_MAX"

    def _grid_loops(
        self, axes: Sequence[WindowAxis], maps: Sequence[int]
    ) -> list[tuple[str, str | int, str | int]]:
        """Return loops over maps and positions; where a pool moves over them, over its
        positions.
        """
        found: list[tuple[str, str | int, str | int]] = []
        for d, axis in enumerate(axes):
            if maps[d] > 1:
                found.append((f"m{d}", 0, maps[d]))
            if d in self.over:
                found.append((f"q{d}", 0, self.over[d].count))
            elif axis.count > 1:
                found.append((f"p{d}", 0, axis.count))
        return found

    def _kernel(self, bundle: ConvolvedBundle, names: Mapping[str, str] | None = None) -> str:
        """Return the expression of the kernel's number, of names or of their values."""
        terms, stride = [], 1
        for d in reversed(range(len(bundle.axes))):
            count = bundle.axes[d].count
            if not bundle.sharing[d] and count > 1:
                terms.append(times((names or {}).get(f"p{d}", f"p{d}"), stride))
                stride *= count
            if bundle.maps[d] > 1:
                terms.append(times((names or {}).get(f"m{d}", f"m{d}"), stride))
                stride *= bundle.maps[d]
        return " + ".join(reversed(terms)) or "0"

    def _node(self, axes: Sequence[WindowAxis], maps: Sequence[int]) -> str:
        """Return the expression of the node's number, where a pool moves over the grid that of its
        position.
        """
        terms, stride = [], 1
        for d in reversed(range(len(axes))):
            name, count = f"p{d}", axes[d].count
            if d in self.over:
                name, count = f"q{d}", self.over[d].count
            for one, extent in ((name, count), (f"m{d}", maps[d])):
                if extent > 1:
                    terms.append(times(one, stride))
                stride *= extent
        return " + ".join(reversed(terms)) or "0"

    def _sum_of_kernel(self, bias: str = "k") -> None:
        self._sum_begins(bias)
        for number, part in enumerate(self.layer.parts):
            assert isinstance(part.bundle, ConvolvedBundle)
            if len(self.layer.parts) == 1:
                self._windows(number, part.bundle)
            else:
                with self._block(""):
                    self._windows(number, part.bundle)

    def _windows(self, number: int, bundle: ConvolvedBundle) -> None:
        """Add the products of a window."""
        loops, place = self._window(bundle.axes)
        weight = f"{times('k', bundle.taps)} + {tap_number(bundle.axes)}"
        with self._loops(loops):
            self._add(self._added(number, weight, place))

    def _window(
        self, axes: Sequence[WindowAxis]
    ) -> tuple[list[tuple[str, str | int, str | int]], str]:
        """Return loops over the cells of a window, and the place of a cell in the source."""
        loops: list[tuple[str, str | int, str | int]] = []
        cells, stride = [], 1
        for d in reversed(range(len(axes))):
            axis = axes[d]
            start: str | int = axis.first
            if axis.count > 1:
                moved = times(f"p{d}", axis.stride)
                start = moved + (f" + ({axis.first})" if axis.first else "")
            if axis.kernel > 1 or axis.padded:
                first, end = self._taps(d, axis)
                loops.insert(0, (f"t{d}", first, end))
                start = f"{start} + t{d}" if start else f"t{d}"
            if start:
                cells.append(times(f"({start})" if stride > 1 else str(start), stride))
            stride *= axis.size
        return loops, " + ".join(reversed(cells)) or "0"

    def _taps(self, d: int, axis: WindowAxis) -> tuple[str | int, str | int]:
        """Return the first cell of a window inside the source, and the end (exclusive) of those
        cells.
        """
        if not axis.padded:
            return 0, axis.kernel
        if axis.count == 1:
            return axis.taps(0)
        return self._clipped(f"p{d}", f"a{d}", axis)

    def _clipped(self, position: str, start: str, axis: WalkedAxis) -> tuple[str | int, str | int]:
        """Declare where a window begins, and return the first of its cells inside the source and
        their end (exclusive).
        """
        moved = times(position, axis.stride) if axis.count > 1 else "0"
        self._add(f"const int {start} = {moved} + ({axis.first});")
        if not axis.padded:
            return 0, axis.kernel
        first, end = f"{start}_first", f"{start}_end"
        self._add(f"const int {first} = {start} < 0 ? -{start} : 0;")
        room = f"{axis.size} - {start}"
        self._add(f"const int {end} = {room} < {axis.kernel} ? {room} : {axis.kernel};")
        return first, end

    def _pooled(self, pool: PooledBundle) -> None:
        axes = pool.axes
        with self._loops(self._grid_loops(axes, (1,) * len(axes))):
            node = self._node(axes, (1,) * len(axes))
            loops, place = self._window(axes)
            if pool.largest:
                self._add(f"int32_t best = {self.layer.result.least};")
                with self._loops(loops):
                    self._add(f"if (x0[{place}] > best)", f"    best = x0[{place}];")
                self._stores(node, "best")
                return
            channel = "0"
            if pool.padded:
                taps = prod(one.kernel for one in axes if not one.padded)
                spans = [f"({b} - {a})" for name, a, b in loops if axes[int(name[1:])].padded]
                channel = f"{' * '.join([str(taps), *spans])} - 1"
            self._add(f"const int c = {channel};")
            self._sum_begins("c")
            with self._loops(loops):
                self._add(f"sum += x0[{place}];")
            self._ends("c", node)

    # A sum, and the result of it.

    def _ending(self, number: int) -> str:
        return str(number) if len(self.layer.parts) > 1 else ""

    def _added(self, number: int, weight: str, value: str) -> str:
        """Return the statement that adds a product."""
        zero = self.layer.parts[number].zero
        read = f"x{number}[{value}]"
        if zero:
            read = f"({read} - {zero})" if zero > 0 else f"({read} + {-zero})"
        stored = f"{self.name}_weights{self._ending(number)}[{weight}]"
        return f"sum += ({sum_type(self.layer)}){stored} * {read};"

    def _sum_begins(self, bias: str) -> None:
        self._add(f"{sum_type(self.layer)} sum = {self.name}_biases[{bias}];")

    def _ends(self, channel: str, node: str, total: str = "sum") -> None:
        self._add(*rescaled_code(self.layer, self.name, total, channel))
        self._stores(node, "code")

    def _stores(self, node: str, code: str) -> None:
        layer = self.layer
        if layer.formula is not None:
            self._add(f"y[{node}] = ({self._kind}){computed_value(layer, code)};")
        elif layer.table is None:
            self._add(f"y[{node}] = ({self._kind}){code};")
        else:
            moved = f" - ({layer.result.least})" if layer.result.least else ""
            self._add(f"y[{node}] = table[{code}{moved}];")
