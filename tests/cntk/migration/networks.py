"""Networks drawn at random and copies of them, for the tests of what makes two the same."""

from __future__ import annotations

from random import Random

from netsharp_lsp.cntk.networks.inference import inferred
from netsharp_lsp.cntk.networks.node import GROUPS, Axis, Network, Node


def drawn(random: Random, size: int) -> Network:
    """A network of vectors: parameters, inputs, sums, products and delays that close loops."""
    nodes = [_leaf(random, number) for number in range(3 + size // 3)]
    while len(nodes) < size:
        operation = random.choice(("Plus", "ElementTimes", "Sigmoid", "Minus", "PastValue"))
        node = Node(operation, len(nodes), f"n{len(nodes)}")
        count = 1 if operation in ("Sigmoid", "PastValue") else 2
        node.inputs = tuple(random.choice(nodes) for _ in range(count))
        if operation == "PastValue":
            node.attributes = {"timeStep": random.choice((1, 2)), "shape": (4,)}
        nodes.append(node)
    for node in nodes:
        if node.operation == "PastValue":
            node.inputs = (random.choice(nodes),)
    groups = {group: tuple(random.sample(nodes, random.randint(0, 2))) for group in GROUPS}
    return inferred(Network({node.name: node for node in nodes}, groups))


def _leaf(random: Random, number: int) -> Node:
    node = Node("InputValue" if number < 2 else "LearnableParameter", number, f"n{number}")
    node.shape = (4,)
    if number >= 2:
        value = random.choice((0.0, 1.0))
        node.attributes = {"shape": (4,), "init": "fromValue", "initValue": value}
    return node


def renamed(network: Network, random: Random) -> tuple[Network, dict[str, str]]:
    """The network with other names in another order of creation, and how it calls each node."""
    nodes = list(network.nodes.values())
    order = random.sample(range(len(nodes)), len(nodes))
    names = {node.name: f"m{order[place]}" for place, node in enumerate(nodes)}
    copies = {}
    axes: dict[int, Axis] = {}
    for place, node in enumerate(nodes):
        copy = Node(node.operation, order[place], names[node.name])
        copy.attributes = dict(node.attributes)
        copy.shape = node.shape
        if node.axis is not None:
            copy.axis = axes.setdefault(id(node.axis), Axis(node.axis.name))
        copies[node.name] = copy
    for node in nodes:
        copies[node.name].inputs = tuple(copies[one.name] for one in node.inputs)
    ordered = sorted(copies.values(), key=lambda node: node.number)
    groups = {
        group: tuple(copies[node.name] for node in members)
        for group, members in network.groups.items()
    }
    return Network({node.name: node for node in ordered}, groups), names
