"""Evaluates the symbols of NDL to a network, in CNTK's passes: nodes, then their connections, then
the initialization of parameters.  Knows no files.

Evaluation continues after a fault: the faulty node is an unknown one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.cntk.ndl import symbols
from netsharp_lsp.cntk.ndl.arguments import NdlArguments
from netsharp_lsp.cntk.ndl.assembly import HARMLESS, Assembly, Faults, TooMuch
from netsharp_lsp.cntk.ndl.connection import Connection
from netsharp_lsp.cntk.ndl.forms import EARLY, is_parameter, make, settle, start
from netsharp_lsp.cntk.ndl.functions import FUNCTIONS, ONLY_2D, ONLY_ND
from netsharp_lsp.cntk.ndl.groups import Groups
from netsharp_lsp.cntk.ndl.symbols import (
    CALL,
    FUNCTION,
    OPTION,
    Frame,
    Item,
    result_of,
    text_of,
)
from netsharp_lsp.cntk.networks.faults import BuildingFault, Outcome
from netsharp_lsp.cntk.networks.inference import inferred
from netsharp_lsp.cntk.networks.node import OPAQUE, PARAMETER, Calling, Network, Node
from netsharp_lsp.cntk.networks.node_types import ANY, NODE_TYPES
from netsharp_lsp.cntk.networks.starting import measure_start, not_measured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netsharp_lsp.cntk.ndl.functions import NdlFunction
    from netsharp_lsp.cntk.ndl.syntax import NdlScript
    from netsharp_lsp.cntk.networks.starting import Measure

    Given = Callable[[str], Node | None]

#: The number of inputs of a normalization without a count of samples.
_COUNTLESS = 5
#: The deepest nesting of macro calls that is followed.
DEEPEST = 100


class Part(NamedTuple):
    """One script of a program.  `role` is "macros" for files of macros, whose variables are not in
    scope in the network, "load" or "run" for sections, "whole" for a file without sections.
    """

    role: str
    name: str
    script: NdlScript


def evaluate(
    parts: Sequence[Part], measure: Measure = not_measured, *, later: bool = False
) -> Outcome:
    """Return the network of the scripts, evaluated in this order; without statements there is none.

    `later`: as releases from 2.0 build it.
    """
    faults = Faults()
    run = _Evaluation(faults, measure, later=later)
    try:
        return run.network(parts)
    except (TooMuch, RecursionError):
        last = parts[-1].script
        message = (
            "macro calls are nested too deeply here, or there are too many of them;"
            " no network is built."
        )
        place = last.place(0, len(last.text))
        return Outcome(None, (*faults.found, BuildingFault("too-much", message, place)))


class _Evaluation:
    """The evaluation of one network."""

    def __init__(
        self, faults: Faults, measure: Measure, given: Given | None = None, *, later: bool = False
    ) -> None:
        self.faults = faults
        self._measure = measure
        #: Whether a release from 2.0 builds it.
        self._later = later
        self.assembly = Assembly(faults)
        self.nodes: dict[str, Node] = {}
        self.groups = Groups(faults)
        #: Finds a node by its name.
        self.given: Given = given or self.nodes.get
        #: Calls of parameters and constants with their nodes, and whether they are nested.
        self._starting: list[tuple[Item, Node, bool]] = []
        self._depth = 0
        #: The call of a macro that is being evaluated.
        self._call: Calling | None = None

    def network(self, parts: Sequence[Part]) -> Outcome:
        """Run all passes."""
        frame = self._assembled(parts)
        if frame is None:
            return Outcome(None, self.faults.found)
        self._create_all(frame, "")
        Connection(self.given, self.groups, self.faults).attach_all(frame.items)
        self.groups.arrays(frame, bool(self.nodes))
        self._start_all()
        for node in self.nodes.values():
            row = NODE_TYPES.get(node.operation)
            if row is not None and not row.fewest <= len(node.inputs) <= row.most:
                node.shape = None
        groups = {name: tuple(nodes) for name, nodes in self.groups.nodes.items()}
        network = inferred(Network(dict(self.nodes), groups))
        for node in network.nodes.values():
            settle(node)
        return Outcome(network, self.faults.found)

    def _assembled(self, parts: Sequence[Part]) -> Frame | None:
        frame: Frame | None = None
        macros: Frame | None = None
        for part in parts:
            if part.role == "macros":
                macros = macros or Frame(part.script)
                self.assembly.load(part.script, macros)
            else:
                frame = frame or Frame(part.script)
                self.assembly.load(part.script, frame)
        return frame

    def _start_all(self) -> None:
        for item, node, nested in self._starting:
            self._start(item, node, nested)
            measure_start(node, self._measure)
        self._starting.clear()

    def _create_all(self, frame: Frame, base: str, first: int = 0) -> None:
        frame.base = base
        for item in frame.items[first:]:
            raise_if_cancelled()
            self._create(item, base)
            if item.kind == CALL:
                self.groups.tag(item)

    def _create(self, item: Item, base: str, nested: bool = False) -> None:
        """Create the node of a call, and those of the nested calls."""
        if item.node is not None:
            return
        if item.kind == CALL:
            self._enter_macro(item, base)
            return
        name = f"{base}.{item.name}" if base else item.name
        function = FUNCTIONS.get(item.value)
        early = function is not None and function.form in EARLY
        if early:
            self._create_arguments(item, base)
        item.node = self._node(item, name, function)
        if is_parameter(item.node) and function is not None:
            self._starting.append((item, item.node, nested))
        if not early:
            self._create_arguments(item, base)

    def _create_arguments(self, item: Item, base: str) -> None:
        for one in item.arguments:
            if one.kind in (FUNCTION, CALL):
                self._create(one, base, nested=True)

    def _node(self, item: Item, name: str, function: NdlFunction | None) -> Node:
        known = function is not None and function.operation in NODE_TYPES
        operation = function.operation if function is not None and known else OPAQUE
        node = Node(operation, len(self.nodes), name)
        node.where = item.place
        node.call = Calling("", item.name, item.place, self._call) if self._call else None
        while node.name in self.nodes or self.given(node.name) is not None:
            node.name = f"_{node.name}"
        self.nodes[node.name] = node
        if function is None:
            node.shape = None
            item.inputs = [one for one in item.positional if one.kind in (FUNCTION, CALL)]
            return node
        arguments = NdlArguments(self.assembly, item)
        self._check_options(item, function)
        if not self._counted(item, function):
            node.shape = None
            item.inputs = [one for one in item.positional if one.kind in (FUNCTION, CALL)]
            return node
        item.inputs = make(arguments, node)
        if self._later and function.form == "normalization":
            node.attributes.setdefault("disableRegularization", False)
            if len(item.inputs) == _COUNTLESS:
                item.inputs.append(self._run_count(item, node))
        return node

    def _run_count(self, item: Item, node: Node) -> Item:
        """Return the input that later releases add to a normalization without one: a parameter that
        counts the samples (`NDLNetworkBuilder.cpp`).
        """
        count = Node(PARAMETER, len(self.nodes), f"{node.name}.run_sample_count")
        count.where, count.call, count.shape = node.where, node.call, (1,)
        count.attributes.update(
            shape=(1,), init="fromValue", initValue=0.0, learningRateMultiplier=0.0
        )
        self.nodes[count.name] = count
        added = Item(FUNCTION, count.name, item.syntax, item.home)
        added.node, added.done = count, True
        return added

    def _check_options(self, item: Item, function: NdlFunction) -> None:
        known = {name.lower() for name in function.options} | {"tag"}
        if function.form == "convolution":
            flat = len(item.positional) == 7
            known -= {name.lower() for name in (ONLY_ND if flat else ONLY_2D)}
        for one in item.arguments:
            if one.kind == OPTION and one.name.lower() not in known:
                message = f"{function.name} has no option '{one.name}': CNTK ignores it."
                self.faults.add("unknown-option", message, one.place)

    def _counted(self, item: Item, function: NdlFunction) -> bool:
        """Return whether a call has as many arguments as its function takes."""
        count = len(item.positional)
        if function.form in ("plain", "early", "missing"):
            return self._attachable(item, function, count)
        allowed = function.fewest <= count <= function.most
        if function.form in ("convolution", "crop"):
            allowed = count in ((3, 7) if function.form == "convolution" else (2, 4))
        if not allowed:
            self._note_count(item, function, count)
        return allowed

    def _attachable(self, item: Item, function: NdlFunction, count: int) -> bool:
        row = NODE_TYPES.get(function.operation, function)
        if row.fewest <= count <= row.most:
            return True
        self._note_count(item, function, count)
        return False

    def _note_count(self, item: Item, function: NdlFunction, count: int) -> None:
        expected = _expected(function)
        message = (
            f"{function.name} takes {expected} ({', '.join(function.signature)}),"
            f" and {count} {'is' if count == 1 else 'are'} given."
        )
        self.faults.add("arity", message, item.place)

    def _enter_macro(self, item: Item, base: str) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise TooMuch
        self.faults.calls.append(item.place)
        name = f"{base}.{item.name}" if base else item.name
        inner = item.inner
        if inner is None or not self._bound(item, inner, base):
            item.node = Node(OPAQUE, len(self.nodes), name)
            item.node.shape, item.node.where = None, item.place
            self.nodes.setdefault(name, item.node)
        else:
            around, self._call = self._call, Calling(item.value, item.name, item.place, self._call)
            self._create_all(inner, name)
            self._call = around
            item.node = result_of(item)
        self.faults.calls.pop()
        self._depth -= 1

    def _bound(self, item: Item, inner: Frame, base: str) -> bool:
        """Bind a macro's parameters; return whether each has an argument."""
        if not self._count_formals(item):
            return False
        for number, one in enumerate(item.arguments):
            if number >= len(item.formals) and one.kind != OPTION:
                continue
            actual = one
            if one.kind == symbols.PARAMETER:
                actual = one.home.find(one.name) or one
            elif one.kind in (FUNCTION, CALL):
                self._pass_call(one, base)
            name = item.formals[number] if number < len(item.formals) else one.name
            inner.symbols[name.lower()] = actual
            if number < len(item.formals):
                inner.given[name.lower()] = item, one
        return True

    def _count_formals(self, item: Item) -> bool:
        positional, expected = len(item.positional), len(item.formals)
        options = sum(one.kind == OPTION for one in item.arguments[:expected])
        if len(item.arguments) >= expected and not options and positional <= expected:
            return True
        names = f" ({', '.join(item.formals)})" if item.formals else ""
        message = (
            f"the macro '{item.value}' takes {expected} argument{'s' * (expected != 1)}{names},"
            f" and {positional} {'is' if positional == 1 else 'are'} given."
        )
        self.faults.add("macro-arity", message, item.place)
        return len(item.arguments) >= expected and not options

    def _pass_call(self, one: Item, base: str) -> None:
        """Report a call among the arguments of a macro's call."""
        if one.node is not None or one.home.symbols.get(one.name.lower()) is one:
            return
        message = (
            f"'{text_of(one.syntax)}' is passed to a macro without a name, so CNTK does"
            " not find it there. Name it in a statement before."
        )
        self.faults.add("nested-argument", message, one.place)
        self._create(one, base, nested=True)

    def _start(self, item: Item, node: Node, nested: bool) -> None:
        start(NdlArguments(self.assembly, item), node)
        if nested and FUNCTIONS[item.value].form != "constant":
            message = (
                "CNTK never initializes a parameter within a call: it starts with 0"
                " whatever its options are. Give it a name in a statement of its own."
            )
            self.faults.add("nested-parameter", message, item.place)


class Additions(_Evaluation):
    """Statements of NDL that are added to a network one by one, as in edits of a model.

    `given` finds the existing nodes; tags are added to `groups`.
    """

    def __init__(
        self,
        macros: Sequence[Part],
        given: Given,
        groups: dict[str, list[Node]],
        measure: Measure = not_measured,
    ) -> None:
        super().__init__(Faults(), measure, lambda name: self.nodes.get(name) or given(name))
        self.groups.nodes = groups
        self._macros = macros
        self._frame: Frame | None = None
        self._made = self._joined = 0
        self._is_too_much = False

    @property
    def is_sound(self) -> bool:
        """Return whether CNTK accepts everything so far."""
        harmless = all(fault.kind in HARMLESS for fault in self.faults.found)
        return harmless and not self._is_too_much

    def find(self, name: str) -> Node | None:
        """Return the node of a name that the statements define, None if there is none."""
        found = self._frame.find(name) if self._frame is not None else None
        return None if found is None else found.node

    def read(self, script: NdlScript) -> list[Node]:
        """Create the nodes of statements; `join` connects them."""
        self.nodes.clear()
        try:
            if self._frame is None:
                self._assembled(self._macros)
                self._frame = Frame(script)
            self.assembly.load(script, self._frame)
            self._create_all(self._frame, "", self._made)
            self._made = len(self._frame.items)
        except (TooMuch, RecursionError):
            self._is_too_much = True
        return list(self.nodes.values())

    def join(self) -> list[Node]:
        """Connect the nodes not connected yet, and return them."""
        frame = self._frame
        if frame is None or self._is_too_much:
            return []
        self.nodes.clear()
        items = frame.items[self._joined :]
        self._joined = len(frame.items)
        connection = Connection(self.given, self.groups, self.faults)
        try:
            connection.attach_all(items)
            self.groups.arrays(frame, wanted=False)
            self._start_all()
        except RecursionError:
            self._is_too_much = True
        return connection.attached


def _expected(function: NdlFunction) -> str:
    if function.form == "convolution":
        return "3 or 7 arguments"
    if function.form == "crop":
        return "2 or 4 arguments"
    most = function.most
    if most >= ANY:
        return f"at least {function.fewest} argument{'s' * (function.fewest != 1)}"
    numbers = f"{function.fewest}" if function.fewest == most else f"{function.fewest} to {most}"
    return f"{numbers} argument{'s' * (most != 1)}"
