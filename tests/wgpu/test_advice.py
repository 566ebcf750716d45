"""What people are told where no graphics device is found: what is missing, and what mends it."""

from __future__ import annotations

import pytest

from netsharp_engine.graph import GraphError
from netsharp_engine.wgpu_backend import running
from netsharp_engine.wgpu_backend.diagnosis import GraphicsSurroundings, advice
from netsharp_engine.wgpu_backend.running import Adapter

WELL = GraphicsSurroundings(True, ("radeon_icd.x86_64.json",), False, True, False)
REAL = Adapter("Radeon 780M", "Vulkan, radv", "IntegratedGPU")
SOFTWARE = Adapter("llvmpipe", "Vulkan, Mesa", "CPU")


@pytest.mark.parametrize(
    ("around", "said"),
    [
        (WELL._replace(loader=False), "sudo apt-get install libvulkan1"),
        (WELL._replace(drivers=()), "sudo apt-get install mesa-vulkan-drivers"),
        (WELL._replace(nvidia=True), "NVIDIA_DRIVER_CAPABILITIES=all"),
        (WELL._replace(closed=True), 'sudo usermod -aG render "$USER"'),
        (WELL._replace(graphics=False), "--device cpu"),
    ],
)
def test_what_is_missing_is_reported_with_its_command(around, said):
    for found in ([], [SOFTWARE]):
        assert [said in line for line in advice(around, found)] == [True]
    assert not list(advice(around, [SOFTWARE, REAL]))


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
