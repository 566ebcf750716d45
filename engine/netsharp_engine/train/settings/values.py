"""Turns one raw value of a run file or a flag into a setting, or gives the reason why it cannot.

Flags come as text, run files as TOML values; both are accepted. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from netsharp_engine.backends.naming import WORDS, parsed
from netsharp_engine.data.errors import nearest
from netsharp_engine.excerpt import excerpt
from netsharp_engine.train.settings.keys import AUTO, BLOCKS, Key

TRUTHS = {"true": True, "yes": True, "on": True, "1": True}
TRUTHS |= {"false": False, "no": False, "off": False, "0": False}

LARGEST = 2**63 - 1

#: Codes that values of a layer can be, and what is meant where only that is said.
OPERANDS = re.compile(r"(uint|int|symmetric)([4-9]|1[0-2])\Z")
USUAL_OPERANDS = "uint8"


class BadValueError(ValueError):
    """A value that does not suit its key; the text names the reason and values that would."""


def convert(key: Key, value: Any) -> Any:
    """Return the value of ``key`` in its own type; raises BadValueError with a sentence."""
    return CONVERSIONS[key.kind](key, value)


def _as_text(key: Key, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise BadValueError(f"text is needed, found {_shown(value)}.")
    return value


def _choice(key: Key, value: Any) -> str:
    word = _as_text(key, value).strip().casefold()
    word = key.aliases.get(word, word)
    if word not in key.choices:
        listed = ", ".join(key.choices)
        hint = nearest(word, key.choices) if len(key.choices) > 12 else ""
        raise BadValueError(f"{_shown(value)} is none of {listed}.{hint}")
    return word


def _truth(key: Key, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.casefold() in TRUTHS:
        return TRUTHS[value.casefold()]
    raise BadValueError(f"true or false is needed, found {_shown(value)}.")


def _shuffling(key: Key, value: Any) -> bool | str:
    if isinstance(value, str) and value.casefold() == BLOCKS:
        return BLOCKS
    try:
        return _truth(key, value)
    except BadValueError:
        raise BadValueError(
            f'true, false or "{BLOCKS}" is needed, found {_shown(value)}.'
        ) from None


def _integer(key: Key, value: Any) -> int:
    number = value
    if isinstance(value, str):
        try:
            number = int(value)
        except ValueError:
            number = None
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if not isinstance(number, int) or isinstance(number, bool):
        raise BadValueError(f"a whole number is needed, found {_shown(value)}.")
    if abs(number) > LARGEST:
        raise BadValueError(f"{_shown(value)} is out of range: no whole number is so large.")
    _check_limits(key, number, value)
    return number


def _threads(key: Key, value: Any) -> int | str:
    if isinstance(value, str) and value.strip().casefold() == AUTO:
        return AUTO
    try:
        return _integer(key, value)
    except BadValueError as fault:
        raise BadValueError(str(fault)[:-1] + f' (or "{AUTO}").') from None


def _device(key: Key, value: Any) -> str:
    device = parsed(_as_text(key, value))
    if device is None:
        raise BadValueError(f"{_shown(value)} is not a device: {WORDS} is needed.")
    return str(device)


def _number(key: Key, value: Any) -> float:
    number = _as_float(value)
    if number is None:
        raise BadValueError(f"a number is needed, found {_shown(value)}.")
    _check_limits(key, number, value)
    return number


def _as_float(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and "_" not in str(value) else None


def _check_limits(key: Key, number: float, value: Any) -> None:
    low, high = key.least, key.most
    below = low is not None and (number < low or (key.open_least and number == low))
    above = high is not None and (number > high or (key.open_most and number == high))
    if not (below or above):
        return
    limits = []
    if low is not None:
        limits.append(f"{'above' if key.open_least else 'at least'} {low:g}")
    if high is not None:
        limits.append(f"{'below' if key.open_most else 'at most'} {high:g}")
    raise BadValueError(f"{_shown(value)} is out of range: it must be {' and '.join(limits)}.")


def _column(key: Key, value: Any) -> str | int:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise BadValueError(
            f"a column's name or its number from 1 is needed, found {_shown(value)}."
        )
    if isinstance(value, int) and not 0 < value <= LARGEST:
        raise BadValueError(f"columns are numbered from 1, found {excerpt(value)}.")
    return value


def _columns(key: Key, value: Any) -> tuple[str | int, ...]:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    if isinstance(value, int):
        value = [value]
    if not isinstance(value, list | tuple):
        raise BadValueError(f"a list of columns is needed, found {_shown(value)}.")
    return tuple(_column(key, each) for each in value)


def _labels(key: Key, value: Any) -> str | int | tuple[str | int, ...]:
    if not isinstance(value, list | tuple):
        return _column(key, value)
    columns = _columns(key, value)
    if not columns or len(set(columns)) < len(columns):
        raise BadValueError(f"a list needs columns, each once, found {_shown(value)}.")
    return columns[0] if len(columns) == 1 else columns


def _paths(key: Key, value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(
        isinstance(name, str) and name for name in names
    ):
        raise BadValueError(f"a file name or a list of them is needed, found {_shown(value)}.")
    return tuple(names)


def _split(key: Key, value: Any) -> float | str | None:
    number = _as_float(value)
    if number is None:
        if isinstance(value, str) and value:
            return value
        raise BadValueError(f"a fraction, a column or a file is needed, found {_shown(value)}.")
    if not 0 <= number < 1:
        raise BadValueError(
            f"{_shown(value)} is out of range: a fraction is at least 0 and below 1."
        )
    return number or None


def _class_weights(key: Key, value: Any) -> str | dict[str, float] | None:
    if isinstance(value, str) and value.casefold() == "balanced":
        return "balanced"
    if isinstance(value, str) and "=" in value:
        pairs = [part.partition("=") for part in value.split(",")]
        value = {name.strip(): number.strip() for name, _, number in pairs}
    if not isinstance(value, Mapping) or not value:
        raise BadValueError(
            f'"balanced" or weights by class such as {{ yes = 2, no = 1 }} are needed, '
            f"found {_shown(value)}."
        )
    weights = {}
    for name, each in value.items():
        number = _as_float(each)
        if number is None or number < 0:
            raise BadValueError(
                f"the weight of class '{excerpt(str(name))}' must be a number of at least 0."
            )
        weights[str(name)] = number
    if not any(weights.values()):
        raise BadValueError("at least one class needs a weight above 0.")
    return weights


def _layer_shares(key: Key, value: Any) -> float | dict[str, float] | None:
    """Return a share, or shares by layer; None where all are 0."""
    if isinstance(value, str) and "=" in value:
        pairs = [part.partition("=") for part in value.split(",")]
        value = {name.strip(): number.strip() for name, _, number in pairs}
    if not isinstance(value, Mapping):
        return _share(value, "a share of nodes such as 0.5, or shares by layer, are needed") or None
    what = "the share of layer '{}' must be a number"
    shares = {
        str(name): _share(each, what.format(excerpt(str(name)))) for name, each in value.items()
    }
    return {name: each for name, each in shares.items() if each} or None


def _share(value: Any, wanted: str) -> float:
    number = _as_float(value)
    if number is None:
        raise BadValueError(f"{wanted}, found {_shown(value)}.")
    if not 0 <= number < 1:
        raise BadValueError(f"{_shown(value)} is out of range: a share is at least 0 and below 1.")
    return number


def _operands(key: Key, value: Any) -> str | None:
    word = value.strip().casefold() if isinstance(value, str) else value
    if isinstance(word, bool) or (isinstance(word, str) and word in TRUTHS):
        return USUAL_OPERANDS if _truth(key, word) else None
    if not isinstance(word, str) or not OPERANDS.match(word):
        raise BadValueError(
            f"true, false or codes of 4 to 12 bits (uint8, int6, symmetric4) are needed, "
            f"found {_shown(value)}."
        )
    return word


def codes_of(operands: str) -> int:
    """Return the number of codes of a kind and bits such as "uint8"."""
    found = OPERANDS.match(operands)
    assert found is not None
    # Those that are symmetric leave the least one out.
    return (1 << int(found[2])) - (found[1] == "symmetric")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{excerpt(value)}'" if isinstance(value, str) else excerpt(value)


CONVERSIONS: Mapping[str, Callable[[Key, Any], Any]] = {
    "text": _as_text,
    "choice": _choice,
    "truth": _truth,
    "integer": _integer,
    "number": _number,
    "column": _column,
    "columns": _columns,
    "labels": _labels,
    "paths": _paths,
    "shuffling": _shuffling,
    "split": _split,
    "class weights": _class_weights,
    "layer shares": _layer_shares,
    "operands": _operands,
    "threads": _threads,
    "device": _device,
}
