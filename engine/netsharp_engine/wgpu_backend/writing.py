"""A pass as the text of a program in WGSL, which anybody can read: sizes are constants.

It knows kernels and where their buffers lie, no graph and no device.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from netsharp_engine.wgpu_backend.kernels import (
    TABLES,
    Buffer,
    DeviceKernel,
    Each,
    LoopNest,
    OverRow,
    StoreTo,
    named,
)
from netsharp_engine.wgpu_backend.planning.joining import ROW, Pass
from netsharp_engine.wgpu_backend.planning.placing import Placement

#: Threads of a group, where no row is looked at whole.
THREADS = 64
#: Groups of one dimension; more are folded into the second.
GROUPS = 65_535
LOWEST = "-3.4028235e38"
_STARTS = {"sum": "0.0", "max": LOWEST, "min": "3.4028235e38"}
_JOINS = {"sum": "{0} + {1}", "max": "max({0}, {1})", "min": "min({0}, {1})"}


def threads(one: Pass) -> int:
    """The threads of a group: as many as a row has elements that stay with them."""
    found = THREADS
    for kernel in one.kernels:
        if kernel.by_rows and kernel.sums:
            while found < kernel.size:
                found *= 2
    return min(found, ROW)


def groups(kernel: DeviceKernel, width: int) -> int:
    """How many groups compute a kernel."""
    if kernel.by_rows:
        return kernel.rows
    return -(-kernel.elements * kernel.pieces // width)


def folded(count: int) -> tuple[int, int]:
    """So many groups in two dimensions, at least."""
    across = min(count, GROUPS)
    return across, -(-count // across)


class PassText:
    """The text of one pass."""

    def __init__(self, one: Pass, buffers: Sequence[Buffer], placement: Placement) -> None:
        self.one, self.buffers, self.placement = one, buffers, placement
        self.width = threads(one)
        self.names = _names(one, buffers)

    def text(self) -> str:
        """The whole program."""
        kernels = self.one.kernels
        bodies = [self._kernel(number, kernel) for number, kernel in enumerate(kernels)]
        total = sum(groups(kernel, self.width) for kernel in kernels)
        across, _ = folded(total)
        parts = [*self._bindings(), "", *self._constants(), ""]
        if any(kernel.by_rows for kernel in kernels):
            parts += [f"var<workgroup> line: array<f32, {self.width}>;", ""]
        parts += [line for body in bodies for line in (*body, "")]
        parts += [
            f"@compute @workgroup_size({self.width})",
            "fn main(@builtin(workgroup_id) group: vec3<u32>,",
            "        @builtin(local_invocation_index) local: u32) {",
            f"  let q = i32(group.y) * {across} + i32(group.x);",
            "  let t = i32(local);",
            *self._choice(),
            "}",
        ]
        return "\n".join(parts) + "\n"

    def _bindings(self) -> Iterator[str]:
        for number, arena in enumerate(self.placement.arenas):
            access, kind = ("read", "i32") if arena.startswith(TABLES) else ("read_write", "f32")
            yield (f"@group(0) @binding({number}) var<storage, {access}> {arena}: array<{kind}>;")

    def _constants(self) -> Iterator[str]:
        for number, name in self.names.items():
            buffer, place = self.buffers[number], self.placement.places[number]
            shape = f"[{buffer.rows}, {buffer.width}]" if buffer.rows > 1 else f"[{buffer.width}]"
            yield f"const {name} = {place.offset};  // {place.arena}: {buffer.label} {shape}"

    def _choice(self) -> Iterator[str]:
        """Which kernel a group computes."""
        first = 0
        kernels = self.one.kernels
        for number, kernel in enumerate(kernels):
            last = first + groups(kernel, self.width)
            at = "q" if first == 0 else f"q - {first}"
            if len(kernels) == 1:
                yield f"  kernel{number}({at}, t);"
            else:
                yield f"  {'if' if number == 0 else '} else if'} (q < {last}) {{"
                yield f"    kernel{number}({at}, t);"
            first = last
        if len(kernels) > 1:
            yield "  }"

    def _kernel(self, number: int, kernel: DeviceKernel) -> list[str]:
        head = [f"// {name}" for name in kernel.joined]
        head.append(f"fn kernel{number}(q: i32, t: i32) {{")
        if not kernel.by_rows:
            inner = self._flat(kernel)
        elif kernel.size <= self.width:
            inner = self._row(kernel)
        else:
            inner = self._wide_row(kernel)
        return [*head, *(f"  {line}" for line in inner), "}"]

    def _flat(self, kernel: DeviceKernel) -> list[str]:
        """One element an invocation."""
        count = kernel.elements
        lines = [f"let g = q * {self.width} + t;", f"if (g < {count * kernel.pieces}) {{"]
        inner = []
        at = "g"
        if kernel.pieces > 1:
            inner += [f"let h = g / {count};", f"let e = g % {count};"]
        else:
            inner.append("let e = g;")
        inner += self._places(kernel)
        for value, operation in kernel.body:
            assert not isinstance(operation, OverRow)
            inner += self._operation(value, operation)
        inner += [self._store(store, at if kernel.pieces > 1 else "e") for store in kernel.stores]
        return [*lines, *(f"  {line}" for line in inner), "}"]

    def _places(self, kernel: DeviceKernel) -> list[str]:
        if kernel.rows == 1:
            return ["let n = 0;", "let i = e;"]
        return [f"let n = e / {kernel.size};", f"let i = e % {kernel.size};"]

    def _row(self, kernel: DeviceKernel) -> list[str]:
        """A row a group, an element a thread; all threads meet at each look over the row."""
        lines = [
            "let n = q;",
            f"let real = t < {kernel.size};",
            f"let i = min(t, {kernel.size - 1});",
            f"let e = n * {kernel.size} + i;",
        ]
        for value, operation in kernel.body:
            if isinstance(operation, OverRow):
                first = f"select({_STARTS[operation.how]}, {self._said(operation.formula)}, real)"
                lines += self._over(value, operation, first, min(kernel.size, self.width))
            else:
                lines += self._operation(value, operation)
        inner = [self._store(store, "e") for store in kernel.stores if not store.once]
        if inner:
            lines += ["if (real) {", *(f"  {line}" for line in inner), "}"]
        return lines + self._once(kernel)

    def _wide_row(self, kernel: DeviceKernel) -> list[str]:
        """A row a group, several elements a thread, whose formulas are computed where needed."""
        lines = ["let n = q;"]
        over = {number for number, operation in kernel.body if isinstance(operation, OverRow)}
        formulas = {
            number: operation for number, operation in kernel.body if isinstance(operation, Each)
        }
        single = _single(formulas, over)
        for value, operation in kernel.body:
            if isinstance(operation, OverRow):
                inner = self._needed([operation.formula], formulas, over | single)
                name, start = f"w{value}", _STARTS[operation.how]
                inner.append(_joined(operation.how, name, self._said(operation.formula)))
                lines += [f"var {name} = {start};", *self._stride(kernel, inner)]
                lines += self._over(value, operation, name, self.width)
            elif value in single:
                lines += self._operation(value, operation)
        stores = [store for store in kernel.stores if not store.once]
        if stores:
            wanted = [f"v{store.value}" for store in stores]
            inner = self._needed(wanted, formulas, over | single)
            inner += [self._store(store, "e") for store in stores]
            lines += self._stride(kernel, inner)
        return lines + self._once(kernel)

    def _stride(self, kernel: DeviceKernel, inner: list[str]) -> list[str]:
        return [
            f"for (var i = t; i < {kernel.size}; i += {self.width}) {{",
            f"  let e = n * {kernel.size} + i;",
            *(f"  {line}" for line in inner),
            "}",
        ]

    def _needed(self, texts: list[str], formulas: Mapping[int, Each], known: set[int]) -> list[str]:
        """The formulas that texts depend on, in order."""
        wanted = [k for text in texts for k in named(text)]
        found: set[int] = set()
        while wanted:
            number = wanted.pop()
            if number in formulas and number not in known and number not in found:
                found.add(number)
                wanted += named(formulas[number].formula)
        return [
            line
            for number, operation in formulas.items()
            if number in found
            for line in self._operation(number, operation)
        ]

    def _over(self, value: int, operation: OverRow, first: str, count: int) -> list[str]:
        """What all threads of a group have, together."""
        name = f"v{value}"
        return [
            f"line[t] = {first};",
            "workgroupBarrier();",
            f"var {name} = {_STARTS[operation.how]};",
            f"for (var k = 0; k < {count}; k++) {{",
            f"  {_joined(operation.how, name, 'line[k]')}",
            "}",
            "workgroupBarrier();",
        ]

    def _once(self, kernel: DeviceKernel) -> list[str]:
        inner = [self._store(store, "n") for store in kernel.stores if store.once]
        return ["if (t == 0) {", *(f"  {line}" for line in inner), "}"] if inner else []

    def _operation(self, value: int, operation: LoopNest | Each) -> list[str]:
        if isinstance(operation, Each):
            return [f"let v{value} = {self._said(operation.formula)};"]
        return self._nest(value, operation)

    def _nest(self, value: int, nest: LoopNest) -> list[str]:
        name = f"v{value}"
        lines = [f"var {name} = {_STARTS[nest.how]};"]
        if nest.mark:
            lines.append(f"var a{value} = 0.0;")
        inner = [f"const {key} = {size};" for key, size in nest.constants]
        inner += [f"let {key} = {self._said(text)};" for key, text in nest.lets]
        depth = "  "
        for loop in nest.loops:
            low, high = self._said(loop.low), self._said(loop.high)
            inner.append(
                f"{depth[2:]}for (var {loop.name} = {low}; {loop.name} < {high}; {loop.name}++) {{"
            )
            depth += "  "
        term = self._said(nest.term)
        space = depth[2:]
        if nest.how == "sum":
            inner.append(f"{space}{name} += {term};")
        else:
            inner.append(f"{space}let term = {term};")
            if nest.mark:
                mark = self._said(nest.mark)
                inner.append(f"{space}a{value} = select(a{value}, {mark}, term > {name});")
            inner.append(f"{space}{name} = max({name}, term);")
        for _ in nest.loops:
            space = space[2:]
            inner.append(f"{space}}}")
        return [*lines, "{", *(f"  {line}" for line in inner), "}"]

    def _store(self, store: StoreTo, at: str) -> str:
        place = self._said(store.at) if store.at else at
        return f"{self._number(store.buffer, place)} = v{store.value};"

    def _number(self, buffer: int, place: str) -> str:
        arena, name = self.placement.places[buffer].arena, self.names[buffer]
        return f"{arena}[{name}]" if place == "0" else f"{arena}[{name} + {place}]"

    def _said(self, text: str) -> str:
        """An expression with the names of buffers."""

        def name(found: re.Match[str]) -> str:
            number = int(found[1])
            return f"{self.placement.places[number].arena}[{self.names[number]} + "

        return re.sub(r"\bb(\d+)\[", name, text)


def _joined(how: str, name: str, other: str) -> str:
    if how == "sum":
        return f"{name} += {other};"
    return f"{name} = {_JOINS[how].format(name, other)};"


def _single(formulas: Mapping[int, Each], over: set[int]) -> set[int]:
    """Formulas that are the same for all elements of a row."""
    found: set[int] = set()
    for number, operation in formulas.items():
        elements = re.search(r"\b[ei]\b", operation.formula)
        if not elements and set(named(operation.formula)) <= over | found:
            found.add(number)
    return found


def _names(one: Pass, buffers: Sequence[Buffer]) -> dict[int, str]:
    """Names of the buffers of a pass, of their labels."""
    numbers = sorted({b for kernel in one.kernels for b in kernel.reads() | kernel.writes()})
    found: dict[int, str] = {}
    for number in numbers:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", buffers[number].label).strip("_").upper()
        found[number] = f"{plain or 'B'}_{number}"
    return found
