"""Whether two pieces of syntax say the same at the same distances; knows neither text nor tree."""

from __future__ import annotations

from netsharp_lsp.netsharp.reading.syntax import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.reading.syntax import Declaration

_FIELDS: dict[type, tuple[str, ...]] = {}


def same(first: Declaration, second: Declaration) -> bool:
    """Whether two declarations are alike in every field, spans included."""
    if first.end != second.end or first.kind != second.kind:
        return False
    # No recursion: expressions may be nested deeply.
    pending: list[tuple[object, object]] = [(first, second)]
    while pending:
        one, other = pending.pop()
        if one is other:
            continue
        if one.__class__ is not other.__class__:
            return False
        if isinstance(one, Node):
            pending.extend(
                (getattr(one, field), getattr(other, field)) for field in fields_of(one.__class__)
            )
        elif isinstance(one, tuple) and isinstance(other, tuple):
            if len(one) != len(other):
                return False
            pending.extend(zip(one, other, strict=True))
        elif one != other:
            return False
    return True


def fields_of(kind: type) -> tuple[str, ...]:
    """The fields of a syntax class, those of the classes above it included."""
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(
            field for one in kind.__mro__ for field in getattr(one, "__slots__", ())
        )
    return _FIELDS[kind]
