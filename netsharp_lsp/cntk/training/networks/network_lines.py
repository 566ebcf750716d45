"""The lines of CNTK's log about a network: the starts of its parameters, and its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.cntk.starts import GIVEN, RANDOM, fans_of, spread_of
from netsharp_engine.ops.tensors import STATISTICS
from netsharp_lsp.cntk.networks.node import PARAMETER, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from netsharp_engine.cntk.starts import Start
    from netsharp_lsp.cntk.networks.node import Network, Node


def parameter_lines(network: Network, starts: Mapping[str, Start], old: bool) -> Iterator[str]:
    """Yield the starts of parameters, in the order of their creation; `old`: as in August 2016.

    Newer versions end a line before the last parenthesis, which then begins the next one.
    """
    left = ""
    for node in sorted(network.nodes.values(), key=lambda one: one.number):
        start = starts.get(node.name)
        if start is None or start.kind == GIVEN or node.operation != PARAMETER:
            continue
        shape = node.shape or ()
        head = f"Node '{node.name}' ({node.operation} operation): "
        head += f"Initializing Parameter[{written(shape)}] <- "
        if start.kind not in RANDOM:
            yield from (f"{head}{0.0:f}.",) if old else ()
            yield f"{left}{head}{start.scale:f}."
            left = ""
            continue
        on_cpu = "true" if node.attributes.get("initOnCPUOnly") else "false"
        base = spread_of(shape, start)
        if old:
            yield f"{head}{0.0:f}."
            scale = f"{base:f}*{start.scale:f}"
            yield f"{head}{start.kind}(seed={start.seed}, range={scale}, onCPU={on_cpu})."
            continue
        fans = fans_of(shape, start)
        yield (
            f"{left}{head}{start.kind}(seed={start.seed}, init dims=[{fans.outgoing} x "
            f"{fans.incoming}], range={base * start.scale:f}({base:f}*{start.scale:f}), "
            f"onCPU={on_cpu}."
        )
        left = ")"
    if left:
        yield left


def validation_lines(network: Network) -> Iterator[str]:
    """Yield the nodes with their shapes, each after its inputs, in CNTK's order."""
    roots = _roots(network)
    order = _in_order(roots)
    yield from ("", "Post-processing network...", "", f"{len(roots)} roots:")
    for root in roots:
        yield f"\t{root.name} = {root.operation}()"
    yield from ("", f"Validating network. {len(order)} nodes to process in pass 1.", "")
    for node in order:
        yield f"Validating --> {_prototype(node)}"
    again = sum(bool(node.inputs) for node in order)
    if again:
        yield from ("", f"Validating network. {again} nodes to process in pass 2.", "")
    yield from ("", "Validating network, final pass.", "", "", "")
    yield from ("", "Post-processing network complete.", "")


def _roots(network: Network) -> list[Node]:
    """Return nodes that no other reads, and those of the output groups; names are
    case-insensitive.
    """
    read = {id(source) for node in network.nodes.values() for source in node.inputs}
    named = {
        id(node)
        for group in ("criterion", "evaluation", "output")
        for node in network.groups[group]
    }
    found = (
        node
        for node in network.nodes.values()
        if id(node) not in read or id(node) in named or node.operation in STATISTICS
    )
    return sorted(found, key=lambda node: (node.name.lower(), node.name))


def _in_order(roots: list[Node]) -> list[Node]:
    """Return all nodes below roots, each after its inputs, cycles excepted."""
    found: list[Node] = []
    seen: set[int] = set()
    waiting = [(root, False) for root in reversed(roots)]
    while waiting:
        node, is_done = waiting.pop()
        if is_done:
            found.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            waiting.append((node, True))
            waiting += ((one, False) for one in reversed(node.inputs))
    return found


def _prototype(node: Node) -> str:
    if not node.inputs:
        return f"{node.name} = {node.operation}() :  -> {_shape(node)}"
    names = ", ".join(one.name for one in node.inputs)
    shapes = ", ".join(map(_shape, node.inputs))
    return f"{node.name} = {node.operation} ({names}) : {shapes} -> {_shape(node)}"


def _shape(node: Node) -> str:
    axis = "" if node.axis is None else f" x {node.axis.name}"
    return f"[{written(node.shape)}{axis}]"
