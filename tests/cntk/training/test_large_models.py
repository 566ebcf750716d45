"""What opening a model takes: memory in proportion to the file, and as many calls for any size."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_lsp.cntk.training.stored_models import stored_model
from tests.cntk.training.large_models import FORMATS

#: The most that opening takes, and that is kept, for each byte of the file.
MOST = 1.2
LAYERS = 4


def traced(work: Callable[[], Any]) -> tuple[Any, int, int]:
    """What some work gives, with the bytes that it had at most and that are kept."""
    gc.collect()
    tracemalloc.start()
    try:
        given = work()
        gc.collect()
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return given, most, kept


def calls(work: Callable[[], Any]) -> int:
    """How many functions are called for some work."""
    count = 0

    def counted(frame: Any, event: str, given: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", FORMATS)
def test_a_model_is_opened_in_its_own_size(name: str, tmp_path: Path) -> None:
    counted = []
    for width in (256, 1024):
        path = tmp_path / f"{width}.model"
        path.write_bytes(FORMATS[name](width, LAYERS))
        size = path.stat().st_size
        assert size > LAYERS * width * width * 4
        stored_model(str(path))  # tables are made once
        opened, most, kept = traced(lambda path=path: stored_model(str(path)))  # type: ignore[misc]
        assert most < MOST * size, (most, size)
        assert kept < MOST * size, (kept, size)
        numbers = opened.numbers()
        held = sorted(float(one.flat[0]) for one in numbers.values())
        assert held == [0.5**3, 0.25, 0.5, 1.0]
        assert all(np.ptp(one) == 0 for one in numbers.values())
        counted.append(calls(lambda path=path: stored_model(str(path))))  # type: ignore[misc]
    few, many = counted
    assert many <= few + 10, counted


@pytest.mark.parametrize("name", FORMATS)
def test_a_model_that_is_loaded_keeps_its_numbers_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / "net.model"
    path.write_bytes(FORMATS[name](1024, LAYERS))
    netsharp.load(str(path))
    model, most, kept = traced(lambda: netsharp.load(str(path)))
    assert most < MOST * path.stat().st_size
    assert kept < MOST * path.stat().st_size
    assert sum(np.asarray(one).size for one in model.parameters.values()) == LAYERS * 1024 * 1024


#: What a process has in memory at most while it opens a model, beyond what it had before.
OPENED = """
import sys, gc
import netsharp
from netsharp_lsp.cntk.training.stored_models import stored_model
work = {"described": stored_model, "loaded": netsharp.load}[sys.argv[1]]
work(sys.argv[2])
gc.collect()
def status(key):
    with open("/proc/self/status") as stream:
        return next(int(line.split()[1]) << 10 for line in stream if line.startswith(key))
with open("/proc/self/clear_refs", "w") as stream:
    stream.write("5")
before = status("VmRSS:")
model = work(sys.argv[3])
kept = status("VmRSS:")
# Linux raises its high-water mark lazily: it may be pages behind what is held now.
print(max(status("VmHWM:"), kept) - before, kept - before)
"""


@pytest.mark.costly
@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="Linux tells what is held")
@pytest.mark.parametrize("door", ["described", "loaded"])
@pytest.mark.parametrize("name", FORMATS)
def test_a_process_holds_a_model_once(name: str, door: str, tmp_path: Path) -> None:
    small, path = tmp_path / "small.model", tmp_path / "net.model"
    small.write_bytes(FORMATS[name](8, 2))
    path.write_bytes(FORMATS[name](1803, LAYERS))
    size = path.stat().st_size
    assert size > 50_000_000
    command = [sys.executable, "-c", OPENED, door, str(small), str(path)]
    most, kept = map(int, subprocess.check_output(command, text=True).split())
    assert 0.9 * size < kept <= most < MOST * size, (most / size, kept / size)
