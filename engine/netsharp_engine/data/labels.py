"""The labels of classes as they were given in Python: numbers, truths or texts of some type.

A network knows classes by their names; this brings the values back that the names stand for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine import stored
from netsharp_engine.cells import label_text

#: numpy's names of the types that labels may have; any text is "str".
KINDS = frozenset(
    ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
) | {"float16", "float32", "float64", "str", "object"}
#: The largest whole number of any type.
LARGEST = 2**64


@dataclass(frozen=True, slots=True)
class Labels:
    """A label for each class, in the order of the classes, and the type that they had."""

    kind: str
    values: tuple[Any, ...]

    @classmethod
    def aligned(cls, given: npt.NDArray[Any]) -> Labels | None:
        """Return labels [classes] in the order of the classes; None where they have a type that no
        model stores, such as dates.
        """
        kind, values = "str" if given.dtype.kind == "U" else given.dtype.name, given.tolist()
        return cls(kind, tuple(values)) if kind in KINDS and all(map(_plain, values)) else None

    @classmethod
    def of(cls, given: npt.NDArray[Any], codes: npt.NDArray[Any], count: int) -> Labels | None:
        """Return the first label of ``given`` [rows] for each of ``count`` classes by the class
        ``codes`` [rows], of which each occurs; None as for ``aligned``.
        """
        first = np.full(count, len(given))
        np.minimum.at(first, codes, np.arange(len(given)))
        return cls.aligned(given[first])

    def array(self) -> npt.NDArray[Any]:
        """Return the labels [classes] as an array of their type."""
        return np.array(self.values, dtype=self.kind)

    def chosen(self, codes: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        """Return the labels [rows] of indices of classes; a class of -1 has none: NaN where labels
        are numbers with a point, else None.
        """
        array = self.array()
        absent = codes < 0
        if not absent.any():
            return array[codes]
        answers = array[codes] if array.dtype.kind == "f" else array[codes].astype(object)
        answers[absent] = np.nan if array.dtype.kind == "f" else None
        return answers

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the model file."""
        return {"kind": self.kind, "values": list(self.values)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any], classes: Sequence[str]) -> Labels:
        """Return the labels whose ``to_json()`` this is; ValueError for other values."""
        kind, found = stored.text(values, "kind"), stored.items(values, "values")
        if kind not in KINDS:
            raise ValueError(f"its labels have an unknown type '{kind[:20]}'")
        if len(found) != len(classes) or not all(map(_plain, found)):
            raise ValueError("its labels are not those of its classes")
        try:
            back = np.array(found, dtype=kind).tolist()
        except (ValueError, TypeError, OverflowError):
            back = None
        if back != found or len(set(map(str, found))) != len(found):
            raise ValueError("its labels are not those of its classes")
        return cls(kind, tuple(found))


def class_names(classes: npt.NDArray[Any]) -> tuple[str, ...]:
    """Return a distinct name for each label; ValueError where two are written alike. ``classes``
    are [classes], of any dtype.
    """
    labels = classes.tolist()
    names = [label_text(label) for label in labels]
    if len(set(names)) < len(names):
        names = [str(label) for label in labels]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"Two labels are both written '{twice}'. Give them different names.")
    return tuple(names)


def _plain(value: object) -> bool:
    """Return whether JSON keeps a label unchanged."""
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    return isinstance(value, int) and abs(value) <= LARGEST
