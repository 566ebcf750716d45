"""Suppression comments silence what they name, and are reported where they silence nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.fixes import fix_all
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.examining import examine
from netsharp_lsp.text.lines import LineIndex
from tests.diagnostics.toy import TOY

LAW = settings(max_examples=200, deadline=None, derandomize=True)


def check(text: bytes, selection: Selection | None = None) -> list[Diagnostic]:
    return examine(TOY, LineIndex(text), Context(), selection or Selection())


def reported(text: str) -> list[tuple[str, str]]:
    data = text.encode()
    return [(d.code, data[d.start : d.end].decode()) for d in check(data)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bad", [("TY001", "bad")]),
        ("bad # netsharp: ignore[TY001]", []),
        ("bad #netsharp:ignore[TY001]", []),
        ("bad #  netsharp:  ignore [ TY001 ] why not", []),
        ("bad worse # netsharp: ignore[TY001, TY002]", []),
        ("bad worse # netsharp: ignore[TY001,TY002]", []),
        ("bad bad # netsharp: ignore[TY001]", []),
        ("# netsharp: ignore[TY001]\nbad", []),
        ("# netsharp: ignore[TY001]\r\n  bad", []),
        ("\t# netsharp: ignore[TY001]\rbad", []),
        ("# netsharp: ignore[TY001]\n# netsharp: ignore[TY002]\nbad worse", []),
        (
            "# netsharp: ignore[TY001]\nbad # netsharp: ignore[TY002]\nworse",
            [("TY126", "TY002"), ("TY002", "worse")],
        ),
        ("# netsharp: ignore[TY001]\n\nbad", [("TY126", "TY001"), ("TY001", "bad")]),
        ("bad\n# netsharp: ignore[TY001]", [("TY001", "bad"), ("TY126", "TY001")]),
        ("good # netsharp: ignore[TY001]\nbad", [("TY126", "TY001"), ("TY001", "bad")]),
        ("bad # netsharp: ignore[TY009]", [("TY001", "bad"), ("TY127", "TY009")]),
        ("bad # netsharp: ignore[ty001]", [("TY001", "bad"), ("TY127", "ty001")]),
        ("bad # netsharp: ignore[TY001, TY001]", [("TY126", "TY001")]),
        ("bad # netsharp: ignore[]", [("TY001", "bad"), ("TY126", "# netsharp: ignore[]")]),
        ("bad # netsharp: ignore", [("TY001", "bad"), ("TY126", "# netsharp: ignore")]),
        ("bad # netsharp: ignored[TY001]", [("TY001", "bad")]),
        ("bad # ignore[TY001]", [("TY001", "bad")]),
        ("bad # about netsharp: ignore[TY001]", [("TY001", "bad")]),
        ("# netsharp: ignore[TY001]\nbad # netsharp: ignore[TY001]", [("TY126", "TY001")]),
    ],
)
def test_which_diagnostics_are_left(text: str, expected: list[tuple[str, str]]) -> None:
    assert reported(text) == expected


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("good # netsharp: ignore[TY001]\nx", "good\nx"),
        ("a\n  # netsharp: ignore[TY001]\r\nx", "a\nx"),
        ("# netsharp: ignore[TY001, TY002]", ""),
        ("worse # netsharp: ignore[TY001, TY002]", "worse # netsharp: ignore[TY002]"),
        ("worse # netsharp: ignore[TY002, TY003]", "worse # netsharp: ignore[TY002]"),
        ("worse # netsharp: ignore[TY001, TY003, TY002]", "worse # netsharp: ignore[TY002]"),
        ("worse # netsharp: ignore[TY002, TY001, TY003]", "worse # netsharp: ignore[TY002]"),
        ("worse # netsharp: ignore[ty002]", "worse # netsharp: ignore[TY002]"),
        ("good # netsharp: ignore", "good"),
    ],
)
def test_fixes_take_out_what_does_nothing(text: str, fixed: str) -> None:
    result = fix_all(text.encode(), check)
    assert result.text.decode() == fixed
    assert [d.code for d in result.diagnostics if d.code in TOY.suppression_codes] == []


def test_an_unknown_code_has_the_nearest_name() -> None:
    (_, unknown) = check(b"worse # netsharp: ignore[TY0002]")
    assert unknown.message == "Unknown code 'TY0002' in a suppression. Did you mean 'TY002'?"
    assert unknown.fix is not None
    assert unknown.fix.safe


def test_diagnostics_about_suppressions_can_be_ignored_like_others() -> None:
    text = b"good # netsharp: ignore[TY001]"
    assert check(text, Selection(ignore=["TY126"])) == []
    assert [d.code for d in check(text, Selection(ignore=["TY001"]))] == ["TY126"]


TEXTS = st.lists(
    st.sampled_from(
        [
            "bad",
            "worse",
            "todo",
            "good",
            " ",
            "\n",
            "\r\n",
            "\n# netsharp: ignore[TY001]",
            " # x",
            " # netsharp: ignore[TY002, TY003]",
            "# netsharp: ignore[TY9, TY001]",
            "\n#netsharp:ignore",
        ]
    ),
    max_size=14,
).map("".join)


@LAW
@given(TEXTS)
def test_a_suppression_takes_away_only_what_it_names(text: str) -> None:
    data = text.encode()
    all_of_them = TOY.check(data, Context()).diagnostics
    left = check(data)
    lines = data.splitlines()
    index = LineIndex(data)
    gone = [d for d in all_of_them if d not in left]
    assert [d for d in left if d.code not in TOY.suppression_codes] == [
        d for d in all_of_them if d not in gone
    ]
    for diagnostic in gone:
        line = index.line_at(diagnostic.start)
        nearby = b"".join(lines[: line + 1])
        assert diagnostic.code.encode() in nearby


@LAW
@given(TEXTS)
def test_fixing_reaches_a_fixed_point_with_no_idle_suppression(text: str) -> None:
    result = fix_all(text.encode(), check, unsafe=True)
    assert result.rounds < 10
    assert not [d for d in result.diagnostics if d.fix is not None]
    assert fix_all(result.text, check, unsafe=True).text == result.text
