"""Code lenses above commands, which run them, and above builders: the size of the network, computed
when the lens is shown.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ide.pages.node_pages import summary
from netsharp_lsp.cntk.ide.runs import run_lenses
from netsharp_lsp.ide.answers import Lens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.ide.answers import LensOptions


def lenses_of(edited: Edited, options: LensOptions) -> list[Lens]:
    """Return lenses that run commands, and one without a title above each builder where wanted."""
    runs = list(run_lenses(edited)) if options.runs else []
    if not options.parameters:
        return runs
    found = {}
    for experiment, built in edited.networks():
        if built.found is not None:
            place = built.found.entry.parts[0].key
            if edited.is_here(experiment, place.source.name):
                found[place.start] = Lens(place.start, place.end, key=built.command)
    return sorted([*runs, *found.values()], key=lambda lens: lens.start)


def lens_title(edited: Edited, key: str) -> str:
    """Return the numbers of nodes and parameters of a command's network; empty if there is none."""
    built = edited.main.network_of(key)
    return "" if built is None else summary(built)
