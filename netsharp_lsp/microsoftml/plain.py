"""A frame of arrays and factors, for callers that have no library of frames.

It answers what the calls ask of a frame, as pandas does, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class PlainFactor:
    """A column [rows] of levels in an order of their own: ``codes``, -1 where there is none."""

    categories: npt.NDArray[np.str_]
    codes: npt.NDArray[np.int32]
    dtype: Literal["category"] = "category"

    @property
    def cat(self) -> PlainFactor:
        """Return the accessor for levels and codes, as in pandas."""
        return self

    def isna(self) -> npt.NDArray[np.bool_]:
        """Return where there is no level, as truths [rows]."""
        return self.codes < 0

    def __getitem__(self, rows: npt.NDArray[np.bool_]) -> PlainFactor:
        """Return the column of some rows."""
        return PlainFactor(self.categories, self.codes[rows])

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)

    def to_numpy(self) -> npt.NDArray[Any]:
        """Return the levels [rows] as objects."""
        return self.astype(object)

    def astype(self, kind: type[object]) -> npt.NDArray[Any]:
        """Return the level of each row as an array of that type; None where there is none."""
        return np.array([*self.categories.tolist(), None], dtype=kind)[self.codes]


class PlainFrame:
    """A frame of columns by their names: arrays [rows], or factors.

    A column whose values stay with the caller is there by its name, with None.
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = dict(columns)

    @property
    def columns(self) -> list[str]:
        """Return the names of the columns in their order."""
        return list(self._columns)

    def __len__(self) -> int:
        """Return the number of rows, 0 where the caller has all values."""
        return next((len(one) for one in self._columns.values() if one is not None), 0)

    @overload
    def __getitem__(self, chosen: str) -> Any: ...
    @overload
    def __getitem__(self, chosen: Sequence[str]) -> PlainFrame: ...
    def __getitem__(self, chosen: str | Sequence[str]) -> Any:
        """Return the column of a name, or the frame of several."""
        if isinstance(chosen, str):
            return self._columns[chosen]
        return PlainFrame({name: self._columns[name] for name in chosen})
