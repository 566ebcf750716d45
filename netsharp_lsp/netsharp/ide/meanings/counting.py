"""The arithmetic of the counts of layers and bundles, as short equations in plain text."""

from __future__ import annotations

from netsharp_lsp.netsharp.arithmetic import factors
from netsharp_lsp.netsharp.ide.meanings.formulas import (
    MEANINGS,
    Formula,
    biases_of,
    connections_of,
    layer_parameters,
    nodes_of,
    parameters_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

#: From here on a count is rounded where there is little room.
ROUNDED_FROM = 1_000_000
MAGNITUDES = (("T", 10**12), ("G", 10**9), ("M", 10**6))


def counted(number: int, thing: str) -> str:
    """Return a count with its noun: `1 bias`, `1,010 biases`."""
    plural = f"{thing}es" if thing.endswith("s") else f"{thing}s"
    return f"{number:,} {thing if number == 1 else plural}"


def rounded(number: int) -> str:
    """Return a count in few characters: `1,300`, `1.23 M`."""
    if number < ROUNDED_FROM:
        return f"{number:,}"
    nearest = int(float(f"{number:.3g}"))
    letter, size = next(pair for pair in MAGNITUDES if nearest >= pair[1])
    return f"{nearest / size:,g} {letter}"


def equation(term: str, result: Formula | None) -> str:
    """Return `term = result`; the result alone where the term adds nothing."""
    if result is None:
        return term if term.endswith("?") else f"{term} = ?"
    text = str(result)
    return text if term in (text, "") else f"{term} = {text}"


def node_product(shape: tuple[int, ...]) -> str:
    """Return the nodes of a shape: `5 x 13 x 13 = 845`."""
    nodes = Formula.number(1)
    for size in shape:
        nodes *= Formula.number(size)
    return equation(factors(shape) if len(shape) > 1 else "", nodes)


def size_text(layer: Layer | None, network: Network) -> str:
    """Return the nodes of a layer as a factor; a question mark where they are unknown."""
    nodes = nodes_of(layer, network) if layer is not None else None
    return "?" if nodes is None else nodes.factor()


def bundle_term(bundle: Bundle, network: Network) -> str:
    """Return the parameters of a bundle as a product; empty for none."""
    if bundle.kind == "all":
        return f"{size_text(bundle.source, network)} x {size_text(bundle.layer, network)}"
    if bundle.kind == "where":
        edges = connections_of(bundle, network)
        known = edges.known if edges is not None else None
        return "? edges" if known is None else counted(known, "edge")
    geometry = bundle.geometry
    if bundle.kind == "convolve" and geometry is not None:
        cells = factors(tuple(axis.kernel for axis in geometry.axes))
        return f"{counted(geometry.kernels, 'kernel')} x ({cells} + 1 bias)"
    return "?" if bundle.kind in ("convolve", None) else ""


def bundle_equation(bundle: Bundle, network: Network) -> str:
    """Return the parameters of a bundle with their arithmetic."""
    term = bundle_term(bundle, network)
    return term if bundle.kind == "where" else equation(term, parameters_of(bundle, network))


def layer_equation(layer: Layer, network: Network) -> str:
    """Return the parameters of a layer with their arithmetic: `841 x 10 + 10 biases = 8,420`."""
    terms = [term for bundle in layer.bundles if (term := bundle_term(bundle, network))]
    biases = biases_of(layer, network)
    if layer.has_biases:
        known = biases.known if biases is not None else None
        words = f"{biases.factor() if biases is not None else '?'} biases"
        terms.append(words if known is None else counted(known, "bias"))
    return equation(" + ".join(terms), layer_parameters(layer, network))


def explained(formula: Formula | None) -> str:
    """Return the meanings of the symbols of a formula; empty where it has none."""
    if formula is None:
        return ""
    return ", ".join(f"{name} is {MEANINGS[name]}" for name in formula.symbols())
