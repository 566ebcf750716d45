"""Equality of two networks: a one-to-one map of their nodes, or the first differences.

Names do not matter; only nodes are compared, and nothing is known of the networks' origin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.networks.node import DEFAULT_AXIS, GROUPS, PARAMETER, written
from netsharp_lsp.cntk.networks.node_types import ALIASES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from netsharp_lsp.cntk.networks.node import Attribute, Axis, Network, Node

#: Ignored attributes: where numbers are drawn, and the name of an axis, whose nodes are compared
#: instead.
LEFT_OUT = frozenset(("initOnCPUOnly", "dynamicAxis"))
#: The values of attributes that a node does not have.
IN_FORCE: dict[str, Attribute] = {
    "learningRateMultiplier": 1.0,
    "initFilterRank": 0,
    "initOutputRank": 1,
}
#: The most refinements of the colouring; longer distances are decided by trying a pair.
FARTHEST = 64
#: The most differences that are reported: the first explain the others.
MOST = 20


class Difference(NamedTuple):
    """A difference of a node: `node` is its name in the first network, or in the second if only
    that has it; `before` and `after` are text for users, None if missing.
    """

    node: str
    aspect: str
    before: str | None
    after: str | None

    @property
    def message(self) -> str:
        """Return the difference as a sentence."""
        if self.after is None:
            return f"'{self.node}' ({self.before}) has no counterpart afterwards."
        if self.before is None:
            return f"'{self.node}' ({self.after}) has no counterpart before."
        return f"'{self.node}': its {self.aspect} was {self.before} and would be {self.after}."


class Comparison(NamedTuple):
    """The result of a comparison: `names` maps each node of the first network to that of the
    second; `note` reports that parameters are created in another order.
    """

    names: dict[str, str]
    differences: tuple[Difference, ...]
    note: str | None = None

    @property
    def same(self) -> bool:
        """Return whether the networks are the same."""
        return not self.differences


def compare(before: Network, after: Network) -> Comparison:
    """Compare two networks."""
    matching = _Matching()
    differences = list(matching.by_groups(before, after))
    if not differences:
        differences = list(_Rest(matching, before, after).matched())
    names = {node.name: matching.partner[id(node)].name for node in _matched(before, matching)}
    note = None if differences else _note_on_order(before, after, names)
    return Comparison(names, tuple(dict.fromkeys(differences))[:MOST], note)


def _matched(network: Network, matching: _Matching) -> list[Node]:
    return [node for node in network.nodes.values() if id(node) in matching.partner]


def operation_of(node: Node) -> str:
    """Return the operation by its canonical name."""
    return ALIASES.get(node.operation, node.operation)


def attributes_of(node: Node) -> dict[str, Attribute]:
    """Return the effective attributes, in the order of their names."""
    given = {key: value for key, value in node.attributes.items() if key not in LEFT_OUT}
    if node.operation == PARAMETER:
        random = "randomSeed" in given
        for key, value in IN_FORCE.items():
            if random or not key.startswith("init"):
                given.setdefault(key, value)
    return dict(sorted(given.items()))


class _Matching:
    """Pairs of nodes and of dynamic axes, one to one."""

    def __init__(self) -> None:
        self.partner: dict[int, Node] = {}
        self.taken: dict[int, Node] = {}
        self.axes: dict[int, Axis] = {}
        self.taken_axes: dict[int, Axis] = {}

    def by_groups(self, before: Network, after: Network) -> Iterator[Difference]:
        """Pair the node groups in order, and all nodes that they depend on."""
        for group in GROUPS:
            left, right = before.groups.get(group, ()), after.groups.get(group, ())
            for one, other in zip(left, right, strict=False):
                yield from self.walk(one, other)
            if len(left) != len(right):
                longer = (left if len(left) > len(right) else right)[min(len(left), len(right))]
                yield Difference(longer.name, f"group {group}", _listed(left), _listed(right))

    def walk(self, one: Node, other: Node) -> list[Difference]:
        """Pair two nodes and all their inputs; a difference ends a branch."""
        found: list[Difference] = []
        waiting = [(one, other)]
        while waiting:
            left, right = waiting.pop()
            if self.partner.get(id(left)) is right:
                continue
            wrong = list(self._differences(left, right))
            if wrong:
                found += wrong
                continue
            self.partner[id(left)] = right
            self.taken[id(right)] = left
            waiting += reversed(list(zip(left.inputs, right.inputs, strict=True)))
        return found

    def tried(self, one: Node, other: Node) -> bool:
        """Pair two nodes and their inputs if nothing differs; otherwise leave all pairs
        unchanged.
        """
        sizes = self.sizes()
        if not self.walk(one, other):
            return True
        self.shrink(sizes)
        return False

    def sizes(self) -> list[int]:
        """Return the number of pairs, for `shrink`."""
        return [len(table) for table in self._tables()]

    def shrink(self, sizes: list[int]) -> None:
        """Remove the pairs added since: tables only grow, at their ends."""
        for table, size in zip(self._tables(), sizes, strict=True):
            while len(table) > size:
                table.popitem()

    def _tables(self) -> list[dict[int, Any]]:
        return [self.partner, self.taken, self.axes, self.taken_axes]

    def _differences(self, left: Node, right: Node) -> Iterator[Difference]:
        if id(left) in self.partner or id(right) in self.taken:
            yield self._shared(left, right)
            return
        yield from _own_differences(left, right)
        if not self._same_axis(left.axis, right.axis):
            yield Difference(left.name, "dynamic axis", _axis(left.axis), _axis(right.axis))

    def _shared(self, left: Node, right: Node) -> Difference:
        known = self.partner.get(id(left))
        if known is not None:
            return Difference(left.name, "counterpart", f"one, '{known.name}'", f"'{right.name}'")
        other = self.taken[id(right)]
        return Difference(
            left.name, "counterpart", f"apart from '{other.name}'", f"the same, '{right.name}'"
        )

    def _same_axis(self, left: Axis | None, right: Axis | None) -> bool:
        if left is None or right is None:
            return left is right
        if (left.name == DEFAULT_AXIS) != (right.name == DEFAULT_AXIS):
            return False
        known, taken = self.axes.get(id(left)), self.taken_axes.get(id(right))
        if known is None and taken is None:
            self.axes[id(left)], self.taken_axes[id(right)] = right, left
            return True
        return known is right


def _own_differences(left: Node, right: Node) -> Iterator[Difference]:
    """Yield the differences of two nodes themselves: operation, number of inputs, shape, values."""
    one, other = operation_of(left), operation_of(right)
    if one != other:
        yield Difference(left.name, "operation", one, other)
        return
    if len(left.inputs) != len(right.inputs):
        yield Difference(left.name, "inputs", _listed(left.inputs), _listed(right.inputs))
        return
    if left.shape != right.shape:
        yield Difference(
            left.name, "shape", f"[{written(left.shape)}]", f"[{written(right.shape)}]"
        )
    before, after = attributes_of(left), attributes_of(right)
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) != after.get(key):
            yield Difference(left.name, key, _value(before.get(key)), _value(after.get(key)))


class _Rest:
    """Pairs nodes that no group depends on: by their attributes and connections, then by name."""

    def __init__(self, matching: _Matching, before: Network, after: Network) -> None:
        self.matching = matching
        self.before = list(before.nodes.values())
        self.after = list(after.nodes.values())
        self.users = {**_users(self.before), **_users(self.after)}

    def matched(self) -> Iterator[Difference]:
        """Pair all nodes; yield those without a partner."""
        if self._all_by_name():
            return
        while True:
            left = [node for node in self.before if id(node) not in self.matching.partner]
            right = [node for node in self.after if id(node) not in self.matching.taken]
            if not left or not right or not self._pair_some(left, right):
                break
        yield from _without_partner(*self._apart(left, right))

    def _all_by_name(self) -> bool:
        """Pair nodes of the same names, if that succeeds for all; otherwise pair none."""
        matching = self.matching
        sizes = matching.sizes()
        by_name = {node.name: node for node in self.after}
        for node in reversed(self.before):
            if id(node) not in matching.partner:
                other = by_name.get(node.name)
                if other is None or id(other) in matching.taken or not matching.tried(node, other):
                    break
        else:
            if all(id(node) in matching.taken for node in self.after):
                return True
        matching.shrink(sizes)
        return False

    def _apart(self, left: list[Node], right: list[Node]) -> tuple[list[Node], list[Node]]:
        """Return the remaining nodes without a counterpart by their inputs alone, or all remaining
        nodes if each has one.
        """
        colors = self._colors(with_users=False)
        counts: dict[int, int] = {}
        for sign, nodes in ((1, left), (-1, right)):
            for node in nodes:
                color = colors[id(node)]
                counts[color] = counts.get(color, 0) + sign
        more = [node for node in left if counts[colors[id(node)]] > 0]
        fewer = [node for node in right if counts[colors[id(node)]] < 0]
        return (more, fewer) if more or fewer else (left, right)

    def _pair_some(self, left: list[Node], right: list[Node]) -> bool:
        """Pair every node with the only one like it or with the one of its name; without such a
        pair, one node with any that is like it.
        """
        colors = self._colors()
        alike: dict[int, list[Node]] = {}
        for node in right:
            alike.setdefault(colors[id(node)], []).append(node)
        paired = False
        for node in left:
            choices = alike.get(colors[id(node)], [])
            named = [one for one in choices if one.name == node.name] or choices
            if len(named) == 1 and self._pair(node, named[0]):
                paired = True
        return paired or any(
            self._pair(node, one) for node in left for one in alike.get(colors[id(node)], [])
        )

    def _pair(self, node: Node, one: Node) -> bool:
        if id(node) in self.matching.partner or id(one) in self.matching.taken:
            return False
        return self.matching.tried(node, one)

    def _colors(self, with_users: bool = True) -> dict[int, int]:
        """Return a colour for each node, equal only for nodes that look alike at any distance,
        along their inputs and their users.
        """
        numbers: dict[object, int] = {}
        nodes = [*self.before, *self.after]
        colors = {id(node): numbers.setdefault(self._seed(node), len(numbers)) for node in nodes}
        kinds = 0
        for _ in range(FARTHEST):
            if len(set(colors.values())) == kinds:
                break
            kinds = len(set(colors.values()))
            numbers = {}
            colors = {
                id(node): numbers.setdefault(self._seen(node, colors, with_users), len(numbers))
                for node in nodes
            }
        return colors

    def _seed(self, node: Node) -> object:
        partner = self.matching.partner.get(id(node))
        if partner is not None:
            return id(partner)
        if id(node) in self.matching.taken:
            return id(node)
        axis = _axis(node.axis) if node.axis is None or node.axis.name == DEFAULT_AXIS else ""
        return (operation_of(node), node.shape, axis, *attributes_of(node).items())

    def _seen(self, node: Node, colors: dict[int, int], with_users: bool) -> object:
        using = self.users[id(node)] if with_users else ()
        users = sorted((colors[id(user)], place) for user, place in using)
        return (colors[id(node)], *(colors[id(one)] for one in node.inputs), *users)


def _users(nodes: Iterable[Node]) -> dict[int, list[tuple[Node, int]]]:
    """Return for each node the nodes that use it, and as which input."""
    found: dict[int, list[tuple[Node, int]]] = {id(node): [] for node in nodes}
    for node in nodes:
        for place, one in enumerate(node.inputs):
            found.setdefault(id(one), []).append((node, place))
    return found


def _without_partner(left: list[Node], right: list[Node]) -> Iterator[Difference]:
    """Yield the remaining nodes: the differences of those with the same name, others as missing."""
    by_name = {node.name: node for node in right}
    for node in left:
        other = by_name.pop(node.name, None)
        if other is None:
            yield Difference(node.name, "node", operation_of(node), None)
            continue
        yield from list(_own_differences(node, other)) or [
            Difference(node.name, "inputs", _listed(node.inputs), _listed(other.inputs))
        ]
    for node in by_name.values():
        yield Difference(node.name, "node", None, operation_of(node))


def _note_on_order(before: Network, after: Network, names: dict[str, str]) -> str | None:
    """Return a sentence if parameters are not created in the same order, otherwise None."""
    ours = [names[node.name] for node in _parameters(before)]
    theirs = [node.name for node in _parameters(after)]
    place = next((n for n, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b), None)
    if place is None:
        return None
    return (
        f"Parameters are created in another order: number {place + 1} was '{ours[place]}' and "
        f"would be '{theirs[place]}'. Random numbers are drawn in that order."
    )


def _parameters(network: Network) -> list[Node]:
    nodes = sorted(network.nodes.values(), key=lambda node: node.number)
    return [node for node in nodes if node.operation == PARAMETER]


def _listed(nodes: Sequence[Node]) -> str:
    return f"({', '.join(node.name for node in nodes)})"


def _axis(axis: Axis | None) -> str:
    return "none" if axis is None else f"'{axis.name}'"


def _value(value: Attribute | None) -> str:
    if isinstance(value, tuple):
        return f"({':'.join(map(_value, value))})"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "not given" if value is None else repr(value) if isinstance(value, str) else str(value)
