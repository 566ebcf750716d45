"""Declares the layer that a connection names and no declaration has; a deliberate change."""

from __future__ import annotations

from netsharp_lsp.ide.answers import Action
from netsharp_lsp.netsharp.ide.rename import name_fault
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.reading.syntax import BundleItem
from netsharp_lsp.text.edits import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.ide.refactorings.site import Site
    from netsharp_lsp.netsharp.meaning.model import Layer

KIND = "quickfix.layer"
#: Nodes of a hidden layer where nothing suggests another number; the guide's own.
NODES = (100,)


def missing_layers(site: Site) -> Iterator[Action]:
    """Yield a hidden layer fed by the one before, or an input layer, before the declaration."""
    bundle, named = site.holding(BundleItem), site.node_path.name
    if bundle is None or named is None or named is not bundle.source:
        return
    name = named.text
    known = name in site.network.layers or name in site.network.constants
    if known or not name or name_fault(name):
        return
    shape = _wanted_shape(site)
    before = _layer_before(site)
    if before is not None:
        size = show(shape or NODES)
        yield _declared(site, "hidden layer", f"hidden {name} {size} from {before.name} all;")
    free = not any(layer.auto for layer in site.network.inputs)
    size = show(shape) if shape else "auto" if free else show((1,))
    yield _declared(site, "input layer", f"input {name} {size};")


def _declared(site: Site, what: str, line: str) -> Action:
    base = site.node_path.base
    name = site.holding(BundleItem).source
    at, apart = site.above(base)
    title = f"Declare the {what} '{name.text}'"
    return Action(
        title,
        KIND,
        (Edit(at, at, line + apart),),
        fixes=(("NS035", *site.span(name)),),
    )


def _wanted_shape(site: Site) -> tuple[int, ...] | None:
    """Return the shape that a kernel requires of its source."""
    bundle = site.bundle()
    return None if bundle is None else bundle.input_shape


def _layer_before(site: Site) -> Layer | None:
    """Return the last layer declared above that may feed another."""
    declaration = site.declaration
    found = None
    for layer in site.network.all_layers:
        if layer.declaration is declaration:
            break
        if layer.first and layer.name and layer.kind != "output":
            found = layer
    return found
