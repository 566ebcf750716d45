"""One graph on two back ends through the seam: values, losses and gradients side by side."""

from __future__ import annotations

import numpy as np

from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.program import Batch, Job, UpdateRule, drafted

#: How far two back ends may be apart, by the type of numbers.
CLOSE = {"float64": 1e-9, "float32": 2e-4}


def slopes(backend, graph, values, batch, dtype="float64"):
    """Values of the output, the sums of the losses, and the gradients by parameter.

    A step along the gradient at the rate 1 is the gradient.
    """
    rule, rows = UpdateRule("sgd", 1.0), len(next(iter(batch.inputs.values())))
    program = drafted(backend, Job(graph, rows, dtype, rule)).program()
    program.load(values)
    program.feed(batch)
    assert program.step(), program.figures().fault
    found = {"output": np.array(program.read(graph.output))}
    assert program.update(rule), program.figures().fault
    after = program.store()
    for parameter in graph.parameters:
        before = np.asarray(values[parameter.name]).reshape(parameter.shape)
        found[f"gradient of {parameter.name}"] = before - after[parameter.name]
    reported = program.figures()
    found["sums"] = np.array([*reported.sums, reported.weight, reported.rows, reported.steps])
    return found


def agree(backend, graph, random, *, x=None, target=None, rows=3, loss="squared error", **more):
    """Compare numpy's and another back end, in both types of numbers."""
    checked = graph.with_criteria(loss)
    if x is None:
        x = random.uniform(-1, 1, (rows, graph.features))
    if target is None:
        target = random.uniform(-1, 1, (len(x), graph.output.size))
    values = {p.name: random.uniform(-0.5, 0.5, p.shape) for p in graph.parameters}
    values |= more.pop("values", {})
    inputs, start = {}, 0
    for node in graph.inputs:
        inputs[node.name] = x[:, start : start + node.size]
        start += node.size
    batch = Batch({**inputs, checked.targets[0].name: target}, **more)
    for dtype, close in CLOSE.items():
        ours = slopes(NumpyDraft, checked, values, batch, dtype)
        theirs = slopes(backend, checked, values, batch, dtype)
        assert ours.keys() == theirs.keys()
        for name, expected in ours.items():
            np.testing.assert_allclose(
                theirs[name], expected, rtol=close, atol=close, err_msg=f"{dtype}: {name}"
            )
