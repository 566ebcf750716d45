"""What an editor asks of an edited text is answered as if the text were read for the first time."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from netsharp_lsp.ide.answers import HintOptions, LensOptions
from netsharp_lsp.netsharp import LANGUAGE
from tests.collection import RESOLVING, SAMPLES
from tests.laws.typing import Typist

if TYPE_CHECKING:
    from netsharp_lsp.netsharp.snapshot import Snapshot

TOKEN = re.compile(rb"\w+|[^\w\s]")
EVERY_HINT = HintOptions(shapes=True, parameters=True, constants=True, defaults=True)
#: Edits of each text, and places asked after each edit.
EDITS = 4
PLACES = 4


def answers(snapshot: Snapshot, offsets: list[int]) -> dict[str, Any]:
    """All that can be asked about the whole, and about some places."""
    size = len(snapshot.data)
    found: dict[str, Any] = {
        "symbols": snapshot.symbols(),
        "folds": snapshot.folds(),
        "links": snapshot.links(),
        "tokens": snapshot.tokens(0, size),
        "hints": snapshot.hints(0, size, EVERY_HINT),
        "lenses": snapshot.lenses(LensOptions("run.toml", parameters=True)),
    }
    for offset in offsets:
        found[f"at {offset}"] = (
            snapshot.hover(offset),
            snapshot.complete(offset),
            snapshot.signature(offset),
            snapshot.definition(offset),
            snapshot.implementations(offset),
            snapshot.references(offset, True),
            snapshot.highlights(offset),
            snapshot.prepare_rename(offset),
            snapshot.rename(offset, "Fresh_1"),
            snapshot.selections(offset),
            snapshot.flow(offset),
            snapshot.actions(offset, offset, None),
        )
        flow = snapshot.flow(offset)
        if flow is not None:
            ways = (True, False)
            feeds = [snapshot.feeds(flow.name, backwards=way) for way in ways]
            found[f"around {flow.name}"] = feeds
    return found


@pytest.mark.parametrize("part", range(4))
@pytest.mark.costly
def test_an_edited_text_answers_like_a_fresh_one(seed: int, part: int) -> None:
    chance = random.Random(seed * 10 + part)
    for sample in SAMPLES[part::4]:
        snapshot = LANGUAGE.open(sample.text, RESOLVING)
        typist = Typist(sample.text, chance)
        for _ in range(EDITS):
            before = typist.text
            edits = typist.edit()
            snapshot = snapshot.edited(typist.text, edits)
            starts = [match.start() for match in TOKEN.finditer(typist.text)] or [0]
            offsets = sorted(chance.sample(starts, min(PLACES, len(starts))))
            found = answers(snapshot, offsets)
            fresh = answers(LANGUAGE.open(typist.text, RESOLVING), offsets)
            differing = [key for key in fresh if found[key] != fresh[key]]
            assert not differing, (
                before,
                edits,
                differing,
                *((found[key], fresh[key]) for key in differing[:2]),
            )
