"""The actions on a range: fixes, explanations, refactorings. One row for each provider."""

from __future__ import annotations

from netsharp_lsp.ide.quickfixes import QUICK_FIX, wanted
from netsharp_lsp.netsharp.ide.quickfixes import quick_fixes
from netsharp_lsp.netsharp.ide.refactorings import (
    bindings,
    bodies,
    conventions,
    extraction,
    inlining,
    missing_layers,
    pads,
    shapes,
    shares,
)
from netsharp_lsp.netsharp.ide.refactorings.settling import settled
from netsharp_lsp.netsharp.ide.refactorings.site import site_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from netsharp_lsp.diagnostics.model import Result
    from netsharp_lsp.ide.answers import Action
    from netsharp_lsp.netsharp.ide.refactorings.site import Site
    from netsharp_lsp.netsharp.meaning.network import Network

#: The kind of what each refactoring offers, and the function that offers it at a site.
REFACTORINGS: tuple[tuple[str, Callable[[Site], Iterator[Action]]], ...] = (
    (bindings.KIND, bindings.bound_data),
    (missing_layers.KIND, missing_layers.missing_layers),
    (extraction.KIND, extraction.extracted_constants),
    (inlining.KIND, inlining.inlined_constants),
    (bodies.KIND, bodies.rewritten_bodies),
    (shares.KIND, shares.rewritten_shares),
    (shapes.KIND, shapes.declared_shapes),
    (pads.KIND, pads.rewritten_pads),
    (conventions.KIND, conventions.conventional_names),
)


def actions_in(
    network: Network,
    check: Callable[[], Result],
    start: int,
    end: int,
    only: Sequence[str] | None,
) -> list[Action]:
    """Return the actions on a range; `only` are the requested kinds, with those below them.

    ``check`` is called only where a diagnostic may be fixed.

    Fixing a whole text is not an action of a range, and depends on settings: it is up to the
    server.
    """
    found: list[Action] = []
    if wanted(QUICK_FIX, only):
        found += quick_fixes(network, check(), start, end)
    kinds = [row for row in REFACTORINGS if wanted(row[0], only)]
    site = site_at(network, start, end) if kinds else None
    if site is not None:
        for _, offers in kinds:
            found += (settled(action, network.specification) for action in offers(site))
    return found
