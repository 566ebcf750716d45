"""Counts the words of sentences, one a line, and puts them into classes of about equal weight.

Source: CNTK, ActionsLib/OtherActions.cpp, DoWriteWordAndClassInfo.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from netsharp_engine.cntk.samples.lines import opened


class CountedWord(NamedTuple):
    """A word, how often it comes, and the number of its class."""

    word: bytes
    times: int
    group: int


def count_words(path: str, begin: bytes, end: bytes) -> dict[bytes, int]:
    """Return the number of occurrences of each word, in the order of the text.

    DataError where it cannot be read. A sentence without its first or last word gets it; where both
    are one word, the first of each sentence is not counted.
    """
    found: Counter[bytes] = Counter()
    with opened(path) as (first, rest):
        for whole in chain((first,), rest):
            line = whole.rstrip(b"\n").strip(b" ")
            if begin + b" " not in line:
                line = begin + b" " + line
            if b" " + end not in line:
                line += b" " + end
            words = [word for word in line.replace(b"\t", b" ").split(b" ") if word]
            found.update(words[1:] if begin == end else words)
    return dict(found)


def grouped_words(
    counts: Mapping[bytes, int], size: int, groups: int, unknown: bytes
) -> Sequence[CountedWord]:
    """Return the most frequent words, all others as the ``unknown`` one, by their weight; each of
    the ``groups`` groups has about the same sum of square roots of shares.
    """
    ranked = sorted(counts.items(), key=lambda one: -one[1])
    kept: dict[bytes, int] = {}
    others = 0
    for word, count in ranked:
        if len(kept) >= size - 1 + (unknown in kept):
            others += count
            continue
        kept[word] = count
        others += count if word == unknown else 0
    kept[unknown] = others
    total = sum(kept.values())
    roots = sum(math.sqrt(one / total) for one in kept.values())
    found: list[CountedWord] = []
    weight, group = 0.0, 0
    for word, count in sorted(kept.items(), key=lambda one: -one[1]):
        weight = min(weight + math.sqrt(count / total) / roots, 1.0)
        if weight > (group + 1) / groups and group < groups:
            group += 1
        found.append(CountedWord(word, count, group))
    return found
