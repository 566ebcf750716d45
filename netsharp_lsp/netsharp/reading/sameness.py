"""Compares two pieces of syntax: equal text at equal distances; knows neither text nor tree."""

from __future__ import annotations

from operator import attrgetter

from netsharp_lsp.netsharp.reading.syntax import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.netsharp.reading.syntax import Declaration

_FIELDS: dict[type, Callable[[object], tuple[object, ...]]] = {}


def same(first: Declaration, second: Declaration) -> bool:
    """Return whether two declarations are alike in every field, spans included."""
    if first is second:
        return True
    if first.end != second.end or first.kind != second.kind:
        return False
    # No recursion: expressions may be nested deeply.
    pending: list[tuple[object, object]] = [(first, second)]
    while pending:
        one, other = pending.pop()
        if one.__class__ is not other.__class__:
            return False
        if isinstance(one, Node):
            fields = fields_of(one.__class__)
            pairs = zip(fields(one), fields(other), strict=True)
        elif isinstance(one, tuple) and isinstance(other, tuple):
            if len(one) != len(other):
                return False
            pairs = zip(one, other, strict=True)
        elif one != other:
            return False
        else:
            continue
        pending += [pair for pair in pairs if pair[0] is not pair[1]]
    return True


def fields_of(kind: type) -> Callable[[object], tuple[object, ...]]:
    """Return a function to all fields of a syntax value, those of its base classes included."""
    if kind not in _FIELDS:
        names = [name for one in kind.__mro__ for name in getattr(one, "__slots__", ())]
        _FIELDS[kind] = attrgetter(*names)
    return _FIELDS[kind]
