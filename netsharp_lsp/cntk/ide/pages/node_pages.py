"""Description of a node in Markdown: its shape and the origin of that, its inputs, its cost."""

from __future__ import annotations

from netsharp_lsp.cntk.ide.meanings.descriptions import of_operation
from netsharp_lsp.cntk.ide.places.nodes import written_shape
from netsharp_lsp.cntk.networks.description import parameters, total
from netsharp_lsp.cntk.networks.node import GROUPS
from netsharp_lsp.cntk.networks.node_types import multiply_adds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.cntk.ide.places.nodes import NamedNode
    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.cntk.run.building import BuiltNetwork

#: The number of listed nodes.
_MOST = 8


def node_markdown(named: NamedNode) -> str:
    """Return the description of a node: its shape and the origin of that, its inputs, its cost."""
    node = named.node
    shape = written_shape(node.shape)
    lines = [f"**{node.name}**: `{node.operation}` `[{shape}]`", ""]
    if node.inputs:
        words = ", ".join(f"`{one.name}` [{written_shape(one.shape)}]" for one in node.inputs)
        lines.append(f"- reads {words}")
    lines.append(f"- {_axis(named)}")
    count = parameters(node)
    if count:
        product = " x ".join(map(str, node.shape or ()))
        how = "" if node.trainable else ", not trained"
        lines.append(f"- parameters: {product} = {count:,}{how}")
    cost = multiply_adds(node)
    if cost:
        lines.append(f"- multiply-adds for one sample: {cost:,}")
    network = named.built.network
    groups = [g for g in GROUPS if network is not None and node in network.groups.get(g, ())]
    if groups:
        lines.append(f"- belongs to the {' and '.join(groups)} nodes")
    if node.loop is not None:
        lines.append(f"- part of recurrent loop {node.loop}")
    attributes = ((name, _plain(value)) for name, value in sorted(node.attributes.items()))
    lines += [f"- {name}: `{value}`" for name, value in attributes if value and name != "shape"]
    description = of_operation(node.operation)
    return "\n".join([*lines, "", description] if description else lines)


def _axis(named: NamedNode) -> str:
    axis = named.node.axis
    if axis is None:
        return "the same for all samples"
    return "one value for each sample and time step" + (
        "" if axis.name == "*" else f" of {axis.name}"
    )


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return ":".join(map(_plain, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def listed(nodes: Iterable[Node]) -> list[str]:
    """Return nodes, one on each line; of many the first ones."""
    found = list(nodes)
    lines = [f"- `{one.name}`: {one.operation} [{written_shape(one.shape)}]" for one in found]
    more = len(lines) - _MOST
    return [*lines[:_MOST], f"- and {more:,} more"] if more > 0 else lines


def summary(built: BuiltNetwork) -> str:
    """Return the numbers of nodes and parameters of a network; empty if there is none."""
    if built.network is None:
        return ""
    nodes = built.network.nodes.values()
    count = total([parameters(node) for node in nodes if node.trainable])
    words = "unknown parameters" if count is None else f"{count:,} parameters"
    return f"{len(nodes):,} nodes, {words}"
