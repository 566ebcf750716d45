"""The node groups of an NDL network: tags of calls, and arrays of names such as `featureNodes`.
Knows no files.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ndl.functions import GROUP_ARRAYS
from netsharp_lsp.cntk.ndl.symbols import ARRAY, CALL, FUNCTION, HOLE, text_of
from netsharp_lsp.cntk.ndl.syntax import HOLE as HOLE_MARK
from netsharp_lsp.cntk.networks.node import GROUPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ndl.assembly import Faults
    from netsharp_lsp.cntk.ndl.symbols import Frame, Item
    from netsharp_lsp.cntk.networks.node import Node

#: Names that look like arrays of groups and are ordinary variables in CNTK.
_NO_ARRAYS = {"evaluationnodes": "evalNodes"}


class Groups:
    """The groups collected so far, in order."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.nodes: dict[str, list[Node]] = {group: [] for group in GROUPS}

    def tag(self, item: Item) -> None:
        """Add the node of a call to the groups that its tags name."""
        for option in item.arguments:
            if option.kind != "option" or option.name.lower() != "tag" or item.node is None:
                continue
            group = _group(option.value)
            if group in self.nodes:
                self._add(group, item.node)
            elif group and HOLE_MARK not in group:
                message = f"'{option.value}' is not a node group; there are {', '.join(GROUPS)}."
                self.faults.add("group", message, option.place)

    def _add(self, group: str, node: Node) -> None:
        if node not in self.nodes[group]:
            self.nodes[group].append(node)
            node.tags.append(group)

    def arrays(self, frame: Frame, wanted: bool) -> None:
        """Read the arrays; `wanted`: there are nodes, so that features are required."""
        for name, group in GROUP_ARRAYS.items():
            array = frame.symbols.get(name)
            if array is not None:
                self._array(array, group)
        for name, meant in _NO_ARRAYS.items():
            item = frame.symbols.get(name)
            if item is not None:
                message = f"'{item.name}' is not a node group here: NDL's name is '{meant}'."
                self.faults.add("group-name", message, item.place)
        if wanted and not self.nodes["feature"]:
            self._note_no_features(frame)

    def _array(self, array: Item, group: str) -> None:
        if array.kind not in (ARRAY, FUNCTION, CALL):
            if array.kind != HOLE:
                message = f"'{text_of(array.syntax)}' is not a list of nodes."
                self.faults.add("group-value", message, array.place)
            return
        for item in array.arguments if array.kind == ARRAY else [array]:
            self._member(array, item, group)

    def _member(self, array: Item, item: Item, group: str) -> None:
        node = item.node
        if node is None and item.kind not in (FUNCTION, CALL):
            found = array.home.find(item.name)
            node = None if found is None else found.node
            if node is not None:
                message = (
                    f"'{item.name}' is defined only further down: node groups have to come"
                    " after their nodes."
                )
                self.faults.add("group-order", message, array.use(item))
        if node is not None:
            self._add(group, node)
        elif item.kind != HOLE:
            message = f"'{text_of(item.syntax)}' is not a node defined here."
            self.faults.add("group-member", message, array.use(item))

    def _note_no_features(self, frame: Frame) -> None:
        message = (
            "the network has no features, and CNTK builds none without: write"
            " 'featureNodes = (..)', or 'tag = feature' in an input."
        )
        script = frame.script
        first = script.statements[0] if script.statements else None
        name = first.name if first is not None else None
        place = script.place(0, 0) if name is None else script.place(name.start, name.end)
        self.faults.add("no-features", message, place)


def _group(tag: str) -> str:
    """Return the group that a tag refers to; empty for one that is ignored."""
    lowered = tag.lower()
    if lowered.startswith("eval"):
        return "evaluation"
    return {"criteria": "criterion", "multiseq": ""}.get(lowered, lowered)
