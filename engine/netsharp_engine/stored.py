"""Plain values of a model file, each of the kind that it must be; anything else is a ValueError.

It knows kinds, not what the values mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from netsharp_engine.excerpt import excerpt

#: Whole numbers beyond this are none that a run ever counted to.
LARGEST = 2**53


def table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The table under ``key``."""
    found = _found(values, key)
    if isinstance(found, dict):
        return found
    raise _misfit(key, found, "a table")


def items(values: Mapping[str, Any], key: str) -> list[Any]:
    """The list under ``key``."""
    found = _found(values, key)
    if isinstance(found, list):
        return found
    raise _misfit(key, found, "a list")


def whole(values: Mapping[str, Any], key: str, least: int = 0) -> int:
    """The whole number of at least ``least`` under ``key``."""
    found = _found(values, key)
    if isinstance(found, int) and not isinstance(found, bool) and least <= found <= LARGEST:
        return found
    raise _misfit(key, found, f"a whole number from {least} to {LARGEST}")


def number(values: Mapping[str, Any], key: str, *, finite: bool = True) -> float:
    """The number under ``key``; with ``finite`` neither NaN nor infinite."""
    return as_number(_found(values, key), key, finite=finite)


def as_number(found: object, key: str, *, finite: bool = True) -> float:
    """A value as a number, which ``key`` names."""
    if isinstance(found, int | float) and not isinstance(found, bool) and abs(found) <= 1e300:
        return float(found)
    if isinstance(found, float) and (math.isfinite(found) or not finite):
        return found
    raise _misfit(key, found, "a number")


def truth(values: Mapping[str, Any], key: str) -> bool:
    """What is true or false under ``key``."""
    found = _found(values, key)
    if isinstance(found, bool):
        return found
    raise _misfit(key, found, "true or false")


def text(values: Mapping[str, Any], key: str) -> str:
    """The text under ``key``."""
    return as_text(_found(values, key), key)


def as_text(found: object, key: str) -> str:
    """A value as text that can be written as UTF-8, which ``key`` names."""
    if isinstance(found, str) and not any("\ud800" <= character <= "\udfff" for character in found):
        return found
    raise _misfit(key, found, "text")


def optional(values: Mapping[str, Any], key: str, read: Any) -> Any:
    """``read(values, key)``, or None where that stands there."""
    return None if _found(values, key) is None else read(values, key)


def numbers(values: Mapping[str, Any], key: str, *, finite: bool = True) -> dict[str, float]:
    """The table of numbers by name under ``key``."""
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
