"""Kernels as text of WGSL in their plain form: one number an invocation, or one row a group.

It knows kernels and where their buffers lie, no program around them and no device.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from netsharp_engine.wgpu_backend.kernels import (
    Buffer,
    DeviceKernel,
    Each,
    LoopNest,
    OverRow,
    StoreTo,
    named,
)
from netsharp_engine.wgpu_backend.planning.joining import Pass
from netsharp_engine.wgpu_backend.planning.placing import Placement

LOWEST = "-3.4028235e38"
STARTS = {"sum": "0.0", "max": LOWEST, "min": "3.4028235e38"}
_JOINS = {"sum": "{0} + {1}", "max": "max({0}, {1})", "min": "min({0}, {1})"}


class KernelText:
    """What the kernels of one pass are written with: names of buffers, threads of a group."""

    def __init__(
        self, one: Pass, buffers: Sequence[Buffer], placement: Placement, width: int
    ) -> None:
        self.one, self.buffers, self.placement, self.width = one, buffers, placement, width
        self.names = _names(one, buffers)

    def flat(self, kernel: DeviceKernel) -> list[str]:
        """Write one element an invocation."""
        count = kernel.elements
        lines = [f"let g = q * {self.width} + t;", f"if (g < {count * kernel.pieces}) {{"]
        inner = []
        at = "g"
        if kernel.pieces > 1:
            inner += [f"let h = g / {count};", f"let e = g % {count};"]
        else:
            inner.append("let e = g;")
        inner += self.sited(kernel)
        for value, operation in kernel.body:
            assert not isinstance(operation, OverRow)
            inner += self.operation(value, operation)
        inner += [self.store(store, at if kernel.pieces > 1 else "e") for store in kernel.stores]
        return [*lines, *(f"  {line}" for line in inner), "}"]

    def sited(self, kernel: DeviceKernel) -> list[str]:
        """Write the row of element ``e``, and the place there."""
        if kernel.rows == 1:
            return ["let n = 0;", "let i = e;"]
        return [f"let n = e / {kernel.size};", f"let i = e % {kernel.size};"]

    def row(self, kernel: DeviceKernel) -> list[str]:
        """Write a row a group, an element a thread; all threads meet at each look over the row."""
        lines = [
            "let n = q;",
            f"let real = t < {kernel.size};",
            f"let i = min(t, {kernel.size - 1});",
            f"let e = n * {kernel.size} + i;",
        ]
        for value, operation in kernel.body:
            if isinstance(operation, OverRow):
                first = (
                    f"select({STARTS[operation.how]}, {self.with_names(operation.formula)}, real)"
                )
                lines += self.over(value, operation, first, min(kernel.size, self.width))
            else:
                lines += self.operation(value, operation)
        inner = [self.store(store, "e") for store in kernel.stores if not store.once]
        if inner:
            lines += ["if (real) {", *(f"  {line}" for line in inner), "}"]
        return lines + self.once(kernel)

    def wide_row(self, kernel: DeviceKernel) -> list[str]:
        """Write a row a group, several elements a thread; formulas are computed where needed."""
        lines = ["let n = q;"]
        over = {number for number, operation in kernel.body if isinstance(operation, OverRow)}
        formulas = {
            number: operation for number, operation in kernel.body if isinstance(operation, Each)
        }
        alike = single(formulas, over)
        for value, operation in kernel.body:
            if isinstance(operation, OverRow):
                inner = self.needed([operation.formula], formulas, over | alike)
                name, start = f"w{value}", STARTS[operation.how]
                inner.append(joined(operation.how, name, self.with_names(operation.formula)))
                lines += [f"var {name} = {start};", *self.strided(kernel, inner)]
                lines += self.over(value, operation, name, self.width)
            elif value in alike:
                lines += self.operation(value, operation)
        stores = [store for store in kernel.stores if not store.once]
        if stores:
            wanted = [f"v{store.value}" for store in stores]
            inner = self.needed(wanted, formulas, over | alike)
            inner += [self.store(store, "e") for store in stores]
            lines += self.strided(kernel, inner)
        return lines + self.once(kernel)

    def strided(self, kernel: DeviceKernel, inner: list[str]) -> list[str]:
        """Write a loop over the elements of a thread."""
        return [
            f"for (var i = t; i < {kernel.size}; i += {self.width}) {{",
            f"  let e = n * {kernel.size} + i;",
            *(f"  {line}" for line in inner),
            "}",
        ]

    def needed(self, texts: list[str], formulas: Mapping[int, Each], known: set[int]) -> list[str]:
        """Write the formulas that texts depend on, in order."""
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
            for line in self.operation(number, operation)
        ]

    def over(self, value: int, operation: OverRow, first: str, count: int) -> list[str]:
        """Write what all threads of a group have, together."""
        name = f"v{value}"
        return [
            f"line[t] = {first};",
            "workgroupBarrier();",
            f"var {name} = {STARTS[operation.how]};",
            f"for (var k = 0; k < {count}; k++) {{",
            f"  {joined(operation.how, name, 'line[k]')}",
            "}",
            "workgroupBarrier();",
        ]

    def once(self, kernel: DeviceKernel) -> list[str]:
        """Write the stores of a row, by its first thread."""
        inner = [self.store(store, "n") for store in kernel.stores if store.once]
        return ["if (t == 0) {", *(f"  {line}" for line in inner), "}"] if inner else []

    def operation(self, value: int, operation: LoopNest | Each) -> list[str]:
        """Write a value."""
        if isinstance(operation, Each):
            return [f"let v{value} = {self.with_names(operation.formula)};"]
        return self.nest(value, operation)

    def nest(self, value: int, nest: LoopNest) -> list[str]:
        """Write loops."""
        name = f"v{value}"
        lines = [f"var {name} = {STARTS[nest.how]};"]
        if nest.mark:
            lines.append(f"var a{value} = 0.0;")
        term = self.with_names(nest.term)
        if nest.how == "sum":
            return lines + self.looped(nest, [f"{name} += {term};"])
        body = [f"let term = {term};"]
        if nest.mark:
            mark = self.with_names(nest.mark)
            body.append(f"a{value} = select(a{value}, {mark}, term > {name});")
        return lines + self.looped(nest, [*body, f"{name} = max({name}, term);"])

    def looped(
        self, nest: LoopNest, body: list[str], shared: str = "", lanes: int = 1
    ) -> list[str]:
        """Write loops around a body; ``lanes`` threads take turns in the loop ``shared``."""
        inner = [f"const {key} = {size};" for key, size in nest.constants]
        inner += [f"let {key} = {self.with_names(text)};" for key, text in nest.lets]
        depth = 0
        for loop in nest.loops:
            name, low, high = loop.name, self.with_names(loop.low), self.with_names(loop.high)
            step = f"{name}++"
            if name == shared:
                low, step = f"{low} + lane", f"{name} += {lanes}"
            inner.append(f"{'  ' * depth}for (var {name} = {low}; {name} < {high}; {step}) {{")
            depth += 1
        inner += [f"{'  ' * depth}{line}" for line in body]
        inner += [f"{'  ' * (depth - 1 - k)}}}" for k in range(depth)]
        return ["{", *(f"  {line}" for line in inner), "}"]

    def store(self, store: StoreTo, at: str) -> str:
        """Write a store at an element, or where it says."""
        place = self.with_names(store.at) if store.at else at
        return f"{self.number(store.buffer, place)} = v{store.value};"

    def number(self, buffer: int, place: str) -> str:
        """Write a number of a buffer."""
        arena, name = self.placement.places[buffer].arena, self.names[buffer]
        return f"{arena}[{name}]" if place == "0" else f"{arena}[{name} + {place}]"

    def with_names(self, text: str) -> str:
        """Write an expression with the names of buffers."""

        def name(found: re.Match[str]) -> str:
            number = int(found[1])
            return f"{self.placement.places[number].arena}[{self.names[number]} + "

        return re.sub(r"\bb(\d+)\[", name, text)


def joined(how: str, name: str, other: str) -> str:
    """Write what takes another number into a sum, a maximum or a minimum."""
    if how == "sum":
        return f"{name} += {other};"
    return f"{name} = {_JOINS[how].format(name, other)};"


def single(formulas: Mapping[int, Each], over: set[int]) -> set[int]:
    """Return the numbers of formulas that are the same for all elements of a row."""
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
        found[number] = f"{plain if plain[:1].isalpha() else f'B{plain}'}_{number}"
    return found
