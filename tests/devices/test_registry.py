"""Devices by name: which are meant, what is missing, why one is chosen; nothing loaded unasked."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from netsharp_engine.backends import FAMILIES, backend, choose, likely, parsed
from netsharp_engine.backends.choosing import is_faster, survey
from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.program import Job, Unusable, UpdateRule
from netsharp_engine.train import read_settings
from netsharp_engine.wgpu_backend import DeviceDraft
from tests.engine.plain_program import LoopsDraft
from tests.engine_training.small_networks import layered
from tests.house.test_import_budget import imported_by
from tests.peers import needs_torch

ROOT = Path(__file__).resolve().parents[2]
WIDE = layered(300, 300, (300,))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cpu", "cpu"),
        (" CPU ", "cpu"),
        ("auto", "auto"),
        ("Torch", "torch"),
        ("torch:CUDA", "torch:cuda"),
        ("wgpu:NVIDIA GeForce", "wgpu:NVIDIA GeForce"),
    ],
)
def test_names_are_read(text, name):
    assert str(parsed(text)) == name


@pytest.mark.parametrize("text", ["", "gpu", "cpu:0", "torch:", "torch:tpu", "auto:cpu", "wgpu:"])
def test_others_are_refused_with_what_there_is(text):
    assert parsed(text) is None
    refusal = backend(text)
    assert isinstance(refusal, Unusable)
    assert str(refusal).startswith(f"There is no device '{text}'. Name auto, cpu, torch")
    if text:
        (fault,) = read_settings({}, {"device": text})
        assert fault.startswith(f"--device: '{text}' is not a device: auto, cpu, torch")


def test_the_processor_is_numpy_and_has_no_bf16():
    assert backend("cpu") is NumpyDraft
    assert "no products of bf16" in str(backend("cpu", "bf16"))


def without(monkeypatch, *packages):
    """A Python in which these packages are not installed."""
    monkeypatch.setattr(
        "netsharp_engine.backends.families.installed", lambda name: name not in packages
    )


def test_what_is_not_installed_is_named_with_its_remedy(monkeypatch):
    without(monkeypatch, "torch", "wgpu")
    for name in ("torch", "wgpu"):
        reported = str(backend(name))
        assert reported == (
            f'{name} is not installed. Install it by: python -m pip install "netsharp[{name}]"'
        )
        assert f"{name}: {reported}" in list(survey())
    chosen = choose("auto", [Job(layered(3, 3), 4)])
    assert (chosen.name, chosen.backend) == ("cpu", NumpyDraft)
    assert chosen.why == "torch is not installed; wgpu is not installed; so cpu is used"


def made_up(monkeypatch, draft, title="Card, driver, DiscreteGPU"):
    """A computer with such a device of the family wgpu, and none of torch."""

    class Room:
        @staticmethod
        def backend(adapter):
            return draft

        @staticmethod
        def adapters():
            return (tuple(title.split(", ")),)

    monkeypatch.setitem(sys.modules, "netsharp_engine.wgpu_backend", Room)
    without(monkeypatch, "torch")
    monkeypatch.setitem(FAMILIES, "wgpu", FAMILIES["wgpu"]._replace(likely=lambda: True))


def test_auto_takes_a_device_that_can_and_pays(monkeypatch):
    made_up(monkeypatch, LoopsDraft)
    job = Job(WIDE, 256, rule=UpdateRule("sgd", 0.1))
    assert is_faster(job)
    chosen = choose("auto", [job])
    assert (chosen.name, chosen.backend) == ("wgpu", LoopsDraft)
    small = choose("auto", [Job(layered(3, 3), 4)])
    assert small.backend is NumpyDraft
    assert "steps of this network are shorter than its dispatches" in small.why


def test_auto_moves_the_whole_network_on_and_says_which_node(monkeypatch):
    class Narrow(LoopsDraft):
        operations = LoopsDraft.operations - {"activation"}

    made_up(monkeypatch, Narrow)
    chosen = choose("auto", [Job(WIDE, 256)])
    assert chosen.backend is NumpyDraft
    assert "wgpu cannot do it: 'activation' is not computed here" in chosen.why
    refusal = choose("wgpu", [Job(WIDE, 256)])
    assert str(refusal) == "'activation' is not computed here. Or choose --device auto."


def test_of_several_processes_none_is_on_a_graphics_device(monkeypatch):
    """Gradients are exchanged on the host: `auto` passes it over, and by its name it is refused."""
    made_up(monkeypatch, DeviceDraft)
    job = Job(WIDE.with_criteria("squared error"), 256, rule=UpdateRule("sgd", 0.1))
    assert choose("auto", [job]).backend is DeviceDraft
    shared = job._replace(shared=True)
    chosen = choose("auto", [shared])
    assert chosen.backend is NumpyDraft
    assert "wgpu cannot do it: A graphics device trains in one process alone" in chosen.why
    assert "Leave --procs and --nodes out" in str(choose("wgpu", [shared]))


def test_auto_passes_a_driver_over_that_computes_on_the_processor(monkeypatch):
    made_up(monkeypatch, LoopsDraft, "llvmpipe, Mesa, CPU")
    assert choose("auto", [Job(WIDE, 256)]).backend is NumpyDraft
    assert choose("wgpu:llvmpipe", [Job(WIDE, 256)]).backend is LoopsDraft


def test_torch_is_likely_where_a_driver_is(monkeypatch):
    there = set()
    monkeypatch.setattr(likely, "version", lambda name: "2.13.0")
    monkeypatch.setattr(likely.sys, "platform", "linux")
    monkeypatch.setattr(likely.os.path, "exists", there.__contains__)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert not likely.torch_is_likely()
    there.add("/dev/nvidiactl")
    assert likely.torch_is_likely()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert not likely.torch_is_likely()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    monkeypatch.setattr(likely, "version", lambda name: "2.13.0+cpu")
    assert not likely.torch_is_likely()


CHECKING = "from netsharp_lsp.__main__ import main\nassert main(['check', 'a.nn']) == 0"
TRAINING = """
import netsharp
spec = "input A [2];\\nhidden H [3] from A all;\\noutput B [2] softmax from H all;"
rows = [[0, 0], [0, 1], [1, 0], [1, 1]] * 4
model = netsharp.train(spec, rows, ["n", "y", "y", "n"] * 4, epochs=1, device={device!r})
assert len(model.predict(rows).predicted) == 16
"""


@pytest.mark.costly
@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_a_run_on_the_processor_loads_no_other_back_end(device, tmp_path):
    heavy = {"torch", "wgpu"}
    assert imported_by("import netsharp", tmp_path).isdisjoint(heavy)
    (tmp_path / "a.nn").write_text("input A [2]; output B [2] softmax from A all;")
    checked = imported_by(CHECKING, tmp_path)
    assert "netsharp_lsp" in checked
    assert checked.isdisjoint(heavy)
    if device == "auto" and likely.torch_is_likely():
        pytest.skip("this computer may have a device, so torch is asked")
    assert imported_by(TRAINING.format(device=device), tmp_path).isdisjoint(heavy)


def test_every_family_has_its_extra_and_its_row():
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = table["project"]["optional-dependencies"]
    assert list(FAMILIES) == ["torch", "wgpu", "cpu"]
    for name, row in FAMILIES.items():
        assert (name in extras) == bool(row.package)


def installed_with(name, seen):
    """The bytes of a package and of what it needs, each counted once; numpy is there anyway."""
    if name in seen or name == "numpy":
        return 0
    seen.add(name)
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return 0  # of another system
    needed = [each for each in found.requires or () if "extra ==" not in each]
    names = [re.split(r"[^\w.-]", each, maxsplit=1)[0].lower() for each in needed]
    own = sum(each.size or 0 for each in found.files or ())
    return own + sum(installed_with(each, seen) for each in names)


@needs_torch
def test_graphics_devices_take_a_twentieth_of_what_torch_takes():
    pytest.importorskip("wgpu", reason="wgpu is not installed")
    sizes = [installed_with(name, set()) for name in ("wgpu", "torch")]
    assert 5e6 < sizes[0] <= sizes[1] / 20, sizes
