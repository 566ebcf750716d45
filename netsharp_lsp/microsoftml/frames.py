"""Data frames as the calls take and return them, of pandas, of polars, and plain ones.

None of these is imported, and nothing is known of networks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.data.errors import nearest
from netsharp_engine.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    Values = npt.NDArray[Any]

PANDAS, POLARS = ("pandas", "DataFrame"), ("polars", "DataFrame")
#: That of callers who have neither.
PLAIN = ("netsharp_lsp", "PlainFrame")
#: Types that the calls do not take as frames, and how to make a frame of each.
WAYS = {
    ("polars", "LazyFrame"): "data.collect()",
    ("pyarrow", "Table"): "data.to_pandas()",
    ("pyarrow", "RecordBatch"): "data.to_pandas()",
    ("pandas", "Series"): "data.to_frame()",
    ("polars", "Series"): "data.to_frame()",
    ("numpy", "ndarray"): "pandas.DataFrame(data, columns=['a', 'b'])",
    ("builtins", "dict"): "pandas.DataFrame(data)",
    ("builtins", "str"): "pandas.read_csv(data)",
}


def column_names(data: object) -> list[Any]:
    """Return the names of a frame's columns; raises ValueError without a frame or rows."""
    kind = _kind(data)
    if kind is None:
        known = (WAYS[one] for one in _classes_of(data) if one in WAYS)
        way = next(known, "pandas.DataFrame(data)")
        raise ValueError(
            "data must be a data frame of pandas or polars, found "
            f"{type(data).__name__}. Make one of it first: {way}."
        )
    frame: Any = data
    if not len(frame):
        raise ValueError("data has no rows. Give a frame of at least one row.")
    return list(frame.columns)


def check_column(name: object, names: Sequence[Any], role: str) -> None:
    """Raise ValueError where ``names`` have no such column, or several; ``role`` says who wants it,
    as in "which the formula names".
    """
    count = names.count(name) if isinstance(name, str | int) else int(name in names)
    if not count:
        hint = nearest(str(name), [str(one) for one in names])
        raise ValueError(f"The data have no column '{excerpt(name)}', {role}.{hint}")
    if count > 1:
        raise ValueError(
            f"The data have {count} columns called '{excerpt(name)}', {role}. Rename all but one, "
            "or leave them out of data."
        )


def scored(data: Any, kept: Iterable[Any], scores: Mapping[str, Values], labels: Values) -> Any:
    """Return a frame of another's rows: columns of it that are ``kept``, and scores [rows].

    Scores of objects are labels, None where there is no answer; ``labels`` are all that there may
    be, so that the column has their type also where none is answered.
    """
    columns = {name: data[name] for name in kept}
    if _kind(data) == PANDAS:
        return type(data)(columns | dict(scores), index=data.index)
    if _kind(data) == PLAIN:
        return type(data)(columns | dict(scores))
    for name, values in scores.items():
        columns[name] = _typed(data, values, labels) if values.dtype.kind == "O" else values
    return type(data)(columns)


def present(column: Any) -> tuple[Values, Values]:
    """Return which rows of a column have a value, as truths [rows], and these values as an array,
    of numbers, texts or objects as they are in the column.
    """
    if hasattr(column, "is_null"):
        there, values = ~column.is_null().to_numpy(), column.drop_nulls().to_numpy()
    elif isinstance(column, np.ndarray):
        there = np.array([one is not None for one in column.tolist()], dtype=np.bool_)
        values = column[there]
    else:
        there = ~np.asarray(column.isna(), dtype=np.bool_)
        values = column[there].to_numpy()
    values = np.asarray(values)
    # Of objects, and in polars, NaN is a value.
    if values.ndim == 1 and values.dtype.kind == "f":
        valid = values == values
    elif values.ndim == 1 and values.dtype.kind == "O":
        valid = np.array([not _is_nan(one) for one in values], dtype=np.bool_)
    else:
        return there, values
    there[there] = valid
    return there, values[valid]


def _is_nan(value: object) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _typed(data: Any, values: Values, labels: Values) -> Any:
    """Labels as a column of polars that has their type."""
    column = type(data)({"": [*values.tolist(), *labels.tolist()]}, strict=False)[""]
    return column.head(len(values))


def _kind(data: object) -> tuple[str, str] | None:
    return next((one for one in _classes_of(data) if one in (PANDAS, POLARS, PLAIN)), None)


def _classes_of(data: object) -> list[tuple[str, str]]:
    """Return the package and the name of the class of an object and of its base classes."""
    return [(each.__module__.partition(".")[0], each.__name__) for each in type(data).__mro__]
