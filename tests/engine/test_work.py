"""The work of a plan is determined from its calls: none is unknown, and none is left out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_engine.analysis import Analysis
from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend import NodeWork, design_plan, node_work
from netsharp_engine.numpy_backend.costing.probes import made_probes, rates_of
from netsharp_engine.numpy_backend.costing.rates import (
    CallWork,
    Rate,
    rates_in,
    rates_out,
    seconds_of,
)
from netsharp_engine.numpy_backend.costing.working import entering
from netsharp_engine.numpy_backend.design import Design
from netsharp_engine.numpy_backend.kernels import compiled
from netsharp_engine.numpy_backend.losses import LOSSES
from netsharp_engine.ops import OPERATIONS
from netsharp_engine.train.steps.quantizing import quantized_graph
from netsharp_lsp.netsharp.lower import build_graph
from tests.engine import test_random_networks
from tests.engine.naive import Dimension
from tests.engine.networks import convolution, dense

#: Seconds of each call and of each unit, where all kinds have the same.
CALL, UNIT = 1e-6, 2e-9
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
KINDS = frozenset(probe.work.kind for probe in made_probes("float32"))


def all_work(found: dict[Any, NodeWork]) -> Iterator[CallWork]:
    for one in found.values():
        yield from (*one.forward, *one.backward)


def test_rates_between_points_are_those_of_both() -> None:
    rate = Rate(1.0, ((4.0, 16.0), (1.0, 100.0)), (10.0, 20.0, 30.0, 40.0))
    unit = {
        (4, 1): 10,
        (16, 100): 40,
        (8, 1): 20,  # half the way, by the logarithm
        (4, 10): 15,
        (8, 10): 25,
        (1, 1): 10,  # beyond the ends
        (1000, 1000): 40,
        (1, 1000): 20,
    }
    for sizes, expected in unit.items():
        assert rate.seconds(CallWork("x", sizes, 3)) == pytest.approx(1 + 3 * expected)
    assert rate.seconds(CallWork("x", (4, 1), 3, calls=0.5)) == pytest.approx(15.5)
    assert Rate(2.0, (), (0.0,)).seconds(CallWork("x", (), 9)) == 2.0
    assert seconds_of({"x": rate}, [CallWork("x", (4, 1), 0)] * 3) == 3.0
    assert rates_in(rates_out({"x": rate})) == {"x": rate}


@pytest.mark.parametrize(
    "row",
    [
        {"call": -1.0, "axes": [], "units": [0]},
        {"call": math.nan, "axes": [], "units": [0]},
        {"call": "1", "axes": [], "units": [0]},
        {"call": True, "axes": [], "units": [0]},
        {"call": 1, "axes": [[1, 2]], "units": [0]},
        {"call": 1, "axes": [[2, 1]], "units": [0, 0]},
        {"call": 1, "axes": [[0, 1]], "units": [0, 0]},
        {"call": 1, "axes": [[]], "units": []},
        {"call": 1, "axes": 5, "units": [0]},
        {"call": 1, "axes": [5], "units": [0]},
        {"call": 1, "axes": []},
        {},
    ],
)
def test_what_is_no_rate_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        rates_in({"x": row})


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    st.data(),
    st.sampled_from([1, 2, 7, 32, 64]),
    st.sampled_from(["float32", "float64"]),
    st.sampled_from(sorted(LOSSES)),
)
def test_every_call_of_random_networks_has_a_kind_that_is_measured(
    data: Any, batch: int, dtype: str, loss: str
) -> None:
    growth = test_random_networks.Growth(data.draw)
    for _ in range(data.draw(st.integers(2, 6))):
        growth.grow()
    weights = growth.parameter((3, growth.nodes[-1].size))
    growth.graph.set_output(
        growth.graph.apply("full", growth.nodes[-1], parameters=(weights,), name="out")
    )
    for training in (True, False):
        for twins in (compiled.twins, None):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(compiled, "twins", twins)
                design = design_plan(growth.graph, batch, loss, dtype, training)
                found = node_work(design)
            works = [*all_work(found), *entering(design)]
            # Without twins more functions of numpy are called than are measured where there are.
            known = KINDS if twins else KINDS | {"power"} | PLAIN_WAYS
            assert {work.kind for work in works} <= known
            assert all(work.units >= 0 and min(work.sizes) > 0 for work in works)


#: What is measured where there are no twins.
with pytest.MonkeyPatch.context() as _patch:
    _patch.setattr(compiled, "twins", None)
    PLAIN_WAYS = frozenset(probe.work.kind for probe in made_probes("float32"))


def test_layers_that_are_looked_up_are_reported() -> None:
    graph = Graph()
    graph.set_output(dense(graph, dense(graph, graph.input("x", (4,)), 7), 3, "softmax", "out"))
    quantized = quantized_graph(graph, "uint8")
    found = node_work(design_plan(quantized, 16, "cross entropy"))
    kinds = {work.kind for work in all_work(found)}
    assert kinds <= KINDS
    assert kinds >= {"looked up", "range of values", "looked up backward"}


@pytest.mark.parametrize("batch", [1, 3, 32])
def test_products_have_the_multiply_adds_of_the_operations(batch: int) -> None:
    """Forward all that the operations count, where no tap lies outside; backward each of both."""
    graph = Graph()
    source = graph.input("x", (2, 9, 9))
    sizes = ((2, 2, 1, 3), (9, 3, 1, 1), (9, 3, 2, 1))
    walked = [Dimension(n, k, s, False, 0, 0, True, maps) for n, k, s, maps in sizes]
    found = convolution(graph, source, walked)
    found = dense(graph, found, 7)
    graph.set_output(dense(graph, found, 4, "softmax", "out"))
    nodes = node_work(design_plan(graph, batch, "cross entropy"))
    for node, work in nodes.items():
        expected = OPERATIONS[node.op].cost(node).multiply_adds * batch
        ahead = sum(each.units for each in work.forward if each.kind.startswith("product"))
        back = sum(each.units for each in work.backward if each.kind.startswith("product"))
        assert ahead == expected
        learns_down = node.inputs[0] is not source
        if node.op == "full" and batch == 1:
            continue  # the gradient of a single row is not computed as a product
        assert back == expected * (1 + learns_down)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*.nn")), ids=lambda path: path.stem)
def test_every_call_of_the_examples_is_reported(path: Path) -> None:
    text = path.read_text()
    known = {"features": 10, "hidden_nodes": 5} if "auto" in text else {}
    output = text.partition("\noutput ")[2].partition("from")[0]
    if "auto" in output:
        known["outputs"] = 1 if "linear" in output else 3
    graph = build_graph(text, known)
    design = Design(Analysis(graph.with_criteria("squared error"), True), 16)
    found = node_work(design)
    assert {work.kind for work in all_work(found)} <= KINDS
    assert set(found) >= {node for node in design.nodes if node.op not in ("input", "activation")}


def test_the_rates_of_probes_give_back_what_they_took() -> None:
    probes = made_probes("float32")
    taken = [CALL + (0 if probe.tiny else probe.work.units * UNIT) for probe in probes]
    rates = rates_of(probes, taken)
    assert rates.keys() == KINDS
    for probe, seconds in zip(probes, taken, strict=True):
        if not probe.tiny and seconds > 2 * CALL:
            assert rates[probe.work.kind].seconds(probe.work) == pytest.approx(seconds)
