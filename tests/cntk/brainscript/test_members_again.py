"""What an edit leaves as it was is not read again, and is reported as if it were."""

from __future__ import annotations

from random import Random

import pytest

from bench import cntk_generate
from netsharp_lsp.cntk.brainscript.reading import expressions
from netsharp_lsp.cntk.brainscript.reading.parser import parse
from netsharp_lsp.cntk.brainscript.reading.syntax import Entry, RecordLiteral, Script
from netsharp_lsp.text.remembered import Remembered

SEED = 29
ROUNDS = 120
#: What an edit puts in; much of it leaves brackets, quotes or comments open.
PIECES = ("q", "{", "}", "(", ")", "=", "\n", "# ", "//", "/*", "*/", '"', "'", ";", ":", ".", "é")
FORMS = ["%b", "{\n%b}", "# %b", "array[0..3] (i => {\n%b})"]


def read_afresh(text: bytes, monkeypatch: pytest.MonkeyPatch) -> Script:
    """What who has never seen a member reads."""
    with monkeypatch.context() as without:
        without.setattr(expressions, "_MEMBERS", Remembered(expressions.KEPT))
        return parse(text, "s")


@pytest.mark.parametrize("form", FORMS)
def test_an_edited_text_is_read_as_afresh(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(SEED)
    text = form.encode() % cntk_generate.text("bs", 30, SEED)
    for _ in range(ROUNDS):
        at = chance.randrange(len(text) + 1)
        put = chance.choice(PIECES).encode() if chance.random() < 0.6 else b""
        text = text[:at] + put + text[at + chance.randrange(0 if put else 1, 4) :]
        assert parse(text, "s") == read_afresh(text, monkeypatch), (SEED, text)


@pytest.mark.parametrize("form", ["%b", "{\n%b}"])
def test_only_what_was_edited_is_read(form: str) -> None:
    """Before: all of it, which took half of what names cost at 1,000 lines."""
    text = form.encode() % cntk_generate.text("bs", 40, SEED)
    before = members(parse(text, "s"))
    middle = before[len(before) // 2]
    at = middle.name_place.end
    after = members(parse(text[:at] + b"q" + text[at:], "s"))
    half = before.index(middle)
    assert all(new is old for old, new in zip(before[:half], after[:half], strict=True))
    for old, new in zip(before[half + 1 :], after[half + 1 :], strict=True):
        assert (new.place.start, new.place.end) == (old.place.start + 1, old.place.end + 1)


def members(script: Script) -> list[Entry]:
    built = script.built
    return list(built.entries if isinstance(built, RecordLiteral) else script.entries)
