"""Suppressions in the four languages: what they silence, and what is reported of idle ones."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.rules import FOLDER
from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.diagnostics.pages import RuleBook
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.examining import examine
from netsharp_lsp.language import known_codes, language_by_id, rules_with
from netsharp_lsp.text.edits import apply_edits
from netsharp_lsp.text.lines import LineIndex

BOOK = RuleBook(FOLDER)
LANGUAGES = ("cntk", "brainscript", "ndl", "mel")


def found(text: str | bytes, language: str = "cntk") -> list[Diagnostic]:
    data = text.encode() if isinstance(text, str) else text
    return examine(language_by_id(language), LineIndex(data), Context(), Selection())


def codes(text: str, language: str = "cntk") -> list[str]:
    return [one.code for one in found(text, language)]


@pytest.mark.parametrize("code", ["CK001", "CK002"])
def test_the_pages_hold(code: str) -> None:
    page = BOOK.page(code)
    (own,) = [one for one in found(page.bad) if one.code == code]
    assert (own.start, own.end, own.severity) == (page.bad_start, page.bad_end, page.severity)
    assert own.fix is not None
    assert own.fix.safe
    assert apply_edits(page.bad, own.fix.edits) == page.good
    assert code not in [one.code for one in found(page.good)]


@pytest.mark.parametrize(
    "text",
    [
        "a = $$x  # netsharp: ignore[CK024]\n",
        "# netsharp: ignore[CK024]\na = $$x\n",
        "# netsharp: ignore[CK019, CK024]\na = $$x/$y$\n",
        "# netsharp: ignore[CK019]\n# netsharp: ignore[CK024]\na = $$x/$y$\n",
        "A = {\n  a = $$x\t# netsharp: ignore[CK024]\n}\n",
    ],
)
def test_what_is_suppressed_is_not_reported(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The first sign has no blank before it, so that the second begins no comment.
        ("a = $$x#1 # netsharp: ignore[CK024]\n", ["CK024", "CK009"]),
        # In quotes it is a comment all the same: the program cuts there.
        ('a = "x" # netsharp: ignore[CK024]\n', ["CK001"]),
        ("a = 1 // netsharp: ignore[CK024]\n", ["CK011"]),
        ("a = 1 # netsharp: ignore\n", ["CK001"]),
        ("a = 1 # netsharp: ignore[CK999]\n", ["CK002"]),
    ],
)
def test_only_comments_of_the_program_suppress(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_idle_suppressions_are_reported_in_every_language(language: str) -> None:
    assert codes("# netsharp: ignore[CK024]\n", language)[:1] == ["CK001"]
    assert codes("# netsharp: ignore[CK0244]\n", language)[:1] == ["CK002"]


def test_scripts_suppress_with_slashes_too() -> None:
    assert codes("x = 1 // netsharp: ignore[CK024]\n", "brainscript")[-1:] == ["CK001"]


def test_the_codes_are_known_everywhere() -> None:
    assert set(BOOK.codes) <= set(known_codes())
    assert all(rules_with(code).page(code).code == code for code in BOOK.codes)
