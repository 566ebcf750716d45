"""Which bundles and layers share parameters, over all share declarations; reports nothing.

Source: the Net# guide, "Share declaration": shared bundles must have the same structure, and an
item of one group may join it to another.
"""

from __future__ import annotations

from netsharp_lsp.limits import CONDITION_EVALUATIONS
from netsharp_lsp.netsharp.findings import RelativeSpan
from netsharp_lsp.netsharp.meaning.counts.predicates import EVALUATION_LIMIT, count_edges
from netsharp_lsp.netsharp.meaning.values.attributes import WEIGHTED_KINDS
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.reading.syntax import (
    Binary,
    Boolean,
    Call,
    Index,
    Name,
    Number,
    Tuple,
    Unary,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeVar

    from netsharp_lsp.netsharp.meaning.counts.surroundings import Values, Whole
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer, ShareEntry
    from netsharp_lsp.netsharp.reading.syntax import Expression

    #: What differs, and how it reads on either side.
    Difference = tuple[str, str, str]
    Member = TypeVar("Member")

#: The geometry of a convolution, as the attributes that must agree.
GEOMETRY = (
    ("InputShape", "input_shape"),
    ("KernelShape", "kernel_shape"),
    ("Stride", "stride"),
    ("Padding", "padding"),
    ("LowerPad", "lower_pad"),
    ("UpperPad", "upper_pad"),
    ("Sharing", "sharing"),
    ("MapCount", "map_count"),
)


class SharedGroups:
    """The result of all share declarations.

    `bundles`: groups of bundles with one set of weights; `layers`: groups of layers with one set of
    biases. Members are in text order, and the first one is the leader. `bundle_leader`,
    `bias_leader`: each member of a group, the leader too, to its leader; `bundle_groups`,
    `bias_groups`: each leader to its group.
    """

    __slots__ = (
        "bias_groups",
        "bias_leader",
        "bundle_groups",
        "bundle_leader",
        "bundles",
        "layers",
    )

    def __init__(self, bundles: list[list[Bundle]], layers: list[list[Layer]]) -> None:
        self.bundles = bundles
        self.layers = layers
        self.bundle_leader = {member: group[0] for group in bundles for member in group}
        self.bias_leader = {member: group[0] for group in layers for member in group}
        self.bundle_groups = {group[0]: group for group in bundles}
        self.bias_groups = {group[0]: group for group in layers}


def shared_groups(network: Whole, limit: int = CONDITION_EVALUATIONS.most) -> SharedGroups:
    """Return the groups that share, without entries that cannot share.

    ``limit`` bounds the evaluations spent on comparing two conditions; where it is too low to
    compare them, they count as equal.

    Where several members of a group give initial `Weights` or `Biases`, they agree in a valid
    network; where one does, its values apply to the group.
    """

    def alike(first: Bundle, second: Bundle) -> bool:
        return not any(bundle_differences(first, second, network, limit))

    bundles: list[list[Bundle]] = []
    layers: list[list[Layer]] = []
    for share in network.shares:
        shared = [bundle for bundle in map(shared_bundle, share.entries) if bundle is not None]
        biased = [layer for layer in map(biased_layer, share.entries) if layer is not None]
        bundles.append([bundle for bundle in shared if alike(shared[0], bundle)])
        layers.append([layer for layer in biased if not biases_differ(biased[0], layer)])
    bundle_order = {bundle: number for number, bundle in enumerate(network.bundles())}
    return SharedGroups(
        [sorted(group, key=lambda bundle: bundle_order[bundle]) for group in joined(bundles)],
        [sorted(group, key=lambda layer: layer.order) for group in joined(layers)],
    )


def shared_bundle(entry: ShareEntry) -> Bundle | None:
    """Return the bundle whose weights an entry shares, None if it shares none."""
    bundle = entry.bundle if entry.what != "biases" else None
    return bundle if bundle is not None and bundle.kind in WEIGHTED_KINDS else None


def biased_layer(entry: ShareEntry) -> Layer | None:
    """Return the layer whose biases an entry shares, None if it shares none."""
    layer = entry.layer
    if layer is None or not layer.has_biases or entry.what == "bundle":
        return None
    return layer if entry.what == "biases" or entry.bundle is not None else None


def joined(groups: list[list[Member]]) -> list[list[Member]]:
    """Join the groups that have a member in common; groups of one are dropped."""
    above: dict[Member, Member] = {}

    def top(member: Member) -> Member:
        while above[member] is not member:
            above[member] = above[above[member]]
            member = above[member]
        return member

    for group in groups:
        for member in group:
            above.setdefault(member, member)
            above[top(member)] = top(group[0])
    found: dict[Member, list[Member]] = {}
    for member in above:
        found.setdefault(top(member), []).append(member)
    return [members for members in found.values() if len(members) > 1]


# What must agree.


def biases_differ(first: Layer, second: Layer) -> bool:
    """Return whether two layers are known to have different numbers of biases."""
    known = first.nodes is not None and second.nodes is not None
    return known and first.nodes != second.nodes


def bundle_differences(
    first: Bundle, second: Bundle, network: Values, limit: int = EVALUATION_LIMIT
) -> Iterator[Difference]:
    """Yield the known differences that keep two bundles from sharing; nothing if they may.

    ``limit`` bounds the evaluations spent on comparing conditions.
    """
    if first is second:
        return
    if first.kind != second.kind:
        yield "the kind of connection", first.kind or "unknown", second.kind or "unknown"
        return
    yield from node_differences(first, second)
    if first.kind == "convolve":
        yield from geometry_differences(first, second)
    elif first.kind == "where" and edges_differ(first, second, network, limit):
        yield "the pattern of edges", *edges_in_words(first, second, network)


def node_differences(first: Bundle, second: Bundle) -> Iterator[Difference]:
    """Yield the numbers of source and destination nodes that differ."""
    sources = (first.source, second.source)
    for what, layers in (("source", sources), ("destination", (first.layer, second.layer))):
        left, right = (layer.nodes if layer is not None else None for layer in layers)
        if left is not None and right is not None and left != right:
            yield f"the number of {what} nodes", str(left), str(right)


def geometry_differences(first: Bundle, second: Bundle) -> Iterator[Difference]:
    """Yield the attributes of two convolutions that differ, defaults included."""
    for name, field in GEOMETRY:
        left, right = getattr(first, field), getattr(second, field)
        if left is not None and right is not None and left != right:
            yield name, show(left), show(right)


def edges_in_words(first: Bundle, second: Bundle, network: Values) -> tuple[str, str]:
    """Return two patterns of edges as their numbers or, where these are equal, their conditions."""
    counts = []
    for bundle in (first, second):
        edges = count_edges(bundle, network)
        counts.append(edges.count if edges is not None else None)
    if counts[0] != counts[1]:
        return f"{counts[0]} edges", f"{counts[1]} edges"
    return condition_text(first, network), condition_text(second, network)


def condition_text(bundle: Bundle, network: Values) -> str:
    """Return a condition as it is written."""
    predicate = bundle.item.predicate
    if predicate is None:
        return ""
    return network.text(RelativeSpan.of(bundle.declaration, predicate.condition))


def edges_differ(first: Bundle, second: Bundle, network: Values, limit: int) -> bool:
    """Return whether two filtered bundles are known to connect different pairs of nodes."""
    left, right = count_edges(first, network, limit), count_edges(second, network, limit)
    if left is None or right is None:
        return False
    alike = left.source == right.source and left.destination == right.destination
    if alike and condition_key(first) == condition_key(second):
        return False
    if left.count is None or right.count is None:
        return False
    if left.count != right.count:
        return True
    return left.pattern() != right.pattern()


def condition_key(bundle: Bundle) -> object:
    """Return a condition without its parameters' names and its spacing."""
    predicate = bundle.item.predicate
    if predicate is None:
        return None
    roles = {predicate.destination.text: "=> d", predicate.source.text: "=> s"}
    return expression_key(predicate.condition, roles)


def expression_key(node: Expression, roles: dict[str, str]) -> object:
    """Return the structure of an expression; names in ``roles`` are replaced."""
    if isinstance(node, Name):
        return roles.get(node.text, node.text)
    if isinstance(node, Number | Boolean):
        return (type(node).__name__, node.value)
    if isinstance(node, Tuple):
        return ("tuple", *(expression_key(item, roles) for item in node.items))
    if isinstance(node, Index):
        return ("index", expression_key(node.target, roles), expression_key(node.position, roles))
    if isinstance(node, Unary):
        return (node.operator, expression_key(node.operand, roles))
    if isinstance(node, Binary):
        sides = expression_key(node.left, roles), expression_key(node.right, roles)
        return (node.operator, *sides)
    if isinstance(node, Call):
        return (node.function.text, *(expression_key(item, roles) for item in node.arguments))
    return node
