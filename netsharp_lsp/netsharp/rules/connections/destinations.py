"""Rules on layers fed by kernels: the size they declare and the source cells they leave out."""

from __future__ import annotations

from netsharp_engine.geometry import product
from netsharp_lsp.netsharp.arithmetic import counted, factors, outputs
from netsharp_lsp.netsharp.findings import Change, Finding, Note, RelativeSpan, Repair
from netsharp_lsp.netsharp.meaning.values.attributes import KERNEL_KINDS
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.reading.syntax import Tuple
from netsharp_lsp.netsharp.repairs.proposals import (
    filled_to_the_end,
    padded_throughout,
    shapes_of,
    unrolled_shapes,
)
from netsharp_lsp.netsharp.repairs.readings import agreement, with_figures
from netsharp_lsp.netsharp.repairs.rewriting import added_attributes, resized
from netsharp_lsp.netsharp.rules import BUNDLE, LAYER, rule
from netsharp_lsp.netsharp.rules.connections.geometry import PADS, is_reordered, source_fits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle, Geometry, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value


@rule("NS074", "error", on=BUNDLE, kinds=KERNEL_KINDS)
def nodes_disagree(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a layer whose declared size is not what its kernels give."""
    geometry, layer = bundle.geometry, bundle.layer
    if geometry is None or layer.shape is None or layer.auto or not source_fits(bundle):
        return
    computed = product(geometry.output)
    if layer.nodes == computed:
        return
    meaning = "maps x positions" if any(maps > 1 for maps in geometry.maps) else "positions"
    message = (
        f"Layer '{layer.name}' declares {counted(layer.nodes or 0, 'node')}; this connection gives "
        f"{computed} ({show(geometry.output)} = {meaning})."
    )
    shape = nearest_shape(geometry, layer.shape)
    repair = as_one_number(bundle)
    if repair is None:
        repair = Repair(f"Declare {show(shape)}", resized(layer, shape), safe=False)
    notes = [*working(bundle, geometry), *with_pads(bundle, geometry)]
    yield Finding("NS074", wrong_size(layer, shape), message, notes, repair)


def as_one_number(bundle: Bundle) -> Repair | None:
    """Write a tuple MapCount as one number where that gives the declared shape."""
    maps = bundle.map_count or ()
    if len(maps) < 2 or len(set(maps)) > 1 or "MapCount" not in bundle.given:
        return None
    geometry = with_figures(bundle, {"MapCount": (maps[0], *(1,) * (len(maps) - 1))})
    if agreement(bundle, geometry) < 2:
        return None
    change = Change(bundle.value_place("MapCount"), show(maps[0]))
    return Repair(f"Use MapCount = {show(maps[0])}", [change], safe=False)


def working(bundle: Bundle, geometry: Geometry) -> list[Note]:
    """Return the arithmetic of a bundle's size, dimension by dimension."""
    notes = [Note(text, bundle.entry_place("KernelShape", d)) for d, text in outputs(geometry)]
    total = f"{factors(geometry.output)} = {product(geometry.output)}"
    if len(geometry.output) > 1:
        notes.append(Note(f"Together {total} nodes.", bundle.place))
    return notes


def with_pads(bundle: Bundle, geometry: Geometry) -> Iterator[Note]:
    """Yield the effect of padding on an unpadded kernel, where that gives the declared size."""
    if pads_given(bundle):
        return
    filled = filled_to_the_end(geometry)
    for padded in (filled, padded_throughout(geometry)):
        if padded is not None and product(padded.output) == bundle.layer.nodes:
            words = ", ".join(f"{n} = {show(v)}" for n, v in pads_of(padded)) or "Padding = true"
            yield Note(f"With {words} it gives {show(padded.output)}.", bundle.place)
            return


def pads_given(bundle: Bundle) -> bool:
    """Return whether a bundle specifies any padding."""
    return any(name in bundle.given for name in ("Padding", *PADS))


def pads_of(geometry: Geometry) -> list[tuple[str, Value]]:
    """Return the explicit pads of a geometry as attributes, without those of zeros."""
    lower = tuple(axis.lower for axis in geometry.axes)
    upper = tuple(axis.upper for axis in geometry.axes)
    return [(name, pads) for name, pads in zip(PADS, (lower, upper), strict=True) if any(pads)]


def nearest_shape(geometry: Geometry, declared: tuple[int, ...]) -> tuple[int, ...]:
    """Return the computed shape in the form that the declaration has: maps apart or not."""
    fitting = [shape for shape in shapes_of(geometry) if len(shape) == len(declared)]
    if fitting:
        return fitting[0]
    return (product(geometry.output),) if len(declared) == 1 else geometry.output


def wrong_size(layer: Layer, shape: tuple[int, ...]) -> RelativeSpan:
    """Return the one dimension that differs, else the whole size."""
    size, old = layer.item.size, layer.shape or ()
    if isinstance(size, Tuple) and len(old) == len(shape) == len(size.items):
        wrong = [item for item, a, b in zip(size.items, old, shape, strict=True) if a != b]
        if len(wrong) == 1:
            return RelativeSpan.of(layer.declaration, wrong[0])
    return layer.size_place


@rule("NS075", "info", on=BUNDLE, kinds=KERNEL_KINDS)
def shape_differs(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a declared shape of the right number of nodes that is not the computed one."""
    geometry, layer = bundle.geometry, bundle.layer
    if geometry is None or layer.shape is None or layer.auto or layer.shape == geometry.output:
        return
    if layer.nodes != product(geometry.output) or layer.shape in unrolled_shapes(geometry):
        return
    if not source_fits(bundle) or is_reordered(bundle):
        return
    message = (
        f"Declared shape {show(layer.shape)} differs from the computed {show(geometry.output)}; "
        "the layout is the same."
    )
    repair = Repair(f"Declare {show(geometry.output)}", resized(layer, geometry.output), safe=False)
    yield Finding("NS075", layer.size_place, message, working(bundle, geometry), repair)


@rule("NS077", "info", on=BUNDLE, kinds=KERNEL_KINDS)
def unread_cells(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report cells at the ends of the source that no kernel reads."""
    geometry = bundle.geometry
    if geometry is None or not source_fits(bundle):
        return
    for dimension, axis in enumerate(geometry.axes):
        lower, upper = axis.unread()
        if not (lower or upper):
            continue
        name = "Stride" if "Stride" in bundle.given else "KernelShape"
        covered = f"{counted(axis.count, 'kernel')} of {axis.kernel} with stride {axis.stride}"
        place = bundle.entry_place(name, dimension)
        note = Note(f"{covered} cover {axis.covered} of {axis.size} cells.", place)
        repair = padded_to_the_end(bundle, geometry, network)
        yield Finding("NS077", place, unread_message(lower, upper, dimension), [note], repair)


def unread_message(lower: int, upper: int, dimension: int) -> str:
    """Return the number of cells that are never read, and at which ends."""
    ends = [
        f"{counted(number, 'cell')} at the {end} end"
        for number, end in ((lower, "lower"), (upper, "upper"))
        if number
    ]
    verb = "is" if lower + upper == 1 else "are"
    return f"{' and '.join(ends)} of dimension {dimension} {verb} never read."


def padded_to_the_end(bundle: Bundle, geometry: Geometry, network: Network) -> Repair | None:
    """Add one more kernel wherever cells are never read; None where pads are already chosen."""
    layer, filled = bundle.layer, filled_to_the_end(geometry)
    if pads_given(bundle) or filled is None or layer.auto or layer.shape is None:
        return None
    changes = added_attributes(bundle, pads_of(filled), network)
    if layer.nodes != product(filled.output):
        if layer.shape not in shapes_of(geometry):
            return None
        form = shapes_of(geometry).index(layer.shape)
        changes += resized(layer, shapes_of(filled)[form])
    words = " and ".join(f"{name} = {show(pads)}" for name, pads in pads_of(filled))
    return Repair(f"Add {words}, so that one more kernel reads them", changes, safe=False)


@rule("NS085", "error", on=LAYER)
def auto_destination(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report an `auto` layer whose size its kernels determine."""
    kernels = [bundle for bundle in layer.bundles if bundle.kind in KERNEL_KINDS]
    if not layer.auto or not kernels:
        return
    message = "A convolution, pool or norm destination cannot be auto"
    known = [bundle for bundle in kernels if bundle.geometry is not None and source_fits(bundle)]
    if not known or known[0].geometry is None:
        yield Finding("NS085", layer.size_place, f"{message}.")
        return
    geometry = known[0].geometry
    flat = len(geometry.axes) < 3 and geometry.maps[0] > 1 and geometry.axes[0].count > 1
    shape = unrolled_shapes(geometry)[0] if flat else geometry.output
    alike = len(known) == len(kernels) and all(
        one.geometry is not None and product(one.geometry.output) == product(shape) for one in known
    )
    repair = Repair(f"Declare {show(shape)}", [Change(layer.size_place, show(shape))], safe=alike)
    yield Finding(
        "NS085",
        layer.size_place,
        f"{message}: this one has {show(shape)}.",
        working(known[0], geometry),
        repair,
    )


@rule("NS086", "warning", on=BUNDLE, kinds=KERNEL_KINDS)
def unknown_source(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a kernel over a source whose size is known only from data."""
    source = bundle.source
    if source is None or not source.auto or source.shape is not None:
        return
    if bundle.input_shape is None or min(bundle.input_shape) < 1:
        return
    message = f"Source '{source.name}' is auto: InputShape can be checked only with data."
    nodes = product(bundle.input_shape)
    note = Note(f"InputShape {show(bundle.input_shape)} needs {nodes} nodes.", source.size_place)
    yield Finding("NS086", bundle.source_place, message, [note])
