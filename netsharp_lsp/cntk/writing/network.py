"""The text of a network: an expression for each node, members in records as their names require.
Knows no file.

Nodes that cannot be written are refused, each with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.networks.inference import in_order
from netsharp_lsp.cntk.networks.node import GROUPS, PARAMETER, Node
from netsharp_lsp.cntk.networks.node_types import DELAYS, INPUTS
from netsharp_lsp.cntk.writing.attributes import RATE, why_not_writable, written_attributes
from netsharp_lsp.cntk.writing.calls import (
    TIGHTEST,
    call_of,
    names_given,
    number_of,
    sign_of,
    value_of,
    written_call,
    written_node,
)
from netsharp_lsp.cntk.writing.places import DEEPEST, Places, Spot, path_of
from netsharp_lsp.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from netsharp_lsp.cntk.networks.node import Network

_INDENT = "    "
#: Nested arguments in names.
_ARGUMENTS = re.compile(r"(?:\.[A-Za-z_][A-Za-z0-9_]*)++")
_WORDS = re.compile(r"\w+")
#: Rounds in which nodes that are not in scope where they are used become members of the network;
#: in the last one all nodes inside others do.
_ROUNDS = 16
#: Keys that a constructor without inputs would otherwise find as members of these names.
_BARE = "inputs = [| |] ; tag = ''"
#: The default value of delays before the first step.
_BEFORE_FIRST = 0.1


class UnwrittenNode(NamedTuple):
    """A node that no text creates, and why."""

    node: str
    operation: str
    reason: str


class Unwritten(Exception):  # noqa: N818
    """A network cannot be written: each node with its reason."""

    def __init__(self, refusals: Sequence[UnwrittenNode]) -> None:
        super().__init__(refusals)
        self.refusals = tuple(refusals)


class WrittenText(NamedTuple):
    """A network's text, and the nodes with another name in it, by their original names."""

    text: str
    renamed: Mapping[str, str]


def network_text(network: Network, starts: Mapping[str, str]) -> WrittenText:
    """Return a network as members of a network in BrainScript; raise Unwritten if it cannot be
    written.

    ``starts`` are the initializations of parameters, as arguments of their constructors, by name.
    """
    nodes = in_order(list(network.nodes.values()))
    refused = [
        UnwrittenNode(node.name, node.operation, reason)
        for node in nodes
        if (reason := why_not_writable(node)) is not None
    ]
    if refused:
        raise Unwritten(refused)
    return _Writing(network, nodes, starts).text()


class _Writing:
    """The conversion of a network to text."""

    def __init__(self, network: Network, nodes: Sequence[Node], starts: Mapping[str, str]) -> None:
        self._nodes, self._groups, self._starts = nodes, network.groups, starts
        self._by_name = network.nodes
        self._inner, self._under = _inlined(network)
        self._places = Places.of(node for node in nodes if node.name not in self._inner)
        self._made: dict[str, str] = {}
        self._hidden: dict[Node, Spot] = {}
        self._features = frozenset(node.name for node in network.groups.get("feature", ()))

    def text(self) -> WrittenText:
        """Return the text of the network."""
        places = self._places
        self._lift(dict.fromkeys(self._lost(), places.root))
        for number in range(_ROUNDS):
            self._hidden.clear()
            places.forget_aliases()
            self._made = {
                node.name: self._expression(node, places.chain(node))[0]
                for node in self._nodes
                if node.name not in self._inner
            }
            for nodes in self._groups.values():
                for node in nodes:
                    self._reference(node, [places.root])
            if not self._hidden:
                break
            if number == _ROUNDS - 2:
                self._hidden = dict.fromkeys(self._within(), places.root)
            self._lift(self._hidden)
        order = {node.name: at for at, node in enumerate(self._nodes)}
        printing = _Printing(places, self._made)
        printing.measure(places.root, order)
        lines = [*printing.members(places.root, ""), ""]
        for group in GROUPS:
            names = [self._reference(node, [places.root]) for node in self._groups.get(group, ())]
            if names:
                lines.append(f"{group}Nodes = ({' : '.join(names)})")
        return WrittenText("\n".join((*lines, "")), places.renamed)

    def _lift(self, nodes: Mapping[Node, Spot]) -> None:
        for node, home in nodes.items():
            self._places.lift(node, home)

    def _lost(self) -> list[Node]:
        """Return nodes within records that no member and no group depends on."""
        tops = [node for node in self._nodes if node.name in self._places.root.members]
        tops += [node for nodes in self._groups.values() for node in nodes]
        seen, waiting = set(tops), list(tops)
        while waiting:
            for one in waiting.pop().inputs:
                if one not in seen:
                    seen.add(one)
                    waiting.append(one)
        found: list[Node] = []
        for node in reversed(self._nodes):
            if node not in seen:
                found.append(node)
                seen.add(node)
                waiting = [node]
                while waiting:
                    for one in waiting.pop().inputs:
                        if one not in seen:
                            seen.add(one)
                            waiting.append(one)
        return found

    def _within(self) -> list[Node]:
        """Return all nodes that are not members of the network."""
        spots = self._places.spots
        return [one for one in self._nodes if one.name in spots and len(spots[one.name].path) > 1]

    def _expression(self, node: Node, chain: list[Spot]) -> tuple[str, int]:
        """Return the expression of a node, and its precedence."""
        if node.operation == PARAMETER:
            return self._parameter(node), TIGHTEST
        if node.operation in INPUTS:
            return self._input(node, chain), TIGHTEST
        sign = sign_of(node)
        if sign is not None:
            text = self._infix(node, sign, chain)
            for word in reversed(self._under.get(node.name, ())):
                text = f"({word} => {word}) ({text})"
            return text, TIGHTEST if node.name in self._under else sign[1]
        call = call_of(node)
        free = self._places.words.isdisjoint(_functions(node, call))
        if free and node.operation in DELAYS:
            return self._delay(node, chain), TIGHTEST
        if free and node.operation == "RowStack":
            return self._stacked(node, chain), TIGHTEST
        if free and node.operation == "BatchNormalization" and len(node.inputs) == 5:
            return self._normalization(node, chain), TIGHTEST
        if free and call is not None:
            return written_call(call, node, self._inputs(node, chain)), TIGHTEST
        hidden = names_given(node)
        inputs = [self._reference(one, chain, hidden) for one in node.inputs]
        return written_node(node, inputs), 0

    def _inputs(self, node: Node, chain: list[Spot]) -> list[str]:
        return [self._operand(one, chain) for one in node.inputs]

    def _operand(self, node: Node, chain: list[Spot], least: int = 0) -> str:
        """Return an input: its expression if only this node uses it, otherwise its name."""
        if node.name not in self._inner:
            return self._reference(node, chain)
        text, tightness = self._expression(node, chain)
        return text if tightness > least or tightness == TIGHTEST else f"({text})"

    def _reference(
        self, node: Node, chain: list[Spot], hidden: frozenset[str] = frozenset()
    ) -> str:
        found = self._places.reference(chain, node, hidden)
        if isinstance(found, str):
            return found
        home = self._hidden.get(node, found)
        self._hidden[node] = found if len(found.path) < len(home.path) else home
        return node.name

    def _infix(self, node: Node, sign: tuple[str, int], chain: list[Spot]) -> str:
        mark, tightness = sign
        left, right = node.inputs
        one = self._operand(left, chain, tightness - 1)
        return f"{one} {mark} {self._operand(right, chain, tightness)}"

    def _parameter(self, node: Node) -> str:
        rate = written_attributes(node)[RATE]
        extra = "" if rate == 1 else f", {RATE}={value_of(rate)}"
        dims = value_of(node.shape or ())
        start = self._starts[node.name]
        if "ParameterTensor" not in self._places.words:
            return f"ParameterTensor {{{dims}{extra}, {start}}}"
        # All keys that the constructor reads, since it would find other members of these names.
        given = {
            "init": "''",
            "initValue": "''",
            "initFromFilePath": "''",
            RATE: value_of(rate),
            **dict([start.split("=", 1)]),
        }
        parts = " ; ".join(f"{key} = {value}" for key, value in given.items())
        return (
            f"new ComputationNode {{ operation = '{PARAMETER}' ; "
            f"shape = new TensorShape {{ dims = {dims} }} ; {parts} ; {_BARE} }}"
        )

    def _input(self, node: Node, chain: list[Spot]) -> str:
        function = "SparseInput" if node.operation.startswith("Sparse") else "Input"
        dims = value_of(node.shape or ())
        axis = self._by_name.get(node.text("dynamicAxis"))
        if function in self._places.words:
            hidden = frozenset(("operation", "isImage", "shape", "dynamicAxis", "tag"))
            named = "''" if axis is None else self._reference(axis, chain, hidden)
            return (
                f"new ComputationNode {{ operation = '{node.operation}' ; isImage = false ; "
                f"shape = new TensorShape {{ dims = {dims} }} ; dynamicAxis = {named} ; {_BARE} }}"
            )
        extra = "" if axis is None else f", dynamicAxis={self._reference(axis, chain)}"
        tag = "" if node.name in self._features else ", tag=''"
        return f"{function} ({dims}{extra}{tag})"

    def _delay(self, node: Node, chain: list[Spot]) -> str:
        attributes = written_attributes(node)
        first, *state = self._inputs(node, chain)
        given = [value_of(node.shape or ()), first]
        if attributes["timeStep"] != 1:
            given.append(f"timeStep={value_of(attributes['timeStep'])}")
        given += [f"initialState={one}" for one in state]
        before = value_of(attributes["defaultHiddenActivation"])
        if before != number_of(_BEFORE_FIRST):
            given.append(f"defaultHiddenActivation={before}")
        return f"{node.operation} ({', '.join(given)})"

    def _stacked(self, node: Node, chain: list[Spot]) -> str:
        axis = written_attributes(node)["alongAxis"]
        inputs = [self._reference(one, chain) for one in node.inputs]
        extra = "" if axis == 1 else f", axis={value_of(axis)}"
        return f"RowStack (({' : '.join(inputs)}){extra})"

    def _normalization(self, node: Node, chain: list[Spot]) -> str:
        attributes = written_attributes(node)
        given = [*self._inputs(node, chain), value_of(attributes["spatial"])]
        for key, usual in _OF_NORMALIZATION.items():
            text = value_of(attributes[key])
            given += [f"{key}={text}"] if text != usual else []
        return f"BatchNormalization ({', '.join(given)})"


#: The defaults of BatchNormalization's arguments, as text.
_OF_NORMALIZATION = {
    "normalizationTimeConstant": "0",
    "blendTimeConstant": "0",
    "epsilon": "1e-05",
    "useCntkEngine": "true",
    "imageLayout": "'CHW'",
}


def _functions(node: Node, call: object) -> frozenset[str]:
    """Return the names that a call looks up: the function's first word."""
    name = getattr(call, "function", node.operation)
    return frozenset((str(name).partition(".")[0],))


def _inlined(network: Network) -> tuple[frozenset[str], dict[str, tuple[str, ...]]]:
    """Return the nodes that are written within their only user, because of their names, and the
    members of the network whose operands are named like those of an argument.
    """
    grouped = {node.name for nodes in network.groups.values() for node in nodes}
    uses = Counter(one.name for node in network.nodes.values() for one in node.inputs)
    uses.update(node.text("dynamicAxis") for node in network.nodes.values())
    words = frozenset(one for name in network.nodes for one in _WORDS.findall(name))
    found: set[str] = set()
    under: dict[str, tuple[str, ...]] = {}
    for node in network.nodes.values():
        for at, one in enumerate(node.inputs):
            if uses[one.name] != 1 or one.name in grouped or one.operation in INPUTS:
                continue
            if one.name.count(".") > DEEPEST:
                continue
            between = _words_inside(node, at, one.name, words)
            if between is not None and under.setdefault(node.name, between) == between:
                found.add(one.name)
    return frozenset(found), {name: words for name, words in under.items() if words}


def _words_inside(node: Node, at: int, name: str, words: frozenset[str]) -> tuple[str, ...] | None:
    """Return the arguments that an operand of a node is in by its name, usually none; None for an
    input with a name of its own.
    """
    if sign_of(node) is None:
        call = call_of(node)
        if call is None or not words.isdisjoint(_functions(node, call)):
            return None
        return () if name == f"{node.name}.{call.inputs[at]}" else None
    end = f".{node.operation}Args[{at}]"
    if not name.startswith(node.name) or not name.endswith(end):
        return None
    between = name[len(node.name) : -len(end)]
    # A member of the network loses the name that depends on where it is created.
    if not between or (path_of(node.name) == (node.name,) and _ARGUMENTS.fullmatch(between)):
        return tuple(between.split(".")[1:])
    return None


class _Printing:
    """Prints places as lines of text, members in the order in which they are computed."""

    def __init__(self, places: Places, made: Mapping[str, str]) -> None:
        self._places, self._made = places, made
        self._last: dict[int, int] = {}

    def measure(self, spot: Spot, order: Mapping[str, int]) -> int:
        """Return the position of the last node of a place in the order of computation."""
        own = -1 if spot.node is None else order[spot.node.name]
        found = max([own, *(self.measure(one, order) for one in spot.inside())])
        self._last[id(spot)] = found
        return found

    def _rank(self, spot: Spot) -> tuple[bool, int]:
        """Return the sort key of a place: inputs first, the others as they are computed."""
        is_input = spot.node is not None and spot.node.operation in INPUTS
        return not is_input, self._last[id(spot)]

    def members(self, spot: Spot, indent: str) -> Iterator[str]:
        """Yield the members of a record, a line or more for each."""
        before = None
        for name, one in sorted(spot.members.items(), key=lambda row: self._rank(row[1])):
            if one.is_empty:
                continue
            node = one.node
            if not indent:
                if before is not None and self._rank(before)[0] != self._rank(one)[0]:
                    yield ""
                before = one
            if node is not None and node.name in self._places.renamed:
                yield f"{indent}# '{visible(node.name)}' in the model"
            first, *rest = self._value(one, indent)
            yield f"{indent}{name} = {first}"
            yield from rest
        if spot.aliases:
            yield f"{indent}{self._places.around} = {{"
            for text, name in spot.aliases.items():
                yield f"{indent}{_INDENT}{name} = {text}"
            yield f"{indent}}}"

    def _value(self, spot: Spot, indent: str) -> Iterator[str]:
        if spot.items:
            yield from self._array(spot, indent)
            return
        inside = any(not one.is_empty for one in spot.members.values()) or bool(spot.aliases)
        made = None if spot.node is None else self._made[spot.node.name]
        if not inside:
            yield made or "{ }"
            return
        yield "{"
        yield from self.members(spot, indent + _INDENT)
        if made is None:
            yield f"{indent}}}"
            return
        name = self._places.made
        yield f"{indent}{_INDENT}{name} () = {made}"
        yield f"{indent}}}.{name} ()"

    def _array(self, spot: Spot, indent: str) -> Iterator[str]:
        # An array literal has at least two elements.
        count = max(2, max(spot.items) + 1)
        yield "("
        for at in range(count):
            one = spot.items.get(at)
            lines = ["{ }"] if one is None else list(self._value(one, indent + _INDENT))
            plain = one is None or one.node is None or len(lines) > 1
            if not plain:
                lines[0] = f"({lines[0]})"
            mark = " :" if at < count - 1 else ""
            yield from (f"{indent}{_INDENT}{lines[0]}", *lines[1:-1]) if len(lines) > 1 else ()
            yield (lines[-1] if len(lines) > 1 else f"{indent}{_INDENT}{lines[0]}") + mark
        yield f"{indent})"
