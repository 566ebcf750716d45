"""The shape of parameters, checked before they are used; knows no method.

A check takes a value and its path (`params.position.line`) and returns a sentence that names the
field, the expected and the actual value; None where all is well.
"""

from __future__ import annotations

import json
from enum import Enum
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import attrs
from lsprotocol.validators import (
    INTEGER_MAX_VALUE,
    INTEGER_MIN_VALUE,
    UINTEGER_MAX_VALUE,
    uinteger_validator,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: Characters of a value or a name that a sentence repeats.
LONGEST = 60


class Wrong:
    """A field that is not what it must be."""

    __slots__ = ("found", "needed", "path")

    def __init__(self, path: str, needed: str, found: str) -> None:
        self.path = path
        self.needed = needed
        self.found = found

    def __str__(self) -> str:
        return f"{self.path}: {self.needed} is needed, found {self.found}."


if TYPE_CHECKING:
    Check = Callable[[Any, str], Wrong | None]


def shown(value: Any) -> str:
    """Return a value of JSON as a sentence repeats it: short, on one line, without controls."""
    if isinstance(value, (dict, list, tuple)):
        empty, full = ("{}", "an object") if isinstance(value, dict) else ("[]", "a list")
        return full if value else empty
    if isinstance(value, str):
        cut = value[: LONGEST + 1]
        return json.dumps(cut[:LONGEST] + "..." if len(cut) > LONGEST else cut)
    if isinstance(value, int) and abs(value) >= 10**LONGEST:
        return "a number of very many digits"
    return json.dumps(value)


def anything(value: Any, path: str) -> Wrong | None:
    """Take every value."""
    return None


def integer(value: Any, path: str) -> Wrong | None:
    """Take an integer, however large: a position may lie beyond the end of its text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return None
    return Wrong(path, "an integer", shown(value))


def between(least: int, most: int) -> Check:
    """Take the integers of a range."""
    needed = f"an integer from {least} to {most}"

    def check(value: Any, path: str) -> Wrong | None:
        if type(value) is int and least <= value <= most:
            return None
        return Wrong(path, "an integer" if type(value) is not int else needed, shown(value))

    return check


def instance(kind: type | tuple[type, ...], needed: str) -> Check:
    """Take the values of a Python type that JSON is read to."""

    def check(value: Any, path: str) -> Wrong | None:
        return None if isinstance(value, kind) else Wrong(path, needed, shown(value))

    return check


text = instance(str, "a text")
boolean = instance(bool, "true or false")
_NULL = "null"
nothing = instance(NoneType, _NULL)
mapping = instance(dict, "an object")
_integer = between(INTEGER_MIN_VALUE, INTEGER_MAX_VALUE)
_uinteger = between(0, UINTEGER_MAX_VALUE)


def number(value: Any, path: str) -> Wrong | None:
    """Take a number."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return None
    return Wrong(path, "a number", shown(value))


def one_of(values: Sequence[Any]) -> Check:
    """Take one of a few values."""
    words = [shown(value) for value in values]
    needed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"

    def check(value: Any, path: str) -> Wrong | None:
        if any(type(value) is type(each) and value == each for each in values):
            return None
        return Wrong(path, needed, shown(value))

    return check


def array(item: Check) -> Check:
    """Take a list whose items all are right."""

    def check(value: Any, path: str) -> Wrong | None:
        if not isinstance(value, list):
            return Wrong(path, "a list", shown(value))
        for number, each in enumerate(value):
            wrong = item(each, f"{path}[{number}]")
            if wrong is not None:
                return wrong
        return None

    return check


def either(*checks: Check) -> Check:
    """Take what one of the checks takes; what comes closest to one of them names the fault."""

    def check(value: Any, path: str) -> Wrong | None:
        found: list[Wrong] = []
        for each in checks:
            wrong = each(value, path)
            if wrong is None:
                return None
            found.append(wrong)
        deepest = max(len(wrong.path) for wrong in found)
        near = [wrong for wrong in found if len(wrong.path) == deepest]
        needed = dict.fromkeys(wrong.needed for wrong in near)
        if len(needed) > 1:
            needed.pop(_NULL, None)  # It is implied.
        return Wrong(near[0].path, " or ".join(needed), near[0].found)

    return check


def optional(check: Check) -> Check:
    """Take null too."""
    return either(check, nothing)


class Record:
    """Takes an object with fields, some of which may be left out; others are not looked at."""

    __slots__ = ("_optional", "_required")

    def __init__(
        self, required: Mapping[str, Check], optional: Mapping[str, Check] | None = None
    ) -> None:
        self._required = required
        self._optional = optional or {}

    def __call__(self, value: Any, path: str) -> Wrong | None:
        """Return the error of a value."""
        if not isinstance(value, dict):
            return Wrong(path, "an object", shown(value))
        for name, check in self._required.items():
            wrong = check(value.get(name), f"{path}.{name}")
            if wrong is None:
                continue
            return wrong if name in value else Wrong(wrong.path, wrong.needed, "nothing")
        for name, check in self._optional.items():
            if value.get(name) is not None:
                wrong = check(value[name], f"{path}.{name}")
                if wrong is not None:
                    return wrong
        return None


class _Typed:
    """Takes what a type of the protocol has; read from the type when first asked."""

    __slots__ = ("_kind", "_record")

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._record: Record | None = None

    def __call__(self, value: Any, path: str) -> Wrong | None:
        if self._record is None:
            self._record = self._read()
        return self._record(value, path)

    def _read(self) -> Record:
        required: dict[str, Check] = {}
        others: dict[str, Check] = {}
        for field in attrs.fields(self._kind):
            check = _uinteger if field.validator is uinteger_validator else check_of(field.type)
            fields = required if field.default is attrs.NOTHING else others
            fields[_name_of(field.name)] = check
        return Record(required, others)


@cache
def check_of(kind: Any) -> Check:
    """Return the check of a type of the protocol."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Union:
        return anything if Any in parts else either(*map(check_of, parts))
    if origin is Literal:
        return one_of(parts)
    if origin is tuple:
        return array(anything)
    if origin is not None:
        return _of_collection(origin, parts)
    if attrs.has(kind):
        return _Typed(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return one_of([member.value for member in kind])
    return _PLAIN.get(kind, anything)


def _of_collection(origin: Any, parts: tuple[Any, ...]) -> Check:
    if len(parts) == 1:
        return array(check_of(parts[0]))
    return mapping


_PLAIN: dict[Any, Check] = {
    str: text,
    int: _integer,
    bool: boolean,
    float: number,
    NoneType: nothing,
}


def _name_of(attribute: str) -> str:
    """Return a field's name in the protocol: `textDocument` for `text_document`."""
    first, *rest = attribute.removesuffix("_").split("_")
    return first + "".join(part.title() for part in rest)
