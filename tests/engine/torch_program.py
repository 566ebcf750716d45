"""A third back end, of the other kind: one torch expression of the whole graph, and its autograd.

It skips where torch is not installed, as do the tests that use it.
"""

from __future__ import annotations

import numpy as np
import torch

from tests.engine.naive import indices, kernel_number, neighbourhood, positions, tap_number
from tests.engine.plain_program import NORM, OPERATIONS, PlainDraft, edges, walk

FUNCTIONS = {
    "sigmoid": torch.sigmoid,
    "linear": lambda x: x,
    "softmax": lambda x: torch.softmax(x, 1),
    "rlinear": torch.relu,
    "square": torch.square,
    "sqrt": lambda x: torch.sqrt(torch.relu(x)),
    "srlinear": torch.nn.functional.softplus,
    "abs": torch.abs,
    "tanh": torch.tanh,
    "brlinear": lambda x: torch.clamp(x, 0, 1),
}


def full(node, sources, weights):
    return sources[0] @ weights[0].T


def filtered(node, sources, weights):
    pairs = torch.tensor(edges(node))
    terms = sources[0][:, pairs[:, 1]] * weights[0]
    return torch.zeros(len(terms), node.size, dtype=terms.dtype).index_add(1, pairs[:, 0], terms)


def neighbours(node):
    """Per position the flat source cells of all taps and which taps they are; gaps are -1."""
    dimensions = walk(node)
    sizes = [d.size for d in dimensions]
    taps = int(np.prod([d.kernel for d in dimensions]))
    table = np.full((len(positions(dimensions)), taps), -1)
    for row, position in enumerate(positions(dimensions)):
        for tap, cell in neighbourhood(dimensions, position):
            table[row, tap_number(dimensions, tap)] = np.ravel_multi_index(cell, sizes)
    return torch.from_numpy(table)


def gathered(node, source, gap):
    """The source under every kernel [rows, positions, taps], and which taps are not gaps."""
    table = neighbours(node)
    values = torch.cat([source, torch.full((len(source), 1), gap, dtype=source.dtype)], 1)
    return values[:, table], table >= 0


def convolve(node, sources, weights):
    seen, _ = gathered(node, sources[0], 0.0)
    dimensions, kernels = walk(node), weights[0]
    ones = torch.ones(*seen.shape[:2], 1, dtype=seen.dtype)
    seen = torch.cat([seen, ones], 2)
    rows, order = [], []
    counts = [d.maps * d.node_count() for d in dimensions]
    for maps in indices([d.maps for d in dimensions]):
        for position in positions(dimensions):
            rows.append(kernel_number(dimensions, maps, position))
            place = [
                m * d.node_count() + p for d, m, p in zip(dimensions, maps, position, strict=True)
            ]
            order.append(int(np.ravel_multi_index(place, counts)))
    repeated = seen.repeat(1, len(rows) // seen.shape[1], 1)
    made = (repeated * kernels[torch.tensor(rows)]).sum(2)
    return made[:, torch.from_numpy(np.argsort(order))]


def max_pool(node, sources, weights):
    return gathered(node, sources[0], -np.inf)[0].max(2).values


def mean_pool(node, sources, weights):
    seen, real = gathered(node, sources[0], 0.0)
    return seen.sum(2) / real.sum(1)


def response_norm(node, sources, weights):
    alpha, beta, offset, over_full_kernel = (node.attributes[key] for key in NORM)
    seen, real = gathered(node, sources[0], 0.0)
    count = real.shape[1] if over_full_kernel else real.sum(1)
    base = offset + alpha / count * seen.square().sum(2)
    dimensions = walk(node)
    centres = [
        np.ravel_multi_index(
            [d.centre(p) for d, p in zip(dimensions, position, strict=True)],
            [d.size for d in dimensions],
        )
        for position in positions(dimensions)
    ]
    return sources[0][:, torch.tensor(np.array(centres))] * base**-beta


EXPRESSIONS = {
    "full": full,
    "filtered": filtered,
    "bias": lambda node, sources, weights: sources[0] + weights[0],
    "add": lambda node, sources, weights: sum(sources),
    "activation": lambda node, sources, weights: FUNCTIONS[node.attributes["function"]](sources[0]),
    "convolve": convolve,
    "max pool": max_pool,
    "mean pool": mean_pool,
    "response norm": response_norm,
}


def losses(op, y, t):
    if op == "cross entropy":
        return -(t * y.log()).sum(1)
    if op == "binary cross entropy":
        return -(t * y.log() + (1 - t) * (1 - y).log()).sum(1)
    return (y - t).square().sum(1)


class Autograd:
    """The whole graph as one expression of its parameters."""

    def __init__(self, job, facts):
        self.graph, self.facts = job.graph, facts

    def __call__(self, inputs, values, wanted, shares):
        weights = {name: torch.from_numpy(v).requires_grad_() for name, v in values.items()}
        found = {
            node: torch.tensor(given) for node, given in zip(self.graph.inputs, inputs, strict=True)
        }
        for node in self.facts.nodes:
            if node.op != "input":
                sources = [found[source] for source in node.inputs]
                mine = [weights[parameter.name] for parameter in node.parameters]
                if node.op == "Dropout":
                    mask = self.masks[node.attributes["layer"]]
                    found[node] = sources[0] * torch.from_numpy(mask)
                    continue
                found[node] = EXPRESSIONS[node.op](node, sources, mine)
        nodes = {node: each.detach().numpy() for node, each in found.items()}
        if wanted is None:
            return nodes, None, None
        reported = losses(self.graph.criteria[0].op, found[self.facts.output], torch.tensor(wanted))
        if shares is None:
            return nodes, reported.detach().numpy(), None
        (reported * torch.tensor(shares)).sum().backward()
        gradients = {
            name: np.zeros(v.shape) if v.grad is None else v.grad.numpy()
            for name, v in weights.items()
        }
        return nodes, reported.detach().numpy(), gradients


class AutogradDraft(PlainDraft):
    """Torch's autograd as a back end."""

    operations = frozenset(OPERATIONS)
    make = Autograd
