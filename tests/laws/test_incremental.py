"""A text that is edited is checked as if it were read for the first time, edit by edit.

`python -m tests.laws.test_incremental EDITS [SEED]` runs EDITS edits over everything.
"""

from __future__ import annotations

import gc
import random
import re
import sys

import pytest

from bench.generate import netsharp
from netsharp_lsp.context import Context
from netsharp_lsp.language import language_by_id
from netsharp_lsp.netsharp.meaning import network
from netsharp_lsp.netsharp.reading import windows
from netsharp_lsp.netsharp.reading.grammar import parse_tree
from netsharp_lsp.netsharp.snapshot import Snapshot
from netsharp_lsp.text.edits import Edit, apply_edits
from tests.collection import RESOLVING, SAMPLES
from tests.costs import uncollected
from tests.laws.authoring import Author
from tests.laws.typing import Typist

LANGUAGE = language_by_id("netsharp")
CONTEXTS = (
    Context(),
    RESOLVING,
    Context(outputs=1, task="binary", host="rx"),
    Context(features=30, task="regression", host="studio", origin={"features": "table.csv"}),
)
#: Edits of each text in one run, and how often what is known around it changes.
EDITS = 6
CONTEXT_CHANGES = 0.04
#: What an editor shows that shows few.
FEW = 3


def follow(text: bytes, context: Context, edits: int, chance: random.Random) -> int:
    """Edit a text so often and compare each version with a fresh one; return how often."""
    snapshot = Snapshot.opened(text, context)
    typist = Typist(text, chance)
    for _ in range(edits):
        if chance.random() < CONTEXT_CHANGES:
            snapshot = snapshot.with_context(chance.choice(CONTEXTS))
        before = typist.text
        what = typist.edit()
        snapshot = snapshot.edited(typist.text, what)
        if chance.random() < 0.1:
            continue
        shown = snapshot.most_severe(FEW, is_wanted)
        found = snapshot.check().diagnostics
        fresh = LANGUAGE.check(typist.text, snapshot.context)
        assert found == fresh.diagnostics, explained(before, what, found, fresh.diagnostics)
        wanted = fresh.most_severe(FEW, is_wanted)
        assert shown == wanted, explained(before, what, shown[1], wanted[1])
        assert snapshot.check().comments == fresh.comments
    return edits


def is_wanted(code: str) -> bool:
    """Whether a code is selected: those of some rules are left out."""
    return not code.endswith("7")


def follow_author(steps: int, chance: random.Random) -> int:
    """The same for a network that stays readable."""
    author = Author(chance)
    snapshot = Snapshot.opened(author.text, chance.choice(CONTEXTS))
    for _ in range(steps):
        if chance.random() < CONTEXT_CHANGES:
            snapshot = snapshot.with_context(chance.choice(CONTEXTS))
        before = author.text
        author.rewrite()
        what = Typist.difference(before, author.text)
        snapshot = snapshot.edited(author.text, what)
        if chance.random() < 0.1:
            continue
        found = snapshot.check().diagnostics
        fresh = LANGUAGE.check(author.text, snapshot.context).diagnostics
        assert found == fresh, explained(before, what, found, fresh)
    return steps


def explained(before: bytes, edits: object, found: object, fresh: object) -> str:
    """What went wrong, so that it can be done again."""
    return f"\n{before!r}\n{edits!r}\nfound {found!r}\nfresh {fresh!r}"


@pytest.mark.costly
@pytest.mark.parametrize("part", range(4))
def test_the_collection_under_edits(seed: int, part: int) -> None:
    chance = random.Random(seed * 10 + part)
    edits = sum(follow(sample.text, sample.context, EDITS, chance) for sample in SAMPLES[part::4])
    assert edits > 600


@pytest.mark.costly
def test_several_texts_in_one(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(12):
        several = chance.sample(SAMPLES, 3)
        follow(b"\n".join(one.text for one in several), chance.choice(CONTEXTS), 25, chance)


@pytest.mark.costly
def test_networks_that_stay_readable(seed: int) -> None:
    chance = random.Random(seed)
    assert sum(follow_author(50, chance) for _ in range(24)) == 1200


def test_texts_with_more_unknown_names_than_are_looked_up(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "HINT_COMPARISONS", 14)
    chance = random.Random(seed)
    for _ in range(12):
        several = chance.sample(SAMPLES, 2)
        follow(b"\n".join(one.text for one in several), chance.choice(CONTEXTS), 20, chance)


@pytest.mark.costly
@pytest.mark.parametrize("lines", [20, 60, 200])
def test_generated_networks_under_edits(seed: int, lines: int) -> None:
    chance = random.Random(seed + lines)
    for number in range(4):
        follow(netsharp(lines, seed + number), chance.choice(CONTEXTS), 60, chance)


def torn(text: bytes, chance: random.Random) -> bytes:
    """A text from which marks of one kind are gone, all of them or a share."""
    marks = re.compile(chance.choice((rb";", rb";(?=\n)", rb"[\]]", rb"[{}]", rb"[;,\]]")))
    share = chance.choice((1, 1, 0.5, 0.2))
    return marks.sub(lambda found: b"" if chance.random() < share else found.group(), text)


def test_texts_that_lack_marks_everywhere(seed: int) -> None:
    chance = random.Random(seed)
    texts = [netsharp(60, seed), *(one.text for one in SAMPLES if 300 < len(one.text) < 3_000)]
    for _ in range(25):
        follow(torn(chance.choice(texts), chance), chance.choice(CONTEXTS), EDITS, chance)


@pytest.mark.parametrize(
    ("mark", "gone"), [(b"[1];", b"[1]"), (b"[1];", b"[1;"), (b"all {", b"all")]
)
def test_a_letter_costs_little_where_every_block_lacks_a_mark(
    mark: bytes, gone: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: all of the text was parsed and checked at each letter."""
    read: list[int] = []

    def counted(data: bytes) -> object:
        read.append(len(data))
        return parse_tree(data)

    monkeypatch.setattr(windows, "parse_tree", counted)
    text = chain(400).replace(mark, gone)
    snapshot = Snapshot.opened(text, Context())
    assert len(snapshot.check().diagnostics) >= 398
    at = text.index(b"from L199 all") + 9
    for edit in (Edit(at, at, "9"), Edit(at, at + 1, "")):
        read.clear()
        text = apply_edits(text, [edit])
        snapshot = snapshot.edited(text, [edit])
        assert snapshot.check().diagnostics == LANGUAGE.check(text, Context()).diagnostics
        assert snapshot.examination.examined < 40, snapshot.examination.examined
        assert read[0] < len(text) / 3, (read, len(text))


def chain(layers: int) -> bytes:
    """A network of `layers` layers, one after the other, and the constant that sizes them all."""
    lines = ["const Size = 8;", "const Other = 3;", "input L0 [28, 28];"]
    lines += (
        f"hidden L{number} [Size] tanh from L{number - 1} all {{ Weights = [1]; }}"
        for number in range(1, layers)
    )
    lines.append(f"output Result [10] softmax from L{layers - 1} all;")
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("old", "new", "most"),
    [
        (b"from L99 all { Weights = [1]", b"from L99 all { Weights = [1, 2]", 1),
        (b"hidden L99 [Size]", b"hidden L99 [9]", 3),
        (b"from L99 all", b"from L98 all", 4),
        (b"hidden L99 ", b"hidden Lx99 ", 3),
        (b"Other = 3", b"Other = 34", 1),
        (b"Size = 8", b"Size = 8 ", 1),
        (b"input L0", b" input L0", 1),
    ],
)
def test_only_what_an_edit_touches_is_checked_again(old: bytes, new: bytes, most: int) -> None:
    text = chain(200)
    snapshot = Snapshot.opened(text, Context())
    snapshot.check()
    assert snapshot.examination.examined == 203
    for before, after in ((old, new), (new, old)):
        changed = text.replace(before, after, 1)
        snapshot = snapshot.edited(changed, Typist.difference(text, changed))
        assert snapshot.check().diagnostics == LANGUAGE.check(changed, Context()).diagnostics
        assert snapshot.examination.examined <= most
        text = changed


def test_edits_leave_nothing_in_circles() -> None:
    """No garbage is collected while a user types."""
    text = chain(40)
    snapshot = Snapshot.opened(text, Context())
    snapshot.check()
    with uncollected():
        for number in range(100):
            changed = text.replace(b"from L19 all", b"from L%d al" % (number % 19), 1)
            snapshot = snapshot.edited(changed, Typist.difference(text, changed))
            snapshot.check()
            snapshot = snapshot.edited(text, Typist.difference(changed, text))
            snapshot.check()
        assert gc.collect() < 100


def main(edits: int, seed: int) -> None:
    """Run edits over the collection and generated networks, and print the seed of each."""
    done = 0
    while done < edits:
        chance = random.Random(seed)
        sample = chance.choice(SAMPLES)
        text = sample.text
        kind = chance.random()
        if kind < 0.2:
            text = netsharp(chance.choice((15, 40, 120, 400)), seed)
        elif kind < 0.6:
            text = b"\n".join(one.text for one in (sample, *chance.sample(SAMPLES, 2)))
        try:
            done += follow_author(40, chance)
            done += follow(text, chance.choice((sample.context, *CONTEXTS)), 40, chance)
        except AssertionError as wrong:
            print(f"seed {seed}: {wrong}")
            raise SystemExit(1) from None
        seed += 1
    print(f"{done} edits, seeds to {seed - 1}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
