"""Selects diagnostics: codes and prefixes selected or ignored; knows no rule.

Within one layer the more specific prefix wins, and a tie is ignored. A stronger layer (flags over
settings) comes first: what it selects or ignores, a weaker one can only refine.
"""

from __future__ import annotations

from netsharp_lsp.diagnostics.nearest import suggestion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from netsharp_lsp.diagnostics.model import Diagnostic

#: The word that selects every code.
ALL = "ALL"


class Selection:
    """Prefixes of codes that are wanted and unwanted, over those of a weaker layer, `base`.

    An empty `select` means every code that the base wants, without a base every code.
    """

    __slots__ = ("base", "ignore", "select")

    def __init__(
        self,
        select: Iterable[str] = (),
        ignore: Iterable[str] = (),
        base: Selection | None = None,
    ) -> None:
        self.select = tuple("" if word == ALL else word for word in select)
        self.ignore = tuple("" if word == ALL else word for word in ignore)
        self.base = base

    def wants(self, code: str) -> bool:
        """Return whether a diagnostic with this code is reported."""
        ignored = _longest(self.ignore, code)
        if self.base is not None and not self.select:
            return ignored < 0 and self.base.wants(code)
        selected = _longest(self.select or ("",), code)
        weaker = _longest(self.base.ignore, code) if self.base is not None else -1
        return selected > ignored and selected >= weaker

    def then(self, select: Iterable[str], ignore: Iterable[str]) -> Selection:
        """Return this selection under a stronger layer."""
        return Selection(select, ignore, base=self)

    def filter(self, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
        """Return the wanted diagnostics, in their order."""
        unwanted = {code for code in {d.code for d in diagnostics} if not self.wants(code)}
        if not unwanted:
            return list(diagnostics)
        return [d for d in diagnostics if d.code not in unwanted]


def split_codes(words: Iterable[str]) -> tuple[str, ...]:
    """Return the codes of options that may each hold several, separated by commas."""
    parts = (part.strip() for word in words for part in word.split(","))
    return tuple(part for part in parts if part)


def unknown_prefix(prefixes: Iterable[str], codes: Sequence[str]) -> str | None:
    """Return a sentence about the first prefix that begins no code, or None."""
    for prefix in prefixes:
        if prefix in ("", ALL) or any(code.startswith(prefix) for code in codes):
            continue
        return f"'{prefix}' is not a code, nor the start of one.{suggestion(prefix, codes)}"
    return None


def _longest(prefixes: tuple[str, ...], code: str) -> int:
    """Return the length of the longest matching prefix, -1 where none matches."""
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)
