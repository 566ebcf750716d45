"""Names of layers of tensors: as written in the source, or the shortest path that identifies the
layer.

Names of nodes are paths (``z.conv1.r``), and so are those of parameters, which name the function of
a layer where its application has no name of its own (``model.arrayOfFunctions[0].W``).  Knows no
numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from netsharp_engine.ops.tensors import HELD
from netsharp_engine.ops.tensors.images import POOLING

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node

#: The functions of a Sequential, which names leave out (``model[0]``).
_LISTED = re.compile(r"\.arrayOfFunctions(?=\[)")
#: Names that CNTK generates for nodes without one.
_NUMBERED = re.compile(r"[A-Z][A-Za-z]*\d+")
#: A part of a path of a value or function without a name.
_UNNAMED = re.compile(r"(^|\.)_")
_PARTS = re.compile(r"[./]?[^./\[]+|\[[^\]]*\]")


def layer_names(nodes: Sequence[Node], known: Iterable[str]) -> list[str]:
    """Return the names of the layers that end in some nodes, in their order; layers of one node
    have one name. No name is that of any other of the ``known`` nodes.
    """
    every = list(dict.fromkeys(nodes))
    taken = set(known)
    paths = {node: _without_numbers(node.name) for node in every}
    weights = {node: _weights_of(node, set(every)) for node in every}
    found: dict[Node, str] = {}
    for node in every:
        others = [paths[one] for one in every if one is not node]
        held = [weights[one] for one in every if one is not node and weights[one]]
        found[node] = next(
            (
                one
                for one in _candidates(node.name, weights[node], others, held)
                if one not in taken
            ),
            node.name,
        )
    for node in every:
        if node.op in POOLING and found[node] == node.name and _is_unnamed(node.name):
            source = next((one for one in _reached(node, set(every)) if one in found), None)
            name = "" if source is None else f"{found[source]}.pool"
            if source is not None and found[source] != source.name and name not in taken:
                found[node] = name
    twice = {one for one in found.values() if list(found.values()).count(one) > 1}
    return [node.name if found[node] in twice else found[node] for node in nodes]


def _candidates(name: str, weights: str, paths: list[str], others: list[str]) -> Iterator[str]:
    """Yield names that identify one layer, the best first."""
    if "." not in name and not (_NUMBERED.fullmatch(name) and "/" in weights):
        return
    unnamed = _is_unnamed(name)
    if not unnamed:
        own = _beginnings(_without_numbers(name))
        yield from (one for one in own if not any(map(_below(one), paths)))
    if _UNNAMED.search(weights) is None:
        # A function with a name of its own is clearer than the expression that applies it.
        apart = unnamed or not weights.startswith(tuple(_PARTS.findall(name)[:1]))
        functions = [one for one in _beginnings(weights) if apart or len(one) < len(name)]
        yield from (one for one in functions if not any(map(_below(one), (*paths, *others))))


def _is_unnamed(name: str) -> bool:
    """Return whether a node's name was generated."""
    return bool(_UNNAMED.search(name) or _NUMBERED.fullmatch(name))


def _below(path: str) -> Callable[[str], bool]:
    """Return a function that checks whether a path is this one, or continues it."""
    return lambda other: other == path or other[: len(path) + 1] in (f"{path}{s}" for s in "./[")


def _beginnings(path: str) -> list[str]:
    """Return the shorter paths at the beginning of one."""
    parts = _PARTS.findall(path)
    return ["".join(parts[:end]) for end in range(1, len(parts))]


def _without_numbers(path: str) -> str:
    return _LISTED.sub("", path)


def _weights_of(end: Node, ends: set[Node]) -> str:
    """Return the path of the largest parameter that a layer reads; empty without any."""
    held = [node for node in _reached(end, ends) if node.op in HELD]
    return _without_numbers(max(held, key=lambda one: one.size).name) if held else ""


def _reached(end: Node, ends: set[Node]) -> Iterator[Node]:
    """Yield what leads to a node, up to those in which other layers end."""
    seen, waiting = {end}, list(end.inputs)
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            yield node
            waiting += () if node in ends else node.inputs
