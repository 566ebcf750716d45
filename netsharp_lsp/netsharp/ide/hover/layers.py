"""The description of a layer: its size and its origin, its activation, its costs."""

from __future__ import annotations

from netsharp_lsp.description.tables import size as bytes_text
from netsharp_lsp.netsharp.describe import BYTES_PER_NUMBER
from netsharp_lsp.netsharp.ide.meanings.counting import (
    counted,
    explained,
    layer_equation,
    node_product,
)
from netsharp_lsp.netsharp.ide.meanings.formulas import (
    Formula,
    layer_parameters,
    multiply_adds_of,
    nodes_of,
    total,
)
from netsharp_lsp.netsharp.ide.meanings.glossary import KEYWORDS, activation_formula
from netsharp_lsp.netsharp.ide.meanings.sharing import sharing_of
from netsharp_lsp.netsharp.meaning.inforce import HOSTS_HIDDEN_NODES
from netsharp_lsp.netsharp.meaning.values.evaluate import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.meaning.model import Layer
    from netsharp_lsp.netsharp.meaning.network import Network

#: What decides an `auto` size, by the kind of the layer: a noun, fields of a context, and what a
#: person can do while it is unknown.
AUTO = {
    "input": (
        "feature",
        ("features",),
        "Bind a data file (a run file beside this text names it) or set `features`.",
    ),
    "hidden": (
        "hidden node",
        ("hidden_nodes", "host"),
        f"Set `hidden-nodes`, or name a `host`, which takes {HOSTS_HIDDEN_NODES}.",
    ),
    "output": ("output", ("outputs", "task"), "Set `task` or `outputs`, or bind a data file."),
}


def fact(name: str, text: str) -> str:
    """Return one line of a list of facts."""
    return f"- **{name}** {text}"


def head(layer: Layer) -> str:
    """Return a layer's declaration with its values in force, as code."""
    size = "auto" if layer.auto else "[?]" if layer.shape is None else show(layer.shape)
    words = (layer.kind, layer.name, size, layer.activation or "")
    return f"```netsharp\n{' '.join(word for word in words if word)}\n```"


def layer_markdown(layer: Layer, network: Network) -> str:
    """Return the description of a layer."""
    facts = [fact("Nodes", size_text(layer, network))]
    if layer.kind == "input":
        facts += feature_facts(layer, network)
    else:
        facts += [*activation_facts(layer), *cost_facts(layer, network)]
    facts += [fact("Shared", text) for text in sharing_of(layer, network)]
    parameters = layer_parameters(layer, network) if layer.trainable else nodes_of(layer, network)
    meaning = explained(parameters)
    return "\n".join([head(layer), *facts, *((f"\n*{meaning}*",) if meaning else ())])


def size_text(layer: Layer, network: Network) -> str:
    """Return the number of a layer's nodes, and where the number comes from."""
    if layer.auto:
        return auto_text(layer, network)
    if layer.shape is None:
        return "unknown: the size has a fault" if layer.item.size is not None else "no size given"
    return f"{node_product(layer.shape)}, declared"


def auto_text(layer: Layer, network: Network) -> str:
    """Return the number for `auto` and its source, or the facts that are missing."""
    computed = [bundle.geometry.output for bundle in layer.bundles if bundle.geometry is not None]
    if computed:
        return f"`auto` does not count what kernels give: write `{show(computed[0])}`"
    thing, fields, remedy = AUTO[layer.kind]
    nodes = nodes_of(layer, network)
    if nodes is None:
        return "unknown: another input is `auto`, too"
    if nodes.known is None:
        return f"`{nodes}`: `auto`, and the number is not known yet. {remedy}"
    origin = layer.origin or next(filter(None, map(network.context.origin.get, fields)), "")
    source = f"from `{origin}`" if origin else "from the context"
    if layer.kind == "input":
        left = "" if len(network.inputs) == 1 else " that the other inputs leave"
        return f"{nodes}, one for each feature{left}, {source}"
    return f"{counted(nodes.known, thing)}, {source}"


def feature_facts(layer: Layer, network: Network) -> list[str]:
    """Return which features of the data an input takes, where there are several inputs."""
    inputs = network.inputs
    if len(inputs) < 2:
        return []
    before = total(nodes_of(other, network) for other in inputs[: inputs.index(layer)])
    first = before.known if before is not None else None
    if first is None or layer.nodes is None:
        return []
    return [fact("Features", f"{first} to {first + layer.nodes - 1}, counted from 0")]


def activation_facts(layer: Layer) -> list[str]:
    """Return the activation in force, and whether it is written."""
    if layer.activation is None:
        return []
    default = ", the default" if layer.item.activation is None else ""
    text = f"`{layer.activation}`{default}: {activation_formula(layer.activation)}"
    return [fact("Activation", text)]


def cost_facts(layer: Layer, network: Network) -> list[str]:
    """Return a layer's parameters, multiply-adds and memory."""
    parameters = layer_parameters(layer, network)
    facts = [fact("Biases", bias_text(layer, network)), fact("Parameters", "none")]
    if parameters is None or parameters.known != 0:
        facts[1] = fact("Parameters", layer_equation(layer, network))
    costs = total(multiply_adds_of(bundle, network) for bundle in layer.bundles)
    if costs is not None and costs.known != 0:
        facts.append(fact("Multiply-adds", f"{costs} a sample"))
    if parameters is not None and parameters.known is not None and layer.nodes is not None:
        numbers = parameters.known + layer.nodes
        trained = f"{counted(parameters.known, 'parameter')} and " if parameters.known else ""
        words = f"{trained}{counted(layer.nodes, 'value')} in float32"
        facts.append(fact("Memory", f"{bytes_text(BYTES_PER_NUMBER * numbers)}: {words}"))
    return facts


def bias_text(layer: Layer, network: Network) -> str:
    """Return which biases a layer has."""
    if layer.has_biases:
        nodes = nodes_of(layer, network)
        given = ", given by `Biases`" if layer.biases_given is not None else ""
        return f"{'?' if nodes is None else nodes}, one a node{given}"
    if any(bundle.kind == "convolve" for bundle in layer.bundles):
        return "none of its own: a convolution has them in its kernels"
    if layer.only_summarises():
        return "none: pools and response norms have nothing to train"
    return "unknown: no connection of a known kind"


def size_markdown(layer: Layer, network: Network) -> str:
    """Return the description of a size that is written out."""
    return f"{head(layer)}\n{fact('Nodes', size_text(layer, network))}"


def auto_markdown(layer: Layer, network: Network) -> str:
    """Return the description of `auto` in the size of a layer."""
    nodes = nodes_of(layer, network) or Formula({})
    meaning = explained(nodes)
    return "\n".join(
        [
            f"{head(layer)}\n{fact('Nodes', auto_text(layer, network))}",
            *((f"\n*{meaning}*",) if meaning else ()),
            f"\n{KEYWORDS['auto'].meaning}\n\n*Net# guide: {KEYWORDS['auto'].section}*",
        ]
    )
