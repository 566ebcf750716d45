"""Networks taken from others: loaded from models, edited, or cloned in part as functions.

Effects are CNTK's, node by node; the network of a model comes from outside.
"""

from __future__ import annotations

from collections import deque

from netsharp_lsp.cntk.brainscript.evaluation.attributes import ConstructorArguments, flattened
from netsharp_lsp.cntk.brainscript.evaluation.network_building import (
    SPECIAL,
    NetworkBuilding,
)
from netsharp_lsp.cntk.brainscript.evaluation.operators import is_open
from netsharp_lsp.cntk.brainscript.evaluation.values import (
    Absent,
    Built,
    Function,
    Record,
    Site,
    Thunk,
    joined,
)
from netsharp_lsp.cntk.networks.copying import copied
from netsharp_lsp.cntk.networks.faults import BuildingFault
from netsharp_lsp.cntk.networks.freezing import FREEZABLE, freeze
from netsharp_lsp.cntk.networks.node import OPAQUE, Network, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from netsharp_lsp.cntk.brainscript.evaluation.evaluator import Evaluator
    from netsharp_lsp.cntk.brainscript.evaluation.values import Value
    from netsharp_lsp.cntk.networks.faults import Place

#: The treatments of the parameters of a cloned part.
_PARAMETERS = ("learnable", "constant", "shared")
#: Steps that a node costs in a network whose shapes are inferred.
_INFERRED = 5


def load(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    """Load the network of a model, with nodes of its own each time."""
    thunk = ConstructorArguments(run, scope, place).require("pathName")
    value = thunk.force()
    if isinstance(value, Absent):
        return run.absent(path)
    name = run.text(value, thunk.place)
    held = None if is_open(name, name) else run.model(name)
    if isinstance(held, str):
        run.note(BuildingFault("model", held, thunk.place, run.way()))
    if held is None or isinstance(held, str):
        return run.absent(path)
    run.spend(len(held.nodes), thunk.place)
    where = run.origin(Site(place, scope))
    return Built(_taken(run, held, name, where), name)


def _taken(run: Evaluator, network: Network, path: str, where: Place) -> Network:
    """Return a network as loaded from a file: sorted by name, with its groups as tags."""
    own = copied(network, lambda place: place)
    nodes = dict(sorted(own.nodes.items(), key=lambda item: item[0].lower()))
    for node in nodes.values():
        node.number = run.next_number()
        node.saved = (path, node.name)
        node.flaw, node.tags = "", []
        if not node.where[0]:
            node.where = where
    for group, several in own.groups.items():
        for node in several:
            node.tags.append(group)
    return own._replace(nodes=nodes, troubles=())


def edit(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    """Build a network from the nodes of another one, some of which are replaced."""
    arguments = ConstructorArguments(run, scope, place)
    given = arguments.require("inputModel")
    model = given.force()
    if isinstance(model, Absent):
        return run.absent(path)
    if not isinstance(model, Built):
        run.expected("network", model, given.place)
    nodes = list(model.network.nodes.values())
    nodes.sort(key=lambda node: node.name.lower())
    run.spend(_INFERRED * len(nodes), place)
    replaced = _replaced(run, arguments, nodes, Site(place, scope))
    roots = _roots(run, arguments)
    if replaced is None or roots is None:
        return run.absent(path)
    building = NetworkBuilding(run, run.origin(Site(place, scope)))
    for name in sorted(scope.members.keys() & SPECIAL.keys()):
        building.tag(SPECIAL[name], scope.members[name])
    users = _users(nodes)
    roots = [node for node in nodes if not users.get(node)] + roots
    building.roots.extend(replaced.get(node, node) for node in roots)
    building.collect(replaced)
    return building.built()


def _roots(run: Evaluator, arguments: ConstructorArguments) -> list[Node] | None:
    """Return the roots that an edit adds; None if one is unknown."""
    thunk = arguments.require("additionalRoots")
    value = thunk.force()
    if isinstance(value, Record) and not value.members:
        return []
    found = _flat_nodes(run, value, thunk.place)
    return None if any(isinstance(one, Absent) and not one.inputs for one in found) else found


def _replaced(
    run: Evaluator, arguments: ConstructorArguments, nodes: list[Node], site: Site
) -> dict[Node, Node] | None:
    """Return the replacements of nodes: the result of the first function that returns another node,
    and a copy of each user of a replaced node; None if one is unknown.
    """
    thunk = arguments.require("editFunctions")
    functions = flattened(run, thunk.force(), thunk.place)
    if any(isinstance(function, Absent) for function, _ in functions):
        return None
    found: dict[Node, Node] = {}
    for node in nodes:
        for function, where in functions:
            if not isinstance(function, Function):
                run.expected("function", function, where)
            under = (node.name, site._replace(place=where))
            given = run.apply(function, [Thunk.of(node, where)], {}, under)
            if given is node:
                continue
            if isinstance(given, Absent):
                return None
            if not isinstance(given, Node):
                run.expected("ComputationNode", given, where)
            found[node] = given
            break
    _copy_users(run, found, _users(nodes), site)
    _follow(run, found, thunk.place)
    return found


def _copy_users(
    run: Evaluator, found: dict[Node, Node], users: Mapping[Node, list[Node]], site: Site
) -> None:
    """Copy every node that uses a replaced one, directly or through others."""
    waiting = deque(found)
    while waiting:
        for user in users.get(waiting.popleft(), ()):
            if user not in found:
                found[user] = _twin(run, user, user.name, site)
                waiting.append(user)


def _follow(run: Evaluator, found: dict[Node, Node], place: Place) -> None:
    """Map every replaced node to its final replacement."""
    for old in found:
        last, passed = found[old], {old}
        while last in found:
            if last in passed:
                message = (
                    f"the edits replace '{old.name}' in a cycle, which CNTK follows endlessly."
                )
                run.fail("edit-circle", message, place)
            passed.add(last)
            last = found[last]
        for one in passed:
            found[one] = last


def _users(nodes: Iterable[Node]) -> dict[Node, list[Node]]:
    """Return the nodes that use each node."""
    users: dict[Node, list[Node]] = {}
    for node in nodes:
        for one in dict.fromkeys(node.inputs):
            users.setdefault(one, []).append(node)
    return users


def _twin(run: Evaluator, node: Node, name: str, site: Site) -> Node:
    """Return a copy of a node with the same attributes and inputs."""
    run.spend(1, site.place)
    twin = Node(node.operation, run.next_number(), name)
    twin.inputs = node.inputs
    twin.attributes = dict(node.attributes)
    twin.tags = list(node.tags)
    twin.shape = node.shape
    twin.where = run.origin(site)
    twin.call = node.call
    twin.saved = node.saved or ("", node.name)
    return twin


class _Part:
    """A part of a network: the nodes from some inputs to some outputs; `copies` are cloned."""

    def __init__(self, outputs: Mapping[str, Node], inputs: list[Node], keep: bool) -> None:
        self.outputs = outputs
        self.inputs = inputs
        self.reached = _reached(outputs.values())
        self.copies = _dependents(self.reached, inputs, keep)

    @property
    def is_known(self) -> bool:
        """Return whether all of it exists already."""
        return all(node.operation != OPAQUE and node.late is None for node in self.reached)


def _reached(outputs: Iterable[Node]) -> dict[Node, None]:
    """Return nodes with all that they depend on."""
    found = dict.fromkeys(outputs)
    waiting = list(found)
    while waiting:
        for one in waiting.pop().inputs:
            if one not in found:
                found[one] = None
                waiting.append(one)
    return found


def _dependents(reached: Iterable[Node], inputs: list[Node], keep: bool) -> list[Node]:
    """Return the nodes that depend on inputs and, unless `keep`, on what training changes."""
    users = _users(reached)
    frozen = () if keep else [node for node in reached if node.operation in FREEZABLE]
    found = dict.fromkeys((*inputs, *frozen))
    waiting = list(found)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in found:
                found[user] = None
                waiting.append(user)
    return sorted(found, key=lambda node: node.number)


def clone(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    """Make a function of a part of a network, which copies the part at each call."""
    arguments = ConstructorArguments(run, scope, place)
    thunk = arguments.require("inputNodes")
    inputs = _flat_nodes(run, thunk.force(), thunk.place)
    part = _part(run, arguments, inputs)
    treatment = arguments.text("parameters")

    def body(given: list[Thunk], named: dict[str, Thunk], caller: str, site: Site) -> Value:
        if part is None:
            result = run.absent(caller)
            result.inputs = tuple(_nodes(run, given))
            return result
        values = _nodes(run, given)
        twins = _twins(run, part, values, (caller, site))
        if treatment == "constant":
            for node, twin in twins.items():
                if node.operation in FREEZABLE and node not in part.inputs:
                    freeze(twin)
        if "" in part.outputs:
            return twins[part.outputs[""]]
        record = Record(None)
        for name, node in part.outputs.items():
            record.members[name] = Thunk.of(twins[node], site.place)
        return record

    return Function(tuple(f"input_{number}" for number in range(len(inputs))), {}, body)


def _nodes(run: Evaluator, given: list[Thunk]) -> list[Node]:
    """Return values that have to be nodes."""
    found: list[Node] = []
    for one in given:
        value = one.force()
        if not isinstance(value, Node):
            run.expected("ComputationNode", value, one.place)
        found.append(value)
    return found


def _flat_nodes(run: Evaluator, value: Value, place: Place) -> list[Node]:
    """Return a node, or those in nested arrays."""
    return _nodes(run, [Thunk.of(one, where) for one, where in flattened(run, value, place)])


def _part(run: Evaluator, arguments: ConstructorArguments, inputs: list[Node]) -> _Part | None:
    """Return the part that is cloned; None if it is unknown."""
    outputs = _outputs(run, arguments)
    how = arguments.require("parameters")
    treatment = how.force()
    if outputs is None or isinstance(treatment, Absent):
        return None
    if run.text(treatment, how.place) not in _PARAMETERS:
        message = f"parameters='{treatment}' is unknown: write 'learnable', 'constant' or 'shared'."
        run.fail("clone", message, how.place)
    part = _Part(outputs, inputs, treatment == "shared")
    run.spend(len(part.reached), arguments.place)
    if not part.is_known or any(isinstance(one, Absent) for one in inputs):
        return None
    lost = next((one for one in inputs if one not in part.reached), None)
    if lost is not None:
        message = f"no output of this part depends on its input '{lost.name or lost.operation}'."
        run.fail("clone", message, arguments.require("inputNodes").place)
    copies = set(part.copies)
    fixed = next((one for one in outputs.values() if one not in copies), None)
    if fixed is not None:
        message = f"the output '{fixed.name or fixed.operation}' depends on no input of this part."
        run.fail("clone", message, arguments.require("outputNodes").place)
    return part


def _outputs(run: Evaluator, arguments: ConstructorArguments) -> dict[str, Node] | None:
    """Return the nodes that a cloned part returns, by name; a single node has an empty name."""
    thunk = arguments.require("outputNodes")
    value = thunk.force()
    if isinstance(value, Absent):
        return None
    if isinstance(value, Node):
        return {"": value}
    if isinstance(value, Built):
        return dict(value.named)
    if not isinstance(value, Record):
        run.expected("record", value, thunk.place)
    if not value.members:
        run.fail("clone", "this part has no output: name at least one.", thunk.place)
    found: dict[str, Node] = {}
    for name, member in sorted(value.members.items()):
        node = member.force()
        if not isinstance(node, Node):
            run.expected("ComputationNode", node, member.place)
        found[name] = node
    return None if any(isinstance(one, Absent) for one in found.values()) else found


def _twins(
    run: Evaluator, part: _Part, values: list[Node], under: tuple[str, Site]
) -> dict[Node, Node]:
    """Return the counterpart of each node of a part: the given values for inputs, copies for
    others.
    """
    path, site = under
    twins = dict(zip(part.inputs, values, strict=True))
    for node in part.copies:
        if node not in twins:
            twins[node] = _twin(run, node, joined(path, node.name), site)
    for twin in twins.values():
        twin.inputs = tuple(twins.get(one, one) for one in twin.inputs)
    return twins
