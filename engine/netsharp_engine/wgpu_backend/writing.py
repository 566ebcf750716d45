"""A pass as the text of a program in WGSL, which anybody can read: sizes are constants.

It knows kernels and where their buffers lie, no graph and no device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netsharp_engine.excerpt import printable
from netsharp_engine.wgpu_backend import functions
from netsharp_engine.wgpu_backend.kernels import TABLES, Buffer, DeviceKernel
from netsharp_engine.wgpu_backend.planning.joining import ROW, Pass
from netsharp_engine.wgpu_backend.planning.placing import Placement
from netsharp_engine.wgpu_backend.tuned import TunedText
from netsharp_engine.wgpu_backend.variants import (
    PLAIN,
    THREADS,
    VECTOR,
    lanes_of_row,
    nest_of,
    variant_of,
)

#: Groups of one dimension; more are folded into the second.
GROUPS = 65_535


def threads(one: Pass) -> int:
    """Return the threads of a group: what its variants need, and as many as rows have elements."""
    found = THREADS
    for kernel in one.kernels:
        found = max(found, variant_of(kernel).threads)
        if kernel.by_rows and kernel.sums:
            while found < kernel.size:
                found *= 2
    return min(found, ROW)


def groups(kernel: DeviceKernel, width: int) -> int:
    """Return the number of groups of ``width`` threads that compute a kernel."""
    row = variant_of(kernel)
    if row.form == "rows":
        return -(-kernel.rows // (width // lanes_of_row(kernel)))
    if kernel.by_rows:
        return kernel.rows
    if row.form == "tiles":
        nest = nest_of(kernel)
        assert nest is not None
        assert nest.matrix is not None
        tiles = -(-nest.matrix.down // row.down) * -(-nest.matrix.across // row.across)
        return tiles * kernel.pieces
    if row.form == "vectors":
        blocks = -(-kernel.rows // VECTOR) * kernel.size
        return -(-blocks * kernel.pieces // width)
    return -(-kernel.elements * kernel.pieces // (width // row.lanes))


def looked(one: Pass) -> int:
    """Return the number of values in a workgroup's shared memory."""
    any_looks = any(kernel.by_rows or variant_of(kernel).lanes > 1 for kernel in one.kernels)
    return threads(one) if any_looks else 0


def tiled(one: Pass) -> int:
    """Return the number of vectors of tiles in a workgroup's memory."""
    return max(sum(variant_of(kernel).loads) for kernel in one.kernels)


def folded(count: int) -> tuple[int, int]:
    """Return at least ``count`` groups in two dimensions."""
    across = min(count, GROUPS)
    return across, -(-count // across)


class PassText(TunedText):
    """The text of one pass."""

    def __init__(self, one: Pass, buffers: Sequence[Buffer], placement: Placement) -> None:
        super().__init__(one, buffers, placement, threads(one))

    def text(self) -> str:
        """Write the whole program."""
        kernels = self.one.kernels
        bodies = [self._kernel(number, kernel) for number, kernel in enumerate(kernels)]
        total = sum(groups(kernel, self.width) for kernel in kernels)
        across, _ = folded(total)
        parts = [*self._bindings(), "", *self._constants(), ""]
        parts += functions.called(text for each in kernels for text in each.texts())
        if looked(self.one):
            parts += [f"var<workgroup> line: array<f32, {looked(self.one)}>;", ""]
        if tiled(self.one):
            parts += [f"var<workgroup> tile: array<vec4<f32>, {tiled(self.one)}>;", ""]
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
            label = printable(buffer.label)
            yield f"const {name} = {place.offset};  // {place.arena}: {label} {shape}"

    def _choice(self) -> Iterator[str]:
        """Yield the lines that choose the kernel of a group."""
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
        head = [f"// {printable(name)}" for name in kernel.joined]
        before: list[str] = []
        if kernel.variant != PLAIN:
            head.append(f"// by {kernel.variant}")
            before, inner = self.tuned(kernel, f"kernel{number}")
        elif not kernel.by_rows:
            inner = self.flat(kernel)
        elif kernel.size <= self.width:
            inner = self.row(kernel)
        else:
            inner = self.wide_row(kernel)
        opening = f"fn kernel{number}(q: i32, t: i32) {{"
        return [*head, *before, opening, *(f"  {line}" for line in inner), "}"]
