"""Semantic tokens: of a whole text, of a range, and what changed since the last answer."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from netsharp_lsp.text.edits import common

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lsprotocol import types as lsp

    from netsharp_lsp.ide.answers import Token
    from netsharp_lsp.server.documents.views import View
    from netsharp_lsp.server.session import Session

_SIZE = 5


def full(session: Session, params: lsp.SemanticTokensParams) -> dict[str, Any]:
    """Return the tokens of a document, under an id by which the next answer can refer to them."""
    uri = params.text_document.uri
    data = _encoded(session, uri, None)
    return {"resultId": session.remember_tokens(uri, data), "data": data.tolist()}


def delta(session: Session, params: lsp.SemanticTokensDeltaParams) -> dict[str, Any]:
    """Return the changes of the tokens since a result; all tokens where that result is no longer
    known.
    """
    uri = params.text_document.uri
    known = session.tokens.get(uri)
    data = _encoded(session, uri, None)
    result = session.remember_tokens(uri, data)
    if known is None or known[0] != params.previous_result_id:
        return {"resultId": result, "data": data.tolist()}
    return {"resultId": result, "edits": _edits(known[1], data)}


def in_range(session: Session, params: lsp.SemanticTokensRangeParams) -> dict[str, Any]:
    """Return the tokens that are on the screen."""
    return {"data": _encoded(session, params.text_document.uri, params.range).tolist()}


def _encoded(session: Session, uri: str, place: lsp.Range | None) -> array[int]:
    """Tokens as the protocol writes them: five numbers each, relative to the one before."""
    data = array("I")
    line, character = 0, 0
    for view, start, end in session.places(uri, place):
        for row, column, length, kind, modifiers in _placed(view, view.snapshot.tokens(start, end)):
            if row < line or (row == line and column < character):
                continue
            after = column - character if row == line else column
            data.extend((row - line, after, length, kind, modifiers))
            line, character = row, column
    return data


def _placed(view: View, tokens: list[Token]) -> Iterator[tuple[int, int, int, int, int]]:
    """Tokens by line and column of the document; none that a host's text breaks over lines."""
    lines, ruler = view.document.lines, view.document.ruler
    starts = lines.starts
    plain = lines.ascii or ruler.encoding == "utf-8"
    line = 0
    for token_start, token_end, kind, modifiers in tokens:
        start, end = view.outer(token_start, token_end)
        if plain:
            while line + 1 < len(starts) and starts[line + 1] <= start:
                line += 1
            if line + 1 >= len(starts) or end <= starts[line + 1]:
                yield line, start - starts[line], end - start, kind, modifiers
            continue
        first, last = ruler.position(lines, start), ruler.position(lines, end)
        if first[0] == last[0]:
            yield *first, last[1] - first[1], kind, modifiers


def _edits(before: array[int], after: array[int]) -> list[dict[str, Any]]:
    """Return the one edit between what two lists of tokens have in common, in whole tokens."""
    if before == after:
        return []
    limit = min(len(before), len(after)) // _SIZE
    head = _SIZE * common(
        limit, lambda a, b: before[a * _SIZE : b * _SIZE] == after[a * _SIZE : b * _SIZE]
    )
    old, new = before[head:], after[head:]
    tail = _SIZE * common(
        min(len(old), len(new)) // _SIZE,
        lambda a, b: (
            old[len(old) - b * _SIZE : len(old) - a * _SIZE]
            == new[len(new) - b * _SIZE : len(new) - a * _SIZE]
        ),
    )
    data = new[: len(new) - tail].tolist()
    return [{"start": head, "deleteCount": len(old) - tail, "data": data}]
