"""Names and outlines that are kept piece by piece say what the whole text says."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from bench import cntk_generate
from netsharp_lsp.cntk.ide.completion import completions_at, in_whole
from netsharp_lsp.cntk.ide.places import near as near_offsets
from netsharp_lsp.cntk.ide.places import stretches
from netsharp_lsp.cntk.ide.places.edited import Edited
from netsharp_lsp.cntk.ide.places.near import near
from netsharp_lsp.cntk.ide.structure import symbols
from netsharp_lsp.context import Context
from netsharp_lsp.text.edits import Edit, apply_edits
from tests.cntk.collection import FILES
from tests.cntk.test_keystrokes import LANGUAGES
from tests.cntk.test_stretches import TYPED

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.ide.answers import Completion, OutlinePart, Symbol

SEED, OFFSETS, EDITS = 47, 3, 6
#: Texts in which distant parts matter: macros, functions, records, words of later releases.
OWN = {
    "ndl": "m(x, y) = [ t = Times(x, y) ]\n" + "\n".join(f"h{n} = m(h{n}, 2)" for n in range(40)),
    "mel": "m1 = LoadModel(a)\nm2 = CreateModel()\n"
    + "\n".join(f"CopyNode(m1.h{n}, m1.c{n})" for n in range(40))
    + "\nW = Parameter(2, 3)\nSetProperty(m1.c3, output, true)\nDeleteNode(m2.h1)\n",
    "brainscript": "f (x, y, z = 3) = x + y\nr = { a = 1 ; b = 2 }\ng = f\nfeatureNodes = (h1)\n"
    + "\n".join(f"h{n} = Tanh (h{n + 1})" for n in range(40))
    + "\nc = Cosh (h1)\nd = r.a\ne = g (h1, 2)\n",
}


def pool() -> list[tuple[str, bytes]]:
    made = [(language, words.encode()) for language, words in OWN.items()]
    ids = [(name, suffix) for suffix, name in LANGUAGES.items() if suffix != "cntk"]
    made += [(name, cntk_generate.text(suffix, 60, SEED)) for name, suffix in ids]
    corpus = [(one.id, one.data) for one in FILES if one.id != "cntk" and len(one.data) < 6_000]
    return made + corpus


def listed(found: tuple[Completion, ...]) -> list[Completion]:
    return sorted(found)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stretches, "PIECE", 120)


def test_what_is_proposed_near_an_offset_is_what_the_whole_text_proposes() -> None:
    chance, found = Random(SEED), 0
    for language, data in pool():
        edited = Edited(language, data, Context())
        for _ in range(OFFSETS):
            at = chance.randrange(len(data) + 1)
            if near(edited, at) is None:
                continue
            found += 1
            whole = in_whole(Edited(language, data, Context()), at).items
            assert listed(completions_at(edited, at).items) == listed(whole), (language, at, data)
            made = Edit(at, at, chance.choice(TYPED))
            data = apply_edits(data, [made])
            edited = Edited(language, data, Context(), pieces=edited.text.known_pieces)
    assert found > 100, found


@pytest.mark.parametrize("language", OWN)
def test_every_offset_of_a_text_proposes_what_the_whole_text_does(language: str) -> None:
    data = OWN[language].encode()
    edited = Edited(language, data, Context())
    for at in range(len(data) - 60, len(data) + 1, 3):
        assert near(edited, at) is not None
        whole = in_whole(Edited(language, data, Context()), at).items
        assert listed(completions_at(edited, at).items) == listed(whole), at


def test_parts_of_an_outline_are_kept_as_a_fresh_text_has_them() -> None:
    chance = Random(SEED)
    texts = [*pool(), ("cntk", cntk_generate.text("cntk", 120, SEED))]
    parts = 0
    for language, data in texts:
        edited = Edited(language, data, Context())
        for _ in range(EDITS):
            found = [*symbols.outline_of(edited)]
            whole = symbols.symbols_of(Edited(language, data, Context()))
            assert together(found) == whole, (language, data)
            assert sum(one.size for _, one in found) == len(data)
            parts += len(found)
            at = chance.randrange(len(data) + 1)
            made = Edit(at, at, chance.choice(TYPED))
            data = apply_edits(data, [made])
            edited = edited.next_version(data)
    assert parts > 3 * EDITS * len(texts) / 2, parts


def together(parts: list[tuple[int, OutlinePart]]) -> list[Symbol]:
    return [symbols._moved(one, start) for start, part in parts for one in part.symbols]


def test_what_was_proposed_of_one_record_says_nothing_of_another() -> None:
    """Before: a name that was asked for once gave what had been at its address in memory."""
    data = b"a = { x = 1 }\nb = { y = 2 }\nc = a.\n"
    edited = Edited("brainscript", data, Context())
    at = data.index(b"a.") + 2
    for _ in range(50):
        assert "x" in [one.label for one in in_whole(edited, at).items]
        other = Edited("brainscript", data.replace(b"a.", b"b."), Context())
        assert "y" in [one.label for one in in_whole(other, at).items]


@pytest.mark.parametrize("suffix", ["bs", "ndl", "mel"])
def test_a_letter_costs_the_pieces_around_it(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before: names and outline were read from the whole text at each letter."""
    monkeypatch.setattr(stretches, "PIECE", 2_000)
    language = LANGUAGES[suffix]
    counted = {"names": 0, "outline": 0}

    def counting(key: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def done(*given: Any) -> Any:
            counted[key] += 1
            return work(*given)

        return done

    kept = stretches.TextPieces.kept

    def counted_kept(
        self: stretches.TextPieces, key: str, work: Callable[..., Any], *more: Any
    ) -> object:
        return kept(self, key, counting(key, work), *more)

    monkeypatch.setattr(stretches.TextPieces, "kept", counted_kept)
    text = cntk_generate.text(suffix, 4_000, SEED)
    edited = Edited(language, text, Context())
    at = text.index(b"\n", len(text) // 2)
    completions_at(edited, at)
    symbols.outline_of(edited)
    assert min(counted.values()) > 30
    for letter in "\nab = ":
        made = Edit(at, at, letter)
        text = apply_edits(text, [made])
        edited = edited.next_version(text)
        at += 1
        before = dict(counted)
        shortened = near_offsets.near(edited, at)
        assert shortened is not None
        assert len(shortened.edited.data) < 4_000
        completions_at(edited, at)
        symbols.outline_of(edited)
        assert all(counted[key] - before[key] <= 4 for key in counted), (letter, counted, before)
