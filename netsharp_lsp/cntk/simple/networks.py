"""The kinds of simple networks by their `rnnType`, each with the names of its nodes.  Knows no
text.
"""

from __future__ import annotations

from netsharp_lsp.cntk.simple.construction import Construction, Unbuildable, minus_log
from netsharp_lsp.cntk.simple.criteria import Scored, add_criteria
from netsharp_lsp.cntk.simple.layers import dense, embedded, first_width, normalized, recurrent
from netsharp_lsp.cntk.simple.lstm import lstm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.cntk.networks.node import Node

_CLASS_NAMES = ("TrainNodeClassBasedCrossEntropy", "EvalNodeClassBasedCrossEntrpy")
_NOISE_NAMES = ("TrainNodeNCEBasedCrossEntropy", "EvalNodeNCEBasedCrossEntrpy")
#: The most layers whose outputs CNTK keeps.
_DEEPEST = 20


def _features(net: Construction, sparse: bool) -> Node:
    node = net.input("features", net.settings.size(0), sparse)
    net.tag("feature", node)
    return node


def _feed_forward(net: Construction) -> None:
    settings = net.settings
    before = _features(net, sparse=False)
    if settings.normalize:
        mean = net.node("Mean", before, name="MeanOfFeatures")
        deviation = net.node("InvStdDev", before, name="InvStdOfFeatures")
        inputs = (before, mean, deviation)
        before = net.node("PerDimMeanVarNormalization", *inputs, name="MVNormalizedFeatures")
    for layer in range(settings.hidden):
        source = f"H{layer}" if layer else "features"
        total = _affine(net, layer, before, source)
        before = net.activated(total, layer, f"H{layer + 1}")
        before = net.dropped(before, f"DropH{layer + 1}")
    last = _affine(net, settings.hidden, before, f"H{settings.hidden - 1}")
    last.name = "HLast"
    label = net.input("labels", settings.size(settings.hidden + 1))
    add_criteria(net, Scored(last, label))
    net.tag("output", _scaled(net, last, label, "Prior") if settings.prior else last)
    net.node("Softmax", last, name="PosteriorProb")


def _affine(net: Construction, layer: int, before: Node, source: str) -> Node:
    """Return an affine layer, named after its input."""
    rows = net.settings.size(layer + 1)
    weights = net.weights(f"W{layer}", rows, net.settings.size(layer))
    bias = net.constant(f"B{layer}", rows, 1, 0.0)
    name = f"W{layer}*{source}"
    product = net.node("Times", weights, before, name=name)
    return net.node("Plus", product, bias, name=f"{name}+B{layer}")


def _scaled(net: Construction, last: Node, label: Node, name: str) -> Node:
    """Return the output minus the logarithm of each label's frequency."""
    logarithm = net.node("Log", net.node("Mean", label, name=name), name="LogOfPrior")
    return net.node("Minus", last, logarithm, name="ScaledLogLikelihood")


def _recurrent(net: Construction) -> None:
    settings = net.settings
    before, bias = normalized(net, _features(net, sparse=True))
    before = _recurrent_layers(net, before, bias, own_bias=False)
    hidden = settings.hidden
    weights = net.weights(f"W{hidden}", settings.size(hidden + 1), settings.size(hidden))
    label = net.input("labels", settings.size(hidden + 1))
    add_criteria(net, Scored(before, label, weights), ("criterion", "eval"))
    net.tag("output", net.node("Times", weights, before, name="outputs"))
    if settings.prior:
        net.node("Mean", label)


def _recurrent_layers(net: Construction, before: Node, bias: Node | None, own_bias: bool) -> Node:
    """Return hidden layers, recurrent or not.  Layers that are not recurrent take a bias that CNTK
    creates only for the first of them, and only in some networks.
    """
    settings = net.settings
    found = 0
    for layer in range(settings.hidden):
        rows = settings.size(layer + 1)
        weights = net.weights(f"U{layer}", rows, settings.size(layer))
        if settings.is_recurrent(found, layer + 1):
            output = recurrent(net, (layer, 0), before, weights)
            found += 1
        else:
            if own_bias and layer == 0:
                bias = net.weights("B0", rows, 1)
            total = net.node("Plus", net.node("Times", weights, before), bias)
            output = net.activated(total, layer)
        before = net.dropped(output)
    return before


def _class_recurrent(net: Construction) -> None:
    settings = net.settings
    last = settings.size(settings.hidden + 1)
    if last is not None and settings.vocabulary != last:
        raise Unbuildable(f"'vocabSize' has to be the size of the last layer, {last}")
    before, bias = normalized(net, _features(net, sparse=True))
    before = _recurrent_layers(net, before, bias, own_bias=True)
    node, label, _ = _classes(net, before)
    net.tag("output", node)
    if settings.prior:
        net.node("Mean", label)


def _classes(net: Construction, before: Node) -> tuple[Node, Node, Node]:
    """Return the end of a class-based network: its criterion, its label and its last weights."""
    settings = net.settings
    hidden = settings.hidden
    width = settings.size(hidden)
    weights = net.weights(f"W{hidden}", width, settings.size(hidden + 1))
    label = net.input("labels", 4)
    rows = settings.classes if settings.classes >= 0 else None
    classes = net.weights("WeightForClassPostProb", rows, width)
    chances = net.node("Times", classes, before, name="ClassPostProb")
    node = add_criteria(net, Scored(before, label, weights, chances), _CLASS_NAMES)
    return node, label, weights


def _lstm_layers(net: Construction, before: Node, always: bool) -> tuple[Node, dict[int, Node]]:
    """Return LSTM layers with the layers between them, and their outputs by layer."""
    settings = net.settings
    offset = 1 if settings.table_order > 0 else 0
    outputs = {1: before} if offset else {}
    found = 0
    for layer in (0, *range(1 + offset, settings.hidden)) if settings.hidden > 0 else ():
        if layer == 0:
            before = lstm(net, 0, (first_width(net), settings.size(offset + 1)), before)
            outputs[offset + 1] = before
            continue
        if always or settings.is_recurrent(found, layer):
            found += 1
            sizes = (settings.size(layer), settings.size(layer + 1))
            output = lstm(net, layer, sizes, before)
        else:
            output = dense(net, layer, before)
        before = net.dropped(output)
        outputs[layer + 1] = before
    return before, outputs


def _long_memory(net: Construction) -> None:
    settings = net.settings
    before, _ = normalized(net, _features(net, settings.sparse))
    before, _ = _lstm_layers(net, embedded(net, before, "LookupTable"), always=False)
    hidden = settings.hidden
    weights = net.weights(f"W{hidden}", settings.size(hidden + 1), settings.size(hidden))
    label = net.input("labels", settings.size(hidden + 1))
    add_criteria(net, Scored(before, label, weights))
    output = net.node("Times", weights, before, name="outputs")
    net.tag("output", _scaled(net, output, label, "") if settings.prior else output)
    net.node("Softmax", output, name="PosteriorProb")


def _class_long_memory(net: Construction) -> None:
    before, _ = normalized(net, _features(net, sparse=True))
    before = embedded(net, before, "LookupTable", required=True)
    before, _ = _lstm_layers(net, before, always=True)
    _class_outputs(net, before)


def _class_outputs(net: Construction, before: Node) -> None:
    _, _, weights = _classes(net, before)
    output = net.node("TransposeTimes", weights, before, name="outputs")
    net.tag("output", output)
    net.node("Softmax", output, name="PosteriorProb")


def _conditional(net: Construction) -> None:
    settings = net.settings
    before, _ = normalized(net, _features(net, sparse=True))
    before = embedded(net, before, "LookupTable", required=True)
    before, _ = _lstm_layers(net, before, always=True)
    hidden = settings.hidden
    given = net.input("binaryFeature", settings.auxiliary)
    net.tag("feature", given)
    weights = net.weights("AuxTrans0", settings.size(hidden), settings.auxiliary)
    product = net.node("Times", weights, given)
    bias = net.activated(product, hidden, "TimesToGetGlobalBias")
    _class_outputs(net, net.node("Plus", before, bias, name="PlusGlobalBias"))


def _noise(net: Construction) -> None:
    settings = net.settings
    before, _ = normalized(net, _features(net, sparse=True))
    before = embedded(net, before, "LookupTable")
    before, outputs = _lstm_layers(net, before, always=False)
    if len(settings.sizes) > _DEEPEST:
        raise Unbuildable(f"it has more than {_DEEPEST} layers")
    for layer in range(1 if settings.table_order > 0 else 0, len(settings.sizes)):
        before = _direct(net, layer, outputs.get(layer), before)
    hidden = settings.hidden
    weights = net.weights(f"W{hidden}", settings.size(hidden), settings.size(hidden + 1))
    label = net.input("labels", 2 * (settings.noise + 1))
    words = settings.size(hidden + 1)
    bias = net.constant("BiasVector", 1, words, minus_log(words))
    node = add_criteria(net, Scored(before, label, weights, bias), _NOISE_NAMES)
    net.tag("output", node)
    if settings.prior:
        net.node("Mean", label)


def _direct(net: Construction, layer: int, source: Node | None, target: Node) -> Node:
    """Return the last layer plus a layer's output, for every time that it is listed."""
    settings = net.settings
    merged = target
    width = first_width(net) if layer <= 1 else settings.size(layer)
    for number, wanted in enumerate(settings.direct):
        if wanted != layer:
            continue
        weights = net.weights(f"D{number}", settings.size(settings.hidden), width)
        output = net.activated(net.node("Times", weights, source), number)
        factor = net.constant(f"SV{number}", 1, 1, 0.01)
        scaled = net.node("ElementTimes", factor, output, name=f"S{number}")
        merged = net.node("Plus", target, scaled)
    return merged


def _log_bilinear(net: Construction) -> None:
    settings = net.settings
    before, _ = normalized(net, _features(net, sparse=False))
    before = embedded(net, before, "Lookuptatble")
    before = net.dropped(_averaged(net, before))
    found = 0
    order = settings.table_order
    for layer in range(1 if order > 0 else 0, settings.hidden):
        before, found = _bilinear_layer(net, layer, found, before)
    hidden = settings.hidden
    weights = net.weights(f"W{hidden}", settings.size(hidden + 1), settings.size(hidden))
    label = net.input("labels", settings.size(hidden + 1))
    add_criteria(net, Scored(before, label, weights))
    net.tag("output", net.node("Times", weights, before, name="outputs"))
    if settings.prior:
        net.node("Mean", label)


def _averaged(net: Construction, before: Node) -> Node:
    """Return the input plus some previous steps, each with weights of its own."""
    size = net.settings.size(0)
    total = before
    for steps in range(1, net.settings.past_order + 1):
        past = net.delay(size, steps, f"pastValue{steps}")
        past.inputs = (before,)
        weights = net.weights(f"DD{steps}", size, size)
        total = net.node("Plus", total, net.node("Times", weights, past))
    return total


def _bilinear_layer(net: Construction, layer: int, found: int, before: Node) -> tuple[Node, int]:
    settings = net.settings
    rows, columns = settings.size(layer + 1), settings.size(layer)
    if columns is not None and settings.table_order > 0:
        columns *= settings.table_order
    weights = net.weights(f"U{layer}", rows, columns)
    output = net.node("Times", weights, before)
    if settings.is_recurrent(found, layer + 1):
        own = net.weights(f"R{layer + 1}", rows, rows)
        past = net.delay(rows)
        output = net.node("Plus", net.node("Times", own, past), output)
        past.inputs = (output,)
        found += 1
    bias = net.constant(f"bi{layer}", rows, 1, 0.0)
    return net.dropped(net.node("Plus", output, bias)), found


def _windowed(net: Construction) -> None:
    settings = net.settings
    before, bias = normalized(net, _features(net, sparse=True))
    found = 0
    for layer in range(settings.hidden):
        if layer == 0:
            output = _window(net, before)
            found += 1
        else:
            weights = net.weights(f"U{layer}", settings.size(layer + 1), settings.size(layer))
            if settings.is_recurrent(found, layer + 1):
                output = recurrent(net, (layer, layer), before, weights)
                found += 1
            else:
                total = net.node("Plus", net.node("Times", weights, before), bias)
                output = net.activated(total, layer)
        before = net.dropped(output)
    hidden = settings.hidden
    weights = net.weights(f"W{hidden}", settings.size(hidden + 1), settings.size(hidden))
    label = net.input("labels", settings.size(hidden + 1), sparse=True)
    add_criteria(net, Scored(before, label, weights))
    net.tag("output", net.node("Times", weights, before))
    if settings.prior:
        net.node("Mean", label)


def _window(net: Construction, before: Node) -> Node:
    """Return a layer over the input and the four steps before it."""
    settings = net.settings
    rows, columns = settings.size(1), settings.size(0)
    bias = net.constant("bi0", rows, 1, 0.0)
    past = [net.delay(columns, steps) for steps in range(1, 5)]
    for one in past:
        one.inputs = (before,)
    if not settings.is_recurrent(0, 1):
        raise Unbuildable("its first layer has to be recurrent: 'recurrentLayer' begins with 1")
    weights = {name: net.weights(f"WXI{name}", rows, columns) for name in ("2", "3", "4", "1", "")}
    total = net.node("Times", weights[""], before)
    for number in ("1", "2", "3", "4"):
        total = _added(net, weights[number], past[int(number) - 1], total)
    return net.node("Plus", net.node("Tanh", total), bias)


def _added(net: Construction, weights: Node, past: Node, total: Node) -> Node:
    return net.node("Plus", net.node("Times", weights, past), total)


NETWORKS: dict[str, Callable[[Construction], None]] = {
    "SIMPLENET": _feed_forward,
    "SIMPLERNN": _recurrent,
    "LSTM": _long_memory,
    "CLASSLM": _class_recurrent,
    "LBLM": _log_bilinear,
    "NPLM": _windowed,
    "CLASSLSTM": _class_long_memory,
    "NCELSTM": _noise,
    "CLSTM": _conditional,
}
