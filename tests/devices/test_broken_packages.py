"""Packages of devices that are there in part: what a command says where they cannot be loaded."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from netsharp_engine.backends import FAMILIES, Device, backend, choose, planner
from netsharp_engine.backends.choosing import survey
from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.program import Job, Unusable
from tests.cli.command_line import netsharp
from tests.engine_training.small_networks import layered

IRIS = Path(__file__).resolve().parents[2] / "examples" / "iris"
FAULTS = ("ImportError('a part is missing')", "OSError('lib.so: cannot be opened')")


@pytest.fixture(params=FAULTS, ids=["part", "library"])
def broken(request, tmp_path, monkeypatch):
    """A folder with packages of torch and wgpu that cannot be loaded, the first that is asked."""
    folder = tmp_path / "packages"
    for name in ("torch", "wgpu"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(f"raise {request.param}\n")
    monkeypatch.syspath_prepend(str(folder))
    for name in list(sys.modules):
        family = name.partition(".")[0]
        if family in ("torch", "wgpu") or name.startswith("netsharp_engine.torch_backend"):
            monkeypatch.delitem(sys.modules, name)
    return folder


def test_what_cannot_be_loaded_is_a_sentence_with_its_remedy(broken, monkeypatch):
    for name in ("torch", "torch:cpu", "wgpu", "wgpu:cpu"):
        found = backend(name)
        assert isinstance(found, Unusable)
        family = name.partition(":")[0]
        assert found.reason.startswith(f"{family} is installed and cannot be loaded: ")
        assert found.remedy.endswith(f'--force-reinstall "netsharp[{family}]"')
        assert f"{family}: {found}" in list(survey())
    assert "cannot be loaded" in str(planner("torch:cpu"))
    for name in ("torch", "wgpu"):
        monkeypatch.setitem(FAMILIES, name, FAMILIES[name]._replace(likely=lambda: True))
    found = choose("auto", [Job(layered(3, 3), 4)])
    assert isinstance(found, Device)
    assert found.backend is NumpyDraft
    assert "torch is installed and cannot be loaded" in found.why
    assert "wgpu is installed and cannot be loaded" in found.why


@pytest.mark.costly
@pytest.mark.parametrize("flags", [("--device", "torch"), ("--device", "wgpu"), ("--procs", "2")])
def test_a_run_says_it_without_a_traceback(flags, broken, tmp_path):
    for name in ("iris.nn", "iris.toml", "iris.csv"):
        shutil.copy(IRIS / name, tmp_path)
    around = {"PYTHONPATH": str(broken)}
    output = netsharp("run", "iris.nn", *flags, cwd=tmp_path, environment=around)
    assert output.code == 2
    assert "installed and cannot be loaded" in output.err
    assert "--force-reinstall" in output.err
    assert len(output.err.splitlines()) == 1
