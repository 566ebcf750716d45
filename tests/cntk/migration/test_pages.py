"""Every page of a migration holds: its bad example becomes its good one, equal, and without the
rule it does not.
"""

from __future__ import annotations

import re

import pytest

from netsharp_lsp.cntk.migration.editing.edits import Edit
from netsharp_lsp.cntk.migration.migrate import MigrationSettings, Plan
from netsharp_lsp.cntk.migration.rules import FOLDER, RULES
from netsharp_lsp.diagnostics.pages import Page, RuleBook
from tests.cntk.migration import moving
from tests.cntk.migration.moving import plan_of

BOOK = RuleBook(FOLDER)
CODES = tuple(code for code in BOOK.codes if code.startswith("MG"))
#: Rules without which networks are equal all the same, and why.
HARMLESS = {
    "MG06": "square brackets mean the same in BrainScript",
    "MG16": "BrainScript understands a quoted fixedValue with its value, too",
    "MG18": "where numbers are drawn does not count, and the rule is done only on request",
    "MG38": "the rule changes nothing",
    "MG39": "operators build the same nodes, and the rule is done only on request",
    "MG40": "networks that are not trained are not compared",
    "MG44": "the options do not reach the network",
    "MG45": "names outside of the network do not reach it",
}


@pytest.fixture(params=CODES)
def page(request: pytest.FixtureRequest) -> Page:
    return BOOK.page(request.param)


def texts_of(page: Page) -> dict[str, str]:
    """The files of a page's bad example."""
    blocks = page.bad_blocks
    if len(blocks) > 1:
        return {block.title: block.text.decode() for block in blocks}
    text = blocks[0].text.decode()
    if blocks[0].language == "cntk":
        return {"train.cntk": text}
    return {"train.cntk": moving.AROUND, "network.ndl": text}


def migrated(page: Page, *disabled: str) -> Plan:
    settings = MigrationSettings(frozenset(disabled), requested=frozenset((page.code,)))
    return plan_of(texts_of(page), settings)


def tokens(text: bytes) -> bytes:
    """A text without its blanks, which are the formatter's."""
    return b"".join(text.split())


def test_every_rule_has_its_page_and_every_page_its_rule() -> None:
    RULES.load()
    assert set(RULES.severities) == set(CODES)
    assert set(CODES) == {*(f"MG{number:02}" for number in range(1, 47)), "MG04b"}
    for code in CODES:
        page = BOOK.page(code)
        assert (page.severity, page.fix) == (RULES.severities[code], "migrate"), code
        assert BOOK.text(code).startswith(f"# {code}: ")


def test_bad_example_becomes_the_good_one(page: Page) -> None:
    plan = migrated(page)
    assert {one.status for one in plan.networks} <= {"equal", "none"}
    assert not plan.fails
    for block in page.good_blocks:
        if block.title:
            assert tokens(plan.texts[block.title]) == tokens(block.text)
        else:
            name = "train.cntk" if block.language == "cntk" else "network.bs"
            assert tokens(plan.texts[name]) == tokens(block.text)


def test_the_rule_works_at_the_marked_words(page: Page) -> None:
    plan = migrated(page)
    file = next(name for name, text in texts_of(page).items() if text.encode() == page.bad)
    reported = [*plan.edits, *plan.todo]
    places = [(one.start, one.end) for one in reported if (one.rule, one.file) == (page.code, file)]
    if page.code == "MG38":
        assert places == []
        return
    assert any(start <= page.bad_end and page.bad_start <= end for start, end in places), places


def test_without_the_rule_the_example_fails_or_differs(page: Page) -> None:
    plan = migrated(page, page.code)
    compared = [one.status for one in plan.networks if one.status != "none"]
    if page.code in HARMLESS:
        assert set(compared) == {"equal"}
    else:
        assert "different" in compared, page.code
        assert all(one.differences for one in plan.networks if one.status == "different")


def test_what_only_a_person_can_decide_is_reported(page: Page) -> None:
    plan = migrated(page)
    if page.severity == "warning":
        assert page.code in {todo.rule for todo in plan.todo}
    for todo in plan.todo:
        assert re.match(r"[A-Z'].*[.]\Z", todo.message), todo.message


def test_edits_are_within_their_files(page: Page) -> None:
    texts = texts_of(page)
    for edit in migrated(page).edits:
        assert isinstance(edit, Edit)
        assert 0 <= edit.start <= edit.end <= len(texts[edit.file].encode())
