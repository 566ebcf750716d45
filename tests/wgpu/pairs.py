"""A program on a device beside numpy's in float64, fed alike, for the tests of the device."""

from __future__ import annotations

import os

import numpy as np

from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.program import Batch, Job, UpdateRule, drafted
from netsharp_engine.wgpu_backend import DeviceDraft

#: The device that is tested; by default the software driver.
NAME = os.environ.get("NETSHARP_WGPU", "cpu")
#: Its first memory is the gradient, with another sign.
GRADIENT_STEP = UpdateRule("momentum", 1.0)


class Pair:
    """Two programs of one graph with criteria, with the same parameters."""

    def __init__(self, graph, rows, rule, values=None, seed=1, scale=0.5, **options):
        self.graph, self.rule = graph, rule
        random = np.random.default_rng(seed)
        if values is None:
            values = {
                each.name: random.uniform(-scale, scale, each.shape) for each in graph.parameters
            }
        self.ours = DeviceDraft(Job(graph, rows, "float32", rule), NAME, **options).program()
        self.theirs = drafted(NumpyDraft, Job(graph, rows, "float64", rule)).program()
        values = {name: np.float32(array) for name, array in values.items()}
        for program in (self.ours, self.theirs):
            program.load(values)

    def step(self, features, wanted, rule=None, **more):
        """Feed both, and let both change."""
        inputs, start = {}, 0
        for node in self.graph.inputs:
            inputs[node.name] = np.float32(features[:, start : start + node.size])
            start += node.size
        inputs[self.graph.targets[0].name] = wanted
        for program in (self.ours, self.theirs):
            program.feed(Batch(inputs, **more))
            assert program.step()
            if self.rule is not None:
                assert program.update(rule or self.rule)

    def losses(self):
        """The sums of both."""
        return [program.figures().sums for program in (self.ours, self.theirs)]

    def apart(self, tensors=None):
        """How far tensors are apart, relative to the largest number of each: by name."""
        ours, theirs = tensors or (self.ours.store(), self.theirs.store())
        assert ours.keys() == theirs.keys()
        return {name: apart(ours[name], theirs[name]) for name in ours}

    def gradients(self):
        """How far gradients are apart after a step by `GRADIENT_STEP`."""
        both = (program.store_memory().arrays["delta"] for program in (self.ours, self.theirs))
        return self.apart(tuple(both))


def apart(ours, theirs):
    """The largest difference relative to the largest number."""
    most = np.abs(theirs).max()
    return float(np.abs(ours - theirs).max() / most) if most else float(np.abs(ours).max())
