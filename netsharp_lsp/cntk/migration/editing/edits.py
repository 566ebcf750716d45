"""Edits that rules make and the texts that result from them; knows neither rules nor languages.

Offsets are UTF-8 bytes of a file, half-open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Edit(NamedTuple):
    """A replacement that a rule makes in a file."""

    rule: str
    file: str
    start: int
    end: int
    text: str


class Todo(NamedTuple):
    """A place that a person has to check; one that `blocks` prevents all writing."""

    rule: str
    file: str
    start: int
    end: int
    message: str
    blocks: bool = False


def chosen(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits of one file that apply, in order: each once, and none within another.

    Of several edits of the same words the last rule's applies, which is the most specific.
    """
    kept: list[Edit] = []
    by_rule = sorted(
        dict.fromkeys(edits), key=lambda one: one.rule if one.end > one.start else "", reverse=True
    )
    for edit in sorted(by_rule, key=lambda one: (one.start, -one.end)):
        last = next((one for one in reversed(kept) if one.end > one.start), None)
        inserted = edit.start == edit.end and last is not None and edit.start == last.start
        if last is None or edit.start >= last.end or inserted:
            kept.append(edit)
    return sorted(kept, key=lambda one: (one.start, one.end))


def applied(data: bytes, edits: Iterable[Edit], start: int = 0, end: int | None = None) -> bytes:
    """Return a span of a file with its edits applied."""
    end = len(data) if end is None else end
    parts = []
    at = start
    for edit in chosen(one for one in edits if start <= one.start and one.end <= end):
        parts += [data[at : edit.start], edit.text.encode()]
        at = max(at, edit.end)
    return b"".join([*parts, data[at:end]])
