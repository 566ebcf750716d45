"""What is missing where no graphics device is found, and how fast those are that are: for people.

It looks at files and asks devices; it decides nothing.
"""

from __future__ import annotations

import glob
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from ctypes.util import find_library
from typing import NamedTuple

import numpy as np

from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.program import Batch, Job
from netsharp_engine.wgpu_backend.draft import DeviceDraft
from netsharp_engine.wgpu_backend.program import DeviceProgram
from netsharp_engine.wgpu_backend.running import Adapter, adapters, device
from netsharp_engine.wgpu_backend.tuning.keeping import DeviceIdentity, DeviceSpeed, keep_speed

#: Where drivers for Vulkan leave a file on Linux.
_DRIVERS = ("/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d")
#: Rows and columns of the two matrices of a product, and the number of its repetitions.
_SIDE, _TIMES = 256, 5
_PASSES, _NUMBERS = 100, 1 << 20


class GraphicsSurroundings(NamedTuple):
    """What lies around on Linux: the loader, drivers by the names of their files, nodes of devices.

    ``closed``: there is a device, and this user may not open it.
    """

    loader: bool
    drivers: tuple[str, ...]
    nvidia: bool
    graphics: bool
    closed: bool


def surroundings() -> GraphicsSurroundings:
    """Look at the files of this computer."""
    files = sorted(
        {os.path.basename(path) for each in _DRIVERS for path in glob.glob(f"{each}/*.json")}
    )
    nodes = glob.glob("/dev/dri/renderD*")
    return GraphicsSurroundings(
        loader=find_library("vulkan") is not None,
        drivers=tuple(files),
        nvidia=os.path.exists("/dev/nvidiactl"),
        graphics=bool(nodes),
        closed=bool(nodes) and not any(os.access(node, os.R_OK | os.W_OK) for node in nodes),
    )


def advice(around: GraphicsSurroundings, found: Sequence[Adapter]) -> Iterator[str]:
    """Yield what is missing for a device, each with the command that fixes it."""
    if any(not adapter.software for adapter in found):
        return
    if not around.loader:
        yield "the loader of Vulkan is missing. Install it by: sudo apt-get install libvulkan1"
    if around.nvidia and not any("nvidia" in name for name in around.drivers):
        yield (
            "NVIDIA's device is there without its driver for Vulkan, as in containers that compute "
            "alone. Start the container with NVIDIA_DRIVER_CAPABILITIES=all, or compute by "
            '--device torch: python -m pip install "netsharp[torch]"'
        )
    elif not around.drivers:
        yield (
            "no driver for Vulkan is installed. For AMD, Intel, and for tests without a device: "
            "sudo apt-get install mesa-vulkan-drivers"
        )
    elif around.closed:
        yield (
            "there is a device that you may not open. Join its group, and log in again: "
            'sudo usermod -aG render "$USER"'
        )
    elif not around.graphics and not around.nvidia:
        yield "no graphics device was found: use --device cpu"


def speed(name: str) -> DeviceSpeed:
    """Measure a device, in a second or so; GraphError where it cannot be opened."""
    graph = Graph()
    weights = graph.parameter("W", (_SIDE, _SIDE))
    source = graph.input("X", (_SIDE,))
    graph.set_output(graph.apply("full", source, parameters=[weights], name="Y"))
    program = DeviceDraft(Job(graph, _SIDE), name).program()
    program.load({"W": np.zeros((_SIDE, _SIDE))})
    program.feed(Batch({"X": np.zeros((_SIDE, _SIDE), np.float32)}))
    best = min(_timed(program.forward, program) for _ in range(_TIMES))
    machine, on = program.machine, device(name)
    empty = machine.prepare(machine.plan.forward)[0][0]
    idle = _timed(lambda: None, program)
    passes = _timed(lambda: machine.run([(empty, 0, 1)] * _PASSES), program) - idle
    arena, numbers = on.arena(_NUMBERS), np.zeros(_NUMBERS, np.float32)
    up = _timed(lambda: on.write(arena, 0, numbers), program)
    started = time.perf_counter()
    on.read([(arena, 0, _NUMBERS)])
    down = time.perf_counter() - started
    return DeviceSpeed(
        _SIDE**3 / best, max(passes, 0.0) / _PASSES, numbers.nbytes / up, numbers.nbytes / down
    )


def _timed(work: Callable[[], object], program: DeviceProgram) -> float:
    """Return the seconds that some work takes, until the device has completed it."""
    machine = program.machine
    buffer = next(iter(machine.plan.described.values.values()))
    started = time.perf_counter()
    work()
    machine.read([(buffer, 1)])
    return time.perf_counter() - started


def lines() -> Iterator[str]:
    """Yield lines about graphics devices: figures of each, or what is missing."""
    try:
        found = adapters()
    except GraphError as error:
        yield str(error)
        return
    for adapter in found:
        if adapter.software:
            yield f"{adapter.name} is a software device, for tests: slower than cpu"
        try:
            speeds = speed(adapter.name)
            keep_speed(DeviceIdentity.here(adapter.name, adapter.driver), speeds)
        except GraphError as error:
            yield f"{adapter.name}: {error}"
            continue
        yield (
            f"{adapter.name}: {speeds.multiply_adds / 1e9:.2g} G multiply-adds a second, "
            f"{speeds.seconds_a_pass * 1e6:.2g} microseconds a pass, "
            f"{speeds.bytes_up / 1e9:.2g} GB a second up, {speeds.bytes_down / 1e9:.2g} down"
        )
    if sys.platform.startswith("linux"):
        yield from advice(surroundings(), found)
