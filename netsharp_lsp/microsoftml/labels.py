"""The label of a call: a frame's column as numbers to predict, or as classes in their order.

What is neither is refused by its type; nothing is known of formulas.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netsharp_engine.data.frames import ODD, texts_of
from netsharp_engine.data.labels import LARGEST
from netsharp_engine.excerpt import excerpt
from netsharp_lsp.microsoftml.frames import present

if TYPE_CHECKING:
    import numpy.typing as npt

#: Kinds of numpy's types, and types of objects, that are numbers or truths.
_NUMBERS = "biuf"
_NUMERALS = (int, float, np.integer, np.floating, np.bool_)


class ClassLabels(NamedTuple):
    """Classes in their order, and the index of each row's, int32, -1 where it has none."""

    levels: npt.NDArray[Any]
    codes: npt.NDArray[np.int32]


def numbers_of(column: Any, label: str) -> npt.NDArray[np.float64]:
    """Return the numbers [rows] of a column, NaN where they are missing.

    Raises ValueError for a value that is not a number, or not finite.
    """
    there, values = present(column)
    if not _all(values, (*_NUMERALS, Decimal), _NUMBERS):
        raise ValueError(
            f"The label '{excerpt(label)}' of a regression must be numbers, and holds "
            f"{_held(values)}. Turn them into numbers first, or set method='multiClass' if they "
            "are classes."
        )
    numbers = np.full(len(there), np.nan)
    try:
        numbers[there] = values.astype(np.float64)
    except OverflowError:
        numbers[there] = np.inf
    _refuse_infinite(numbers[there], label)
    return numbers


def classes_of(column: Any, label: str) -> ClassLabels:
    """Return the classes of a column in their order, and those of the rows.

    The order is that of the levels of a categorical column, of all of them, else the natural one.
    Raises ValueError for values other than texts, numbers or booleans.
    """
    kind = str(getattr(column, "dtype", ""))
    if kind == "category":
        levels = np.asarray(column.cat.categories)
        codes = np.array(column.cat.codes, dtype=np.int32)
    elif kind.startswith("Enum("):
        levels = np.array(column.dtype.categories.to_list(), dtype=str)
        codes = np.array(column.to_physical().cast(int).fill_null(-1), dtype=np.int32)
    else:
        levels, codes = _natural(column, label)
    _refuse_odd(levels, label)
    return ClassLabels(levels, codes)


def _natural(column: Any, label: str) -> ClassLabels:
    """Return the classes of a column that has no order of its own."""
    there, values = present(column)
    _refuse_odd(values, label)
    if values.dtype.kind == "O":
        texts = any(isinstance(value, str) for value in values)
        values = np.array(texts_of(label, values)) if texts else np.array(values.tolist())
    if values.dtype.kind == "U":
        # As in a file, some words say that there is no value.
        given = values != ""
        there[there] = given
        values = values[given]
    levels, found = np.unique(values, return_inverse=True)
    codes = np.full(len(there), -1, dtype=np.int32)
    codes[there] = found
    return ClassLabels(levels, codes)


def _refuse_odd(values: npt.NDArray[Any], label: str) -> None:
    if not _all(values, (str, *_NUMERALS), _NUMBERS + "U"):
        raise ValueError(
            f"The label '{excerpt(label)}' holds {_held(values)}, which are not classes. Turn them "
            "into texts or numbers first."
        )
    _refuse_infinite(values, label)
    half = next((one for one in values if isinstance(one, str) and not _is_whole(one)), None)
    if half is not None:
        raise ValueError(
            f"The label '{excerpt(label)}' holds the text '{excerpt(half)}', in which a character "
            "is not whole. Correct it, or leave its row out of data."
        )


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _refuse_infinite(values: npt.NDArray[Any], label: str) -> None:
    numbers = [one for one in values if not isinstance(one, str)] if values.dtype == "O" else []
    infinite = values.dtype.kind == "f" and np.isinf(values).any()
    if infinite or any(abs(one) > LARGEST for one in numbers):
        raise ValueError(
            f"The label '{excerpt(label)}' holds a number that is infinite or too large. Correct "
            "it, or leave its row out of data."
        )


def _all(values: npt.NDArray[Any], types: tuple[type, ...], kinds: str) -> bool:
    """Return whether all values are of types of Python, or of kinds of numpy."""
    if values.ndim == 1 and values.dtype.kind == "O":
        return all(isinstance(value, types) for value in values)
    return values.ndim == 1 and (not len(values) or values.dtype.kind in kinds)


def _held(values: npt.NDArray[Any]) -> str:
    """Return the name, in a message, for values of an unsupported type."""
    if values.ndim > 1:
        return "arrays"
    if values.dtype.kind == "U":
        return "texts"
    if values.dtype.kind != "O":
        return ODD.get(values.dtype.kind, str(values.dtype))
    odd = next((one for one in values if not isinstance(one, _NUMERALS)), None)
    return "texts" if isinstance(odd, str) else f"values of the type {type(odd).__name__}"
