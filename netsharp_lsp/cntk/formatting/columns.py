"""Columns that the author aligned: of `=`, of statements after others and of comments, made as
narrow as possible.

Knows lines and the source columns of their parts, but no tokens.
"""

from __future__ import annotations

import re

from netsharp_lsp.layout.render import text_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    # A source column, for each tab width with which it may have been aligned.
    Place: TypeAlias = tuple[int, ...]

WIDTH = 100
#: The least number of consecutive lines that form an intended column.
_LEAST = 3
#: The default number of blanks before a comment.
_DISTANCE = 2
#: How far apart tabulators may have been when something was aligned with them.
_TABULATORS = (4, 8)
#: Where blanks may align something.
_WIDE = re.compile(rb"(?:  |\t)[=;,]|[;,](?:  |\t)")


class Line:
    """One line: its indentation, its text without a comment after it, and that comment.

    `blank`: an empty line is before it. `place` is the source column of the comment, or of a
    comment that is the line; empty where it may not move. `depth` counts the brackets that are open
    before it. Where columns are searched for, `member`: a statement or an argument begins with it;
    `stops` are those of its statements or arguments in turn, `=` and the next one's start, None for
    what may not move; `crowded`: it had to be broken, and others shared it.
    """

    __slots__ = (
        *("alone", "blank", "body", "comment", "crowded", "depth", "indent", "member", "place"),
        "stops",
    )

    def __init__(self, indent: int, blank: bool, depth: int) -> None:
        self.indent = indent
        self.blank = blank
        self.depth = depth
        self.body = b""
        self.comment: bytes | None = None
        self.place: Place = ()
        self.alone = False
        self.member = False
        self.crowded = False
        self.stops: list[Stop | None] = []


class Stop:
    """A part of a line that may be aligned with others: `left` bytes are before it, without the
    blank that follows them.

    In the source it was at `start`, and `wide`: after more than one blank. `style` separates parts
    that are never aligned with each other; `tight`: outside columns no blanks are around it.
    """

    __slots__ = ("left", "start", "style", "tight", "wide")

    def __init__(self, left: int, start: int, wide: bool, style: int, tight: bool = False) -> None:
        self.left = left
        self.start = start
        self.wide = wide
        self.style = style
        self.tight = tight


def place_of(before: bytes) -> Place:
    """Return the columns of the text after the start of a line."""
    if b"\t" not in before:
        return (text_width(before),) * len(_TABULATORS)
    return tuple(text_width(before.expandtabs(size)) for size in _TABULATORS)


def same_place(one: Place, other: Place) -> bool:
    """Return whether two parts may have been aligned."""
    return any(first == second for first, second in zip(one, other, strict=False))


def may_have_columns(text: bytes) -> bool:
    """Return whether there may be a column of signs or starts in a text; most have none."""
    return _WIDE.search(text) is not None


def is_wide(blanks: bytes) -> bool:
    """Return whether blanks are more than the usual space between two words."""
    return len(blanks) > 1 or blanks == b"\t"


def keep_columns(lines: Sequence[Line], before: Callable[[int], bytes]) -> None:
    """Realign columns of three lines or more.

    The statements or arguments follow each other in one bracket: an empty line ends a column, and
    so does a member without such a part; comments and the contents of a member do not. `before`
    returns the text before a source offset on its line.
    """
    # A level's members are settled where it ends, so that each is looked at once.
    levels: list[list[Line]] = [[]]
    for line in lines:
        while len(levels) > line.depth + 1:
            _align_columns(levels.pop(), before)
        while len(levels) <= line.depth:
            levels.append([])
        members = levels[-1]
        if members and line.blank:
            _align_columns(members, before)
            members.clear()
        if line.member:
            members.append(line)
            if line.crowded:
                # The members that share it get lines of their own.
                _align_columns(members, before)
                members.clear()
    for members in levels:
        _align_columns(members, before)


def _align_columns(lines: Sequence[Line], before: Callable[[int], bytes]) -> None:
    """Align from left to right, since alignment shifts all that follows."""
    if len(lines) < _LEAST:
        return
    for number in range(max(len(line.stops) for line in lines)):
        run: list[Line] = []
        for line in lines:
            if number < len(line.stops) and line.stops[number] is not None:
                run.append(line)
            elif run:
                _align_run(run, number, before)
                run = []
        _align_run(run, number, before)


def _align_run(lines: Sequence[Line], number: int, before: Callable[[int], bytes]) -> None:
    if len(lines) < _LEAST or not any(_stop(line, number).wide for line in lines):
        return
    for column in _columns(lines, number, before):
        # What the column would put past the width leaves it, and so ends it for the others.
        end = _column_of(column, number)
        narrow: list[Line] = []
        for line in column:
            if _is_too_wide(line, number, end):
                _align(narrow, number)
                narrow = []
            else:
                narrow.append(line)
        _align(narrow, number)


def _stop(line: Line, number: int) -> Stop:
    stop = line.stops[number]
    assert stop is not None
    return stop


def _columns(
    lines: Sequence[Line], number: int, before: Callable[[int], bytes]
) -> Iterator[list[Line]]:
    """Yield the maximal runs of lines in which a part was aligned."""
    column: list[Line] = []
    place: Place = ()
    for line in lines:
        stop = _stop(line, number)
        here = place_of(before(stop.start))
        shared = tuple(-1 if one != two else one for one, two in zip(place, here, strict=False))
        if column and max(shared) >= 0 and _go_together(column[0], line, number):
            place = shared
        else:
            yield column
            column, place = [], here
        column.append(line)
    yield column


def _go_together(one: Line, other: Line, number: int) -> bool:
    return one.indent == other.indent and _stop(one, number).style == _stop(other, number).style


def _left_width(line: Line, number: int) -> int:
    return text_width(line.body[: _stop(line, number).left])


def _column_of(lines: Sequence[Line], number: int) -> int:
    return max((_left_width(line, number) for line in lines), default=0)


def _is_too_wide(line: Line, number: int, column: int) -> bool:
    # What is tight has two blanks around it in a column.
    further = column - _left_width(line, number) + 2 * _stop(line, number).tight
    return further > 0 and line.indent + _first_width(line.body) + further > WIDTH


def _align(lines: Sequence[Line], number: int) -> None:
    if len(lines) < _LEAST:
        return
    column = _column_of(lines, number)
    widths = [_left_width(line, number) for line in lines]
    if _stop(lines[0], number).tight and min(widths) == column:
        # They are aligned without any blanks.
        return
    for line, width in zip(lines, widths, strict=True):
        stop = _stop(line, number)
        body, left = line.body, stop.left
        blanks = b" " * (column - width)
        if stop.tight:
            line.body = body[:left] + blanks + b" = " + body[left + 1 :]
        else:
            line.body = body[:left] + blanks + body[left:]
        further = len(line.body) - len(body)
        for later in line.stops[number + 1 :]:
            if later is not None:
                later.left += further


def _first_width(body: bytes) -> int:
    return text_width(body.replace(b"\r", b"\n").partition(b"\n")[0])


def with_comments(lines: list[Line], *, keep: bool) -> list[bytes]:
    """Return the lines as they are written; with `keep`, comments stay aligned that were."""
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
    """Return the end of the lines whose comments were aligned."""
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
