"""Tests of the device, each file in a process of its own: a driver that fails ends that alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from netsharp_engine.graph import GraphError
from netsharp_engine.wgpu_backend import adapters

HERE = Path(__file__).resolve().parent
#: Where tests of the device must run: on a server that has just installed a driver.
REQUIRED = os.environ.get("NETSHARP_REQUIRE_WGPU") == "1"


def missing():
    """Why there is no device; empty where there is one."""
    try:
        return "" if adapters() else "no driver: make gpu-software installs Mesa's"
    except GraphError as error:
        return str(error)


@pytest.mark.costly
@pytest.mark.parametrize("name", sorted(path.name for path in HERE.glob("on_*.py")))
def test_on_device(name):
    absent = missing()
    if absent and not REQUIRED:
        pytest.skip(absent)
    assert not absent
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    # What a share leaves out is for this test to say, not for those in the file.
    environment = {**os.environ, "FULL": "1"}
    found = subprocess.run(
        [*command, str(HERE / name)],
        capture_output=True,
        text=True,
        cwd=HERE.parents[1],
        env=environment,
    )
    assert found.returncode == 0, f"{found.stdout[-6000:]}\n{found.stderr[-2000:]}"
