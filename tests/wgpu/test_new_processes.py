"""New processes, one after another: each opens the device, builds the patent's network, takes two
steps and finds numpy's loss. `NETSHARP_LONG=1` starts all twenty of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.wgpu.test_on_device import REQUIRED, missing

COUNT = 20 if os.environ.get("NETSHARP_LONG") == "1" else 3
ROOT = Path(__file__).resolve().parents[2]
STEPS = """
import numpy as np
from netsharp_engine.program import UpdateRule
from netsharp_lsp.netsharp.lower import build_graph
from tests.wgpu.pairs import Pair

with open("examples/puri/puri.nn", encoding="utf-8") as file:
    graph = build_graph(file.read(), {}).with_criteria("cross entropy")
random = np.random.default_rng(7)
pair = Pair(graph, 4, UpdateRule("sgd", 0.1), scale=0.1)
for _ in range(2):
    pair.step(random.uniform(-1, 1, (4, 841)), random.integers(0, 10, 4))
((ours,), (theirs,)) = pair.losses()
assert theirs > 1, theirs
assert abs(ours - theirs) <= 1e-5 * theirs, (ours, theirs)
print(f"{ours / theirs - 1:.1e}")
"""


@pytest.mark.costly
def test_every_new_process_takes_its_steps() -> None:
    absent = missing()
    if absent and not REQUIRED:
        pytest.skip(absent)
    assert not absent
    found = []
    for _ in range(COUNT):
        command = [sys.executable, "-c", STEPS]
        found.append(subprocess.run(command, capture_output=True, text=True, cwd=ROOT))
    assert [one.stderr for one in found if one.returncode] == []
    # The same on each start.
    assert len({one.stdout for one in found}) == 1
