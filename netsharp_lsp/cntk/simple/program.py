"""The network of a SimpleNetworkBuilder block.  Knows no single option."""

from __future__ import annotations

from netsharp_lsp.cntk.networks.faults import BuildingFault, Outcome, Place
from netsharp_lsp.cntk.simple.construction import Construction, Unbuildable
from netsharp_lsp.cntk.simple.networks import NETWORKS
from netsharp_lsp.cntk.simple.settings import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.scope import Found, Scope


def evaluate_builder(found: Found, command_scope: Scope) -> Outcome:
    """Return the network that a block describes; none if an option is invalid or unknown."""
    inside = found.text.place(0, len(found.text))
    place = Place(inside.source.name, inside.start, inside.end)
    reader = Reader(command_scope.inside(found), place)
    settings = reader.settings()
    if settings is None:
        return Outcome(None, tuple(reader.faults))
    net = Construction(settings, place)
    try:
        NETWORKS[settings.kind](net)
        return Outcome(net.network(), tuple(reader.faults))
    except Unbuildable as reason:
        message = f"CNTK builds no network of 'rnnType = {settings.kind}' here: {reason}."
        return Outcome(None, (*reader.faults, BuildingFault("unbuildable", message, place)))
