"""The layout of what a refactoring has changed: formatted declarations stay formatted."""

from __future__ import annotations

from dataclasses import replace

from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.netsharp.formatting import format_text
from netsharp_lsp.netsharp.ide.refactorings.site import LONGEST
from netsharp_lsp.text.edits import Edit, apply_edits, difference, sort_edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.ide.answers import Action
    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Declaration

#: Where more declarations change, they are not laid out again: a person waits.
MOST = 20
#: What lets the formatter leave lines alone, or keep tokens on the line of a suppression.
HELD = (b"fmt:", b"netsharp:")


def settled(action: Action, specification: Specification) -> Action:
    """Return the action with each declaration that it changes laid out as the formatter does.

    A declaration that was laid out otherwise keeps its lines, and so does one that is removed.
    """
    if any(mark in specification.data for mark in HELD):
        return action
    groups = _by_declaration(action.edits, specification)
    if len(groups) > MOST:
        return action
    between = groups.pop(None, [])
    edits: list[Edit] = []
    styled = False
    rename_at = action.rename_at
    for declaration, inside in groups.items():
        assert declaration is not None
        laid_out = _laid_out(declaration, inside, specification)
        if laid_out is None:
            edits += inside
            continue
        styled = True
        edits.append(_trimmed(laid_out, specification))
        # The first edit brings the new name.
        if rename_at is not None and min(action.edits, key=_start_of) in inside:
            rename_at = _moved(rename_at, inside, laid_out, specification)
    edits += (_declared(edit, specification) if styled else edit for edit in between)
    return replace(action, edits=tuple(sort_edits(edits)), rename_at=rename_at)


def _declared(edit: Edit, specification: Specification) -> Edit:
    """Return an inserted declaration, formatted; it starts where it did."""
    core = edit.text.strip()
    written = _formatted(core.encode(), specification.line_end) if core else None
    if edit.end > edit.start or written is None:
        return edit
    return Edit(edit.start, edit.end, edit.text.replace(core, written.decode()))


def _start_of(edit: Edit) -> int:
    return edit.start


def _by_declaration(
    edits: Iterable[Edit], specification: Specification
) -> dict[Declaration | None, list[Edit]]:
    """Return the edits by the declaration that each is in, those between them under None."""
    groups: dict[Declaration | None, list[Edit]] = {}
    for edit in edits:
        declaration = specification.declaration_at(edit.start)
        if declaration is not None:
            start = specification.starts[declaration]
            end = start + declaration.end
            apart = edit.start >= end or edit.end > end or edit.start == edit.end == start
            if apart or (edit.start == start and edit.end == end):
                declaration = None
        groups.setdefault(declaration, []).append(edit)
    return groups


def _laid_out(
    declaration: Declaration, inside: list[Edit], specification: Specification
) -> Edit | None:
    """Return the changed declaration, formatted; None if it was not so before, or is long."""
    start = specification.starts[declaration]
    end = start + declaration.end
    if end - start > LONGEST:
        return None
    before = specification.data[start:end]
    line_end = specification.line_end
    if _formatted(before, line_end) != before:
        return None
    moved = (Edit(edit.start - start, edit.end - start, edit.text) for edit in inside)
    after = _formatted(apply_edits(before, moved), line_end)
    return None if after is None else Edit(start, end, after.decode())


def _trimmed(edit: Edit, specification: Specification) -> Edit:
    """Return the part of a replacement that changes something."""
    part = difference(specification.data[edit.start : edit.end], edit.text.encode())
    return Edit(edit.start + part.start, edit.start + part.end, part.text)


def _formatted(text: bytes, line_end: str) -> bytes | None:
    """Return a formatted declaration, without the line end after it; None where it is broken."""
    options = FormatOptions("crlf" if line_end == "\r\n" else "lf")
    result = format_text(text, options)
    return None if result.failure or result.broken else result.text.rstrip(b"\r\n")


def _moved(rename_at: int, inside: list[Edit], laid_out: Edit, specification: Specification) -> int:
    """Return where a new name is in a declaration that was laid out; no edits come before it."""
    start = laid_out.start
    data = specification.data[start : laid_out.end]
    moved = (Edit(edit.start - start, edit.end - start, edit.text) for edit in inside)
    word = apply_edits(data, moved)[rename_at - start :].partition(b" ")[0] + b" = "
    at = laid_out.text.encode().find(word)
    return start + at if at >= 0 else rename_at
