"""A plan on a device: buffers, programs and bindings made once, then a submission for each step.

The only module that knows wgpu; what it makes, submits and copies is counted.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netsharp_engine.graph import GraphError
from netsharp_engine.wgpu_backend.kernels import TABLES, WEIGHTS, Buffer
from netsharp_engine.wgpu_backend.planning.joining import Pass
from netsharp_engine.wgpu_backend.planning.placing import ARENA, ARENAS
from netsharp_engine.wgpu_backend.planning.plan import DevicePlan
from netsharp_engine.wgpu_backend.proving import GROUP_BYTES, THREADS
from netsharp_engine.wgpu_backend.writing import GROUPS

Floats = npt.NDArray[np.float32]
#: The limits of every device; only these are requested, so that a plan runs on all of them.
FLOOR = {
    "max-storage-buffers-per-shader-stage": ARENAS,
    "max-compute-invocations-per-workgroup": THREADS,
    "max-compute-workgroup-size-x": THREADS,
    "max-compute-workgroups-per-dimension": GROUPS,
    "max-compute-workgroup-storage-size": GROUP_BYTES,
    "max-storage-buffer-binding-size": 4 * ARENA,
}
#: The feature of devices with timestamps.
CLOCK = "timestamp-query"
#: Kinds of adapters, the fastest first; the last are software implementations.
KINDS = ("DiscreteGPU", "IntegratedGPU", "VirtualGPU", "Unknown", "CPU")
#: The APIs through which computing is reliable, by their names in wgpu.
DRIVERS = ("Vulkan", "Metal", "D3D12")
MISSING = (
    "Computing on a device needs the package 'wgpu': install it with\n"
    "    python -m pip install 'netsharp[wgpu]'"
)


_LOOKS = " netsharp doctor says what is missing."


class Adapter(NamedTuple):
    """A device that can be asked for: its name, what drives it, and its kind."""

    name: str
    driver: str
    kind: str

    @property
    def software(self) -> bool:
        """Return whether it is a program, slower than numpy: for tests."""
        return self.kind == "CPU"

    def __str__(self) -> str:
        return f"{self.name} ({self.driver})"


class Traffic:
    """What was made, submitted and copied; tests read it."""

    def __init__(self) -> None:
        self.made = self.submitted = 0
        self.bytes_up = self.bytes_down = 0


def adapters() -> list[Adapter]:
    """Return all adapters that can be used, the best first; GraphError without the package."""
    return [found for found, _ in _adapters()]


def _adapters() -> list[tuple[Adapter, Any]]:
    try:
        import wgpu
    except ModuleNotFoundError as error:
        if error.name == "wgpu":
            raise GraphError(MISSING) from None
        raise
    try:
        with _quiet():
            listed = wgpu.gpu.enumerate_adapters_sync()
    except Exception as error:  # wgpu raises several types if its library cannot be loaded.
        raise GraphError(f"The library of wgpu cannot be used: {error}") from None
    found = []
    for each in listed:
        info = each.info
        if info["backend_type"] in DRIVERS:
            kind = info["adapter_type"] if info["adapter_type"] in KINDS else "Unknown"
            driver = ", ".join(each for each in (info["backend_type"], info["description"]) if each)
            adapter = Adapter(info["device"], driver, kind)
            found.append((adapter, each))
    return sorted(found, key=lambda each: KINDS.index(each[0].kind))


def chosen(wanted: str | None) -> tuple[Adapter, Any]:
    """Return the best adapter, the one of a whole name, or the best of a part of one or of a kind.

    Raises GraphError, a sentence, where there is none.
    """
    found = _adapters()
    real = [each for each in found if not each[0].software]
    if wanted is None:
        if real:
            return real[0]
        hint = f" There is {found[0][0]}, for tests: ask for it by 'wgpu:cpu'." if found else ""
        raise GraphError(f"There is no graphics device that wgpu can use.{hint}{_LOOKS}")
    lower = wanted.lower()
    named = [each for each in found if lower == each[0].name.lower()]
    others = [each for each in found if lower in each[0].name.lower()]
    others += [each for each in found if lower == each[0].kind.lower()]
    for each in (*named, *others):
        return each
    names = "; ".join(str(adapter) for adapter, _ in found) or "none"
    raise GraphError(f"There is no graphics device '{wanted}'. There are: {names}.{_LOOKS}")


class OpenDevice:
    """A device, and what was done with it."""

    def __init__(self, adapter: Adapter, found: Any) -> None:
        import wgpu

        self.adapter, self.counts = adapter, Traffic()
        self._usage = wgpu.BufferUsage
        self._errors: tuple[type[Exception], ...] = (wgpu.GPUError, RuntimeError)
        with self._reported("to be opened"):
            clocked = [CLOCK] if CLOCK in found.features else []
            self._made: Any = found.request_device_sync(
                required_features=clocked, required_limits=FLOOR
            )
        self._read = self._bytes(1 << 16)
        self._mark = self.arena(1)
        self._stamps = self._clock() if clocked else None

    def _bytes(self, size: int) -> Any:
        return self._buffer(size, self._usage.MAP_READ | self._usage.COPY_DST)

    def _buffer(self, size: int, usage: int) -> Any:
        self.counts.made += 1
        with self._reported(f"{size:,} bytes"):
            return self._made.create_buffer(size=size, usage=usage)

    @contextlib.contextmanager
    def _reported(self, what: str) -> Iterator[None]:
        """Raise GraphError, with a remedy, where a device reports an error."""
        try:
            yield
        except self._errors as error:
            why = str(error).strip().splitlines()
            raise GraphError(
                f"{self.adapter} refuses {what}: {why[0] if why else type(error).__name__} Take "
                "fewer rows a step (batch_size), or --device cpu."
            ) from None

    def _clock(self) -> tuple[Any, Any]:
        """Make a query of two timestamps, and the buffer that they are copied through."""
        usage = self._usage.QUERY_RESOLVE | self._usage.COPY_SRC
        self.counts.made += 1
        return self._made.create_query_set(type="timestamp", count=2), self._buffer(256, usage)

    def arena(self, numbers: int) -> Any:
        """Make a buffer of ``numbers`` numbers, all 0. Raises GraphError where the device refuses
        it.
        """
        usage = self._usage.STORAGE | self._usage.COPY_DST | self._usage.COPY_SRC
        return self._buffer(4 * max(numbers, 1), usage)

    def bound(self, arenas: Mapping[str, Any]) -> tuple[Any, Any]:
        """Make a binding of all arenas in order, and the layout of programs that use it."""
        kinds = [
            {
                "binding": number,
                "visibility": 4,
                "buffer": {"type": "read-only-storage" if name.startswith(TABLES) else "storage"},
            }
            for number, name in enumerate(arenas)
        ]
        layout = self._made.create_bind_group_layout(entries=kinds)
        entries = [
            {"binding": number, "resource": {"buffer": arena, "offset": 0, "size": arena.size}}
            for number, arena in enumerate(arenas.values())
        ]
        group = self._made.create_bind_group(layout=layout, entries=entries)
        programs = self._made.create_pipeline_layout(bind_group_layouts=[layout])
        self.counts.made += 3
        return group, programs

    def program(self, text: str, layout: Any) -> Any:
        """Compile the program of a text. Raises GraphError where the device refuses it."""
        self.counts.made += 2
        with self._reported("a program"):
            module = self._made.create_shader_module(code=text)
            return self._made.create_compute_pipeline(
                layout=layout, compute={"module": module, "entry_point": "main"}
            )

    def write(self, arena: Any, offset: int, numbers: npt.NDArray[Any]) -> None:
        """Copy numbers of four bytes to a device, in order with submitted work."""
        self.counts.bytes_up += numbers.nbytes
        self._made.queue.write_buffer(arena, 4 * offset, numbers)

    def run(self, programs: Iterable[tuple[Any, int, int]], group: Any) -> None:
        """Submit programs, one after another."""
        encoder = self._made.create_command_encoder()
        self._encode(encoder.begin_compute_pass(), programs, group)
        self.counts.submitted += 1
        self._made.queue.submit([encoder.finish()])

    def _encode(self, compute: Any, programs: Iterable[tuple[Any, int, int]], group: Any) -> None:
        compute.set_bind_group(0, group)
        for program, across, down in programs:
            compute.set_pipeline(program)
            compute.dispatch_workgroups(across, down)
        compute.end()

    def timed(self, programs: Iterable[tuple[Any, int, int]], group: Any) -> float:
        """Return the time of programs: in ticks of the device's own clock, else in seconds.

        Ticks compare programs of one device, and nothing else. Raises GraphError where the device
        refuses it.
        """
        if self._stamps is None:
            self.read_nothing()
            began = time.perf_counter()
            self.run(programs, group)
            self.read_nothing()
            return time.perf_counter() - began
        stamps, through = self._stamps
        encoder = self._made.create_command_encoder()
        moments = {
            "query_set": stamps,
            "beginning_of_pass_write_index": 0,
            "end_of_pass_write_index": 1,
        }
        self._encode(encoder.begin_compute_pass(timestamp_writes=moments), programs, group)
        encoder.resolve_query_set(stamps, 0, 2, through, 0)
        self.counts.submitted += 1
        self._made.queue.submit([encoder.finish()])
        (flat,) = self.read([(through, 0, 4)])
        first, last = flat.view(np.uint64)
        return max(float(last) - float(first), 0.0)

    def read_nothing(self) -> None:
        """Wait for submitted work. Raises GraphError where the device refuses it."""
        self.read([(self._mark, 0, 1)])

    def copy(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Copy buffers to others of the same size, on the device."""
        encoder = self._made.create_command_encoder()
        for source, target in pairs:
            encoder.copy_buffer_to_buffer(source, 0, target, 0, source.size)
        self.counts.submitted += 1
        self._made.queue.submit([encoder.finish()])

    def read(self, parts: list[tuple[Any, int, int]]) -> list[Floats]:
        """Return numbers of buffers from an offset in each, after waiting for the queue. Raises
        GraphError where the device refuses it.
        """
        total = sum(4 * count for _, _, count in parts)
        if total > self._read.size:
            self._read.destroy()
            self._read = self._bytes(total)
        encoder = self._made.create_command_encoder()
        at = 0
        for source, offset, count in parts:
            encoder.copy_buffer_to_buffer(source, 4 * offset, self._read, at, 4 * count)
            at += 4 * count
        self.counts.submitted += 1
        self.counts.bytes_down += total
        self._made.queue.submit([encoder.finish()])
        self._read.map_sync("READ", 0, total)
        flat = np.frombuffer(self._read.read_mapped(0, total), np.float32).copy()
        self._read.unmap()
        found, at = [], 0
        for _, _, count in parts:
            found.append(flat[at : at + count])
            at += count
        return found


@cache
def device(wanted: str | None) -> OpenDevice:
    """Return the device of that name, opened once in a process. Raises GraphError where there is no
    such device.
    """
    found, adapter = chosen(wanted)
    with _quiet():
        return OpenDevice(found, adapter)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Give drivers that look for a screen the folder without which they complain."""
    name = "XDG_RUNTIME_DIR"
    known = os.environ.get(name)
    if not known:
        os.environ[name] = tempfile.gettempdir()
    try:
        yield
    finally:
        if not known:
            del os.environ[name]


class PlanMachine:
    """A plan's arenas and programs on a device; parameters may be those of another."""

    def __init__(self, plan: DevicePlan, on: OpenDevice, beside: PlanMachine | None = None) -> None:
        self.plan, self.on = plan, on
        self.arenas: dict[str, Any] = {}
        for name, size in plan.placement.arenas.items():
            shared = beside.arenas.get(name) if beside and name.startswith(WEIGHTS) else None
            self.arenas[name] = on.arena(size) if shared is None else shared
        self._group, self._layout = on.bound(self.arenas)
        self._programs: dict[Pass, tuple[Any, int, int]] = {}
        build = plan.described.building
        for tables, kind in ((build.tables, np.int32), (build.constants, np.float32)):
            for number, numbers in tables.items():
                if number in plan.placement.places:
                    self.write(build.buffers[number], np.array(numbers, kind))

    def prepare(self, passes: Iterable[Pass]) -> list[tuple[Any, int, int]]:
        """Return the programs of passes, each made once."""
        found = []
        for one in passes:
            if one not in self._programs:
                program = self.on.program(self.plan.text(one), self._layout)
                self._programs[one] = (program, *self.plan.dispatch(one))
            found.append(self._programs[one])
        return found

    def run(self, programs: Iterable[tuple[Any, int, int]]) -> None:
        """Submit them."""
        self.on.run(programs, self._group)

    def timed(self, programs: Iterable[tuple[Any, int, int]]) -> float:
        """Return the time of programs, comparable only with others on this device."""
        return self.on.timed(programs, self._group)

    def give_back(self) -> None:
        """Free all memory of a machine that nothing else shares; it cannot be used any more."""
        for arena in self.arenas.values():
            arena.destroy()

    def write(self, buffer: Buffer, numbers: npt.NDArray[Any]) -> None:
        """Write the first numbers of a buffer."""
        place = self.plan.placement.places[buffer.number]
        self.on.write(self.arenas[place.arena], place.offset, numbers)

    def read(self, buffers: list[tuple[Buffer, int]]) -> list[Floats]:
        """Return the first numbers of buffers, a count for each."""
        parts = []
        for buffer, count in buffers:
            place = self.plan.placement.places[buffer.number]
            parts.append((self.arenas[place.arena], place.offset, count))
        return self.on.read(parts)

    def weights(self) -> list[Any]:
        """Return the arenas of parameters and of the optimiser state."""
        return [arena for name, arena in self.arenas.items() if name.startswith(WEIGHTS)]
