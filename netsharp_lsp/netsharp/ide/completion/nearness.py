"""Chooses among many names: those that match what is typed, the nearest above first.

A list of some hundred names is of no use and costs a keystroke's time; a client requests the others
as soon as more is typed. Knows no grammar.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import chain, islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeVar

    from netsharp_lsp.netsharp.ide.completion.place import Cursor
    from netsharp_lsp.netsharp.meaning.model import Constant, Layer

    One = TypeVar("One")
    Named = TypeVar("Named", Constant, Layer)

#: The most names of one sort that are proposed at once.
MOST = 120


def nearest(cursor: Cursor, named: Sequence[Named]) -> Iterator[Named]:
    """Yield declarations in text order as seen from the cursor: upwards, then downwards.

    Of several with one name the first is meant; one without a name cannot be.
    """
    specification = cursor.network.specification
    split = bisect_right(
        named, cursor.situation.start, key=lambda one: one.place.offsets(specification)[0]
    )
    known = {**cursor.network.constants, **cursor.network.layers}
    for number in chain(range(split - 1, -1, -1), range(split, len(named))):
        one = named[number]
        if one.name and known.get(one.name) is one:
            yield one


def chosen(
    cursor: Cursor,
    candidates: Iterable[One],
    name_of: Callable[[One], str],
    suits: Callable[[One], bool] = lambda _: True,
) -> Iterator[One]:
    """Yield all that suit where they are few; else a bounded number of those that match.

    An exact match comes first, then names that begin with what is typed, then those that have its
    letters in their order, in any case.
    """
    pending = iter(candidates)
    first = list(islice(filter(suits, pending), MOST + 1))
    if len(first) <= MOST:
        yield from first
        return
    cursor.leaves_out = True
    typed = cursor.typed.lower()
    if not typed:
        yield from first[:MOST]
        return
    holds = re.compile("".join(f"[^{letter}]*{letter}" for letter in typed)).match
    same: list[One] = []
    begin: list[One] = []
    others: list[One] = []
    for one in chain(first, pending):
        name = name_of(one).lower()
        if name.startswith(typed):
            (same if name == typed else begin).append(one)
        elif holds(name):
            others.append(one)
    yield from islice(filter(suits, chain(same, begin, others)), MOST)
