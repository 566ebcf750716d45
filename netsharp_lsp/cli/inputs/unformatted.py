"""Sentences on parts that a formatter left unchanged: that `check` reports why, where it does.

Imported where there are any; only then is a text checked. Knows no language.
"""

from __future__ import annotations

import gc
from bisect import bisect_right
from itertools import accumulate

from netsharp_lsp.context import Context
from netsharp_lsp.language import language_by_id
from netsharp_lsp.limits import EXPLAINED_BYTES
from netsharp_lsp.memory import uncollected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

#: The most lines between an unformatted part and the error that explains it.
NEAR = 2
#: The most lines that are named.
_NAMED = 5


class _Errors:
    """The lines, from 0, of the errors in a text."""

    def __init__(self, language_id: str, text: bytes, line_at: Callable[[int], int]) -> None:
        # Formatting makes no cycles; checking does.
        gc.enable()
        language = language_by_id(language_id)
        diagnostics = uncollected(lambda: language.check(text, Context()).diagnostics)
        places = sorted(
            (line_at(one.start), line_at(max(one.start, one.end - 1)))
            for one in diagnostics
            if one.severity == "error"
        )
        self._first = [first for first, _ in places]
        #: The furthest end of the errors that begin on each of these lines or before.
        self._reached = list(accumulate((last for _, last in places), max))

    def explain(self, line: int) -> bool:
        """Return whether one is on a line, or near it."""
        begun = bisect_right(self._first, line + NEAR)
        return begun > 0 and self._reached[begun - 1] >= line - NEAR

    def nearest(self, line: int) -> int | None:
        """Return the line on which the nearest begins."""
        at = bisect_right(self._first, line)
        around = self._first[max(0, at - 1) : at + 1]
        return min(around, key=lambda one: abs(one - line), default=None)


def about_unformatted(
    name: str,
    language_id: str,
    text: bytes,
    broken: Iterable[int],
    line_at: Callable[[int], int],
) -> list[str]:
    """Return sentences on places in a text; `line_at` returns the line, from 0, on which an
    offset is displayed.
    """
    places = sorted({line_at(offset) for offset in broken})
    if len(text) > EXPLAINED_BYTES.most:
        return [
            f"{name}: left as it is where it cannot be put in order{_at(places)}; 'netsharp check'"
            f" may say why, which is not asked of more than {EXPLAINED_BYTES}."
        ]
    errors = _Errors(language_id, text, line_at)
    explained = [line for line in places if errors.explain(line)]
    unexplained = [line for line in places if not errors.explain(line)]
    sentences = []
    if explained:
        where = _at(explained)
        sentences.append(
            f"{name}: left as it is where the syntax is broken{where}; 'netsharp check' says why."
        )
    if unexplained:
        nearest = errors.nearest(unexplained[0])
        further = ""
        if nearest is not None:
            further = f"; the nearest error that 'netsharp check' has is on line {nearest + 1}"
        sentences.append(
            f"{name}: left as it is where it cannot be put in order{_at(unexplained)}{further}."
        )
    return sentences


def _at(lines: Sequence[int]) -> str:
    shown = ", ".join(str(line + 1) for line in lines[:_NAMED])
    more = ", ..." if len(lines) > _NAMED else ""
    return f", at {'line' if len(lines) == 1 else 'lines'} {shown}{more}"
