"""The words of the glossary: its patterns find what they should, and CONTRIBUTING.md shows it."""

from __future__ import annotations

import pytest

from tests.words.glossary import Avoided, avoided, rows, table
from tests.words.texts import ROOT, Read

LONGEST = 40


def test_it_has_as_many_rows_as_a_newcomer_reads() -> None:
    assert 0.9 * LONGEST <= len(rows()) <= 1.1 * LONGEST
    terms = [row["term"] for row in rows()]
    assert len(set(terms)) == len(terms)


@pytest.mark.parametrize("one", avoided(), ids=lambda one: one.shown)
def test_a_pattern_finds_its_fault_and_leaves_its_sentence(one: Avoided) -> None:
    path, kind = (one.only or ("README.md",))[0], (one.kinds or ("document",))[0]
    assert list(one.found(Read(path, 1, kind, one.fault)))
    assert list(one.found(Read(path, 1, kind, one.passes))) == []


def test_contributing_shows_it() -> None:
    assert table() in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
