"""Declares the size that a layer's kernels compute; a deliberate change."""

from __future__ import annotations

from netsharp_lsp.ide.answers import Action
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.reading.syntax import Attribute, Predicate
from netsharp_lsp.netsharp.repairs.proposals import shapes_of
from netsharp_lsp.netsharp.repairs.rewriting import resized

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.ide.refactorings.site import Site

KIND = "refactor.rewrite.shape"


def declared_shapes(site: Site) -> Iterator[Action]:
    """Yield the shapes that a layer could declare, unless it declares one of them."""
    layer = site.layer()
    inside = site.holding(Attribute) or site.holding(Predicate)
    if layer is None or inside is not None or layer.item.size is None:
        return
    kernels = [bundle for bundle in layer.bundles if bundle.geometry is not None]
    if len(kernels) != 1 or kernels[0].geometry is None:
        return
    if site.has_comment(*layer.size_place.offsets(site.network.specification)):
        return
    shapes = list(dict.fromkeys(shapes_of(kernels[0].geometry)))
    if layer.shape in shapes:
        return
    for shape in shapes:
        edits = tuple(site.edit(change) for change in resized(layer, shape))
        yield Action(f"Declare the computed shape {show(shape)}", KIND, edits)
