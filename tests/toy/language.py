"""Tallies: lines `name = number`, each name once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netsharp_lsp.description.comparison import Comparison, Difference
from netsharp_lsp.diagnostics.model import Diagnostic, Edit, Fix, Result
from netsharp_lsp.diagnostics.pages import RuleBook
from netsharp_lsp.interface import PlainSnapshot
from netsharp_lsp.layout.options import FormatOptions, Formatted
from netsharp_lsp.settings import shown
from netsharp_lsp.text_family import TextFamily

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from netsharp_lsp.context import Context
    from netsharp_lsp.ide.answers import Hover
    from netsharp_lsp.interface import Snapshot, Text

_LINE = re.compile(rb"^[ \t]*(\w+)[ \t]*=[ \t]*(\d+)[ \t]*(;[^\r\n]*)?$", re.MULTILINE)


def tallies(data: bytes) -> list[tuple[str, int, re.Match[bytes]]]:
    return [(found[1].decode(), int(found[2]), found) for found in _LINE.finditer(data)]


class TallySnapshot(PlainSnapshot):
    """A text that is being edited: of a name its number is known."""

    def hover(self, offset: int) -> Hover | None:
        from netsharp_lsp.ide.answers import Hover

        for name, number, found in tallies(self.data):
            if found.start(1) <= offset <= found.end(1):
                return Hover(f"`{name}` stands at {number}", *found.span(1))
        return None


class Tally:
    """The language."""

    id = "tally"
    comment_marks = (";",)
    rules = RuleBook(str(Path(__file__).with_name("rules")))
    suppression_codes = ("TA002", "TA003")
    unused_codes = ("TA002",)
    asked_codes = ()
    conflict_code = ""

    def check(self, data: bytes, context: Context) -> Result:
        seen: set[str] = set()
        found = []
        for name, _, match in tallies(data):
            if name in seen:
                fix = Fix(f"Leave '{name}' out", True, [Edit(*match.span(), "")])
                message = f"'{name}' stands here twice."
                found.append(Diagnostic("TA001", "warning", message, *match.span(1), (), fix))
            seen.add(name)
        return Result(found, [one.span(3) for _, _, one in tallies(data) if one[3]])

    def format(self, data: bytes, options: FormatOptions) -> Formatted:
        return Formatted(_LINE.sub(rb"\1 = \2\3", data))

    def describe(self, data: bytes, context: Context) -> dict[str, Any]:
        count = len(tallies(data))
        figures = dict.fromkeys(("connections", "multiply_adds", "memory_bytes"), 0)
        return {"version": 1, "layers": [], "parameters": count, **figures}

    def compare(self, before: Text, after: Text) -> Comparison:
        old, new = ({name: n for name, n, _ in tallies(data)} for data, _ in (before, after))
        found = [
            Difference("changed", "tally", name, "", str(old[name]), str(new[name]))
            for name in sorted(old.keys() & new.keys())
            if old[name] != new[name]
        ]
        same = {"parameters": (len(old), len(new)), "multiply_adds": (0, 0)}
        return Comparison(not found, found, dict(same))

    def open(self, data: bytes, context: Context) -> Snapshot:
        return TallySnapshot(self, data, context)


def read_goal(value: object) -> int:
    """The number that tallies go for."""
    if not isinstance(value, int):
        raise ValueError(f"must be a number, found {shown(value)}.")
    return value


class TallyFamily(TextFamily):
    """It brings a key of its own to settings."""

    @property
    def settings(self) -> Mapping[str, Callable[[object], object]]:
        return {"tally-goal": read_goal}


LANGUAGE = Tally()
FAMILY = TallyFamily("tally", "Tally", {".tally": LANGUAGE.id}, LANGUAGE)
