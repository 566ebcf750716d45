"""Texts with what can be told of each alone; those that were read lately are the same objects."""

from __future__ import annotations

from functools import cached_property

from netsharp_lsp.cntk.brainscript.reading.damage import Damage, damages
from netsharp_lsp.cntk.brainscript.reading.parser import parse
from netsharp_lsp.cntk.brainscript.reading.walking import expressions
from netsharp_lsp.text.remembered import Remembered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.brainscript.reading.syntax import Expression, Member, Script

#: Bytes of text that are kept, and what a short one counts at least.
KEPT, LEAST = 256 << 10, 256


class KnownText:
    """One text by its bytes and the name that its places carry."""

    def __init__(self, data: bytes, source: str) -> None:
        self.data = data
        self.source = source

    @cached_property
    def script(self) -> Script:
        """The text parsed."""
        return parse(self.data, self.source)

    @cached_property
    def damages(self) -> tuple[Damage, ...]:
        """What could not be read, in its order."""
        return tuple(damages(self.data))

    @cached_property
    def expressions(self) -> tuple[tuple[Expression, Member | None], ...]:
        """Every expression with the member that it stands in."""
        return tuple(expressions(self.script))


_TEXTS: Remembered[KnownText] = Remembered(KEPT)


def known_text(data: bytes, source: str = "") -> KnownText:
    """Return a text, with what is known of it already."""
    found = _TEXTS.find((data, source))
    if found is None:
        found = KnownText(data, source)
        _TEXTS.keep((data, source), found, LEAST + len(data))
    return found


def parsed(data: bytes, source: str = "") -> Script:
    """Read a text; one that was read lately is the same object."""
    return known_text(data, source).script
