"""Plans as data, without any device: what is joined, where it lies, how often loops turn."""

from __future__ import annotations

import re
import sys
from itertools import pairwise

import numpy as np
import pytest

from netsharp_engine.geometry import Axis
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.program import Job, Shaping, UpdateRule
from netsharp_engine.wgpu_backend import DeviceDraft, PlanStyle, planned, shown
from netsharp_engine.wgpu_backend.kernels import LoopNest
from netsharp_engine.wgpu_backend.planning.facts import facts_of
from netsharp_engine.wgpu_backend.planning.splitting import MOST_TRIPS
from netsharp_engine.wgpu_backend.proving import GROUP_BYTES, trips
from netsharp_engine.wgpu_backend.templates import elementwise
from netsharp_engine.wgpu_backend.variants import ALL, VARIANTS, factors
from netsharp_engine.wgpu_backend.writing import threads
from tests.engine.naive import Dimension
from tests.engine.networks import convolution, dense
from tests.wgpu.puri import EXAMPLES, puri

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
    return graph.with_criteria("squared error")


def texts(plan):
    return [plan.text(one) for one in plan.step]


@pytest.mark.parametrize("name", ["a\nfn main() {", "b\u2028c", "d\x85e", "7x", "é", "", "_", "//"])
def test_no_name_of_a_layer_ends_a_comment_or_is_no_name_there(name):
    """Names come from files: what they are called changes no statement of a program."""
    graph = Graph()
    weights, source = graph.parameter(f"{name}/W", (3, 4)), graph.input("X", (4,))
    graph.set_output(graph.apply("full", source, parameters=(weights,), name=name))
    plan = plan_of(graph.with_criteria("squared error"))
    for text in texts(plan):
        assert text.split("\n") == [*text.splitlines(), ""]
        for line in text.splitlines():
            statement = line.partition("//")[0]
            assert statement.isascii()
            assert "fn main() {" not in statement
            if statement.startswith("const"):
                assert re.fullmatch(r"const [A-Z]\w* = \d+;  ", statement)


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


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_within_the_bounds_and_is_in_the_plan(name):
    plan = plan_of(puri("loss"), 32, style=PlanStyle(variants={ALL: name}))
    kernels = [kernel for one in shown(plan)["passes"] for kernel in one["kernels"]]
    assert name in {kernel["variant"] for kernel in kernels}
    assert max(kernel["turns"] for kernel in kernels) <= MOST_TRIPS
    bytes_ = [one["group_bytes"] for one in shown(plan)["passes"]]
    assert (max(bytes_) > 4 * 256) == (VARIANTS[name].form == "tiles")
    assert max(bytes_) <= GROUP_BYTES


def test_a_variant_that_asks_for_too_much_is_refused(monkeypatch):
    large = VARIANTS["tiles 64 x 64"]._replace(name="large", down=128, across=128, deep=32)
    monkeypatch.setitem(VARIANTS, "large", large)
    with pytest.raises(GraphError, match="share 32,768 bytes is too large"):
        plan_of(layers(300, 200, 40), 32, style=PlanStyle(variants={ALL: "large"}))


def test_what_no_variant_computes_is_computed_plainly():
    choices = {"H0/X: product, bias": "tiles 1 x 1", ALL: "vectors"}
    plan = plan_of(layers(5, 4, 3), style=PlanStyle(variants=choices))
    by = {kernel.what: kernel.variant for one in plan.step for kernel in one.kernels}
    assert by["H0/X: product, bias, tanh"] == "vectors"
    assert "plain" in by.values()
    nest = LoopNest("b1[i * 9 + j] * (b2[n * 9 + j] * 2.0)", ())
    assert factors(nest.term) == ["b1[i * 9 + j]", "(b2[n * 9 + j] * 2.0)"]


def test_no_loop_holds_a_branch_and_no_shape_comes_at_run_time():
    graph = Graph()
    source = dense(graph, graph.input("X", (64,)), 64)
    axes = (Axis(8, 3, 2, padding=True), Axis(8, 3, 2, padding=True))
    node = graph.apply("max pool", source, axes=axes, name="pool")
    graph.set_output(dense(graph, node, 3, "softmax", name="out"))
    checked = graph.with_criteria("cross entropy", "right answers")
    plans = [plan_of(checked, 9, style=PlanStyle(variants={ALL: name})) for name in VARIANTS]
    for text in (text for plan in plans for text in texts(plan)):
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
    with pytest.raises(GraphError, match=r"has 3,000 numbers.* Make the layers smaller"):
        plan_of(graph, style=PlanStyle(arena=2_048))


@pytest.mark.parametrize(
    ("sizes", "rows", "reported"),
    [
        ((6_000, 6_000, 10), 4, "'H0/weights' has 36,000,000 numbers, .* Make the layers smaller"),
        ((1_000, 10), 40_000, "'X' has 40,000,000 numbers, .* Take fewer rows a step"),
        ((5_000,) * 10, 4, "860 MiB of the device in 10 parts; .* Make the layers smaller"),
        ((30, 30_000, 30_000), 1_000, "at most 33,554,432 at once"),
    ],
)
def test_what_does_not_fit_is_reported_before_anything_is_made(sizes, rows, reported):
    """A sentence names it, and `auto` passes the device over."""
    job = Job(layers(*sizes), rows, "float32", SGD)
    (found,) = DeviceDraft(job).unsupported()
    assert re.search(reported, found.reason), found.reason
    assert found.reason.endswith("train on another device: --device cpu.")


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
    noisy = UpdateRule("sgd", 0.1, shaping=Shaping(l1=0.1, noise=0.2))
    reasons = [reason for _, reason in DeviceDraft(Job(graph, 4, "float32", noisy)).unsupported()]
    assert [each.partition("compute ")[2].partition(".")[0] for each in reasons] == [
        "L1",
        "noise on parameters",
    ]


def test_the_patents_network_takes_nine_passes():
    """40 formulas and one tally; joined 18; side by side 9, of which none waits for a later one."""
    graph = puri("loss")
    plans = [
        plan_of(graph, 32, style=style)
        for style in (
            PlanStyle(joined=False, side_by_side=False),
            PlanStyle(side_by_side=False),
            PlanStyle(),
        )
    ]
    assert [len(plan.step) for plan in plans] == [41, 18, 9]
    families = [kernel.family for one in plans[2].step for kernel in one.kernels]
    assert families[:4] == ["convolution", "convolution", "full", "full"]
    formulas = [name for one in plans[2].step for kernel in one.kernels for name in kernel.joined]
    assert sorted(formulas) == sorted(
        name for one in plans[0].step for kernel in one.kernels for name in kernel.joined
    )
    # A step of 32 pictures sends them and their classes.
    assert shown(plans[2])["bytes_per_step"] == 4 * 32 * (29 * 29 + 10)


def test_each_number_of_the_patents_kernels_has_its_place():
    """Its flattening of K: parameters one after the other, each as it is in files."""
    buffers = {each["name"]: each for each in shown(plan_of(puri("loss"), 1))["buffers"]}
    offset = 0
    for parameter in puri("loss").parameters:
        place = buffers[parameter.name]
        assert (place["arena"], place["offset"]) == ("weights", offset)
        assert place["flat"] == [1, parameter.size]
        offset += -(-parameter.size // 64) * 64


def test_a_layer_that_sees_a_whole_image_is_a_full_one():
    graph = Graph()
    hidden = dense(graph, graph.input("X", (4, 5, 5)), 100)
    found = [Dimension(4, 4, 1, False, 0, 0, True, 3), *[Dimension(5, 5, 1, False, 0, 0)] * 2]
    graph.set_output(convolution(graph, hidden, found))
    plan = plan_of(graph.with_criteria("squared error"))
    families = {kernel.family for one in plan.step for kernel in one.kernels if "C" in kernel.what}
    assert families == {"transition"}
    assert "t0" not in "".join(texts(plan))


def test_the_picture_of_the_passes_is_that_of_the_plan():
    sys.path.insert(0, str(EXAMPLES / "puri"))
    try:
        from passes import drawing
    finally:
        sys.path.remove(str(EXAMPLES / "puri"))
    drawn = (EXAMPLES.parent / "docs" / "puri-passes.svg").read_text(encoding="utf-8")
    assert drawing() == drawn


def test_sequences_and_what_has_no_kernel_are_refused_by_name():
    graph = Graph()
    held = graph.parameter("W", (3, 2))
    weights = graph.apply("LearnableParameter", parameters=[held], name="W")
    words = graph.input("words", (3,), axis="*")
    product = graph.apply("Times", weights, words, name="z")
    odd = graph.apply("Sinh", product, name="odd")
    label = graph.input("label", (2,))
    graph.criteria = [graph.apply("CrossEntropyWithSoftmax", label, odd, name="loss")]
    reasons = [reason for _, reason in DeviceDraft(Job(graph, 4, "float32", SGD)).unsupported()]
    assert [reason.split(". ")[0] for reason in reasons] == [
        "words: a graphics device does not compute sequences",
        "odd: a graphics device does not compute 'Sinh'",
    ]


def test_an_activation_without_formulas_is_refused_by_name(monkeypatch):
    monkeypatch.delitem(elementwise.FUNCTIONS, "tanh")
    graph = layers(3, 2, 2)
    (hidden, *_) = [node for node in graph.nodes if node.op == "activation"]
    assert hidden.attributes["function"] == "tanh"
    reasons = [reason for _, reason in DeviceDraft(Job(graph, 4, "float32", SGD)).unsupported()]
    assert reasons
    assert all("does not compute the activation 'tanh'" in reason for reason in reasons)


def test_a_loop_is_refused_by_the_node_that_closes_it():
    """Its source is after it among the nodes."""
    graph = Graph()
    held = graph.parameter("W", (2, 2))
    weights = graph.apply("LearnableParameter", parameters=[held], name="W")
    before = graph.delay("PastValue", (2,), name="before", timeStep=1, initial=0.1)
    turned = graph.apply("Times", weights, before, name="turned")
    added = graph.apply("Plus", turned, graph.input("x", (2,)), name="added")
    state = graph.apply("Tanh", added, name="state")
    graph.connect(before, state)
    graph.set_output(before)
    (reason,) = (reason for _, reason in DeviceDraft(Job(graph, 4, "float32")).unsupported())
    assert reason.startswith("before: a graphics device does not compute 'PastValue'")
