"""Every rule page holds: its bad example gives exactly its code and span, its good one nothing."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.fixes import fix_all
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.diagnostics.pages import Page, RuleBook
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.examining import examine
from netsharp_lsp.language import language_by_id
from netsharp_lsp.netsharp.rules import FOLDER, RULES
from netsharp_lsp.text.lines import LineIndex

BOOK = RuleBook(FOLDER)
CODES = BOOK.codes
NETSHARP = language_by_id("netsharp")
SEVERE = ("error", "warning")
#: An example is changed on four lines at most.
MOST_CHANGED_LINES = 8


def found(text: bytes, context: Context) -> list[Diagnostic]:
    return examine(NETSHARP, LineIndex(text), context, Selection())


@pytest.fixture(params=CODES)
def page(request: pytest.FixtureRequest) -> Page:
    return BOOK.page(request.param)


def test_every_rule_has_its_page_and_every_page_its_rule() -> None:
    RULES.load()
    assert set(RULES.severities) | set(NETSHARP.suppression_codes) == set(CODES)


def test_page_names_itself_and_its_severity(page: Page) -> None:
    RULES.load()
    assert RULES.severities.get(page.code, "warning") == page.severity
    assert Path(BOOK.path(page.code)).name == f"{page.code}.md"


def test_bad_example_gives_exactly_its_code_and_span(page: Page) -> None:
    diagnostics = found(page.bad, page.context)
    own = [(d.code, d.start, d.end) for d in diagnostics if d.code == page.code]
    assert own == [(page.code, page.bad_start, page.bad_end)], diagnostics
    others = [d for d in diagnostics if d.code != page.code and d.severity in SEVERE]
    assert others == []


def test_good_example_is_clean(page: Page) -> None:
    diagnostics = found(page.good, page.good_context)
    assert [d for d in diagnostics if d.code == page.code or d.severity in SEVERE] == []


def test_good_example_differs_by_a_small_edit(page: Page) -> None:
    bad, good = (text.decode().splitlines() for text in (page.bad, page.good))
    changed = [line for line in difflib.ndiff(bad, good) if line[:1] in "+-"]
    if page.code != "NS028":
        assert len(changed) <= MOST_CHANGED_LINES
    assert page.bad != page.good or page.context.known() != page.good_context.known()


def test_fix_is_as_promised(page: Page) -> None:
    (own,) = (d for d in found(page.bad, page.context) if d.code == page.code)
    promised = None if page.fix == "none" else page.fix == "safe"
    assert (None if own.fix is None else own.fix.safe) == promised


def test_fix_removes_its_fault_and_adds_none(page: Page) -> None:
    if page.fix == "none":
        return

    def own_only(text: bytes) -> list[Diagnostic]:
        return [d for d in found(text, page.context) if d.code == page.code]

    fixed = fix_all(page.bad, own_only, unsafe=True)
    assert fixed.rounds <= 10
    left = found(fixed.text, page.context)
    assert [d for d in left if d.code == page.code or d.severity == "error"] == []
