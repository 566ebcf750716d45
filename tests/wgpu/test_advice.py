"""The advice where no graphics device is found: what is missing, and what fixes it."""

from __future__ import annotations

import json

import pytest

from netsharp_engine.graph import GraphError
from netsharp_engine.wgpu_backend import diagnosis, running
from netsharp_engine.wgpu_backend.diagnosis import GraphicsSurroundings, advice, surroundings
from netsharp_engine.wgpu_backend.running import Adapter

WELL = GraphicsSurroundings(True, ("radeon_icd.x86_64.json",), False, True, False)
REAL = Adapter("Radeon 780M", "Vulkan, radv", "IntegratedGPU")
SOFTWARE = Adapter("llvmpipe", "Vulkan, Mesa", "CPU")


@pytest.mark.parametrize(
    ("around", "reported"),
    [
        (WELL._replace(loader=False), "sudo apt-get install libvulkan1"),
        (WELL._replace(drivers=()), "sudo apt-get install mesa-vulkan-drivers"),
        (WELL._replace(nvidia=True), "NVIDIA_DRIVER_CAPABILITIES=all"),
        (WELL._replace(closed=True), 'sudo usermod -aG render "$USER"'),
        (WELL._replace(graphics=False), "--device cpu"),
        (WELL._replace(broken=(("radeon", "libr.so"),)), "cannot be loaded: libr.so. Reinstall"),
        (WELL._replace(drivers=(), variable="VK_ICD_FILENAMES"), "to no driver. For those"),
        (WELL, "(radeon_icd.x86_64.json) opens the device. Their"),
    ],
)
def test_what_is_missing_is_reported_with_its_command(around, reported):
    for found in ([], [SOFTWARE]):
        assert [reported in line for line in advice(around, found)] == [True]
    assert not list(advice(around, [SOFTWARE, REAL]))


def test_a_driver_that_cannot_be_loaded_is_found_by_its_library(tmp_path, monkeypatch):
    """The files are those of drivers: that of a container that has no library beside it."""
    named = {"missing.json": "libGLX_missing.so.0", "near.json": "./near.so"}
    for name, library in named.items():
        (tmp_path / name).write_text(json.dumps({"ICD": {"library_path": library}}))
    (tmp_path / "odd.json").write_text("[" * 3)
    (tmp_path / "there.json").write_text(json.dumps({"ICD": {"library_path": "libm.so.6"}}))
    monkeypatch.setattr(diagnosis, "_DRIVERS", (str(tmp_path), "/nowhere"))
    for name in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES"):
        monkeypatch.delenv(name, raising=False)
    around = surroundings()
    assert around.drivers == ("missing.json", "near.json", "odd.json", "there.json")
    assert around.broken == (*named.items(), ("odd.json", "(its file cannot be read)"))
    monkeypatch.setenv("VK_ICD_FILENAMES", str(tmp_path / "none.json"))
    around = surroundings()
    assert (around.drivers, around.variable) == ((), "VK_ICD_FILENAMES")


def test_of_a_device_the_broken_driver_is_told_beside_others_that_work():
    drivers = ("intel_icd.json", "nvidia_icd.json")
    broken = (("nvidia_icd.json", "libGLX_nvidia.so.0"),)
    (line,) = advice(WELL._replace(nvidia=True, drivers=drivers, broken=broken), [SOFTWARE])
    assert "libGLX_nvidia.so.0. Reinstall" in line
    assert "NVIDIA_DRIVER_CAPABILITIES=all" in line
    # Drivers of another processor are not mentioned where one works.
    assert "libold.so" not in "".join(
        advice(WELL._replace(drivers=drivers, broken=(("i", "libold.so"),)), [])
    )


def chosen_of(monkeypatch, *found):
    monkeypatch.setattr(running, "_adapters", lambda: [(each, None) for each in found])
    return lambda wanted: running.chosen(wanted)[0]


def test_software_is_taken_only_where_it_is_asked_for(monkeypatch):
    chosen = chosen_of(monkeypatch, SOFTWARE)
    assert chosen("cpu") == chosen("LLVM") == SOFTWARE
    with pytest.raises(GraphError, match=r"There is llvmpipe .* 'wgpu:cpu'"):
        chosen(None)
    with pytest.raises(GraphError, match=r"no graphics device 'nvidia'. There are: llvmpipe"):
        chosen("nvidia")
    assert chosen_of(monkeypatch, REAL, SOFTWARE)(None) == REAL
    with pytest.raises(GraphError, match="no graphics device that wgpu can use"):
        chosen_of(monkeypatch)(None)


def test_a_whole_name_is_that_device_though_it_is_part_of_anothers(monkeypatch):
    """A back end opens its adapter by the name that it was chosen with."""
    small = Adapter("Radeon 780", "Vulkan, radv", "IntegratedGPU")
    large = Adapter("Radeon 780 XT", "Vulkan, radv", "DiscreteGPU")
    chosen = chosen_of(monkeypatch, large, small)
    assert chosen("radeon") == large
    assert chosen("radeon 780") == small
    assert chosen(chosen("IntegratedGPU").name) == small
