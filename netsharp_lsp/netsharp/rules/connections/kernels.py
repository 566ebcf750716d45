"""Rules on kernels that are valid and yet seldom meant: idle sharing, copies, lone maps."""

from __future__ import annotations

from netsharp_engine.geometry import product
from netsharp_lsp.netsharp.arithmetic import counted, factors, kernel_weights
from netsharp_lsp.netsharp.findings import Change, Finding, Note, RelativeSpan, Repair
from netsharp_lsp.netsharp.meaning.values.attributes import CONVOLVE, KERNEL_KINDS, NORM, POOLS
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.repairs.restructuring import removed, removed_item
from netsharp_lsp.netsharp.repairs.rewriting import changed_entry, resized
from netsharp_lsp.netsharp.rules import BUNDLE, LAYER, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle, Geometry, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

#: The parameters from which on an unshared convolution is worth a warning.
MANY_WEIGHTS = 10_000


@rule("NS078", "hint", on=BUNDLE, kinds=KERNEL_KINDS)
def idle_sharing(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report sharing switched off in a dimension with one position."""
    geometry = bundle.geometry
    if geometry is None or bundle.kind != CONVOLVE or "Sharing" not in bundle.given:
        return
    if not isinstance(bundle.given["Sharing"].value, tuple):
        return
    for dimension, (axis, shared) in enumerate(zip(geometry.axes, geometry.sharing, strict=True)):
        if not shared and axis.count == 1:
            message = (
                f"Sharing[{dimension}] has no effect: there is one position "
                f"in dimension {dimension}."
            )
            change = changed_entry(bundle, "Sharing", dimension, True)
            repair = Repair("Replace by true", [change], safe=True)
            place = bundle.entry_place("Sharing", dimension)
            yield Finding("NS078", place, message, repair=repair)


@rule("NS087", "warning", on=LAYER)
def activation_on_top(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report a written activation on a layer that pools or normalises, alone or beside others."""
    written = layer.item.activation
    if layer.kind != "hidden" or written is None or layer.activation in (None, "linear"):
        return
    summaries = [b for b in layer.bundles if b.kind in (*POOLS, NORM)]
    if not summaries:
        return
    place = RelativeSpan.of(layer.declaration, written)
    if layer.only_summarises():
        message = (
            f"Layer '{layer.name}' only pools or normalises; "
            f"activation '{layer.activation}' is applied on top."
        )
        cut = removed(layer.declaration, written.start, written.end)
        repair = Repair(f"Remove '{written.text}'", [cut], safe=False)
        yield Finding("NS087", place, message, repair=repair)
        return
    message = (
        f"Layer '{layer.name}' adds a {summaries[0].kind} to trained connections; "
        f"activation '{layer.activation}' is applied on top of the sum."
    )
    yield Finding("NS087", place, message, [Note("It is added here.", summaries[0].place)])


@rule("NS112", "warning", on=BUNDLE, kinds=KERNEL_KINDS)
def unshared_convolution(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a convolution with kernels of their own at very many positions."""
    geometry = bundle.geometry
    if geometry is None or bundle.kind != CONVOLVE or "Sharing" not in bundle.given:
        return
    weights = geometry.kernels * geometry.weights_per_kernel
    if weights <= MANY_WEIGHTS or not any(unshared_positions(geometry)):
        return
    message = f"Unshared convolution: {geometry.kernels} kernels, {weights} weights."
    place = bundle.value_place("Sharing")
    shared = product(geometry.maps)
    notes = [
        Note(f"{kernel_weights(geometry)}.", place),
        Note(f"With Sharing = true: {counted(shared, 'kernel')}.", place),
    ]
    repair = Repair("Set Sharing = true", [Change(place, "true")], safe=False)
    yield Finding("NS112", place, message, notes, repair)


def unshared_positions(geometry: Geometry) -> Iterator[bool]:
    """Yield for each dimension whether it is unshared; maps taken one by one are meant to be."""
    for dimension, (axis, shared) in enumerate(zip(geometry.axes, geometry.sharing, strict=True)):
        by_map = dimension == 0 and len(geometry.axes) > 2 and axis.kernel == 1
        yield not shared and axis.count > 1 and not by_map


@rule("NS121", "hint", on=BUNDLE, kinds=KERNEL_KINDS)
def lone_maps(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report one shared kernel that reads each source map alone."""
    geometry = bundle.geometry
    if geometry is None or bundle.kind != CONVOLVE or len(geometry.axes) < 3:
        return
    axis = geometry.axes[0]
    if axis.kernel > 1 or axis.size == 1 or axis.stride > 1 or not geometry.sharing[0]:
        return
    message = (
        "KernelShape[0] = 1 applies one kernel to each source map alone; "
        f"for a mix of maps use KernelShape[0] = {axis.size}."
    )
    changes = [changed_entry(bundle, "KernelShape", 0, axis.size)]
    if bundle.layer.shape == geometry.output and not axis.padding:
        changes += resized(bundle.layer, (geometry.maps[0], *geometry.output[1:]))
    repair = Repair(f"Set KernelShape[0] = {axis.size}", changes, safe=False)
    yield Finding("NS121", bundle.entry_place("KernelShape", 0), message, repair=repair)


@rule("NS113", "hint", on=BUNDLE, kinds=KERNEL_KINDS)
def copying_pool(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a pool of one cell, which copies its input."""
    geometry = bundle.geometry
    if geometry is None or bundle.kind not in POOLS:
        return
    if all(axis.kernel == 1 for axis in geometry.axes):
        message = "This pool copies its input (kernel of one cell)."
        place = bundle.value_place("KernelShape")
        yield Finding("NS113", place, message, repair=bypass(bundle, network))


def bypass(bundle: Bundle, network: Network) -> Repair | None:
    """Remove a layer that only copies, where everything that reads it may read its source."""
    layer, source = bundle.layer, bundle.source
    if source is None or source.shape != layer.shape or layer.kind != "hidden":
        return None
    if len(layer.bundles) > 1 or layer.activation != "linear" or not layer.first:
        return None
    if network.is_shared(layer.name):
        return None
    readers = network.readers(layer)
    if any(b.source is source for reader in readers for b in reader.layer.bundles):
        return None
    changes = [removed_item(layer.declaration, layer.item)]
    changes += [Change(reader.source_place, source.name) for reader in readers]
    return Repair(f"Remove '{layer.name}' and read '{source.name}'", changes, safe=False)


@rule("NS118", "hint", on=LAYER, first_only=True)
def one_layer_not_several(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report the first hidden layer of several dimensions that nothing uses as such."""
    if layer.kind != "hidden" or layer.shape is None or len(layer.shape) < 2:
        return
    if not layer.bundles or any(bundle.kind != "all" for bundle in layer.bundles):
        return
    if any(bundle.kind != "all" for bundle in network.reads_of(layer)):
        return
    number = {2: "two", 3: "three", 4: "four"}.get(len(layer.shape), str(len(layer.shape)))
    message = (
        f"Did you expect {show(layer.shape)} to be {number} layers? It is one layer of "
        f"{factors(layer.shape)} = {layer.nodes} nodes."
    )
    yield Finding("NS118", layer.size_place, message)
