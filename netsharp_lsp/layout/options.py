"""The options and the result of a formatter of any language; no language, no disk."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    # First and last line, both counted from 1 and both meant.
    LineRange: TypeAlias = tuple[int, int]


class FormatOptions:
    """How to format; none of it is a matter of style.

    `line_ending`: "lf", "crlf" or "cr" for all lines; "auto" keeps the most frequent one. `ranges`:
    where given, only declarations that touch one of them change. `self_check`: prove that no token
    is lost and that formatting again changes nothing. `keeps_columns`: keep columns that a person
    aligned, in languages where that is done.
    """

    __slots__ = ("keeps_columns", "line_ending", "ranges", "self_check")

    def __init__(
        self,
        line_ending: str = "auto",
        ranges: Sequence[LineRange] = (),
        self_check: bool = True,
        keeps_columns: bool = True,
    ) -> None:
        self.line_ending = line_ending
        self.ranges = tuple(ranges)
        self.self_check = self_check
        self.keeps_columns = keeps_columns


class Formatted:
    """The formatted text, or the original with a sentence (`failure`) on why it must not change.

    `broken` has the offsets in the original of what was left unchanged for its syntax errors.
    """

    __slots__ = ("broken", "failure", "text")

    def __init__(self, text: bytes, broken: Sequence[int] = (), failure: str | None = None) -> None:
        self.text = text
        self.broken = tuple(broken)
        self.failure = failure
