"""The names that a statement of NDL in a text of MEL uses; knows no function of NDL."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.arrays import elements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.mel.reading import Statement

#: The deepest nesting of calls that is followed.
_DEEPEST = 50


def top_function(statement: Statement) -> Traced | None:
    """Return the function whose value is the statement's; None for a plain value."""
    return statement.function


def names_in(statement: Statement) -> Iterator[Traced]:
    """Yield all names that are parameters of a call, at any depth."""
    if statement.list is not None:
        yield from _of_list(statement.list, 0)
    elif statement.value is not None and not _is_number(statement.value.text):
        yield statement.value


def _of_list(arguments: Traced, depth: int) -> Iterator[Traced]:
    for element in elements(arguments) or ():
        text = element.text
        opening = min((at for at in map(text.find, (b"(", b"[", b"{")) if at >= 0), default=-1)
        if b"=" in (text if opening < 0 else text[:opening]):
            continue
        if opening >= 0:
            if depth < _DEEPEST:
                yield from _of_list(element.slice(opening, len(element)), depth + 1)
        elif text and not _is_number(text):
            yield element


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
