"""Doubtful properties of a table that are not errors: columns without information, a class for each
row.

It gives sentences for people; it must not refuse or change anything.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from netsharp_engine.data.encoding import Encoding
from netsharp_engine.data.storage.stores import blocks
from netsharp_engine.data.table import Table
from netsharp_engine.excerpt import excerpt

#: The most columns that are named.
MOST_NAMED = 6
#: Fewer classes or levels are no doubt, however few the rows.
FEW = 20
#: More columns without names are the pixels of pictures, whose borders are constant.
MOST_UNNAMED = 64
#: Numbers that are looked at together.
BLOCK = 1 << 18


def doubts(table: Table, train: npt.NDArray[np.intp], encoding: Encoding) -> list[str]:
    """Return sentences on columns of the training rows that are constant, texts that name rows, and
    labels that nearly every row has its own of. ``train`` are the indexes of these rows, [rows].
    """
    found = []
    still = _constant(table, train)
    if still:
        one = len(still) == 1
        found.append(
            f"{'Column' if one else 'Columns'} {_listed(still)} {'has' if one else 'have'} the "
            "same value in all training rows and can teach nothing; exclude leaves "
            f"{'it' if one else 'them'} out."
        )
    rows = len(train)
    names = [
        f"{column.name} ({len(column.levels):,} levels)"
        for column in encoding.columns
        if column.levels is not None and len(column.levels) > FEW and 2 * len(column.levels) > rows
    ]
    if names:
        found.append(
            f"Nearly every one of the {rows:,} training rows has a level of its own in "
            f"{_listed(names)}: what only names rows teaches nothing; exclude leaves it out."
        )
    classes = 0 if table.class_codes is None else _distinct(table.class_codes, train)
    if classes > FEW and 2 * classes > rows:
        found.append(
            f"The label has {classes:,} classes in {rows:,} training rows: of most classes there "
            "is one row alone, from which nothing general is learned. Is it the right label column?"
        )
    return found


def _distinct(codes: npt.NDArray[np.int32], train: npt.NDArray[np.intp]) -> int:
    """Return the number of different codes that the training rows have."""
    found: set[int] = set()
    for cut in blocks(len(train), 1):
        found.update(np.unique(codes[train[cut]]).tolist())
    return len(found)


def _constant(table: Table, train: npt.NDArray[np.intp]) -> list[str]:
    """Return the columns that have one value in the training rows; a missing one counts as a
    value.
    """
    if len(train) < 2 or (not table.named and len(table.columns) > MOST_UNNAMED):
        return []
    numbers, same = table.numbers, np.ones(table.numbers.shape[1], np.bool_)
    first = numbers[train[0]]
    step = max(BLOCK // max(len(same), 1), 1)
    for start in range(0, len(train), step):
        if not same.any():
            break
        block = numbers[train[start : start + step]]
        same &= ((block == first) | (np.isnan(block) & np.isnan(first))).all(axis=0)
    numeric, coded = iter(same.tolist()), iter(table.codes)
    found = []
    for column in table.columns:
        numeral = column.levels is None
        if next(numeric) if numeral else _distinct(next(coded), train) == 1:
            found.append(column.name)
    return found


def _listed(names: Iterable[str]) -> str:
    every = [f"'{excerpt(name)}'" for name in names]
    more = f" and {len(every) - MOST_NAMED:,} more" if len(every) > MOST_NAMED else ""
    return ", ".join(every[:MOST_NAMED]) + more
