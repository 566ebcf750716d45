"""A back end whose rows follow one another: the next call takes over how a hidden layer ended one.

It shows that such states are stored, kept in a model's file and loaded with what a rule remembers.
"""

from __future__ import annotations

import numpy as np

from tests.engine.plain_program import PlainDraft, PlainProgram, criterion

#: Of what a row leaves, the next one takes so much.
SHARE = 0.5
#: Where the states stand beside what the rule remembers.
CARRIED = "carried"


class Following:
    """Full layers with tanh; each row of a hidden one adds a share of the row before it."""

    def __init__(self, job, facts):
        self.job, self.facts = job, facts
        hidden = [n for n in facts.nodes if n.op == "activation" and n is not facts.output]
        self.states = {node: np.zeros(node.size) for node in hidden}

    def values(self, inputs, values, states):
        found = dict(zip(self.job.graph.inputs, inputs, strict=True))
        for node in self.facts.nodes:
            sources = [found[source] for source in node.inputs]
            weights = [values[parameter.name] for parameter in node.parameters]
            if node.op == "full":
                found[node] = sources[0] @ weights[0].T
            elif node.op == "bias":
                found[node] = sources[0] + weights[0]
            elif node.op == "activation":
                found[node] = np.array(sources[0])
                before = states.get(node)
                for row in found[node]:
                    row[:] = np.tanh(row if before is None else row + SHARE * before)
                    before = None if before is None else row
        return found

    def losses(self, nodes, wanted):
        """The loss of each row."""
        return criterion(self.job.graph.criteria[0].op, nodes[self.facts.output], wanted)[0]

    def __call__(self, inputs, values, wanted, shares):
        if shares is None:
            # What is measured stands for itself: it begins with nothing and leaves nothing.
            rest = {node: np.zeros(node.size) for node in self.states}
            nodes = self.values(inputs, values, rest)
            return nodes, None if wanted is None else self.losses(nodes, wanted), None
        nodes = self.values(inputs, values, self.states)
        gradients = {name: np.zeros_like(value) for name, value in values.items()}
        for name, gradient in gradients.items():
            for place in np.ndindex(gradient.shape):
                kept, ends = values[name][place], []
                for moved in (kept + 1e-5, kept - 1e-5):
                    values[name][place] = moved
                    found = self.values(inputs, values, self.states)
                    ends.append(self.losses(found, wanted) @ shares)
                values[name][place] = kept
                gradient[place] = (ends[0] - ends[1]) / 2e-5
        self.states = {node: nodes[node][-1].copy() for node in self.states}
        return nodes, self.losses(nodes, wanted), gradients


class CarryingProgram(PlainProgram):
    """Stores the states beside what the rule remembers, by the name of the node."""

    def load_memory(self, memory):
        super().load_memory(memory)
        known = memory.arrays.get(CARRIED, {})
        for node in self.compute.states:
            self.compute.states[node] = np.array(known.get(f"{node.name}/end", np.zeros(node.size)))

    def store_memory(self):
        memory = super().store_memory()
        ends = {f"{node.name}/end": state.copy() for node, state in self.compute.states.items()}
        return memory._replace(arrays={**memory.arrays, CARRIED: ends})


class CarryingDraft(PlainDraft):
    """Full layers with tanh alone."""

    operations = frozenset(("input", "full", "bias", "activation"))
    make = Following

    def program(self, threads=1, beside=None):
        return CarryingProgram(self.job, self.facts, self.make(self.job, self.facts), beside)
