"""A second back end: the naive loops with their gradients.

It knows the seam and nothing of numpy's back end, so that it says whether the seam is enough.
Parameters lie in canonical arrays, rules are the textbook's formulas, and a number that is not
finite is reported when figures are requested, as an asynchronous device does.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from netsharp_engine.analysis import Analysis
from netsharp_engine.dropping import masks_of
from netsharp_engine.program import REMEMBERS, Fault, Figures, Memory, Unsupported
from tests.engine import naive
from tests.engine.naive import Dimension


class PlainDraft:
    """A draft whose programs ``make(job, facts)`` a function of one batch."""

    operations = frozenset()
    make = staticmethod(lambda job, facts: None)

    def __init__(self, job):
        self.job = job
        self.facts = Analysis(job.graph, job.rule is not None)

    def unsupported(self):
        return [self.refusal(n) for n in self.facts.nodes if n.op not in self.operations]

    def refusal(self, node):
        return Unsupported(node, f"'{node.op}' is not computed here.")

    def needs(self, *, shares=False, threads=1):
        return Counter()

    def program(self, threads=1, beside=None):
        return PlainProgram(self.job, self.facts, self.make(self.job, self.facts), beside)


class PlainProgram:
    """``compute(inputs, values, wanted)`` gives all nodes' values and each row's loss; given the
    shares of the rows as well, also the gradients by parameter.
    """

    def __init__(self, job, facts, compute, beside):
        self.graph, self.rule = job.graph, job.rule
        self.facts, self.compute = facts, compute
        self.values = {} if beside is None else beside.values
        self.trained = [p.name for p in self.graph.parameters if p.trained]
        kinds = REMEMBERS[job.rule.kind] if job.rule else ()
        self.memory = Memory(0, {kind: {} for kind in kinds})
        for kind in kinds:
            for parameter in self.graph.parameters:
                if parameter.trained:
                    self.memory.arrays[kind][parameter.name] = np.zeros(parameter.shape)
        self.total = Figures((0.0,) * len(self.graph.criteria))

    def feed(self, batch):
        self.inputs = [
            np.asarray(batch.inputs[node.name], dtype=float) for node in self.graph.inputs
        ]
        rows = len(self.inputs[0])
        self.compute.masks = masks_of(self.facts.nodes, batch.draw, rows, float)
        self.wanted = None
        if self.graph.targets and self.graph.targets[0].name in batch.inputs:
            self.codes = np.array(batch.inputs[self.graph.targets[0].name])
            size = self.graph.output.size
            one_hot = size > 1 and self.codes.ndim == 1
            wanted = np.eye(size)[self.codes.astype(int)] if one_hot else self.codes
            self.wanted = wanted.reshape(rows, size).astype(float)
        self.weights = np.ones(rows) if batch.weights is None else np.array(batch.weights)
        self.expected = self.weights.sum() if batch.expected is None else batch.expected

    def forward(self):
        self.nodes, _, _ = self.compute(self.inputs, self.values, None, None)

    def step(self):
        if self.total.fault is not None:
            return True
        learns = self.rule is not None
        if not self.weights.sum():
            self.forward()
            if not learns:
                self.tell(False)
            return True
        shares = self.weights / self.expected if learns else None
        with np.errstate(all="ignore"):
            self.nodes, self.losses, self.gradients = self.compute(
                self.inputs, self.values, self.wanted, shares
            )
        if not learns:
            self.tell(True)
        elif not np.isfinite(self.losses @ self.weights):
            named = (node for node in self.facts.nodes if node.name)
            bad = (node for node in named if not np.isfinite(self.nodes[node]).all())
            self.fail("loss", next(bad, self.graph.output))
        else:
            self.check("gradient", self.gradients)
        return True

    def update(self, rule):
        if self.total.fault is not None:
            return True
        if not self.weights.sum():
            self.tell(False)
            return True
        steps = self.memory.updates + 1
        before = {name: self.values[name].copy() for name in self.trained}
        self.memory = self.memory._replace(updates=steps)
        self.clip(rule.shaping)
        for name in self.trained:
            state = {kind: arrays[name] for kind, arrays in self.memory.arrays.items()}
            with np.errstate(all="ignore"):
                self.values[name] += change(rule, steps, self.gradients[name], state)
                self.values[name] *= 1 - rule.rate * rule.decay
        if rule.max_norm:
            self.limit(rule.max_norm)
        self.check("weight", {name: self.values[name] for name in self.trained})
        if self.total.fault is None:
            self.tell(True)
        else:
            self.values.update(before)
        return True

    def clip(self, shaping):
        """Cut the gradient, number by number or by its length."""
        length = np.sqrt(sum((self.gradients[name] ** 2).sum() for name in self.trained))
        for name in self.trained:
            g = self.gradients[name].clip(-shaping.limit, shaping.limit)
            self.gradients[name] = g * min(1.0, shaping.total / length) if length else g

    def limit(self, most):
        """Scale back the vectors into a node that are longer than ``most``."""
        users = {p.name: node for node in self.graph.nodes for p in node.parameters}
        for parameter in self.graph.parameters:
            if not parameter.trained or parameter.kind == "biases":
                continue
            values = self.values[parameter.name]
            for place in incoming(parameter, users[parameter.name]):
                length = np.linalg.norm(values[place])
                if length > most:
                    values[place] *= most / length

    def check(self, what, arrays):
        for parameter in self.graph.parameters:
            if not np.isfinite(arrays.get(parameter.name, 0.0)).all():
                self.fail(what, parameter)
                return

    def fail(self, what, place):
        self.total = self.total._replace(fault=Fault(what, place))

    def tell(self, counted):
        reported, rows = self.total, len(self.weights)
        self.total = reported._replace(steps=reported.steps + 1)
        if not counted:
            return
        sums = [reported.sums[0] + float(self.losses @ self.weights)]
        outputs = self.read(self.graph.output)
        for number, _ in enumerate(self.graph.criteria[1:], 1):
            predicted = outputs[:, 0] > 0.5 if outputs.shape[1] == 1 else outputs.argmax(axis=1)
            sums.append(reported.sums[number] + float(np.sum(predicted == self.codes)))
        self.total = self.total._replace(
            sums=tuple(sums), weight=reported.weight + self.weights.sum(), rows=reported.rows + rows
        )

    def count(self, figures):
        sums = figures.sums or (0.0,) * len(self.graph.criteria)
        self.total = figures._replace(sums=sums, fault=None)

    def figures(self):
        return self.total

    def read(self, node):
        return self.nodes[node]

    def load(self, values):
        for parameter in self.graph.parameters:
            given = np.array(values[parameter.name], dtype=float)
            self.values[parameter.name] = given.reshape(parameter.shape)

    def store(self):
        return {name: values.copy() for name, values in self.values.items()}

    def load_memory(self, memory):
        if memory.arrays.keys() >= self.memory.arrays.keys():
            arrays = {kind: dict(memory.arrays[kind]) for kind in self.memory.arrays}
            self.memory = Memory(memory.updates, arrays)
            for each in arrays.values():
                for name, values in each.items():
                    each[name] = np.array(values, dtype=float)

    def store_memory(self):
        return Memory(
            self.memory.updates,
            {
                kind: {name: values.copy() for name, values in arrays.items()}
                for kind, arrays in self.memory.arrays.items()
            },
        )


def incoming(parameter, user):
    """Where each incoming vector of a parameter lies in its array, biases left out."""
    if parameter.kind == "kernels":
        return [(row, slice(0, -1)) for row in range(parameter.shape[0])]
    if len(parameter.shape) == 1:
        owners = np.asarray(user.attributes["edges"][0])
        return [owners == owner for owner in np.unique(owners)]
    return list(range(parameter.shape[0]))


def change(rule, steps, g, state):
    """What a rule adds to a parameter; ``state`` is overwritten."""
    figures = rule.constants
    if rule.kind == "sgd":
        return -rule.rate * g
    if rule.kind == "momentum":
        state["delta"][...] = rule.momentum * state["delta"] - rule.rate * g
        return rule.momentum * state["delta"] - rule.rate * g if rule.nesterov else state["delta"]
    if rule.kind == "adadelta":
        keep, constant = figures["decay"], figures["constant"]
        squares, steps_taken = state["squared_gradient"], state["squared_step"]
        squares[...] = keep * squares + (1 - keep) * g * g
        step = np.sqrt((steps_taken + constant) / (squares + constant)) * g
        steps_taken[...] = keep * steps_taken + (1 - keep) * step * step
        return -step
    first, second = state["first_moment"], state["second_moment"]
    first[...] = figures["beta1"] * first + (1 - figures["beta1"]) * g
    second[...] = figures["beta2"] * second + (1 - figures["beta2"]) * g * g
    mean = first / (1 - figures["beta1"] ** steps)
    spread = np.sqrt(second / (1 - figures["beta2"] ** steps))
    return -rule.rate * mean / (spread + figures["epsilon"])


def walk(node):
    """The dimensions of a kernel's walk, as the loops take them."""
    axes = node.attributes["axes"]
    sharing = node.attributes.get("sharing", [True] * len(axes))
    maps = node.attributes.get("maps", [1] * len(axes))
    return [
        Dimension(a.size, a.kernel, a.stride, a.padding, a.lower, a.upper, shared, count)
        for a, shared, count in zip(axes, sharing, maps, strict=True)
    ]


NORM = ("alpha", "beta", "offset", "over_full_kernel")


class Loops:
    """The naive loops over one graph; a node's values are a list of arrays over the rows."""

    def __init__(self, job, facts):
        self.graph, self.facts = job.graph, facts

    def __call__(self, inputs, values, wanted, shares):
        found = {}
        for node, given in zip(self.graph.inputs, inputs, strict=True):
            found[node] = list(given.T)
        for node in self.facts.nodes:
            if node.op != "input":
                found[node] = self.forward(node, [found[n] for n in node.inputs], values)
        nodes = {node: np.array(each).T for node, each in found.items()}
        if wanted is None:
            return nodes, None, None
        op, output = self.graph.criteria[0].op, nodes[self.facts.output]
        losses, by_output = criterion(op, output, wanted)
        if shares is None:
            return nodes, losses, None
        above = {node: [0.0] * node.size for node in self.facts.nodes}
        above[self.facts.output] = list((by_output * shares[:, None]).T)
        gradients = {name: np.zeros_like(value) for name, value in values.items()}
        for node in reversed(self.facts.nodes):
            if node.op == "input":
                continue
            sources, by_weights = self.backward(node, found, values, above[node])
            for source, given in zip(node.inputs, sources, strict=True):
                above[source] = [a + b for a, b in zip(above[source], given, strict=True)]
            for parameter in node.parameters:
                gradients[parameter.name] += np.reshape(by_weights, parameter.shape)
        return nodes, losses, gradients

    def forward(self, node, sources, values):
        weights = [values[parameter.name] for parameter in node.parameters]
        match node.op:
            case "full":
                return naive.full(sources[0], weights[0])
            case "filtered":
                return naive.filtered(sources[0], edges(node), weights[0], node.size)
            case "bias":
                return [a + b for a, b in zip(sources[0], weights[0], strict=True)]
            case "add":
                return [sum(parts) for parts in zip(*sources, strict=True)]
            case "activation":
                return naive.activation(node.attributes["function"], sources[0])
            case "Dropout":
                return list(np.array(sources[0]) * self.masks[node.attributes["layer"]].T)
            case "convolve":
                return naive.convolve(sources[0], walk(node), weights[0])
            case "response norm":
                figures = [node.attributes[key] for key in NORM]
                return naive.response_norm(sources[0], walk(node), *figures)
        return naive.pool(sources[0], walk(node), node.op.removesuffix(" pool"))

    def backward(self, node, found, values, above):
        """The gradients by each source, and by the parameter."""
        x = found[node.inputs[0]]
        weights = [values[parameter.name] for parameter in node.parameters]
        match node.op:
            case "full":
                by_x, by_weights = naive.full_back(x, weights[0], above)
            case "filtered":
                by_x, by_weights = naive.filtered_back(x, edges(node), weights[0], above)
            case "bias":
                by_x, by_weights = above, [np.sum(g) for g in above]
            case "add":
                return [above] * len(node.inputs), None
            case "activation":
                function = node.attributes["function"]
                return [naive.activation_back(function, x, found[node], above)], None
            case "Dropout":
                return [list(np.array(above) * self.masks[node.attributes["layer"]].T)], None
            case "convolve":
                by_x, by_weights = naive.convolve_back(x, walk(node), weights[0], above)
            case "response norm":
                figures = [node.attributes[key] for key in NORM]
                return [naive.response_norm_back(x, walk(node), *figures, above)], None
            case _:
                kind = node.op.removesuffix(" pool")
                return [naive.pool_back(x, walk(node), kind, above)], None
        return [by_x], by_weights


def edges(node):
    return list(zip(*node.attributes["edges"], strict=True))


def criterion(op, y, t):
    """Each row's loss [rows] and its gradient by the outputs."""
    with np.errstate(all="ignore"):
        if op == "cross entropy":
            return -np.sum(t * np.log(y), axis=1), -t / y
        if op == "binary cross entropy":
            losses = -np.sum(t * np.log(y) + (1 - t) * np.log(1 - y), axis=1)
            return losses, (1 - t) / (1 - y) - t / y
        return np.sum((y - t) ** 2, axis=1), 2 * (y - t)


OPERATIONS = (
    *("input", "full", "filtered", "bias", "add", "activation", "convolve"),
    *("max pool", "mean pool", "response norm", "Dropout"),
)


class LoopsDraft(PlainDraft):
    """The naive loops as a back end."""

    operations = frozenset(OPERATIONS)
    make = Loops
