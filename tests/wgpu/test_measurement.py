"""The measurement of graphics devices: its networks, its report, and that it claims nothing."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys

import pytest

from netsharp_engine.graph import GraphError
from netsharp_engine.wgpu_backend.running import Adapter, chosen
from netsharp_lsp.netsharp.lower import build_graph
from tests.wgpu.bench_path import BENCH, bench

with bench():
    from graphics.checking import Checked
    from graphics.networks import WORKLOADS, graph_of
    from graphics.racing import Raced
    from graphics.report import lines, unmet
    from workloads import NETWORKS

REAL = Adapter("Card 9", "Vulkan, driver 1", "DiscreteGPU")
SOFTWARE = Adapter("llvmpipe", "Vulkan, Mesa", "CPU")
CHECKS = [Checked("gradients", 2e-7, 1e-5), Checked("losses", float("nan"), 1e-5)]
RACES = [Raced(WORKLOADS[0], 1234.5, 2345.6, 3456.7, 0.68, "vectors for 3 (measured in 0.9 s)")]


def reported(graph):
    """What is computed: operations with what they are of, and parameters in order."""
    places = {node: number for number, node in enumerate(graph.nodes)}
    nodes = []
    for node in graph.nodes:
        axes = [axis.key() for axis in node.attributes.get("axes", ())]
        figures = {
            key: value for key, value in node.attributes.items() if key not in ("axes", "shape")
        }
        nodes.append((node.op, node.size, [places[each] for each in node.inputs], axes, figures))
    return nodes, [(each.name, each.shape, each.kind) for each in graph.parameters]


@pytest.mark.parametrize("peer", sorted({each.peer for each in WORKLOADS}))
def test_its_networks_are_those_of_the_other_benchmarks(peer):
    graph = build_graph(NETWORKS[peer], {}).with_criteria("cross entropy")
    assert reported(graph_of(peer)) == reported(graph)


def test_a_report_names_the_device_and_what_is_not_met():
    text = "\n".join(lines(REAL, "2026-01-02", "PyTorch 2", CHECKS, RACES))
    for reported in ("Card 9, DiscreteGPU", "Vulkan, driver 1", "2026-01-02", "PyTorch 2"):
        assert reported in text
    assert "| Puri/Simard | 1 | 1,234 | 2,346 | 3,457 | 0.68 | 1 |" in text
    assert "- Puri/Simard, 1 rows: vectors for 3 (measured in 0.9 s)" in text
    assert "| losses | nan | 1e-05 | NOT MET |" in text
    assert unmet(CHECKS, RACES) == [
        "losses: nan, must be 1e-05",
        "Puri/Simard, 1 rows: 0.68 of PyTorch's rate, goal 1",
    ]


def test_a_report_of_software_has_no_figure():
    text = "\n".join(lines(SOFTWARE, "2026-01-02", "PyTorch 2", CHECKS, RACES))
    assert "times mean nothing" in text
    assert not re.search(r"1,234|2,346|3,457|0\.68|0\.9 s", text)


@pytest.mark.costly
def test_without_a_device_it_says_so_and_writes_nothing(tmp_path):
    """By the script that people run, where this computer has no graphics device."""
    with contextlib.suppress(GraphError):
        pytest.skip(f"{chosen(None)[0]} is there")
    environment = {**os.environ, "PYTHON": sys.executable}
    for flags in ((), ("--software",), ("--device", "no such card", "--report", "here.md")):
        done = subprocess.run(
            ["bash", str(BENCH / "graphics" / "gpu.sh"), *flags],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
        )
        assert done.returncode == 2, done.stderr
        last = done.stderr.splitlines()[-1]
        assert last.startswith("graphics: "), done.stderr
        assert "Traceback" not in done.stderr
        assert not done.stdout
    assert not list(tmp_path.iterdir())
    assert not (BENCH / "graphics.md").exists()
