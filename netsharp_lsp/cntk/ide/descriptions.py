"""What functions and kinds of nodes do, in Markdown, by their names."""

from __future__ import annotations

from netsharp_lsp.cntk.library.documentation import of
from netsharp_lsp.cntk.mel.functions import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.library.documentation import Entry


def described(name: str) -> str:
    """What a function of the library, of NDL or MEL, or a kind of node does; empty if unknown."""
    entry = of(name)
    if entry is not None:
        return _markdown(entry)
    edit = meant(name)
    return edit.documentation if edit is not None else ""


def _markdown(entry: Entry) -> str:
    return entry.markdown
