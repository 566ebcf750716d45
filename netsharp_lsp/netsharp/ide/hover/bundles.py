"""The description of a connection: its kind, its kernels by dimension, its costs."""

from __future__ import annotations

from netsharp_engine.geometry import product
from netsharp_lsp.netsharp.arithmetic import factors, positions
from netsharp_lsp.netsharp.findings import RelativeSpan
from netsharp_lsp.netsharp.ide.hover.layers import fact
from netsharp_lsp.netsharp.ide.meanings.counting import (
    bundle_equation,
    counted,
    explained,
    node_product,
)
from netsharp_lsp.netsharp.ide.meanings.formulas import connections_of, nodes_of, parameters_of
from netsharp_lsp.netsharp.ide.meanings.glossary import KEYWORDS
from netsharp_lsp.netsharp.ide.meanings.sharing import bundle_sharing
from netsharp_lsp.netsharp.meaning.counts.predicates import count_edges
from netsharp_lsp.netsharp.meaning.values.evaluate import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_engine.geometry import Axis
    from netsharp_lsp.netsharp.meaning.model import Bundle, Geometry, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

COLUMNS = ("dimension", "input", "pad before", "pad after", "kernel", "stride", "positions")
#: A longer condition is not shown, in bytes.
LONGEST = 120


def bundle_markdown(bundle: Bundle, network: Network) -> str:
    """Return the description of a connection."""
    kind = bundle.kind or "?"
    geometry = bundle.geometry
    lines = list(facts(bundle, network))
    if geometry is not None:
        lines += geometry_facts(bundle, geometry)
    elif bundle.has_kernel:
        lines.append(fact("Geometry", "unknown: an attribute is missing or at fault"))
    parts = [f"```netsharp\n{head(bundle, network)}\n```\n" + "\n".join(lines)]
    if geometry is not None:
        parts.append(table(geometry))
    meaning = explained(parameters_of(bundle, network))
    if meaning:
        parts.append(f"*{meaning}*")
    entry = KEYWORDS.get(kind) or KEYWORDS["from"]
    parts.append(f"{entry.meaning}\n\n*Net# guide: {entry.section}*")
    return "\n\n".join(parts)


def head(bundle: Bundle, network: Network) -> str:
    """Return a connection as it is written, less its attributes; a long condition is left out."""
    kind = bundle.kind or "?"
    predicate = bundle.item.predicate
    if predicate is not None and predicate.end - predicate.start <= LONGEST:
        kind = " ".join(network.text(RelativeSpan.of(bundle.declaration, predicate)).split())
    return f"from {bundle.source_name or '?'} {kind}"


def facts(bundle: Bundle, network: Network) -> Iterator[str]:
    """Yield ends, weights and edges of a connection."""
    source, layer = bundle.source, bundle.layer
    ends = f"`{layer.name}` ({nodes_text(layer, network)})"
    if source is not None:
        yield fact("Joins", f"`{source.name}` ({nodes_text(source, network)}) to {ends}")
    else:
        yield fact("Joins", f"a layer that does not exist to {ends}")
    if bundle.kind == "where":
        yield from edge_facts(bundle, network)
    parameters = parameters_of(bundle, network)
    if parameters is not None and parameters.known == 0:
        yield fact("Parameters", "none")
    elif bundle.kind is not None and (bundle.geometry is not None or not bundle.has_kernel):
        yield fact("Parameters", bundle_equation(bundle, network))
    connections = connections_of(bundle, network)
    if connections is not None and bundle.has_kernel:
        yield fact("Connections", f"{connections} from cells that exist")
    for text in bundle_sharing(bundle, network):
        yield fact("Shared", text)


def nodes_text(layer: Layer, network: Network) -> str:
    """Return the nodes of a layer in words."""
    nodes = nodes_of(layer, network)
    return f"{'?' if nodes is None else nodes} nodes"


def edge_facts(bundle: Bundle, network: Network) -> Iterator[str]:
    """Yield the number of pairs that a condition connects."""
    edges = count_edges(bundle, network)
    if edges is None or not edges.sound:
        return
    pairs = product(edges.source) * product(edges.destination)
    if edges.count is None:
        yield fact("Edges", f"not counted here: {pairs:,} pairs; `netsharp describe` counts them")
        return
    share = 100 * edges.count / pairs
    yield fact("Edges", f"{edges.count:,} of {pairs:,} pairs ({share:.3g} %)")
    mean = edges.count / product(edges.destination)
    yield fact("Sources", f"{mean:,.4g} a node on average")


def table(geometry: Geometry) -> str:
    """Return the positions of the kernels, one row per dimension."""
    rows = [COLUMNS, ("--:",) * len(COLUMNS)]
    for dimension, axis in enumerate(geometry.axes):
        before, after = pads(axis)
        figures = (dimension, axis.size, before, after, axis.kernel, axis.stride)
        rows.append((*(str(figure) for figure in figures), positions(axis)))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def pads(axis: Axis) -> tuple[int, int]:
    """Return the cells outside the source under the first and the last kernel."""
    return max(0, -axis.first), max(0, axis.first + axis.covered - axis.size)


def geometry_facts(bundle: Bundle, geometry: Geometry) -> Iterator[str]:
    """Yield arity, kernels and output of a connection with kernels."""
    arity = len(geometry.axes)
    yield fact("Arity", f"{arity}, the length of `InputShape`")
    if bundle.kind == "convolve":
        yield fact("Kernels", kernel_text(geometry))
        cells = factors(tuple(axis.kernel for axis in geometry.axes))
        yield fact("Weights per kernel", f"{cells} + 1 bias = {geometry.weights_per_kernel:,}")
    yield fact("Output", output_text(bundle, geometry))
    yield from unread_facts(geometry)
    if bundle.kind == "response norm":
        yield fact("Formula", norm_formula(bundle))
        yield fact("Neighbourhood", neighbourhood(geometry))
    elif bundle.kind != "convolve":
        overlap = any(axis.stride < axis.kernel for axis in geometry.axes)
        yield fact("Kernels", "overlap" if overlap else "do not overlap: a local pool")


def kernel_text(geometry: Geometry) -> str:
    """Return the number of kernels and why: `10 maps x 5 unshared positions = 50`."""
    maps = counted(product(geometry.maps), "map")
    apart = [
        f"{axis.count} positions (dimension {dimension} is not shared)"
        for dimension, (axis, shared) in enumerate(
            zip(geometry.axes, geometry.sharing, strict=True)
        )
        if not shared
    ]
    return (
        " x ".join((maps, *apart)) + f" = {geometry.kernels:,}"
        if apart
        else f"{maps}, one kernel each"
    )


def output_text(bundle: Bundle, geometry: Geometry) -> str:
    """Return the computed shape, and the declared one where it has another form."""
    text = f"`{show(geometry.output)}`: {node_product(geometry.output)} nodes"
    if any(maps > 1 for maps in geometry.maps):
        text += " (maps x positions in each dimension)"
    shape = bundle.layer.shape
    if shape is not None and shape != geometry.output:
        text += f"; declared as `{show(shape)}`"
    return text


def unread_facts(geometry: Geometry) -> Iterator[str]:
    """Yield the cells that no kernel reads."""
    for dimension, axis in enumerate(geometry.axes):
        before, after = axis.unread()
        if before or after:
            ends = f"{counted(before, 'cell')} before, {counted(after, 'cell')} after"
            yield fact("Never read", f"{ends} in dimension {dimension}")


def norm_formula(bundle: Bundle) -> str:
    """Return a response norm with its figures in force."""
    alpha, beta, offset = (
        f"{bundle.scalar(name, default):g}" if name in bundle.given or default else name
        for name, default in (("Alpha", 0.0), ("Beta", 0.0), ("Offset", 1.0))
    )
    return f"`y = x * ({offset} + {alpha} / N * sum of squares)^-{beta}`, N cells in the kernel"


def neighbourhood(geometry: Geometry) -> str:
    """Return which neighbours count: of the same map, of other maps, or both."""
    first, *others = (axis.kernel for axis in geometry.axes)
    if first == 1:
        return "same map: the kernel covers one map"
    if all(kernel == 1 for kernel in others):
        return f"across maps: {first} maps at the same position"
    return "neither same map nor across maps"
