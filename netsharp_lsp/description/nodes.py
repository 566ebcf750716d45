"""The nodes of a described network as the layers of a picture; knows no language.

A parameter does not have a box of its own: it is described in the node that uses it.
"""

from __future__ import annotations

from netsharp_engine.geometry import product

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Description = dict[str, Any]

#: The operation of what is learnt.
PARAMETER = "LearnableParameter"
#: An edge whose value comes from another step of the sequence.
DELAY = "delay"
_INPUTS = frozenset(("InputValue", "SparseInputValue"))
_ENDS = frozenset(("criterion", "evaluation", "output"))
#: How an edge into an operation is drawn, where it is not a plain value.
_KINDS = {
    "Convolution": "convolve",
    "MaxPooling": "max pool",
    "AveragePooling": "mean pool",
    "PastValue": DELAY,
    "FutureValue": DELAY,
}


def as_layers(description: Description) -> list[Description]:
    """Return boxes with their edges, in the order of the nodes, in the form of Net#'s layers.

    Counts of connections and biases are left out: biases are parameters like others.
    """
    listed = description.get("nodes", ())
    nodes = {node["name"]: node for node in listed}
    counted: set[str] = set()
    return [_layer(node, nodes, counted) for node in listed if node["operation"] != PARAMETER]


def _layer(node: Description, nodes: dict[str, Description], counted: set[str]) -> Description:
    sources = [nodes[name] for name in node["inputs"] if name in nodes]
    learnt = [one for one in sources if one["operation"] == PARAMETER]
    own = [one for one in learnt if one["name"] not in counted]
    counted.update(one["name"] for one in learnt)
    edges = [one for one in sources if one["operation"] != PARAMETER]
    counts = [one["parameters"] for one in own if one["trainable"]]
    return {
        "name": node["name"],
        "kind": _kind(node),
        "shape": node["shape"],
        "nodes": None if node["shape"] is None else product(tuple(node["shape"])),
        "activation": node["operation"],
        "parameters": None if None in counts else sum(counts),
        "shared_with": None,
        "bundles": [
            {
                "source": one["name"],
                "kind": _edge(node),
                "delayed": _edge(node) == DELAY and one["loop"] is not None,
                "output": None,
                "kernels": None,
                "weights_per_kernel": None,
                "multiply_adds": node["multiply_adds"] if number == 0 else 0,
                "parameters": 0,
                "shared_with": None,
            }
            for number, one in enumerate(edges)
        ],
    }


def _kind(node: Description) -> str:
    if node["operation"] in _INPUTS:
        return "input"
    return "output" if _ENDS.intersection(node["groups"]) else "hidden"


def _edge(node: Description) -> str:
    if node["operation"] == "Pooling":
        return f"{node['attributes'].get('poolKind', 'max')} pool".replace("average", "mean")
    return _KINDS.get(node["operation"], "value")
