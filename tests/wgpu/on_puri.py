"""The patent's network on a device: its course is numpy's, and so little crosses in a step."""

from __future__ import annotations

import os

import numpy as np
import pytest

from netsharp_engine.program import Batch, Figures, Job, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft
from netsharp_engine.wgpu_backend import DeviceDraft, PlanStyle
from tests.wgpu.pairs import NAME, apart
from tests.wgpu.puri import digits, puri

SGD = UpdateRule("sgd", 1e-3)
#: Software computes a batch of 32 in a tenth of a second: all 200 with NETSHARP_LONG=1.
STEPS = {1: 200, 32: 200 if os.environ.get("NETSHARP_LONG") == "1" else 20}


def programs(rows, rule=SGD, style=None, criteria=("loss", "errors")):
    graph, random = puri(*criteria), np.random.default_rng(1)
    job = Job(graph, rows, "float32", rule)
    options = {} if style is None else {"style": style}
    made = DeviceDraft(job, NAME, **options).program(), TensorDraft(job).program()
    values = {
        each.name: np.float32(random.uniform(-1, 1, each.shape) / np.sqrt(max(each.size / 50, 25)))
        for each in graph.parameters
    }
    for program in made:
        program.load(values)
    return made


def batches(rows, steps, seed=2):
    pictures, shown = digits()
    random = np.random.default_rng(seed)
    for _ in range(steps):
        chosen = random.integers(0, len(shown), rows)
        # The sum of the gradients, as the patent has it.
        values = {"image": pictures[chosen], "digit": np.eye(10, dtype="f4")[shown[chosen]]}
        yield Batch(values, expected=1.0)


def train(program, batch):
    program.feed(batch)
    assert program.step()
    assert program.update(SGD)


@pytest.mark.parametrize("rows", [1, 32])
def test_the_course_is_that_of_numpy(rows):
    ours, theirs = programs(rows)
    courses = []
    for number, batch in enumerate(batches(rows, STEPS[rows])):
        for program in (ours, theirs):
            train(program, batch)
        if number % 5 == 4:
            courses.append([program.figures().sums for program in (ours, theirs)])
            for program in (ours, theirs):
                program.count(Figures())
    course = np.array(courses)
    assert course[:, 0, 0] == pytest.approx(course[:, 1, 0], rel=1e-5)
    assert np.array_equal(course[:, 0, 1], course[:, 1, 1])
    tensors = ours.store(), theirs.store()
    far = {name: apart(tensors[0][name], tensors[1][name]) for name in tensors[0]}
    assert max(far.values()) <= 1e-5, far


@pytest.mark.parametrize("rows", [1, 32])
def test_a_step_submits_once_makes_nothing_and_sends_samples_alone(rows):
    ours, _ = programs(rows)
    counts = ours.machine.on.counts
    first, *others = batches(rows, 6)
    train(ours, first)
    before = counts.made, counts.submitted, counts.bytes_up, counts.bytes_down
    for batch in others:
        train(ours, batch)
    after = counts.made, counts.submitted, counts.bytes_up, counts.bytes_down
    sample = 4 * rows * (29 * 29 + 10)
    assert np.subtract(after, before).tolist() == [0, 5, 5 * sample, 0]


def test_joined_and_single_passes_find_the_same():
    reported = []
    for style in (
        PlanStyle(joined=False, side_by_side=False),
        PlanStyle(side_by_side=False),
        PlanStyle(),
        PlanStyle(arena=140_000),
    ):
        ours, _ = programs(8, style=style)
        for batch in batches(8, 5):
            train(ours, batch)
        reported.append((ours.figures().sums, ours.store()))
    for sums, tensors in reported[1:]:
        assert sums[0] == pytest.approx(reported[0][0][0], rel=1e-7)
        for name, values in tensors.items():
            assert apart(values, reported[0][1][name]) <= 2e-7


def test_what_a_device_has_trained_others_load():
    ours, theirs = programs(32)
    for batch in batches(32, 5):
        train(ours, batch)
    theirs.load(ours.store())
    theirs.load_memory(ours.store_memory())
    (batch,) = batches(32, 1, seed=5)
    for program in (ours, theirs):
        program.feed(batch)
        program.forward()
    (scores,) = [node for node in ours.job.graph.nodes if node.name == "scores"]
    assert apart(ours.read(scores), theirs.read(scores)) <= 1e-5


def test_kernels_lie_flattened_to_two_dimensions():
    """The patent's Khat[s i + x, s j + y] = K[i, j][x, y] is a view of what lies in the arena."""
    ours, _ = programs(1)
    plan, values = ours.machine.plan, ours.store()
    for parameter in ours.job.graph.parameters:
        kernels = values[parameter.name]
        if parameter.name not in ("first.W", "second.W"):
            continue
        outputs, inputs, side, _ = kernels.shape
        (buffer,) = [b for b in plan.described.building.buffers if b.label == parameter.name]
        (lies,) = ours.machine.read([(buffer, parameter.size)])
        flat = np.empty((side * outputs, side * inputs), "f4")
        for i, j, x, y in np.ndindex(kernels.shape):
            place = (i * inputs + j) * side * side + x * side + y
            flat[side * i + x, side * j + y] = lies[place]
        view = lies.reshape(kernels.shape).transpose(0, 2, 1, 3).reshape(flat.shape)
        np.testing.assert_array_equal(flat, view)
        np.testing.assert_array_equal(flat[side : 2 * side, :side], kernels[1, 0])
