"""Which diagnostics are wanted: codes and prefixes selected or ignored; knows no rule.

The more specific prefix wins; where `select` and `ignore` are equally specific, `ignore` does.
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
    """Prefixes of codes that are wanted and unwanted; empty `select` means every code."""

    __slots__ = ("ignore", "select")

    def __init__(self, select: Iterable[str] = (), ignore: Iterable[str] = ()) -> None:
        self.select = tuple("" if word == ALL else word for word in select) or ("",)
        self.ignore = tuple("" if word == ALL else word for word in ignore)

    def wants(self, code: str) -> bool:
        """Whether a diagnostic with this code is reported."""
        return _longest(self.select, code) > _longest(self.ignore, code)

    def also_ignoring(self, codes: Iterable[str]) -> Selection:
        """Return this selection with more prefixes ignored (those of a file)."""
        return Selection(self.select, (*self.ignore, *codes))

    def filter(self, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
        """Return the wanted diagnostics, in their order."""
        if self.select == ("",) and not self.ignore:
            return list(diagnostics)
        wanted = {code: self.wants(code) for code in {d.code for d in diagnostics}}
        return [d for d in diagnostics if wanted[d.code]]


def split_codes(words: Iterable[str]) -> tuple[str, ...]:
    """Return the codes of options that may each hold several, separated by commas."""
    parts = (part.strip() for word in words for part in word.split(","))
    return tuple(part for part in parts if part)


def unknown_prefix(prefixes: Iterable[str], codes: Sequence[str]) -> str | None:
    """Return a sentence about the first prefix that begins no code, or None."""
    for prefix in prefixes:
        if prefix in ("", ALL) or any(code.startswith(prefix) for code in codes):
            continue
        return f"'{prefix}' is no code and begins none.{suggestion(prefix, codes)}"
    return None


def _longest(prefixes: tuple[str, ...], code: str) -> int:
    """The length of the longest prefix that fits, -1 where none does."""
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)
