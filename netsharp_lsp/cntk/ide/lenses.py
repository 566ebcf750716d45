"""Lines above the builders of networks: what is built there, counted only where it is seen."""

from __future__ import annotations

from netsharp_lsp.cntk.ide.pages.node_pages import summary
from netsharp_lsp.ide.answers import Lens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.ide.answers import LensOptions


def lenses_of(edited: Edited, options: LensOptions) -> list[Lens]:
    """A lens without a title above each builder in the text, where a person wants them."""
    if not options.parameters:
        return []
    found = {}
    for experiment, built in edited.networks():
        if built.found is not None:
            place = built.found.entry.parts[0].key
            if edited.is_here(experiment, place.source.name):
                found[place.start] = Lens(place.start, place.end, key=built.command)
    return [found[start] for start in sorted(found)]


def lens_title(edited: Edited, key: str) -> str:
    """How many nodes and parameters the network of a command has; empty if there is none."""
    built = edited.main.network_of(key)
    return "" if built is None else summary(built)
