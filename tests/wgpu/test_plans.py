"""Plans as data, without any device: what is joined, where it lies, how often loops turn."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

from netsharp_engine.geometry import Axis
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.program import Job, UpdateRule
from netsharp_engine.wgpu_backend import DeviceDraft, PlanStyle, planned, shown
from netsharp_engine.wgpu_backend.planning.facts import facts_of
from netsharp_engine.wgpu_backend.planning.splitting import MOST_TRIPS
from netsharp_engine.wgpu_backend.proving import trips
from netsharp_engine.wgpu_backend.writing import threads
from tests.engine.networks import dense

SGD = UpdateRule("sgd", 1e-3)


def plan_of(graph, rows=4, rule=SGD, style=None):
    job = Job(graph, rows, "float32", rule)
    return planned(job, facts_of(job), style or PlanStyle())


def layers(*sizes):
    graph = Graph()
    node = graph.input("X", sizes[:1])
    for number, size in enumerate(sizes[1:]):
        node = dense(graph, node, size, name=f"H{number}")
    graph.set_output(node)
    return graph.judged("squared error")


def texts(plan):
    return [plan.text(one) for one in plan.step]


def test_formulas_are_joined_and_programs_put_side_by_side():
    graph = layers(5, 4, 3)
    counts = [
        len(plan_of(graph, style=style).step)
        for style in (
            PlanStyle(joined=False, side_by_side=False),
            PlanStyle(side_by_side=False),
            PlanStyle(),
        )
    ]
    # Each layer: product, bias, squash; loss, error, tally; two slopes and one error of a source;
    # four gradients with an update each.
    assert counts == [6 + 3 + 3 + 8, 2 + 1 + 1 + 4, 4]


def test_a_long_sum_takes_several_passes_of_a_stated_width():
    plan = plan_of(layers(40_000, 2), rows=2)
    kernels = [kernel for one in plan.step for kernel in one.kernels]
    parts = [kernel for kernel in kernels if kernel.pieces > 1]
    assert [kernel.pieces for kernel in parts if kernel.role == "forward"] == [5]
    for one in plan.step:
        for kernel in one.kernels:
            assert trips(kernel, threads(one)) <= MOST_TRIPS


def test_no_loop_holds_a_branch_and_no_shape_comes_at_run_time():
    graph = Graph()
    source = dense(graph, graph.input("X", (64,)), 64)
    axes = (Axis(8, 3, 2, padding=True), Axis(8, 3, 2, padding=True))
    node = graph.apply("max pool", source, axes=axes, name="pool")
    graph.set_output(dense(graph, node, 3, "softmax", name="out"))
    for text in texts(plan_of(graph.judged("cross entropy", "right answers"))):
        assert "uniform" not in text
        depth = 0
        for line in text.splitlines():
            stripped = line.strip()
            if stripped.startswith("for "):
                depth += 1
            elif depth and stripped == "}":
                depth -= 1
            assert not (depth and re.match(r"(\} )?(if|else|switch)\b", stripped)), line


def test_several_arenas_take_what_one_does_not_hold():
    graph = layers(60, 50, 40)
    one = shown(plan_of(graph))
    several = shown(plan_of(graph, style=PlanStyle(arena=4_096)))
    assert set(one["arenas"]) == {"weights", "work"}
    assert len(several["arenas"]) > 2
    assert all(size <= 4 * 4_096 for size in several["arenas"].values())
    with pytest.raises(GraphError, match=r"batch_size"):
        plan_of(graph, style=PlanStyle(arena=2_048))


def test_nothing_overlaps():
    plan = plan_of(layers(50, 40, 30))
    spans = sorted(
        (each["arena"], each["offset"], each["offset"] + np.prod(each["flat"]))
        for each in shown(plan)["buffers"]
    )
    for (arena, _, end), (other, begin, _) in pairwise(spans):
        assert arena != other or end <= begin


def test_what_it_cannot_do_is_named():
    graph = layers(3, 2)
    with pytest.raises(GraphError, match="float32 alone, and float64 is asked for"):
        DeviceDraft(Job(graph, 4, "float64", SGD))
    (found,) = DeviceDraft(Job(graph, 4, "float32", UpdateRule("rmsprop", 0.1))).unsupported()
    assert "the update rule 'rmsprop'" in found.reason
