"""The differences between two networks, and whether they are the same in different spellings.

Two networks are the same when their layers can be paired so that kind, shape, activation, given
values, bundles and sharing agree; the order of inputs counts, names do not.
"""

from __future__ import annotations

from netsharp_lsp.description.comparison import Comparison, Difference
from netsharp_lsp.limits import CONDITION_EVALUATIONS
from netsharp_lsp.netsharp.describe import describe_network
from netsharp_lsp.netsharp.meaning.counts.predicates import count_edges
from netsharp_lsp.netsharp.meaning.counts.sharing import shared_groups
from netsharp_lsp.netsharp.meaning.inforce import numbers_of
from netsharp_lsp.netsharp.meaning.order import computing_order
from netsharp_lsp.netsharp.meaning.values.evaluate import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from netsharp_lsp.netsharp.meaning.model import Bundle, Geometry, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

    Facts = dict[str, object]

#: The scalar attributes of a response norm with the values in force when they are not given.
NORM_DEFAULTS = {"Alpha": 0.0, "Beta": 0.0, "Offset": 1.0}


def compare(before: Network, after: Network) -> Comparison:
    """Compare two networks without errors."""
    numbers: dict[object, int] = {}
    left, right = Identity.of(before, numbers), Identity.of(after, numbers)
    pairs = pair_layers(left, right)
    same = left.summary() == right.summary()
    differences = [
        Difference("renamed", "layer", old.name, "name", old.name, new.name)
        for old, new in pairs
        if old.name != new.name
    ]
    if not same:
        differences += layer_differences(left, right, pairs)
    descriptions = describe_network(before), describe_network(after)
    figures: dict[str, tuple[int | None, int | None]] = {
        key: (descriptions[0][key], descriptions[1][key]) for key in ("parameters", "multiply_adds")
    }
    return Comparison(same, differences, figures)


class Identity:
    """Numbers for the layers of a network, by their structure and by their use.

    Equal entries of `number` mean equal structure below; equal ones of `role` also mean equal use
    above, which tells two layers of one structure apart where only one of them is used. ``numbers``
    is shared by the two networks compared; it numbers each structure met.
    """

    def __init__(self, network: Network, numbers: dict[object, int]) -> None:
        self.network = network
        self.numbers = numbers
        self.layers = computing_order(network)
        self.inputs = {layer: place for place, layer in enumerate(network.inputs)}
        self.facts = {b: facts_key(bundle_facts(b, network)) for b in network.bundles()}
        self.number: dict[Layer, int] = {}
        self.role: dict[Layer, int] = {}

    @classmethod
    def of(cls, network: Network, numbers: dict[object, int]) -> Identity:
        """Return the numbers of a network's layers, upwards by structure and downwards by use."""
        found = cls(network, numbers)
        for layer in found.layers:
            found.number[layer] = found._number(found._structure(layer))
        uses: dict[Layer | None, list[Bundle]] = {}
        for layer in found.layers:
            for bundle in layer.bundles:
                uses.setdefault(bundle.source, []).append(bundle)
        for layer in reversed(found.layers):
            found.role[layer] = found._number(found._use(layer, uses.get(layer, [])))
        return found

    def _number(self, structure: object) -> int:
        return self.numbers.setdefault(structure, len(self.numbers))

    def _structure(self, layer: Layer) -> object:
        bundles = [
            (self.number.get(bundle.source) if bundle.source else None, self.facts[bundle])
            for bundle in layer.bundles
        ]
        place = self.inputs[layer] if layer.kind == "input" else None
        return (place, facts_key(layer_facts(layer)), tuple(sorted(bundles, key=repr)))

    def _use(self, layer: Layer, uses: list[Bundle]) -> object:
        users = [(self.role.get(bundle.layer), self.facts[bundle]) for bundle in uses]
        return ("role", self.number[layer], tuple(sorted(users, key=repr)))

    def summary(self) -> object:
        """Return a value that is equal for two networks that are the same."""
        groups = shared_groups(self.network)
        bundles = (
            tuple(sorted((self.role[b.source] if b.source else -1, self.role[b.layer]) for b in g))
            for g in groups.bundles
        )
        layers = (tuple(sorted(self.role[layer] for layer in group)) for group in groups.layers)
        return sorted(self.role.values()), sorted(bundles), sorted(layers)


def pair_layers(left: Identity, right: Identity) -> list[tuple[Layer, Layer]]:
    """Pair the layers: those of one name and structure, then one structure, then one name."""
    pairs: dict[Layer, Layer] = {}
    free = dict(right.network.layers)
    named = [layer for layer in left.layers if layer.name in free]
    for layer in named:
        if left.number[layer] == right.number[free[layer.name]]:
            pairs[layer] = free.pop(layer.name)
    pair_alike(left, right, pairs, free)
    for layer in left.layers:
        if layer not in pairs and layer.name in free and free[layer.name].kind == layer.kind:
            pairs[layer] = free.pop(layer.name)
    pair_by_facts(left, pairs, free)
    return [(layer, pairs[layer]) for layer in left.layers if layer in pairs]


def pair_alike(
    left: Identity, right: Identity, pairs: dict[Layer, Layer], free: dict[str, Layer]
) -> None:
    """Pair layers of one structure under two names, first those that are also used alike."""
    for mine, theirs in ((left.role, right.role), (left.number, right.number)):
        for layer in left.layers:
            if layer in pairs:
                continue
            alike = (
                other
                for other in free.values()
                if theirs[other] == mine[layer]
                and (
                    other.name not in left.network.layers or layer.name not in right.network.layers
                )
            )
            match = next(alike, None)
            if match is not None:
                pairs[layer] = free.pop(match.name)


def pair_by_facts(left: Identity, pairs: dict[Layer, Layer], free: dict[str, Layer]) -> None:
    """Pair remaining layers with equal facts and paired sources: a rename above another change."""
    for layer in left.layers:
        if layer in pairs:
            continue
        sources = [pairs.get(bundle.source) for bundle in layer.bundles if bundle.source]
        for other in list(free.values()):
            same_sources = sources == [bundle.source for bundle in other.bundles]
            if same_sources and layer_facts(layer) == layer_facts(other):
                pairs[layer] = free.pop(other.name)
                break


def layer_differences(
    left: Identity, right: Identity, pairs: list[tuple[Layer, Layer]]
) -> list[Difference]:
    """Return the layers added and removed, and what changed in those that stayed."""
    stayed = {layer for pair in pairs for layer in pair}
    differences = [
        Difference(change, "layer", layer.name)
        for change, side in (("removed", left), ("added", right))
        for layer in side.network.layers.values()
        if layer not in stayed
    ]
    renames = {old.name: new.name for old, new in pairs}
    for old, new in pairs:
        differences += changed_facts("layer", new.name, layer_facts(old), layer_facts(new))
        differences += bundle_differences(left, right, old, new, renames)
    differences += sharing_differences(left, right, renames)
    order_before = [renames.get(layer.name, layer.name) for layer in left.network.inputs]
    order_after = [layer.name for layer in right.network.inputs]
    if order_before != order_after and sorted(order_before) == sorted(order_after):
        before, after = ", ".join(order_before), ", ".join(order_after)
        differences.append(
            Difference("changed", "layer", order_after[0], "order of inputs", before, after)
        )
    return differences


def bundle_differences(
    left: Identity, right: Identity, old: Layer, new: Layer, renames: dict[str, str]
) -> list[Difference]:
    """Return the bundles added and removed, and what changed in those from the same source."""
    differences: list[Difference] = []
    remaining = list(new.bundles)
    for bundle in old.bundles:
        source = renames.get(bundle.source_name, bundle.source_name)
        name = f"{source} => {new.name}"
        candidates = [other for other in remaining if other.source_name == source]
        facts = bundle_facts(bundle, left.network)
        equal = [b for b in candidates if bundle_facts(b, right.network) == facts]
        match = next(iter(equal or candidates), None)
        if match is None:
            differences.append(Difference("removed", "bundle", name))
            continue
        remaining.remove(match)
        differences += changed_facts("bundle", name, facts, bundle_facts(match, right.network))
    differences += [
        Difference("added", "bundle", f"{bundle.source_name} => {new.name}") for bundle in remaining
    ]
    return differences


def sharing_differences(
    left: Identity, right: Identity, renames: dict[str, str]
) -> list[Difference]:
    """Return the groups that share in one network only."""
    before, after = sharing_names(left.network, renames), sharing_names(right.network, {})
    removed = [Difference("removed", "share", name) for name in sorted(before - after)]
    return removed + [Difference("added", "share", name) for name in sorted(after - before)]


def sharing_names(network: Network, renames: dict[str, str]) -> set[str]:
    """Return each sharing group as text, in the names of the newer network."""
    groups = shared_groups(network)

    def new(name: str) -> str:
        return renames.get(name, name)

    members = [
        [f"{new(bundle.source_name)} => {new(bundle.layer.name)}" for bundle in bundles]
        for bundles in groups.bundles
    ]
    members += [[f"1 => {new(layer.name)}" for layer in layers] for layers in groups.layers]
    return {", ".join(sorted(group)) for group in members}


def changed_facts(what: str, name: str, before: Facts, after: Facts) -> list[Difference]:
    """Return a difference for each fact that is not the same."""
    return [
        Difference("changed", what, name, key, readable(before.get(key)), readable(after.get(key)))
        for key in {**before, **after}
        if before.get(key) != after.get(key)
    ]


def readable(value: Any) -> str:
    """Return a fact as people read it; long tuples are replaced by their length."""
    if value is None:
        return "none"
    if isinstance(value, tuple) and len(value) > 8:
        return f"{len(value)} values"
    if isinstance(value, str):
        return value
    return show(value)


def layer_facts(layer: Layer) -> Facts:
    """Return the properties of a layer without its bundles."""
    return {
        "kind": layer.kind,
        "shape": layer.shape if layer.shape is not None else "auto",
        "activation": layer.activation,
        "Biases": layer.biases_given,
    }


def bundle_facts(bundle: Bundle, network: Network) -> Facts:
    """Return the properties of a bundle without its ends; equal ones mean equal arithmetic."""
    facts: Facts = {"kind": bundle.kind, "Weights": numbers_of(bundle.given.get("Weights"))}
    if bundle.kind == "where":
        facts |= edge_facts(bundle, network)
    if bundle.geometry is not None:
        facts |= geometry_facts(bundle.geometry, bundle.kind == "convolve")
    if bundle.kind == "response norm":
        facts |= {name: bundle.scalar(name, value) for name, value in NORM_DEFAULTS.items()}
        given = bundle.given.get("AvgOverFullKernel")
        facts["AvgOverFullKernel"] = given is not None and given.value is True
    return facts


def edge_facts(bundle: Bundle, network: Network) -> Facts:
    """Return the edges themselves, not the condition's text; all of them make a full bundle."""
    edges = count_edges(bundle, network, CONDITION_EVALUATIONS.most)
    if edges is None or edges.count is None:
        return {"condition": network.text(bundle.place)}
    assert bundle.source is not None
    if edges.count == (bundle.source.nodes or 0) * (bundle.layer.nodes or 0):
        return {"kind": "all"}
    return {"edges": edges.count, "pattern of edges": f"#{edges.pattern():032x}"}


def geometry_facts(geometry: Geometry, trained: bool) -> Facts:
    """Return the positions of the kernels, however their padding was written."""
    facts: Facts = {
        "InputShape": tuple(axis.size for axis in geometry.axes),
        "KernelShape": tuple(axis.kernel for axis in geometry.axes),
        "Stride": tuple(axis.stride if axis.count > 1 else 1 for axis in geometry.axes),
        "positions": tuple(axis.count for axis in geometry.axes),
        "first cell": tuple(axis.first for axis in geometry.axes),
    }
    if trained:
        sharing = zip(geometry.axes, geometry.sharing, strict=True)
        facts["Sharing"] = tuple(shared or axis.count == 1 for axis, shared in sharing)
        facts["MapCount"] = geometry.maps
    return facts


def facts_key(facts: Facts) -> object:
    """Return facts as a hashable key."""
    return tuple(sorted(facts.items()))
