"""Chooses the validation rows: a fraction, stratified for classes, or those a column marks."""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

from netsharp_engine.data.errors import DataError
from netsharp_engine.data.table import Table

Rows = npt.NDArray[np.intp]
#: Any fixed number: with it a seed draws other numbers here than for weights or orders.
SPLIT_STREAM = 0x5317


def split_rows(table: Table, fraction: float | None, seed: int) -> tuple[Rows, Rows]:
    """Return the indexes of training and validation rows, [rows] each, in file order.

    A validation column of the table wins over ``fraction``. With classes each is divided by itself,
    rounded so that the totals fit; no class loses its last training row. Raises DataError when no
    row is left for training or for validation.
    """
    everything = row_numbers(table.rows)
    if table.held_out is not None:
        train, validation = everything[~table.held_out], everything[table.held_out]
        _check(train, validation, "The validation column marks")
        return train, validation
    if fraction is None or fraction == 0:
        return everything, everything[:0]
    random = np.random.default_rng([SPLIT_STREAM, seed])
    if table.class_codes is None:
        held = random.permutation(table.rows)[: round(table.rows * fraction)]
    else:
        held = _stratified(table.class_codes, fraction, random)
    mask = np.zeros(table.rows, np.bool_)
    mask[held] = True
    train, validation = everything[~mask], everything[mask]
    _check(train, validation, f"validation = {fraction:g} of {table.rows} rows takes")
    return train, validation


def row_numbers(rows: int) -> Rows:
    """Return the numbers of rows, [rows], in the shortest type that holds them: there is one for
    each row.
    """
    short = rows <= np.iinfo(np.int32).max
    return cast(Rows, np.arange(rows, dtype=np.int32 if short else np.intp))


def _check(train: Rows, validation: Rows, what: str) -> None:
    if not len(validation):
        raise DataError(f"{what} no row for validation. Give more rows or another part.")
    if not len(train):
        raise DataError(f"{what} all rows for validation: none is left for training.")


def _stratified(codes: npt.NDArray[np.int32], fraction: float, random: np.random.Generator) -> Rows:
    """Return the rows held out class by class; the largest remainders take what rounding leaves."""
    classes, counts = np.unique(codes, return_counts=True)
    exact = counts * fraction
    take = np.floor(exact).astype(np.int64)
    left = round(float(exact.sum())) - int(take.sum())
    by_remainder = np.argsort(take - exact, kind="stable")
    take[by_remainder[:left]] += 1
    take = np.minimum(take, counts - 1)
    held = [
        random.permutation(np.flatnonzero(codes == code))[:count]
        for code, count in zip(classes, take, strict=True)
    ]
    return np.concatenate(held)
