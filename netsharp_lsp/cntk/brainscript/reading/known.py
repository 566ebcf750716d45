"""Texts with all that depends on each alone; recently parsed ones are the same objects.  Knows no
meaning.
"""

from __future__ import annotations

from functools import cached_property

from netsharp_lsp.cntk.brainscript.reading.damage import Damage, damages
from netsharp_lsp.cntk.brainscript.reading.parser import parse
from netsharp_lsp.cntk.brainscript.reading.walking import expressions
from netsharp_lsp.text.remembered import Remembered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.brainscript.reading.syntax import Expression, Member, Script

#: The bytes of text that are cached, and the least size of one.
KEPT, LEAST = 256 << 10, 256


class KnownText:
    """One text by its bytes and the source name of its places."""

    def __init__(self, data: bytes, source: str) -> None:
        self.data = data
        self.source = source

    @cached_property
    def script(self) -> Script:
        """Return the parsed text."""
        return parse(self.data, self.source)

    @cached_property
    def damages(self) -> tuple[Damage, ...]:
        """Return the syntax errors, in their order."""
        return tuple(damages(self.data))

    @cached_property
    def expressions(self) -> tuple[tuple[Expression, Member | None], ...]:
        """Return all expressions with the member that each is in."""
        return tuple(expressions(self.script))


_TEXTS: Remembered[KnownText] = Remembered(KEPT)


def known_text(data: bytes, source: str = "") -> KnownText:
    """Return a text with its cached results."""
    found = _TEXTS.find((data, source))
    if found is None:
        found = KnownText(data, source)
        _TEXTS.keep((data, source), found, LEAST + len(data))
    return found


def parsed(data: bytes, source: str = "") -> Script:
    """Parse a text; a recently parsed one is the same object."""
    return known_text(data, source).script
