"""Connects the nodes of NDL: resolves the arguments of calls once all nodes exist.

An argument without a node leaves the shape of its user unknown, and is reported.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ndl.symbols import (
    ARRAY,
    CALL,
    FUNCTION,
    HOLE,
    NUMBER,
    OPTION,
    PARAMETER,
    UNDETERMINED,
    result_of,
    text_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.cntk.ndl.assembly import Faults
    from netsharp_lsp.cntk.ndl.groups import Groups
    from netsharp_lsp.cntk.ndl.symbols import Item
    from netsharp_lsp.cntk.networks.node import Node


class Connection:
    """The second pass over symbols: `given` finds a node of the network by its name."""

    def __init__(self, given: Callable[[str], Node | None], groups: Groups, faults: Faults) -> None:
        self.given = given
        self.groups = groups
        self.faults = faults
        #: The nodes that were connected, in order.
        self.attached: list[Node] = []

    def attach_all(self, items: list[Item]) -> None:
        """Connect the nodes of calls, in the order of their statements."""
        for item in items:
            self._attach(item)
            if item.kind == CALL:
                self.groups.tag(item)

    def _attach(self, item: Item) -> None:
        """Connect the node of a call with its inputs, nested ones first."""
        if item.done:
            return
        item.done = True
        if item.kind == CALL:
            self._attach_macro(item)
            return
        if item.kind != FUNCTION or item.node is None:
            return
        for one in item.positional:
            if one.kind in (FUNCTION, CALL):
                self._attach(one)
        inputs = [self._input(item, one) for one in item.inputs]
        item.node.inputs = tuple(one for one in inputs if one is not None)
        self.attached.append(item.node)
        if None in inputs:
            item.node.shape = None
        self.groups.tag(item)

    def _attach_macro(self, item: Item) -> None:
        self.faults.calls.append(item.place)
        for one in item.arguments:
            if one.kind in (FUNCTION, CALL):
                self._attach(one)
        if item.inner is not None and item.inner.base:
            self.attach_all(item.inner.items)
            item.node = result_of(item)
        self.faults.calls.pop()

    def _input(self, call: Item, item: Item) -> Node | None:
        """Return the node that an argument evaluates to; report its fault if there is none."""
        if item.kind in (FUNCTION, CALL):
            self._attach(item)
            if item.node is None and item.kind == CALL:
                self._note_nothing(call, item)
            return item.node
        if item.kind in (UNDETERMINED, PARAMETER):
            return self._named(call, item)
        if item.kind == NUMBER:
            self._note_number(call, item, item.value)
        elif item.kind != HOLE:
            what = "a list" if item.kind == ARRAY else "this"
            self.faults.add("no-node", f"{what} cannot be the input of a node.", call.use(item))
        return None

    def _named(self, call: Item, item: Item) -> Node | None:
        """Return the node of a name that was undefined when it was read, or of a macro's
        parameter.
        """
        found = _followed(call.home.find(item.name))
        if found is not None and found.kind in (FUNCTION, CALL):
            if found.node is None and found.kind == CALL:
                self._note_nothing(call, item)
            return found.node
        if found is not None and found.kind == NUMBER:
            self._note_number(call, item, found.value)
            return None
        if found is not None and found.kind in (HOLE, ARRAY, OPTION):
            if found.kind != HOLE:
                self.faults.add("no-node", f"'{item.name}' is not a node.", call.use(item))
            return None
        named = self.given(item.name)
        if named is None and found is not None:
            # A macro's parameter: the argument is looked up by its own name.
            named = self.given(found.name)
        return named or self._member(call, item)

    def _member(self, call: Item, item: Item) -> Node | None:
        """Return a member of a macro's parameter, or of a call further down, and report that CNTK
        does not find it.
        """
        known = call.home.owner_of(item.name)
        if known is not None and known[0] is not item:
            owner = _followed(known[0]) or known[0]
            inner = owner.inner.find(known[1]) if owner.inner is not None else None
            if inner is not None and inner.node is not None:
                message = (
                    f"CNTK does not find '{item.name}' here: members are found only of"
                    " calls further up, and not of a macro's parameters. Pass it as a parameter."
                )
                self.faults.add("member", message, call.use(item))
                return inner.node
        name, place = call.home.origin(item.name) or (item.name, call.use(item))
        self.faults.add("unknown-name", f"'{name}' is not defined here.", place)
        return None

    def _note_number(self, call: Item, item: Item, value: str) -> None:
        message = f"{value} is a number, but a node is needed here: 'Constant({value})' is one."
        self.faults.add("number-as-node", message, call.use(item))

    def _note_nothing(self, call: Item, item: Item) -> None:
        message = (
            f"the macro in '{text_of(item.syntax)}' has no result: its last statement, or the"
            " one with its own name, has to be a call."
        )
        self.faults.add("no-result", message, call.use(item))


def _followed(item: Item | None) -> Item | None:
    """Return the item that a passed name refers to at its origin."""
    seen = set()
    while item is not None and item.kind in (UNDETERMINED, PARAMETER) and id(item) not in seen:
        seen.add(id(item))
        item = item.home.find(item.name)
    return item
