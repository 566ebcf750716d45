"""Columns of data frames, of any library, as arrays of numbers or of texts.

A frame is an object with named columns that can be accessed one by one: pandas, polars, pyarrow.
None of these is imported here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine.cells import MISSING, label_text
from netsharp_engine.data.errors import DataError
from netsharp_engine.excerpt import excerpt

#: numpy's kinds of types that are numbers without conversion.
NUMBERS = "biuf"
#: The reasons for kinds that cannot be features.
ODD = {"M": "dates", "m": "durations", "c": "complex numbers", "V": "records", "S": "bytes"}
Values = npt.NDArray[Any]


def is_frame(given: object) -> bool:
    """Return whether it is a data frame, and not an array of numbers."""
    if isinstance(given, np.ndarray | list | tuple):
        return False
    return frame_names(given) is not None and hasattr(given, "__getitem__")


def named_columns(frame: Any) -> list[tuple[Any, Values]]:
    """Return the name and the values [rows] of each column, as numpy has them: numbers where all
    are, with NaN for missing ones, else objects.

    DataError where two columns have one name.
    """
    names = frame_names(frame)
    assert names is not None
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"Two columns are called '{excerpt(twice)}'. Rename one of them.")
    return [(name, _values(frame[name])) for name in names]


def array_columns(given: Values) -> list[tuple[Any, Values]]:
    """Return the columns of an array of objects [rows, columns] in the same way, by position."""
    return [(index, given[:, index]) for index in range(given.shape[1])]


def feature_of(name: object, values: Values) -> npt.NDArray[np.float64] | list[str]:
    """Return a column as numbers [rows], NaN where they are missing, or as texts, empty where they
    are; DataError, which names the column, where it is neither.

    Truths are numbers; a column that holds a text is one of texts.
    """
    if values.ndim != 1:
        raise DataError(f"Column '{excerpt(name)}' holds arrays. Give each number its own column.")
    if values.dtype.kind in NUMBERS:
        return values.astype(np.float64)
    if values.dtype.kind == "U":
        return texts_of(name, values)
    if values.dtype.kind != "O":
        odd = ODD.get(values.dtype.kind, str(values.dtype))
        raise DataError(
            f"Column '{excerpt(name)}' holds {odd}, which are not features. Turn them into numbers "
            "or texts, or leave the column out."
        )
    present = [value for value in values.tolist() if not _is_missing(value)]
    if all(isinstance(value, int | float | np.number | np.bool_) for value in present):
        try:
            return np.array([np.nan if _is_missing(one) else one for one in values], np.float64)
        except OverflowError:
            raise DataError(
                f"Column '{excerpt(name)}' holds a number that is too large to compute with. "
                "Correct it, or leave the column out."
            ) from None
    return texts_of(name, values)


def texts_of(name: object, values: Values) -> list[str]:
    """Return the values of a column as texts, stripped; empty where they are missing. DataError for
    a value that is neither text nor number.
    """
    texts = []
    for row, value in enumerate(values.tolist()):
        if _is_missing(value):
            texts.append("")
        elif isinstance(value, str):
            texts.append(value.strip())
        elif isinstance(value, int | float | np.number | np.bool_):
            texts.append(label_text(value))
        else:
            raise DataError(
                f"Row {row + 1}, column '{excerpt(name)}': a {type(value).__name__} is neither a "
                "text nor a number. Turn the column into one of these, or leave it out."
            )
    # As in a file, some words say that there is no value.
    return ["" if text.casefold() in MISSING else text for text in texts]


def frame_names(given: Any) -> list[Any] | None:
    """Return the names of the columns of a frame; None for an object without."""
    for attribute in ("column_names", "columns"):  # pyarrow's `columns` are the columns themselves.
        names = getattr(given, attribute, None)
        if names is not None and not callable(names):
            return list(names)
    return None


def _values(column: Any) -> Values:
    """Return a column of any library as an array [rows]."""
    if str(getattr(column, "dtype", "")) == "category":
        # Levels that are numbers are names all the same.
        levels = np.asarray(column.astype(object))
        return np.array([None if _is_missing(v) else str(label_text(v)) for v in levels], object)
    kind = getattr(getattr(column, "dtype", None), "kind", None)
    if kind is not None and kind in NUMBERS and not isinstance(column.dtype, np.dtype):
        # pandas' types that know missing values: numbers with NaN.
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if hasattr(column, "to_numpy"):
        try:
            return np.asarray(column.to_numpy())
        except (TypeError, ValueError):
            pass
    return np.asarray(column)


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
