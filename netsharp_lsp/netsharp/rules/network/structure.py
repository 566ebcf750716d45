"""Rules about the network as a whole: its inputs, its output and the paths between them."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Finding, Note, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.reading.mistakes import has_bare_source
from netsharp_lsp.netsharp.reading.syntax import LayerItem
from netsharp_lsp.netsharp.repairs.restructuring import removed, removed_item, turned
from netsharp_lsp.netsharp.rules import BUNDLE, LAYER, NETWORK, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Declaration

#: How many members of a long list are named.
SHOWN = 8


def head(declaration: Declaration) -> RelativeSpan:
    """Return the keyword of a declaration, or the empty place where it begins."""
    if declaration.keyword is not None:
        return RelativeSpan.of(declaration, declaration.keyword)
    return RelativeSpan(declaration, 0, 0)


def final_output(network: Network) -> Layer | None:
    """Return the output that counts: the first one that feeds nothing, else the first one."""
    outputs = [layer for layer in network.outputs if layer.first]
    if len(outputs) < 2:
        return outputs[0] if outputs else None
    return next((layer for layer in outputs if not network.is_read(layer)), outputs[0])


def feeder(layer: Layer, network: Network) -> Layer | None:
    """Return a layer that could feed another: the nearest above, else the first below."""
    above = (network.all_layers[order] for order in range(layer.order - 1, -1, -1))
    near = next((other for other in above if other.kind != "output" and other.first), None)
    if near is not None:
        return near
    others = (other for other in network.layers.values() if other.kind != "output")
    return next((other for other in others if other.name != layer.name), None)


# What is missing.


@rule("NS051", "error", on=NETWORK, rests=Rests.LAYERS)
def no_input(network: Network, _network: Network) -> Iterator[Finding]:
    """Report a specification without an input layer."""
    if network.inputs or network.doubts.has_orphans:
        return
    declarations = [d for d in network.specification.declarations if d.items]
    if not declarations:
        return
    layered = [d for d in declarations if any(isinstance(item, LayerItem) for item in d.items)]
    place = head((layered or declarations)[0])
    repair = inserted_input(network)
    yield Finding("NS051", place, "No input layer.", repair=repair)


def inserted_input(network: Network) -> Repair | None:
    """Declare the source that is missing, or one for a layer that has none; None if unclear."""
    lost = [b.source_name for b in network.bundles() if b.source is None and b.source_name]
    alone = [layer for layer in network.all_layers if not layer.bundles and layer.item.body]
    top = RelativeSpan(network.specification.declarations[0], 0, 0)
    line_end = network.specification.line_end
    if lost:
        insertion = Change(top, f"input {lost[0]} auto;{line_end}")
        return Repair(f"Insert 'input {lost[0]} auto;'", [insertion], safe=False)
    if not alone:
        return None
    insertion = Change(top, f"input Data auto;{line_end}")
    connection = added_bundle(network, alone[0], "Data")
    title = f"Insert 'input Data auto;' and connect '{alone[0].name}' to it"
    return Repair(title, [insertion, connection], safe=False)


def added_bundle(network: Network, layer: Layer, source: str) -> Change:
    """Put `from source all;` into the empty body of a layer."""
    assert layer.item.body is not None
    start, end = layer.item.body
    inside = RelativeSpan(layer.declaration, start + 1, max(end - 1, start + 1))
    if network.text(inside).strip():
        return Change(RelativeSpan(layer.declaration, start + 1, start + 1), f" from {source} all;")
    return Change(inside, f" from {source} all; ")


@rule("NS052", "error", on=NETWORK, rests=Rests.LAYERS)
def no_output(network: Network, _network: Network) -> Iterator[Finding]:
    """Report a specification without an output layer."""
    if network.outputs or network.doubts.has_orphans:
        return
    declarations = [d for d in network.specification.declarations if d.items]
    if not declarations:
        return
    hidden = (layer for layer in reversed(network.all_layers) if layer.kind == "hidden")
    last = next((layer for layer in hidden if not network.is_read(layer)), None)
    if last is None:
        layered = [d for d in declarations if any(isinstance(item, LayerItem) for item in d.items)]
        yield Finding("NS052", head((layered or declarations)[-1]), "No output layer.")
        return
    changes = turned(network, last, "output")
    repair = Repair(f"Make '{last.name}' the output", changes, safe=False) if changes else None
    yield Finding("NS052", head(last.declaration), "No output layer.", repair=repair)


@rule("NS053", "error", on=NETWORK, rests=Rests.WORDS)
def several_outputs(network: Network, _network: Network) -> Iterator[Finding]:
    """Report an output layer beside the one that counts."""
    final = final_output(network)
    if final is None:
        return
    note = Note(f"'{final.name}' is the output layer.", final.place)
    message = f"Only one output layer is allowed; '{final.name}' is one already."
    for layer in network.outputs:
        if layer is not final and layer.first:
            changes = turned(network, layer, "hidden")
            repair = None
            if changes:
                repair = Repair(f"Turn '{layer.name}' into a hidden layer", changes, safe=False)
            yield Finding("NS053", layer.place, message, [note], repair)


# Connections that no network can have.


@rule("NS054", "error", on=NETWORK, rests=Rests.LAYERS)
def output_as_source(network: Network, _network: Network) -> Iterator[Finding]:
    """Report a connection from the output layer; NS053 reports several outputs."""
    final = final_output(network)
    if final is None:
        return
    message = f"Output layer '{final.name}' cannot be a source."
    note = Note(f"'{final.name}' is declared as the output here.", head(final.declaration))
    for bundle in network.readers(final):
        yield Finding("NS054", bundle.source_place, message, [note])


@rule("NS055", "error", on=NETWORK)
def connections_in_circle(network: Network, _network: Network) -> Iterator[Finding]:
    """Report layers that feed each other in a cycle."""
    for circle in network.circles:
        if any(bundle.source is not None and bundle.source.kind == "output" for bundle in circle):
            continue
        names = [bundle.layer.name for bundle in circle]
        if len(names) > SHOWN:
            names = [*names[: SHOWN - 2], f"... ({len(names) - SHOWN + 2:,} more)"]
        names.append(circle[0].layer.name)
        notes = [
            Note(f"'{b.layer.name}' takes from '{b.source_name}' here.", b.source_place)
            for b in circle[1:SHOWN]
        ]
        message = f"Connections form a cycle: {', '.join(names)}."
        yield Finding("NS055", circle[0].source_place, message, notes)


@rule("NS056", "error", on=BUNDLE)
def source_is_itself(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a layer connected to itself."""
    if bundle.source is bundle.layer:
        message = f"Layer '{bundle.layer.name}' cannot connect to itself."
        yield Finding("NS056", bundle.source_place, message)


@rule("NS057", "error", on=NETWORK)
def no_connections(network: Network, _network: Network) -> Iterator[Finding]:
    """Report a layer with an empty body; where nothing could feed it, NS051 is reported."""
    for layer in network.bare_layers:
        source = feeder(layer, network) if layer.item.body is not None else None
        if source is None or has_bare_source(layer.declaration):
            continue
        connection = added_bundle(network, layer, source.name)
        repair = Repair(f"Add 'from {source.name} all;'", [connection], safe=False)
        message = f"Layer '{layer.name}' has no connections."
        yield Finding("NS057", layer.place, message, repair=repair)


# What has no effect.


def connected(network: Network) -> bool:
    """Return whether reachability is defined."""
    return network.connected and not network.doubts.may_connect


@rule("NS058", "warning", on=LAYER, given=connected, rests=Rests.NAME)
def output_not_reached(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report a hidden layer at the end of a path that misses the output."""
    if layer.kind != "hidden" or network.is_read(layer):
        return
    repair = None
    if not network.is_shared(layer.name):
        removal = removed_item(layer.declaration, layer.item)
        repair = Repair(f"Remove '{layer.name}'", [removal], safe=False)
    message = f"Layer '{layer.name}' never reaches the output."
    yield Finding("NS058", layer.place, message, repair=repair, also=[layer.place])


@rule("NS059", "warning", on=LAYER, given=connected, rests=Rests.NAME)
def input_unused(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report an input layer that no other layer reads."""
    sized = layer.item.size is not None
    if layer.kind == "input" and sized and not network.is_read(layer):
        message = f"Input layer '{layer.name}' is never used; its features are ignored."
        yield Finding("NS059", layer.place, message, also=[layer.place])


@rule("NS060", "warning", on=LAYER)
def equal_bundles(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report two full connections from one source."""
    seen: dict[str, Bundle] = {}
    for bundle in layer.bundles:
        if bundle.kind != "all":
            continue
        first = seen.setdefault(bundle.source_name, bundle)
        if first is bundle:
            continue
        item = bundle.item
        removal = removed(layer.declaration, item.start, item.end)
        source = bundle.source_name
        message = (
            f"Layer '{layer.name}' has two 'all' connections from '{source}'; their weights only "
            "add up."
        )
        note = Note("The first one.", first.source_place)
        repair = Repair("Remove this connection", [removal], safe=False)
        yield Finding("NS060", bundle.source_place, message, [note], repair)


@rule("NS116", "info", on=NETWORK, rests=Rests.LAYERS)
def order_of_inputs(network: Network, _network: Network) -> Iterator[Finding]:
    """Report which features each of several inputs takes; of an unused one, NS059 is reported."""
    inputs = [layer for layer in network.inputs if layer.first]
    if len(inputs) < 2 or sum(layer.auto and layer.nodes is None for layer in inputs) > 1:
        return
    if sum(network.is_read(layer) for layer in inputs) < 2:
        return
    words = []
    start: int | None = 0
    for layer in inputs:
        nodes = layer.nodes
        span = ""
        if start is not None:
            span = f" (from {start})" if nodes is None else f" ({columns(start, nodes)})"
        words.append(f"{layer.name}{span}")
        start = None if start is None or nodes is None else start + nodes
    if len(words) > SHOWN:
        words = [*words[:SHOWN], f"... ({len(words) - SHOWN:,} more)"]
    message = f"Inputs take features in this order: {', '.join(words)}."
    notes = [Note(f"'{layer.name}' is declared here.", layer.place) for layer in inputs[1:SHOWN]]
    yield Finding("NS116", inputs[0].place, message, notes)


def columns(start: int, nodes: int) -> str:
    """Return the features of one input, counted from 0."""
    return str(start) if nodes == 1 else f"{start}-{start + nodes - 1}"
