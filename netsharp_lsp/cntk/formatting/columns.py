"""Columns that a person aligned: those of `=` and those of comments, as narrow as they now can be.

Knows lines and where their parts stood in the original, but no tokens.
"""

from __future__ import annotations

from netsharp_lsp.layout.render import text_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    # Where something stood, by each distance of tabulators that it may have been aligned with.
    Place: TypeAlias = tuple[int, ...]

WIDTH = 100
#: So many `=` below each other are a column that a person wanted.
_LEAST = 3
#: Blanks before a comment that nothing else decides on.
_DISTANCE = 2
#: How far apart tabulators may have been when something was aligned with them.
_TABULATORS = (4, 8)


class Line:
    """One line: its indentation, its text without a comment behind it, and that comment.

    `blank`: an empty line stands before it. `place` is where the comment, or a comment that is
    the line, stood in the original; none where it may not move. `depth` counts the brackets that
    are open before it. Where columns are looked for, `statement`: one begins with it, and
    `assigns` is its `=` where that may move; `crowded`: the line had to be broken, and others
    shared it.
    """

    __slots__ = (
        *("alone", "assigns", "blank", "body", "comment", "crowded", "depth", "indent"),
        *("place", "statement"),
    )

    def __init__(self, indent: int, blank: bool, depth: int) -> None:
        self.indent = indent
        self.blank = blank
        self.depth = depth
        self.body = b""
        self.comment: bytes | None = None
        self.place: Place = ()
        self.alone = False
        self.statement = False
        self.crowded = False
        self.assigns: Assigns | None = None


class Assigns:
    """The `=` of a statement: how long what stands before its blank is, on the same line.

    In the original `gap` stood before it, and it itself at `start`.
    """

    __slots__ = ("gap", "left", "start")

    def __init__(self, left: int, gap: bytes, start: int) -> None:
        self.left = left
        self.gap = gap
        self.start = start


def place_of(before: bytes) -> Place:
    """Return the place of what stands behind the start of a line."""
    if b"\t" not in before:
        return (text_width(before),) * len(_TABULATORS)
    return tuple(text_width(before.expandtabs(size)) for size in _TABULATORS)


def same_place(one: Place, other: Place) -> bool:
    """Whether two things may have been aligned."""
    return any(first == second for first, second in zip(one, other, strict=False))


def may_have_columns(text: bytes) -> bool:
    """Whether there may be a column of `=` in a text; most have none, and are not looked at."""
    return b"  =" in text or b"\t=" in text


def keep_columns(lines: Sequence[Line], before: Callable[[int], bytes]) -> None:
    """Put each `=` that was aligned over three statements or more into a column again.

    The statements follow each other in one bracket: an empty line ends a column, and so does a
    statement without `=` or with one elsewhere; comments and what a statement holds do not.
    `before` tells what stood before a place of the original on its line.
    """
    # A level's statements are settled where it ends, so that each is looked at once.
    levels: list[list[Line]] = [[]]
    for line in lines:
        while len(levels) > line.depth + 1:
            _settle(levels.pop(), before)
        while len(levels) <= line.depth:
            levels.append([])
        column = levels[-1]
        if column and (line.blank or (line.statement and line.assigns is None)):
            _settle(column, before)
            column.clear()
        if line.assigns is not None:
            column.append(line)
            if line.crowded:
                # The statements that share it come to stand on lines of their own.
                _settle(column, before)
                column.clear()
    for column in levels:
        _settle(column, before)


def _settle(lines: list[Line], before: Callable[[int], bytes]) -> None:
    gaps = [line.assigns.gap for line in lines if line.assigns is not None]
    if len(lines) < _LEAST or not any(len(gap) > 1 or gap == b"\t" for gap in gaps):
        return
    for column in _columns(lines, before):
        # What the column would put past the width leaves it, and so ends it for the others.
        end = _column_of(column)
        narrow: list[Line] = []
        for line in column:
            if _sticks_out(line, end):
                _align(narrow)
                narrow = []
            else:
                narrow.append(line)
        _align(narrow)


def _columns(lines: Sequence[Line], before: Callable[[int], bytes]) -> Iterator[list[Line]]:
    """The lines whose `=` stood below each other, as many as do."""
    column: list[Line] = []
    place: Place = ()
    for line in lines:
        assert line.assigns is not None
        here = place_of(before(line.assigns.start))
        shared = tuple(-1 if one != two else one for one, two in zip(place, here, strict=False))
        if column and max(shared) >= 0 and line.indent == column[0].indent:
            place = shared
        else:
            yield column
            column, place = [], here
        column.append(line)
    yield column


def _left_width(line: Line) -> int:
    assert line.assigns is not None
    return text_width(line.body[: line.assigns.left])


def _column_of(lines: Sequence[Line]) -> int:
    return max(map(_left_width, lines), default=0)


def _sticks_out(line: Line, column: int) -> bool:
    further = column - _left_width(line)
    return further > 0 and line.indent + _first_width(line.body) + further > WIDTH


def _align(lines: Sequence[Line]) -> None:
    if len(lines) < _LEAST:
        return
    column = _column_of(lines)
    for line in lines:
        assert line.assigns is not None
        left = line.assigns.left
        blanks = b" " * (column - _left_width(line))
        line.body = line.body[:left] + blanks + line.body[left:]


def _first_width(body: bytes) -> int:
    return text_width(body.replace(b"\r", b"\n").partition(b"\n")[0])


def with_comments(lines: list[Line], *, keep: bool) -> list[bytes]:
    """Return the lines as they are written; with `keep`, comments are aligned that were."""
    written: list[bytes] = []
    number = 0
    while number < len(lines):
        if lines[number].comment is None:
            written.append(b" " * lines[number].indent + lines[number].body)
            number += 1
            continue
        end = _aligned_until(lines, number) if keep else number + 1
        column = max(_width(line) for line in lines[number:end]) + _DISTANCE
        written += [_written(line, column) for line in lines[number:end]]
        number = end
    return written


def _aligned_until(lines: list[Line], number: int) -> int:
    """The end of the lines whose comments stood below each other."""
    first = lines[number]
    end = number + 1
    if first.alone or not first.place:
        return end
    while end < len(lines) and not lines[end].blank and same_place(first.place, lines[end].place):
        end += 1
    return end


def _width(line: Line) -> int:
    if line.alone:
        return 0
    body = line.body
    last = max(body.rfind(b"\n"), body.rfind(b"\r")) + 1
    return text_width(body[last:]) + (0 if last else line.indent)


def _written(line: Line, column: int) -> bytes:
    assert line.comment is not None
    if line.alone:
        indent = line.indent if column == _DISTANCE else column
        return b" " * indent + line.comment
    if not line.place:
        return b" " * line.indent + line.body + line.comment
    distance = column - _width(line)
    return b" " * line.indent + line.body + b" " * distance + line.comment
