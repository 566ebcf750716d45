"""What is missing where no graphics device is found, and how fast those are that are: for people.

It looks at files and asks devices; it decides nothing.
"""

from __future__ import annotations

import ctypes
import glob
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from ctypes.util import find_library
from typing import NamedTuple

import numpy as np

from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.plain_files import open_plain
from netsharp_engine.program import Batch, Job
from netsharp_engine.wgpu_backend.draft import DeviceDraft
from netsharp_engine.wgpu_backend.program import DeviceProgram
from netsharp_engine.wgpu_backend.running import Adapter, adapters, device
from netsharp_engine.wgpu_backend.tuning.keeping import DeviceIdentity, DeviceSpeed, keep_speed

#: Where drivers for Vulkan leave a file on Linux.
_DRIVERS = ("/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d")
#: Variables that lead the loader to other files, the one that counts first.
_VARIABLES = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")
#: Characters of such a file that are read.
_MOST = 1 << 16
_CONTAINER = "Start a container with NVIDIA_DRIVER_CAPABILITIES=all"
#: Rows and columns of the two matrices of a product, and the number of its repetitions.
_SIDE, _TIMES = 256, 5
_PASSES, _NUMBERS = 100, 1 << 20


class GraphicsSurroundings(NamedTuple):
    """What lies around on Linux: the loader, drivers by the names of their files, nodes of devices.

    ``closed``: there is a device, and this user may not open it.  ``broken`` has drivers whose
    libraries cannot be loaded, and the libraries; ``variable`` leads the loader to other drivers.
    """

    loader: bool
    drivers: tuple[str, ...]
    nvidia: bool
    graphics: bool
    closed: bool
    broken: tuple[tuple[str, str], ...] = ()
    variable: str = ""


def surroundings() -> GraphicsSurroundings:
    """Look at the files of this computer."""
    variable = next((name for name in _VARIABLES if os.environ.get(name)), "")
    paths = os.environ.get(variable, "").split(os.pathsep) if variable else _DRIVERS
    files = sorted(path for each in paths for path in _files_in(each))
    libraries = {os.path.basename(path): _missing_library(path) for path in files}
    nodes = glob.glob("/dev/dri/renderD*")
    return GraphicsSurroundings(
        loader=find_library("vulkan") is not None,
        drivers=tuple(libraries),
        nvidia=os.path.exists("/dev/nvidiactl"),
        graphics=bool(nodes),
        closed=bool(nodes) and not any(os.access(node, os.R_OK | os.W_OK) for node in nodes),
        broken=tuple((name, library) for name, library in libraries.items() if library),
        variable=variable,
    )


def _files_in(place: str) -> list[str]:
    """Return the files of drivers in a folder, or a file itself."""
    return [place] if os.path.isfile(place) else glob.glob(f"{glob.escape(place)}/*.json")


def _missing_library(path: str) -> str:
    """Return the library of a driver's file where it cannot be loaded, empty where it can."""
    try:
        with open_plain(path) as stream:
            named = str(json.loads(stream.read(_MOST))["ICD"]["library_path"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "(its file cannot be read)"
    library = os.path.join(os.path.dirname(path), named) if "/" in named else named
    try:
        ctypes.CDLL(library)
    except OSError:
        return named
    return ""


def advice(around: GraphicsSurroundings, found: Sequence[Adapter]) -> Iterator[str]:
    """Yield what is missing for a device, each with the command that fixes it."""
    if any(not adapter.software for adapter in found):
        return
    if around.variable:
        yield (
            f"{around.variable} leads the loader to {', '.join(around.drivers) or 'no driver'}. "
            f"For those that are installed: unset {around.variable}"
        )
    if not around.loader:
        yield "the loader of Vulkan is missing. Install it by: sudo apt-get install libvulkan1"
    bad = [each for each in around.broken if around.nvidia and "nvidia" in each[0]]
    if around.nvidia and not any("nvidia" in name for name in around.drivers):
        yield (
            "NVIDIA's device is there without its driver for Vulkan, as in containers that compute "
            f"alone. {_CONTAINER}, or compute by "
            '--device torch: python -m pip install "netsharp[torch]"'
        )
    elif bad or len(around.broken) == len(around.drivers) > 0:
        for name, library in bad or around.broken:
            yield (
                f"the driver {name} is there, and its library cannot be loaded: {library}. "
                f"Reinstall its package. {_CONTAINER}"
            )
    elif not around.drivers:
        if not around.variable:
            yield (
                "no driver for Vulkan is installed. For AMD, Intel, and for tests without a "
                "device: sudo apt-get install mesa-vulkan-drivers"
            )
    elif around.closed:
        yield (
            "there is a device that you may not open. Join its group, and log in again: "
            'sudo usermod -aG render "$USER"'
        )
    elif not around.graphics and not around.nvidia:
        yield "no graphics device was found: use --device cpu"
    elif around.loader:
        yield (
            f"no driver that is there ({', '.join(around.drivers)}) opens the device. Their "
            "messages: sudo apt-get install vulkan-tools && vulkaninfo"
        )


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
