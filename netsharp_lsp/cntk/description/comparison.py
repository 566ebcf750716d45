"""The differences between two runs: the values of their configurations, then their networks.

Networks are paired by the commands that build them, nodes by their operation and otherwise by name.
How differences are printed is not known here.
"""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.meaning.comparison import changes
from netsharp_lsp.cntk.description.network import default_network
from netsharp_lsp.cntk.networks import same
from netsharp_lsp.cntk.networks.description import described
from netsharp_lsp.cntk.networks.node import GROUPS, written
from netsharp_lsp.description.comparison import Comparison, Difference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.meaning.tree import Value
    from netsharp_lsp.cntk.networks.node import Network, Node
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.experiment import Experiment

FIGURES = ("parameters", "multiply_adds")


def compare(before: Experiment, after: Experiment) -> Comparison:
    """Compare two runs; the figures are those of the networks that `describe` selects."""
    differences = list(_values(before, after))
    equal = not differences
    for name, old, new in _pairs(before, after):
        found = list(_networks(name, old, new))
        equal = equal and all(one.change == "renamed" for one in found)
        differences += found
    return Comparison(equal, differences, _figures(before, after))


def _values(before: Experiment, after: Experiment) -> Iterator[Difference]:
    """Yield the values that were added, removed or changed, without those inside networks."""
    for change in changes(before.configuration, after.configuration):
        old, new = change.before, change.after
        if any(value is not None and value.kind == "block" for value in (old, new)):
            continue
        texts = ["" if value is None else _written_value(value) for value in (old, new)]
        yield Difference(change.kind, "value", change.path, "", *texts)


def _written_value(value: Value) -> str:
    return value.raw if value.value is None else value.value


def _pairs(
    before: Experiment, after: Experiment
) -> list[tuple[str, BuiltNetwork | None, BuiltNetwork | None]]:
    """Return pairs of networks of one command each; a network that several commands share counts
    once.
    """
    old = {one.command.lower(): one for one in before.networks}
    new = {one.command.lower(): one for one in after.networks}
    if len(old) == len(new) == 1:
        return [("", next(iter(old.values())), next(iter(new.values())))]
    met: set[tuple[object, object]] = set()
    pairs = []
    for name in dict.fromkeys((*old, *new)):
        one, other = old.get(name), new.get(name)
        key = (one and one.place, other and other.place)
        if key not in met:
            met.add(key)
            either = one or other
            pairs.append((either.command if either is not None else "", one, other))
    return pairs


def _networks(
    name: str, old: BuiltNetwork | None, new: BuiltNetwork | None
) -> Iterator[Difference]:
    """Yield the differences between the networks of one command."""
    before, after = (None if one is None else one.network for one in (old, new))
    if before is None and after is None:
        return
    if before is None or after is None:
        yield Difference("removed" if after is None else "added", "network", name or "network")
        return
    yield from node_differences(before, after, f"{name}: " if name else "")[0]


def node_differences(
    before: Network, after: Network, prefix: str = ""
) -> tuple[list[Difference], dict[str, str]]:
    """Return the differences between the nodes of two networks, and the pairs of nodes."""
    comparison = same.compare(before, after)
    partners = _partners(before, after, comparison.names)
    return list(_nodes(before, after, partners, prefix)), partners


def _nodes(
    before: Network, after: Network, partners: dict[str, str], prefix: str
) -> Iterator[Difference]:
    for node in before.nodes.values():
        if node.name not in partners:
            yield Difference("removed", "node", prefix + node.name, "", _node_text(node))
    taken = set(partners.values())
    for node in after.nodes.values():
        if node.name not in taken:
            yield Difference("added", "node", prefix + node.name, "", "", _node_text(node))
    for left, right in partners.items():
        one, other = before.nodes[left], after.nodes[right]
        if left != right:
            yield Difference("renamed", "node", prefix + left, "name", left, right)
        for aspect, was, would in _aspects((one, before), (other, after), partners):
            yield Difference("changed", "node", prefix + right, aspect, was, would)


def _partners(before: Network, after: Network, matched: dict[str, str]) -> dict[str, str]:
    """Return pairs of nodes: those with equal operations, those of the same name, and those with
    similar operations in the same place.
    """
    partners = dict(matched)
    taken = set(partners.values())
    for name in before.nodes:
        if name not in partners and name in after.nodes and name not in taken:
            partners[name] = name
            taken.add(name)
    pairs = [(before.nodes[one], after.nodes[other]) for one, other in partners.items()]
    for group in GROUPS:
        pairs += zip(before.groups.get(group, ()), after.groups.get(group, ()), strict=False)
    for left, right in pairs:
        if left.name not in partners and right.name not in taken:
            if same.operation_of(left) != same.operation_of(right):
                continue
            partners[left.name] = right.name
            taken.add(right.name)
        if partners.get(left.name) == right.name:
            # The inputs of the inputs are compared in their turn.
            pairs += [pair for pair in _inputs(left, right) if pair[0].name not in partners]
    return {name: partners[name] for name in before.nodes if name in partners}


def _inputs(left: Node, right: Node) -> Iterator[tuple[Node, Node]]:
    return zip(left.inputs, right.inputs, strict=False)


def _aspects(
    left: tuple[Node, Network], right: tuple[Node, Network], partners: dict[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield the attributes in which two nodes differ, as text."""
    (one, before), (other, after) = left, right
    rows = [("operation", same.operation_of(one), same.operation_of(other))]
    inputs = [partners.get(it.name, it.name) for it in one.inputs]
    rows.append(("inputs", ", ".join(inputs), ", ".join(it.name for it in other.inputs)))
    rows.append(("shape", written(one.shape), written(other.shape)))
    rows.append(("dynamic axis", _has_axis(one), _has_axis(other)))
    old, new = same.attributes_of(one), same.attributes_of(other)
    rows += [
        (key, _attribute(old.get(key)), _attribute(new.get(key)))
        for key in dict.fromkeys((*old, *new))
        # A parameter's shape is an attribute as well, and is reported once.
        if key != "shape" or one.shape == other.shape
    ]
    rows.append(("groups", _groups(one, before), _groups(other, after)))
    yield from (row for row in rows if row[1] != row[2])


def _has_axis(node: Node) -> str:
    return "no" if node.axis is None else "yes"


def _attribute(value: object) -> str:
    if value is None:
        return "not given"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ":".join(_attribute(one) for one in value)
    return str(value)


def _groups(node: Node, network: Network) -> str:
    names = [group for group in GROUPS if node in network.groups.get(group, ())]
    return ", ".join(names) or "none"


def _node_text(node: Node) -> str:
    inputs = ", ".join(one.name for one in node.inputs)
    return f"{node.operation} ({inputs}) [{written(node.shape)}]"


def _figures(before: Experiment, after: Experiment) -> dict[str, tuple[int | None, int | None]]:
    figures = []
    for experiment in (before, after):
        built = default_network(experiment)
        network = None if built is None else built.network
        figures.append({} if network is None else described(network))
    return {key: (figures[0].get(key), figures[1].get(key)) for key in FIGURES}
