"""Near names, against comparing a word with each of them."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.diagnostics.nearest import nearest
from netsharp_lsp.netsharp.meaning.spelling import Spellings

NAMES = st.lists(st.text("aAbB12_é", max_size=9), unique=True, max_size=12)
WORDS = st.text("aAbB12_éz", max_size=9)
RUN = settings(max_examples=400, derandomize=True, deadline=None)


def first_near(spellings: Spellings, word: str, names: list[str]) -> str | None:
    """The first in a list of the names that are nearest to a word."""
    found = spellings.nearest(word, lambda name: True)
    return min(found, key=names.index, default=None)


@RUN
@given(NAMES, WORDS)
def test_the_nearest_is_that_of_all(names: list[str], word: str) -> None:
    spellings = Spellings()
    for name in names:
        spellings.add(name)
    assert first_near(spellings, word, names) == nearest(word, names)


@RUN
@given(NAMES, st.lists(WORDS, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_names_come_and_go(names: list[str], words: list[str], chance: random.Random) -> None:
    spellings = Spellings()
    there: list[str] = []
    for word in words:
        for name in chance.sample(names, len(names) // 2):
            if name in there:
                spellings.remove(name)
                there.remove(name)
            else:
                spellings.add(name)
                there.append(name)
        assert first_near(spellings, word, there) == nearest(word, there)


def test_invalid_names_are_passed_over() -> None:
    spellings = Spellings()
    for name in ("Conv1", "Conv2", "conv3", "Pool1"):
        spellings.add(name)
    assert spellings.nearest("Conv3", lambda name: True) == ["conv3"]
    assert sorted(spellings.nearest("Conv3", lambda name: name != "conv3")) == ["Conv1", "Conv2"]
    assert spellings.nearest("Dropout", lambda name: True) == []
