"""Binding a table to a specification whose sizes depend on data; changes no text."""

from __future__ import annotations

from netsharp_lsp.ide.answers import DOCUMENT, Action, Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.ide.refactorings.site import Site

KIND = "quickfix.bind"
BIND = "netsharp.server.bindData"
#: The kinds of layers whose number of nodes the data determines; for hidden ones a person chooses.
SIZED_BY_DATA = ("input", "output")


def bound_data(site: Site) -> Iterator[Action]:
    """Yield the action that writes a run file, at a layer of size `auto` with an unknown number."""
    layer = site.layer()
    if layer is None or not layer.auto or layer.nodes is not None:
        return
    if layer.kind in SIZED_BY_DATA:
        title = f"Bind a data file, which gives the size of '{layer.name}'"
        yield Action(title, KIND, command=Command(BIND, title, (DOCUMENT,)))
