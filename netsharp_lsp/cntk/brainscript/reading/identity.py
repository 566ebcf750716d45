"""Texts as keys of caches, compared by identity; knows nothing of their contents."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.brainscript.reading.syntax import Script


class Identified:
    """Texts as one key: compared as values they would be compared deeply, and they are long."""

    __slots__ = ("scripts",)

    def __init__(self, scripts: tuple[Script, ...]) -> None:
        self.scripts = scripts

    def __hash__(self) -> int:
        return id(self.scripts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identified) and other.scripts is self.scripts
