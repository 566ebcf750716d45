"""Colours of a screen are those of the whole text, however little of it was parsed for them."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from bench import cntk_generate
from netsharp_lsp.cntk.ide.places import stretches
from netsharp_lsp.cntk.ide.places.stretches import LONGEST, Stretch, TextPieces
from netsharp_lsp.cntk.ide.places.text import EditedText
from netsharp_lsp.context import Context
from netsharp_lsp.language import language_by_id
from netsharp_lsp.text.edits import Edit, apply_edits
from tests.cntk.collection import FILES
from tests.cntk.test_keystrokes import LANGUAGES, SCREEN

if TYPE_CHECKING:
    from netsharp_lsp.interface import Snapshot

SEED, TEXTS, EDITS = 31, 60, 8
#: What a person types who begins a statement, ends one, tears one apart or hides what follows.
TYPED = (
    *("x", "q1", "5", " ", "=", "\n", ".", ":", "; ", "if ", "then ", "x = y\n", "\n\n", " + "),
    *("include ", "<<", "*", "[", "]", "{", "(", ")", '"', "'", "# ", "/*", "*/", "$a$", "\\"),
)


def pool() -> list[tuple[str, bytes]]:
    """Texts that are long enough for a stretch, of each language."""
    made = [(suffix, cntk_generate.text(suffix, 120, SEED)) for suffix in LANGUAGES]
    corpus = [(one.id, one.data) for one in FILES if 600 < len(one.data) < 6_000]
    return made + [(name, data) for name, data in corpus if data.isascii() and b"\0" not in data]


def opened(name: str, data: bytes) -> Snapshot:
    return language_by_id(LANGUAGES.get(name, name)).open(data, Context())


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[Stretch | None]:
    """The stretches that were asked for."""
    found: list[Stretch | None] = []
    asked = TextPieces.stretch

    def stretch(self: TextPieces, *place: Any) -> Stretch | None:
        found.append(asked(self, *place))
        return found[-1]

    monkeypatch.setattr(TextPieces, "stretch", stretch)
    return found


def test_a_stretch_says_what_the_whole_text_says(counted: list[Stretch | None]) -> None:
    chance, texts = Random(SEED), pool()
    for _ in range(TEXTS):
        name, data = chance.choice(texts)
        snapshot = opened(name, data)
        snapshot.tokens(0, len(data))
        for _ in range(EDITS):
            at = chance.randrange(len(data))
            taken = chance.randrange(3) == 0
            made = Edit(at, at + taken, "" if taken else chance.choice(TYPED))
            data = apply_edits(data, [made])
            snapshot = snapshot.edited(data, [made])
            start = max(0, at - chance.randrange(400))
            place = start, start + chance.randrange(800)
            fresh = opened(name, data).tokens(*place)
            assert snapshot.tokens(*place) == fresh, (name, made, data)
    used = sum(one is not None for one in counted)
    assert used > TEXTS * EDITS / 5, used


@pytest.mark.parametrize("size", [60, 300])
def test_pieces_are_followed_as_a_fresh_text_has_them(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each declaration is in a piece, and pieces that an edit left unchanged are the same ones."""
    monkeypatch.setattr(stretches, "PIECE", size)
    chance, texts, same = Random(SEED), pool(), 0
    for _ in range(TEXTS):
        name, data = chance.choice(texts)
        text = EditedText(LANGUAGES.get(name, name), data)
        before = text.pieces
        for _ in range(EDITS):
            at = chance.randrange(len(data))
            taken = chance.randrange(3) == 0
            made = Edit(at, at + taken, "" if taken else chance.choice(TYPED))
            data = apply_edits(data, [made])
            text = EditedText(text.language, data, text.known_pieces)
            fresh = EditedText(text.language, data).pieces
            assert (text.pieces is None) == (fresh is None), (name, made, data)
            if text.pieces is None or fresh is None:
                continue
            found = text.pieces
            assert b"".join(as_bytes(found)) == data
            marks = [*found.marks(0, len(found.pieces), 0)]
            assert marks == [*fresh.marks(0, len(fresh.pieces), 0)], (name, made, data)
            known = {id(one) for one in before.pieces} if before is not None else set()
            same += sum(id(one) in known for one in found.pieces)
            before = found
    assert same > TEXTS, same


def as_bytes(pieces: TextPieces) -> list[bytes]:
    return [pieces.data[low:high] for low, high in pairwise(pieces.starts)]


@pytest.mark.parametrize("suffix", LANGUAGES)
def test_a_letter_is_coloured_without_parsing_the_text(
    suffix: str, counted: list[Stretch | None]
) -> None:
    """Before: the whole text at each letter, 6 ms for 1,000 lines and in proportion."""
    text = cntk_generate.text(suffix, 4_000, SEED)
    snapshot = opened(suffix, text)
    middle = len(text) // 2
    snapshot.tokens(middle, middle + SCREEN)
    at = text.index(b"\n", middle)
    for letter in b" abc":
        made = Edit(at, at, chr(letter))
        text = apply_edits(text, [made])
        snapshot = snapshot.edited(text, [made])
        snapshot.tokens(at - SCREEN // 2, at + SCREEN // 2)
        at += 1
    # Taken out again, the text is one that is known; that is no reason to read to its end.
    for _ in range(4):
        at -= 1
        made = Edit(at, at + 1, "")
        text = apply_edits(text, [made])
        snapshot = snapshot.edited(text, [made])
        snapshot.tokens(at - SCREEN // 2, at + SCREEN // 2)
    assert len(counted) == 8
    assert all(one is not None and len(one.data) < 2 * SCREEN + 4_000 for one in counted)
    assert len(text) > LONGEST
