"""Rules on response norms: their constants, and the neighbourhoods they compare."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Finding, Note, Repair
from netsharp_lsp.netsharp.meaning.values.attributes import KERNEL_KINDS, NORM
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.repairs.rewriting import added_attribute, changed_entry, resized
from netsharp_lsp.netsharp.rules import BUNDLE, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle, Geometry
    from netsharp_lsp.netsharp.meaning.network import Network

#: The range in which an attribute of a response norm is of use.
USEFUL = {"Alpha": "Alpha >= 0", "Beta": "Beta > 0", "Offset": "Offset > 0"}


@rule("NS120", "warning", on=BUNDLE, kinds=KERNEL_KINDS)
def useless_constant(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report Alpha, Beta or Offset of a response norm outside the range in which it normalises."""
    if bundle.kind != NORM:
        return
    for name, useful in USEFUL.items():
        given = bundle.given.get(name)
        if given is None or not isinstance(given.value, int | float):
            continue
        if given.value < 0 or (given.value == 0 and name != "Alpha"):
            message = f"{name} = {show(given.value)} is outside the useful range ({useful})."
            yield Finding("NS120", bundle.value_place(name), message)


@rule("NS079", "warning", on=BUNDLE, kinds=KERNEL_KINDS)
def neither_kind(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a norm over maps and positions at once, or over one cell; a plane has no maps."""
    kernel = bundle.kernel_shape
    if bundle.kind != NORM or bundle.geometry is None or kernel is None:
        return
    if max(kernel) > 1 and (len(kernel) < 3 or same_map(kernel) or across_maps(kernel)):
        return
    reason = "it compares each node only with itself"
    if max(kernel) > 1:
        reason = "it mixes several maps with several positions"
    message = f"This response norm is neither same-map nor across-map: {reason}."
    hint = "Same map: [1, 3, 3]; across maps: [3, 1, 1]."
    place = bundle.value_place("KernelShape")
    yield Finding("NS079", place, message, [Note(hint, place)])


def same_map(kernel: tuple[int, ...]) -> bool:
    """Return whether a norm compares positions of one map."""
    return kernel[0] == 1 and max(kernel) > 1


def across_maps(kernel: tuple[int, ...]) -> bool:
    """Return whether a norm compares one position in several maps."""
    return kernel[0] > 1 and max((1, *kernel[1:])) == 1


@rule("NS080", "warning", on=BUNDLE, kinds=KERNEL_KINDS)
def dropped_maps(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report an across-map norm that loses the maps at both ends for want of padding."""
    geometry, kernel = bundle.geometry, bundle.kernel_shape
    if bundle.kind != NORM or geometry is None or kernel is None or not across_maps(kernel):
        return
    axis = geometry.axes[0]
    if len(kernel) < 2 or axis.stride > 1 or axis.count >= axis.size:
        return
    message = (
        f"Across-map normalisation without padding drops maps: {axis.size} become {axis.count}."
    )
    changes = padded(bundle, geometry, network)
    repair = None
    if changes:
        repair = Repair("Set Padding = true", changes, safe=False)
    yield Finding("NS080", bundle.entry_place("KernelShape", 0), message, repair=repair)


def padded(bundle: Bundle, geometry: Geometry, network: Network) -> list[Change]:
    """Pad a norm and declare the size that this gives; nothing where explicit pads are given."""
    if "LowerPad" in bundle.given or "UpperPad" in bundle.given:
        return []
    if "Padding" not in bundle.given:
        change = added_attribute(bundle, "Padding", True, network)
    elif isinstance(bundle.given["Padding"].value, tuple):
        change = changed_entry(bundle, "Padding", 0, True)
    else:
        change = Change(bundle.value_place("Padding"), "true")
    if bundle.layer.nodes is None or bundle.layer.shape != geometry.output:
        return [change]
    return [change, *resized(bundle.layer, (geometry.axes[0].size, *geometry.output[1:]))]
