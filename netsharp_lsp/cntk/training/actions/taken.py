"""Networks of which some nodes take their numbers from other models, with the source of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.starts import VALUE, Start, started
from netsharp_engine.ops.tensors import COUNTING, HELD
from netsharp_lsp.cntk.networks.node import OPAQUE, PARAMETER, Network, elements
from netsharp_lsp.cntk.run.edits import normal
from netsharp_lsp.cntk.training.networks.models import LearntNetwork, StoredModelError, unstorable
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal
from netsharp_lsp.workspace import outside

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.cntk.training.work import CommandWork


class Made(NamedTuple):
    """A network, and the starts of those of its parameters that no other model has numbers for."""

    network: Network
    starts: Mapping[str, Start]


def made_of(
    work: CommandWork,
    network: Network,
    language: str,
    offset: int = 0,
    *,
    computes: bool = False,
    drawn: dict[object, Start] | None = None,
) -> Made:
    """Return a network that takes numbers from models; Refused where it cannot be written.

    ``computes``: values computed from data may be new, as data are available. ``offset``: see
    `Seeds.starts`. ``drawn``: the starts of parameters that were made before, by their draws; new
    starts are added.
    """
    nodes = list(network.nodes.values())
    opaque = next((node for node in nodes if node.operation == OPAQUE), None)
    if opaque is not None:
        raise work.refused(f"'{opaque.name}' is unknown: it is in another model.")
    refusals = unstorable(network)
    if refusals:
        raise Refused(*refusals)
    for path in dict.fromkeys(normal(node.saved[0]) for node in nodes if node.saved):
        if path != "." and not work.store.readable(work.shop.path(path)):
            raise work.refused(outside(path))
    holding = [node for node in nodes if node.operation in HELD or node.operation in COUNTING]
    lost = next((node for node in holding if _origin(node, network) is None), None)
    if lost is not None:
        raise Refused(
            RunRefusal(f"the source of the numbers of '{lost.name}' is unknown.", lost.where)
        )
    own = {node.name: node for node in holding if node.saved is None}
    computed = [node for node in own.values() if node.operation != PARAMETER]
    if computed and not computes:
        raise Refused(
            RunRefusal(
                f"'{computed[0].name}' is computed from data, and an edit has none.",
                computed[0].where,
            )
        )
    shop = work.shop
    known = {} if drawn is None else drawn
    apart = {node.draw: node for node in reversed(own.values()) if node.draw not in known}
    fresh = {node.name: node for node in apart.values()}
    starts = shop.seeds.starts(Network(fresh, {}), language, shop.experiment.files, offset)
    known.update((fresh[name].draw, start) for name, start in starts.items())
    begun = {name: known[node.draw] for name, node in own.items() if node.draw in known}
    return Made(network, begun)


class TakenNumbers:
    """The numbers with which networks of a command begin; each model is read once."""

    def __init__(self, work: CommandWork) -> None:
        self._work = work
        self._learnt: dict[str, LearntNetwork] = {}

    def of(self, made: Made) -> dict[str, Any]:
        """Return the numbers of models, else the starts of parameters; StoredModelError where a
        model lacks some.

        A network's own counters begin with 0; values that are computed from data are omitted.
        """
        found = {}
        for node in made.network.nodes.values():
            if node.operation in HELD or node.operation in COUNTING:
                values = self._value(node, made)
                if values is not None:
                    found[node.name] = values
        return found

    def _value(self, node: Node, made: Made) -> Any:
        shape = (1,) if node.operation in COUNTING else node.shape or ()
        source = _origin(node, made.network)
        assert source is not None
        dtype = self._work.dtype
        if source.saved is None:
            start = made.starts.get(source.name)
            if start is None and node.operation in COUNTING:
                start = Start(VALUE, 0.0)
            return None if start is None else started(shape, start, dtype)
        path, name = source.saved
        model = self._learnt.get(path)
        if model is None:
            model = self._learnt[path] = self._work.store.load(self._work.shop.path(path))
        found = model.values.get(name)
        if found is None or found.size != elements(shape) or model.dtype != dtype:
            raise StoredModelError(
                f"{path} is not the model that '{self._work.name}' was prepared for: it has no "
                f"'{name}' of {elements(shape):,} numbers of type {dtype}."
            )
        return found


def _origin(node: Node, network: Network) -> Node | None:
    """Return the node in the same network that has the numbers of another; None if there is
    none.
    """
    seen: set[str] = set()
    while node.saved is not None and not node.saved[0]:
        if node.name in seen or node.saved[1] not in network.nodes:
            return None
        seen.add(node.name)
        node = network.nodes[node.saved[1]]
    return node
