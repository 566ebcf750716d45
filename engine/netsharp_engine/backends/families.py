"""The table of families of devices: how each is installed, asked for and surveyed.

A family's own package is imported where its row is asked, and not before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from netsharp_engine.backends.likely import installed, torch_is_likely, wgpu_is_likely
from netsharp_engine.backends.naming import BF16, CPU
from netsharp_engine.graph import GraphError
from netsharp_engine.program import Backend, Unusable

#: Errors of an import of a package that is incomplete, or whose libraries are missing.
UNLOADABLE = (ImportError, OSError)
#: Adapters of this kind are not devices: they are drivers that compute on the processor.
SOFTWARE = "CPU"
#: What to do where there are no products of bf16.
_OTHERWISE = "Choose --device torch, or --precision float32."


class FoundDevice(NamedTuple):
    """One device that can be used: how it is named and what it is called."""

    name: str
    title: str


class DeviceFamily(NamedTuple):
    """A row.

    ``make(kind, precision)`` gives the back end, on the family's first choice where ``kind`` is
    empty, or why not; ``planner`` one that drafts and need not compute, so that no device has to be
    here.  ``devices`` are those that are here, and may import the package;
    ``likely`` says before whether a device beside the processor may be among them.
    ``details`` has figures of each, and what is missing.
    """

    name: str
    package: str
    make: Callable[[str, str], Backend | Unusable]
    devices: Callable[[], Iterator[FoundDevice]]
    likely: Callable[[], bool]
    planner: Callable[[str, str], Backend | Unusable]
    details: Callable[[], Iterator[str]] = lambda: iter(())

    @property
    def missing(self) -> Unusable | None:
        """Return the missing package, and the command that installs it."""
        if not self.package or installed(self.package):
            return None
        return Unusable(
            f"{self.name} is not installed.",
            f'Install it by: python -m pip install "netsharp[{self.name}]"',
        )

    def made(self, kind: str, precision: str) -> Backend | Unusable:
        """Return the back end on a kind of its devices, or why there is none."""
        return self.missing or self._tried(self.make, kind, precision)

    def planned(self, kind: str, precision: str) -> Backend | Unusable:
        """Return the planner for a device, or why there is none; the package may be absent."""
        made = self._tried(self.planner, kind, precision)
        return self.missing or made if isinstance(made, Unusable) else made

    def unloadable(self, error: Exception) -> Unusable:
        """Return the meaning of an error in loading the package, and the command that fixes it."""
        return Unusable(
            f"{self.name} is installed and cannot be loaded: {error}.",
            f'Reinstall it: python -m pip install --force-reinstall "netsharp[{self.name}]"',
        )

    def _tried(
        self, give: Callable[[str, str], Backend | Unusable], kind: str, precision: str
    ) -> Backend | Unusable:
        try:
            return give(kind, precision)
        except UNLOADABLE as error:
            return self.unloadable(error)


def _processor(kind: str, precision: str) -> Backend | Unusable:
    from netsharp_engine.numpy_backend import NumpyDraft

    if precision == BF16:
        return Unusable("cpu has no products of bf16.", _OTHERWISE)
    return NumpyDraft


def _processors() -> Iterator[FoundDevice]:
    import numpy as np

    twins = find_spec("netsharp_engine._twins") is not None
    compiled = "compiled kernels" if twins else "no compiled kernels"
    yield FoundDevice(CPU, f"numpy {np.__version__}, {os.cpu_count()} processors, {compiled}")


def _torch(kind: str, precision: str) -> Backend | Unusable:
    from netsharp_engine.torch_backend import torch_backend

    return torch_backend(kind, halved=precision == BF16)


def _torch_planner(kind: str, precision: str) -> Backend | Unusable:
    from netsharp_engine.torch_backend import TorchBackend

    return TorchBackend(kind, precision == BF16) if kind else _torch(kind, precision)


def _torch_devices() -> Iterator[FoundDevice]:
    from netsharp_engine.torch_backend import TorchBackend, found_kinds

    for kind, _ in found_kinds():
        made = TorchBackend(kind)
        yield FoundDevice(made.name, made.title)


def _wgpu_room() -> Any:
    """Return the room of the back end; ModuleNotFoundError where this build has none."""
    return import_module("netsharp_engine.wgpu_backend")


def _wgpu(kind: str, precision: str) -> Backend | Unusable:
    if precision == BF16:
        return Unusable("wgpu has no products of bf16.", _OTHERWISE)
    try:
        found: Backend | Unusable = _wgpu_room().backend(kind or None)
    except GraphError as error:
        return Unusable(str(error), "")
    return found


def _wgpu_planner(kind: str, precision: str) -> Backend | Unusable:
    try:
        planner: Callable[[str], Backend] | None = getattr(_wgpu_room(), "planner", None)
    except ImportError:
        planner = None
    return _wgpu(kind, precision) if planner is None else planner(kind)


def _wgpu_devices() -> Iterator[FoundDevice]:
    try:
        adapters = _wgpu_room().adapters()
    except GraphError:
        return
    for name, driver, kind in adapters:
        yield FoundDevice(f"wgpu:{name}", f"{name}, {driver}, {kind}")


def _wgpu_details() -> Iterator[str]:
    found: Iterator[str] = import_module("netsharp_engine.wgpu_backend.diagnosis").lines()
    return found


#: In the order in which `auto` tries them; the processor is the last.
FAMILIES: dict[str, DeviceFamily] = {
    row.name: row
    for row in (
        DeviceFamily("torch", "torch", _torch, _torch_devices, torch_is_likely, _torch_planner),
        DeviceFamily(
            "wgpu", "wgpu", _wgpu, _wgpu_devices, wgpu_is_likely, _wgpu_planner, _wgpu_details
        ),
        DeviceFamily(CPU, "", _processor, _processors, lambda: True, _processor),
    )
}
