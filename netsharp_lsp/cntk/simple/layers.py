"""Layers that several kinds of simple networks have: normalization, look-up tables, recurrence.

Of nested nodes the later argument is created first, as in CNTK.
"""

from __future__ import annotations

from netsharp_lsp.cntk.simple.construction import Construction, Unbuildable, times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node


def normalized(net: Construction, features: Node) -> tuple[Node, Node | None]:
    """Return normalized features, if that is configured, and the deviation used."""
    if not net.settings.normalize:
        return features, None
    mean = net.node("Mean", features)
    deviation = net.node("InvStdDev", features)
    return net.node("PerDimMeanVarNormalization", features, mean, deviation), deviation


def embedded(net: Construction, features: Node, name: str, required: bool = False) -> Node:
    """Return features looked up in a table, if one is configured."""
    settings = net.settings
    order = settings.table_order
    if order <= 0:
        if required:
            raise Unbuildable("words need a table: set 'lookupTableOrder' to 1 or more")
        return features
    first = settings.size(0)
    columns = None if first is None else first // order
    table = net.weights("E0", settings.size(1), columns)
    return net.dropped(net.node("LookupTable", table, features, name=name))


def recurrent(net: Construction, layers: tuple[int, int], before: Node, weights: Node) -> Node:
    """Return a layer with its own output of the previous step as an input; `layers` are its number
    and that of the layer whose activation it has.
    """
    layer, function = layers
    size = net.settings.size(layer + 1)
    own = net.weights(f"W{layer}", size, size)
    past = net.delay(size)
    back = net.node("Times", own, past)
    total = net.node("Plus", net.node("Times", weights, before), back)
    output = net.activated(total, function)
    past.inputs = (output,)
    return output


def dense(net: Construction, layer: int, before: Node) -> Node:
    """Return an ordinary layer with a bias that starts at 0."""
    settings = net.settings
    rows = settings.size(layer + 1)
    weights = net.weights(f"U{layer}", rows, settings.size(layer))
    bias = net.constant(f"B{layer}", rows, 1, 0.0)
    total = net.node("Plus", net.node("Times", weights, before), bias)
    return net.activated(total, layer)


def first_width(net: Construction) -> int | None:
    """Return the input width of the first hidden layer, after a table if there is one."""
    settings = net.settings
    if settings.table_order > 0:
        return times(settings.size(1), settings.table_order)
    return settings.size(0)
