"""Rules about data, task and host: requirements of the context on the network.

Unknown parts of the context cause no findings.
"""

from __future__ import annotations

from netsharp_engine.activations import ACTIVATIONS, INFINITY
from netsharp_lsp.netsharp.findings import Change, Finding, Note, RelativeSpan, Repair
from netsharp_lsp.netsharp.meaning.inforce import needed_outputs
from netsharp_lsp.netsharp.rules import LAYER, NETWORK, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.context import Context
    from netsharp_lsp.diagnostics.model import Severity
    from netsharp_lsp.netsharp.meaning.model import Layer
    from netsharp_lsp.netsharp.meaning.network import Network

#: What classes are learnt with; every other activation is trained on squared errors.
FOR_CLASSES = ("sigmoid", "softmax")
#: From this many classes on, softmax is usual.
MANY = 3


def source_of(context: Context, field: str) -> str:
    """Return where a number of the context comes from, in brackets; nothing if that is unknown."""
    origin = context.origin.get(field)
    return f" ({origin})" if origin else ""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


# Nodes.


@rule("NS081", "error", on=NETWORK)
def features_disagree(network: Network, _network: Network) -> Iterator[Finding]:
    """Report input layers that take more or fewer features than the data has."""
    features = network.context.features
    inputs = [layer for layer in network.inputs if layer.first]
    autos = [layer for layer in inputs if layer.auto]
    sized = [layer for layer in inputs if not layer.auto]
    counts = [layer.nodes for layer in sized if layer.nodes is not None]
    if features is None or not inputs or len(autos) > 1 or len(counts) < len(sized):
        return
    total = sum(counts)
    if (autos and total < features) or (not autos and total == features):
        return
    have = f"The data has {counted(features, 'feature')}{source_of(network.context, 'features')}"
    notes = []
    if len(inputs) > 1:
        notes = [Note(f"'{layer.name}' takes {layer.nodes}.", layer.size_place) for layer in sized]
    if autos:
        message = f"{have}; the sized input layers already take {total:,}."
        yield Finding("NS081", autos[0].size_place, message, notes)
        return
    verb = "input layer takes" if len(inputs) == 1 else "input layers take"
    message = f"{have}; the {verb} {total:,}."
    yield Finding("NS081", inputs[-1].size_place, message, notes, automatic(network, inputs))


def automatic(network: Network, inputs: list[Layer]) -> Repair | None:
    """Leave the size of the only input to the data, unless a bundle relies on it."""
    layer = inputs[0]
    if len(inputs) > 1 or layer.shape is None or len(layer.shape) > 1:
        return None
    if any(bundle.kind != "all" for bundle in network.reads_of(layer)):
        return None
    return Repair("Replace by 'auto'", [Change(layer.size_place, "auto")], safe=False)


@rule("NS083", "error", on=NETWORK)
def outputs_disagree(network: Network, _network: Network) -> Iterator[Finding]:
    """Report an output layer with another number of nodes than the task needs."""
    context = network.context
    valid = allowed_outputs(context)
    if len(network.outputs) != 1 or valid is None:
        return
    layer = network.outputs[0]
    if layer.nodes is None or layer.auto or layer.nodes in valid:
        return
    field = "outputs" if context.outputs is not None else "task"
    needed = " or ".join(str(nodes) for nodes in valid) + (
        " output" if valid == (1,) else " outputs"
    )
    message = (
        f"The task needs {needed}{source_of(context, field)}; "
        f"layer '{layer.name}' has {layer.nodes:,}."
    )
    repair = None
    resizable = layer.shape is not None and len(layer.shape) == 1
    if resizable and not any(bundle.has_kernel for bundle in layer.bundles):
        size = f"[{needed_outputs(context)}]"
        repair = Repair(f"Set the size to {size}", [Change(layer.size_place, size)], safe=False)
    yield Finding("NS083", layer.size_place, message, repair=repair)


def allowed_outputs(context: Context) -> tuple[int, ...] | None:
    """Return the numbers of nodes that the output may have; two classes may have one or two."""
    if context.task == "binary":
        return (1, 2)
    needed = needed_outputs(context)
    return None if needed is None else (needed,)


@rule("NS084", "error", on=NETWORK)
def several_auto_inputs(network: Network, _network: Network) -> Iterator[Finding]:
    """Report more than one input that takes the remaining features."""
    autos = [layer for layer in network.inputs if layer.auto and layer.first]
    for layer in autos[1:]:
        note = Note(f"'{autos[0].name}' takes the remaining features.", autos[0].size_place)
        yield Finding("NS084", layer.size_place, "Only one input can be auto.", [note])


# Activations of the output.


@rule("NS089", "warning", on=NETWORK)
def output_activation(network: Network, _network: Network) -> Iterator[Finding]:
    """Report an output activation that does not suit the task."""
    if len(network.outputs) != 1:
        return
    layer = network.outputs[0]
    if layer.activation is None or misplaced(layer):
        return
    task = network.context.task
    verdict = unsuitable(layer, task)
    if verdict is None:
        return
    message, better, many = verdict
    written = layer.item.activation
    if written is None:
        if task is None:
            return
        place = layer.place
        change = Change(layer.size_place.after(), f" {better}")
    else:
        place = RelativeSpan.of(layer.declaration, written)
        change = Change(place, better)
    repair = Repair(f"Use '{better}'", [change], safe=False)
    severity: Severity | None = "hint" if many or written is None else None
    yield Finding("NS089", place, message, repair=repair, severity=severity)


def unsuitable(layer: Layer, task: str | None) -> tuple[str, str, bool] | None:
    """Return why an output activation does not suit, what would, and whether it is only unusual.

    None where it suits. Without a task only what suits none is unsuitable.
    """
    name, nodes = layer.activation, layer.nodes
    if name == "softmax" and nodes == 1:
        better = "linear" if task == "regression" else "sigmoid"
        return "softmax over one node is always 1.", better, False
    if task == "regression":
        low, high = ACTIVATIONS[name or "linear"].range
        if high == INFINITY:
            return None
        message = f"{name} keeps the output between {low:g} and {high:g}; regression is unbounded."
        return message, "linear", False
    if name == "sigmoid" and task != "binary" and nodes is not None and nodes >= MANY:
        message = f"sigmoid scores each of the {nodes:,} classes alone; softmax is usual."
        return message, "softmax", True
    if task is not None and name not in FOR_CLASSES:
        better = "sigmoid" if nodes == 1 else "softmax"
        return f"{name} gives no probabilities, and the task has classes.", better, False
    return None


def misplaced(layer: Layer) -> bool:
    """Return whether an activation comes after a bundle, which NS016 reports."""
    return any(bundle.item.misplaced is not None for bundle in layer.bundles)


@rule("NS125", "hint", on=NETWORK)
def output_never_negative(network: Network, _network: Network) -> Iterator[Finding]:
    """Report a regression output that cannot go below 0."""
    if network.context.task != "regression" or len(network.outputs) != 1:
        return
    layer = network.outputs[0]
    written = layer.item.activation
    if written is None or layer.activation is None:
        return
    low, high = ACTIVATIONS[layer.activation].range
    if low == 0 and high == INFINITY:
        message = f"{layer.activation} output for regression cannot be negative."
        yield Finding("NS125", RelativeSpan.of(layer.declaration, written), message)


@rule("NS124", "info", on=NETWORK)
def no_output_activation(network: Network, _network: Network) -> Iterator[Finding]:
    """Report an output without an activation: the one default that depends on the task."""
    if len(network.outputs) != 1:
        return
    layer = network.outputs[0]
    if layer.item.activation is not None or layer.item.size is None or misplaced(layer):
        return
    task = network.context.task
    name = layer.activation or "sigmoid"
    message = "No activation given: sigmoid (classification) or linear (regression) is used."
    if task is not None:
        message = f"No activation given: {name} is used for this task."
    insertion = Change(layer.size_place.after(), f" {name}")
    repair = Repair(f"Insert '{name}'", [insertion], safe=task is not None)
    yield Finding("NS124", layer.place, message, repair=repair)


# Hosts.


@rule("NS114", "warning", on=LAYER)
def initial_values_in_studio(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report initial values, which Studio does not accept."""
    if network.context.host != "studio":
        return
    given = [bundle.given.get("Weights") for bundle in layer.bundles]
    for entry in (*given, layer.given.get("Biases")):
        if entry is not None:
            name = entry.form.name
            message = f"Azure ML Studio does not accept {name}."
            place = RelativeSpan.of(layer.declaration, entry.attribute.name)
            yield Finding("NS114", place, message)


@rule("NS115", "info", on=NETWORK)
def two_class_output(network: Network, _network: Network) -> Iterator[Finding]:
    """Report an `auto` output for two classes, whose size depends on the host."""
    context = network.context
    if context.task != "binary" or context.host is not None or context.outputs is not None:
        return
    for layer in network.outputs:
        if layer.auto:
            message = "Two-class auto output: 2 nodes in Studio and TLC, 1 in MicrosoftML."
            yield Finding("NS115", layer.size_place, message)
