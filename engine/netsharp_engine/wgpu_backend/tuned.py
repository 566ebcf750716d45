"""Kernels as text of WGSL in their tuned forms, which are the plain one in another order.

Vectors of samples, threads that share a sum, tiles of matrices in group memory, several rows a
group.  It knows kernels and ``expressing``, no program around them and no device.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from netsharp_engine.wgpu_backend.expressing import STARTS, KernelText, joined
from netsharp_engine.wgpu_backend.kernels import DeviceKernel, LoopNest, MatrixForm, OverRow
from netsharp_engine.wgpu_backend.variants import (
    VECTOR,
    Variant,
    factors,
    lanes_of_row,
    longest,
    names_sample,
    nest_of,
    piece,
    variant_of,
)

_PARTS = "xyzw"
#: Steps of a product that are written one after the other.
UNROLLED = 4


class TunedText(KernelText):
    """The forms by their names in the table of variants."""

    def tuned(self, kernel: DeviceKernel, name: str) -> tuple[list[str], list[str]]:
        """Write a kernel called ``name``: what ends each number, and the kernel itself."""
        row = variant_of(kernel)
        if row.form == "rows":
            return [], self._several_rows(kernel)
        forms: dict[str, Callable[[DeviceKernel, LoopNest, Variant, str], list[str]]] = {
            "vectors": self._vectors,
            "lanes": self._lanes,
            "tiles": self._tiles,
        }
        nest = nest_of(kernel)
        assert nest is not None
        before = self._end(kernel, name)
        if row.form == "tiles":
            assert nest.matrix is not None
            before += self._matrices(nest.matrix, name)
            before += self._tile_end(kernel, nest.matrix, name)
        return before, forms[row.form](kernel, nest, row, name)

    def _end(self, kernel: DeviceKernel, name: str) -> list[str]:
        """Write what follows a sum, as a function: a block calls it several times."""
        (value, _), *rest = kernel.body
        lines = self.sited(kernel)
        for number, operation in rest:
            assert not isinstance(operation, OverRow)
            lines += self.operation(number, operation)
        lines += [self.store(each, "at") for each in kernel.stores]
        head = f"fn {name}_end(at: i32, e: i32, v{value}: f32) {{"
        return [head, *(f"  {line}" for line in lines), "}"]

    def _parted(self, kernel: DeviceKernel, index: str, count: int) -> list[str]:
        """Write the part of a sum, ``h``, and the number within it, of an index over all parts."""
        if kernel.pieces == 1:
            return [f"let f = {index};"]
        return [f"let h = {index} / {count};", f"let f = {index} % {count};"]

    def _at(self, kernel: DeviceKernel, element: str) -> str:
        """Write where the number of an element goes, among all parts."""
        return element if kernel.pieces == 1 else f"h * {kernel.elements} + {element}"

    def _vectors(self, kernel: DeviceKernel, nest: LoopNest, row: Variant, name: str) -> list[str]:
        """Write four samples an invocation, whose weight is read once."""
        value, size = kernel.body[0][0], kernel.size
        blocks = -(-kernel.rows // VECTOR)
        count = blocks * size
        lines = [
            f"let n{q} = min({VECTOR} * (f / {size}) + {q}, {kernel.rows - 1});"
            for q in range(VECTOR)
        ]
        common = [text for text in factors(nest.term) if not names_sample(text)]
        each = [text for text in factors(nest.term) if names_sample(text)]
        parts = [
            re.sub(r"\bn\b", f"n{q}", self.with_names(" * ".join(each) or "1.0"))
            for q in range(VECTOR)
        ]
        weight = " * ".join(self.with_names(text) for text in common)
        vector = f"vec4<f32>({', '.join(parts)})"
        term = f"{weight} * {vector}" if weight else vector
        lines += ["let i = f % " + str(size) + ";", f"var v{value} = vec4<f32>(0.0);"]
        lines += self.looped(nest, [f"v{value} += {term};"])
        for q, part in enumerate(_PARTS):
            store = f"{name}_end({self._at(kernel, f'e{q}')}, e{q}, v{value}.{part});"
            whole = kernel.rows % VECTOR == 0
            lines.append(f"let e{q} = n{q} * {size} + i;")
            fits = f"{VECTOR} * (f / {size}) + {q} < {kernel.rows}"
            lines.append(store if whole else f"if ({fits}) {{ {store} }}")
        first = [f"let g = q * {self.width} + t;", f"if (g < {count * kernel.pieces}) {{"]
        inner = [*self._parted(kernel, "g", count), *lines]
        return [*first, *(f"  {line}" for line in inner), "}"]

    def _lanes(self, kernel: DeviceKernel, nest: LoopNest, row: Variant, name: str) -> list[str]:
        """Write several threads a number, each with a share of a loop, added in pairs."""
        value, lanes = kernel.body[0][0], row.lanes
        own, total = self.width // lanes, kernel.elements * kernel.pieces
        lines = [
            f"let g = q * {own} + t / {lanes};",
            f"let lane = t % {lanes};",
            *self._parted(kernel, f"min(g, {total - 1})", kernel.elements),
            "let e = f;",
            *self.sited(kernel),
            f"var v{value} = 0.0;",
            *self.looped(
                nest, [f"v{value} += {self.with_names(nest.term)};"], longest(nest).name, lanes
            ),
            f"line[t] = v{value};",
            "workgroupBarrier();",
        ]
        half = lanes // 2
        while half:
            lines.append(f"if (lane < {half}) {{ line[t] += line[t + {half}]; }}")
            lines.append("workgroupBarrier();")
            half //= 2
        lines.append(f"if (lane == 0 && g < {total}) {{ {name}_end(g, e, line[t]); }}")
        return lines

    def _tiles(self, kernel: DeviceKernel, nest: LoopNest, row: Variant, name: str) -> list[str]:
        """Write a tile of a product a group, a block of 4 x 4 a thread, by group memory."""
        matrix = nest.matrix
        assert matrix is not None
        downs, across = -(-matrix.down // row.down), -(-matrix.across // row.across)
        length = piece(matrix, kernel.pieces)
        wide = row.across // VECTOR
        lines = [
            *self._parted(kernel, "q", downs * across),
            f"let m0 = f / {across} * {row.down};",
            f"let c0 = f % {across} * {row.across};",
            f"let u = t % {row.owners};" if self.width > row.owners else "let u = t;",
            f"let um = u / {wide};",
            f"let uc = u % {wide};",
        ]
        if kernel.pieces > 1:
            lines += [f"let k0 = h * {length};", f"let k1 = min(k0 + {length}, {matrix.deep});"]
        else:
            lines += ["let k0 = 0;", f"let k1 = {matrix.deep};"]
        lines += [f"var x{part} = vec4<f32>(0.0);" for part in _PARTS]
        # All groups turn equally often, so that their threads meet at the barriers.
        lines.append(f"for (var s = 0; s < {length}; s += {row.deep}) {{")
        lefts, _ = row.loads
        inner = [
            *self._loaded(matrix, row, f"{name}_left", left=True),
            *self._loaded(matrix, row, f"{name}_right", left=False),
            "workgroupBarrier();",
            f"for (var d = 0; d < {row.deep}; d += {UNROLLED}) {{",
        ]
        for step in range(UNROLLED):
            a = f"tile[(d + {step}) * {row.down // VECTOR} + um]"
            b = f"tile[{lefts} + (d + {step}) * {wide} + uc]"
            inner += [f"  let a{step} = {a};", f"  let b{step} = {b};"]
            inner += [f"  x{part} += a{step}.{part} * b{step};" for part in _PARTS]
        inner += ["}", "workgroupBarrier();"]
        lines += [*(f"  {line}" for line in inner), "}"]
        return [*lines, *self._tile_stores(kernel, row, name)]

    def _loaded(self, matrix: MatrixForm, row: Variant, name: str, *, left: bool) -> list[str]:
        """Write a loop by which all threads fetch the tile of one matrix, four neighbours each."""
        lefts, rights = row.loads
        side, count, first = (row.down, lefts, 0) if left else (row.across, rights, lefts)
        vectors = side // VECTOR
        block, step = f"l % {vectors}", f"l / {vectors}"
        if matrix.left_runs if left else matrix.right_runs:
            block, step = f"l / {row.deep}", f"l % {row.deep}"
        parts = [f"{name}(one + {part}, k0 + s + step, k1)" for part in range(VECTOR)]
        inner = [
            f"let block = {block};",
            f"let step = {step};",
            f"let one = {'m0' if left else 'c0'} + {VECTOR} * block;",
            f"tile[{first} + step * {vectors} + block] = vec4<f32>({', '.join(parts)});",
        ]
        head = f"for (var l = t; l < {count}; l += {self.width}) {{"
        return [head, *(f"  {line}" for line in inner), "}"]

    def _matrices(self, matrix: MatrixForm, name: str) -> list[str]:
        """Write functions for a number of each matrix, 0 beyond its end."""
        sides = (
            ("left", "m", matrix.down, matrix.left_lets, matrix.left),
            ("right", "c", matrix.across, matrix.right_lets, matrix.right),
        )
        found = []
        for side, letter, most, lets, number in sides:
            inner = [
                f"let {letter} = min(one, {most - 1});",
                f"let k = min(deep, {matrix.deep - 1});",
                *(f"let {key} = {self.with_names(text)};" for key, text in lets),
                f"return select(0.0, {self.with_names(number)}, one < {most} && deep < end);",
            ]
            head = f"fn {name}_{side}(one: i32, deep: i32, end: i32) -> f32 {{"
            found += [head, *(f"  {line}" for line in inner), "}"]
        return found

    def _tile_end(self, kernel: DeviceKernel, matrix: MatrixForm, name: str) -> list[str]:
        """Write a function that ends the number of a row and a column, where it is one."""
        inner = [
            f"let e = {matrix.element};",
            f"if (m < {matrix.down} && c < {matrix.across}) {{",
            f"  {name}_end({self._at(kernel, 'e')}, e, sum);",
            "}",
        ]
        head = f"fn {name}_put(h: i32, m: i32, c: i32, sum: f32) {{"
        return [head, *(f"  {line}" for line in inner), "}"]

    def _tile_stores(self, kernel: DeviceKernel, row: Variant, name: str) -> list[str]:
        part = "0" if kernel.pieces == 1 else "h"
        lines = [
            f"  {name}_put({part}, m + {a}, c + {b}, x{down}.{across});"
            for a, down in enumerate(_PARTS)
            for b, across in enumerate(_PARTS)
        ]
        place = [f"let m = m0 + {VECTOR} * um;", f"let c = c0 + {VECTOR} * uc;"]
        return [*place, f"if (t < {row.owners}) {{", *lines, "}"]

    def _several_rows(self, kernel: DeviceKernel) -> list[str]:
        """Write several rows a group, an element a thread; threads read their own row."""
        lanes = lanes_of_row(kernel)
        own, last = self.width // lanes, kernel.rows - 1
        lines = [
            f"let n = min(q * {own} + t / {lanes}, {last});",
            f"let i = min(t % {lanes}, {kernel.size - 1});",
            f"let first = t - t % {lanes};",
            f"let there = q * {own} + t / {lanes} <= {last};",
            f"let real = there && t % {lanes} < {kernel.size};",
            f"let e = n * {kernel.size} + i;",
        ]
        for value, operation in kernel.body:
            if not isinstance(operation, OverRow):
                lines += self.operation(value, operation)
                continue
            name, start = f"v{value}", STARTS[operation.how]
            lines += [
                f"line[t] = {self.with_names(operation.formula)};",
                "workgroupBarrier();",
                f"var {name} = {start};",
                f"for (var k = 0; k < {kernel.size}; k++) {{",
                f"  {joined(operation.how, name, 'line[first + k]')}",
                "}",
                "workgroupBarrier();",
            ]
        each = [self.store(store, "e") for store in kernel.stores if not store.once]
        once = [self.store(store, "n") for store in kernel.stores if store.once]
        if each:
            lines += ["if (real) {", *(f"  {line}" for line in each), "}"]
        if once:
            lines += ["if (there && t == first) {", *(f"  {line}" for line in once), "}"]
        return lines
