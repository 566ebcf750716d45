"""Plain values of a model file, each of the kind that it must be; anything else is a ValueError.

It knows kinds, not what the values mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from netsharp_engine.excerpt import excerpt

#: Larger integers are not counts of a run.
LARGEST = 2**53


def table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the table under ``key``. ValueError for another value."""
    found = _found(values, key)
    if isinstance(found, dict):
        return found
    raise _misfit(key, found, "a table")


def items(values: Mapping[str, Any], key: str) -> list[Any]:
    """Return the list under ``key``. ValueError for another value."""
    found = _found(values, key)
    if isinstance(found, list):
        return found
    raise _misfit(key, found, "a list")


def whole(values: Mapping[str, Any], key: str, least: int = 0) -> int:
    """Return the whole number of at least ``least`` under ``key``. ValueError for another value."""
    found = _found(values, key)
    if isinstance(found, int) and not isinstance(found, bool) and least <= found <= LARGEST:
        return found
    raise _misfit(key, found, f"a whole number from {least} to {LARGEST}")


def number(values: Mapping[str, Any], key: str, *, finite: bool = True) -> float:
    """Return the number under ``key``; with ``finite`` neither NaN nor infinite. ValueError for
    another value.
    """
    return as_number(_found(values, key), key, finite=finite)


def as_number(found: object, key: str, *, finite: bool = True) -> float:
    """Return a value as a number, which ``key`` names. ValueError for another value."""
    # A whole number near float64's end (1.8e308) or beyond cannot become one.
    if isinstance(found, int | float) and not isinstance(found, bool) and abs(found) <= 1e300:
        return float(found)
    if isinstance(found, float) and (math.isfinite(found) or not finite):
        return found
    raise _misfit(key, found, "a number")


def truth(values: Mapping[str, Any], key: str) -> bool:
    """Return the truth value under ``key``. ValueError for another value."""
    found = _found(values, key)
    if isinstance(found, bool):
        return found
    raise _misfit(key, found, "true or false")


def text(values: Mapping[str, Any], key: str) -> str:
    """Return the text under ``key``. ValueError for another value."""
    return as_text(_found(values, key), key)


def as_text(found: object, key: str) -> str:
    """Return a value as text that can be written as UTF-8, which ``key`` names. ValueError for
    another value.
    """
    if isinstance(found, str) and not any("\ud800" <= character <= "\udfff" for character in found):
        return found
    raise _misfit(key, found, "text")


def optional(values: Mapping[str, Any], key: str, read: Any) -> Any:
    """Return ``read(values, key)``, or None where the value is null. Raises ValueError where the
    key is missing.
    """
    return None if _found(values, key) is None else read(values, key)


def numbers(values: Mapping[str, Any], key: str, *, finite: bool = True) -> dict[str, float]:
    """Return the table of numbers by name under ``key``. ValueError for another value."""
    return {
        as_text(name, key): as_number(each, f"{key}.{name}", finite=finite)
        for name, each in table(values, key).items()
    }


def _found(values: Mapping[str, Any], key: str) -> Any:
    if key not in values:
        raise ValueError(f"it has no '{key}'")
    return values[key]


def _misfit(key: str, found: object, wanted: str) -> ValueError:
    return ValueError(f"'{excerpt(key)}' is {excerpt(found)}, not {wanted}")
