"""What an editor asks at each keystroke of a long text costs little, by processor time."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import pytest

from bench import cntk_generate
from netsharp_lsp.cntk.ide.snapshot import Snapshot
from netsharp_lsp.context import Context
from netsharp_lsp.language import language_by_id
from netsharp_lsp.text.edits import Edit, apply_edits
from tests.costs import assert_measured, spent, uncollected

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.interface import Snapshot as AnySnapshot

SEED = 5
LANGUAGES = {"cntk": "cntk", "bs": "brainscript", "ndl": "ndl", "mel": "mel"}
#: Bytes that a person sees at once.
SCREEN = 1_500
ROUNDS = 5


def cost(suffix: str, lines: int, ask: Callable[[AnySnapshot, int], object]) -> float:
    """Seconds of processor time of a question about the middle of a text that was just changed."""
    text = cntk_generate.text(suffix, lines, SEED)
    language = language_by_id(LANGUAGES[suffix])
    times = []
    with uncollected():
        for _ in range(ROUNDS):
            snapshot = language.open(text, Context())
            times.append(spent(partial(ask, snapshot, len(text) // 2)))
    return min(times)


@pytest.mark.parametrize("suffix", LANGUAGES)
def test_colours_of_a_screen_cost_less_than_those_of_a_text(suffix: str) -> None:
    """Before: as much, since all was read for them.  What is left is the parser's."""

    def screen(snapshot: AnySnapshot, at: int) -> object:
        return snapshot.tokens(at, at + SCREEN)

    def whole(snapshot: AnySnapshot, at: int) -> object:
        return snapshot.tokens(0, len(snapshot.data))

    assert_measured(
        lambda: [
            cost(suffix, 2_000, screen),
            cost(suffix, 8_000, screen),
            cost(suffix, 8_000, whole),
        ],
        lambda took: took[1] < 8 * took[0] and took[1] < took[2] / 2,
    )


def typed_and_taken_back(
    text: bytes, language_id: str, use: bytes, looked: Callable[[Edited], None]
) -> None:
    """A digit after names that are used: what is proposed is what a fresh text proposes, each time
    the state of the version is `looked` at, and a checked version is what the next begins from.
    """
    chance = Random(SEED)
    language = language_by_id(language_id)
    snapshot = language.open(text, Context())
    snapshot.check()
    uses = [found.end() for found in re.finditer(use, text)]
    for _ in range(8):
        at = chance.choice(uses)
        made = Edit(at, at, "1")
        edited = apply_edits(text, [made])
        snapshot = snapshot.edited(edited, [made])
        found = snapshot.complete(at + 1).items
        assert isinstance(snapshot, Snapshot)
        looked(snapshot.text)
        fresh = language.open(edited, Context()).complete(at + 1).items
        assert [one.label for one in found] == [one.label for one in fresh]
        if language_id != "mel":
            assert any(one.label == "h1" and one.detail for one in found)
        if language_id in ("ndl", "mel"):  # Checking a network of BrainScript takes seconds.
            snapshot.check()
        snapshot = snapshot.edited(text, [Edit(at, at + 1, "")])


@pytest.mark.parametrize("form", ["%b", "a = [ BrainScriptNetworkBuilder = {\n%b} ]\n"])
def test_names_of_brainscript_are_proposed_without_a_network(form: str) -> None:
    """Before: each keystroke waited for the network, 1.3 s at 1,000 lines."""

    def unbuilt(edited: Edited) -> None:
        assert all("networks" not in vars(one) for one in edited.experiments)

    text = form.encode() % cntk_generate.text("bs", 60, SEED)
    language_id = "cntk" if b"Builder" in text else "brainscript"
    typed_and_taken_back(text, language_id, rb"\(h\d+", unbuilt)


@pytest.mark.parametrize("suffix", ["ndl", "mel"])
def test_names_of_ndl_and_mel_are_proposed_without_a_network(suffix: str) -> None:
    """Before: each keystroke parsed, evaluated and checked the whole text for them."""

    def unbuilt(edited: Edited) -> None:
        assert not any(one.is_evaluated for one in edited.main.networks)
        assert not any("_edited" in vars(one) for one in edited.main.edits)

    text = cntk_generate.text(suffix, 60, SEED)
    typed_and_taken_back(text, suffix, rb"[(.]h\d+", unbuilt)


@pytest.mark.parametrize("form", ["%b", "a = [ BrainScriptNetworkBuilder = {\n%b} ]\n"])
def test_uses_of_a_name_are_marked_without_a_network(form: str) -> None:
    """Before: each step of the cursor after a letter waited for it, 250 ms at 1,000 lines."""
    chance = Random(SEED)
    text = form.encode() % cntk_generate.text("bs", 60, SEED)
    language = language_by_id("cntk" if b"Builder" in text else "brainscript")
    snapshot = language.open(text, Context())
    uses = [found.end() for found in re.finditer(rb"\(h\d+", text)]
    for _ in range(8):
        at = chance.choice(uses)
        made = Edit(at, at, chance.choice("1 (\n"))
        text = apply_edits(text, [made])
        snapshot = snapshot.edited(text, [made])
        found = [snapshot.highlights(at), snapshot.references(at, True)]
        assert isinstance(snapshot, Snapshot)
        assert all("networks" not in vars(one) for one in snapshot.text.experiments)
        snapshot.check()  # Now there is a network, and what is said is the same.
        fresh = language.open(text, Context())
        fresh.check()
        assert found == [fresh.highlights(at), fresh.references(at, True)]
        made = Edit(at, at + 1, "")
        text = apply_edits(text, [made])
        snapshot = snapshot.edited(text, [made])
        assert snapshot.highlights(at)


@pytest.mark.parametrize("suffix", ["bs", "ndl", "mel"])
def test_names_grow_with_a_text_as_it_does(suffix: str) -> None:
    """What did not change is not read again: a statement costs little more than its name."""

    def typed(lines: int) -> float:
        text = cntk_generate.text(suffix, lines, SEED)
        at = text.index(b"(", len(text) // 2) + 1
        snapshot = language_by_id(LANGUAGES[suffix]).open(text, Context())
        if suffix != "bs":  # Whose network takes seconds.
            snapshot.check()
        times = []
        with uncollected():
            for letter in b"abcde":
                made = Edit(at, at, chr(letter))
                text = apply_edits(text, [made])
                snapshot = snapshot.edited(text, [made])
                snapshot.tokens(at, at + SCREEN)
                times.append(spent(partial(snapshot.complete, at + 1)))
        return min(times)

    assert_measured(
        lambda: (typed(1_000), typed(4_000)),
        lambda took: took[0] < 0.2 and took[1] < 8 * took[0],
    )


def test_names_of_macros_grow_with_their_number() -> None:
    """Before: each macro that was proposed was looked for among all of them."""

    def proposed(count: int) -> float:
        text = "\n".join(f"m{number}(x) = [ y = Plus(x, 1) ]" for number in range(count)).encode()
        snapshot = language_by_id("ndl").open(text + b"\na = ", Context())
        snapshot.check()
        with uncollected():
            taken = spent(partial(snapshot.complete, len(text) + 5))
        found = snapshot.complete(len(text) + 5).items
        assert sum(one.label.startswith("m") for one in found) >= count
        return taken

    assert_measured(lambda: (proposed(1_500), proposed(6_000)), lambda took: took[1] < 9 * took[0])
