"""JSON that every reader accepts: ASCII alone, and no lone surrogates; knows no data."""

from __future__ import annotations

from itertools import islice

from netsharp_lsp.text.visible import encodable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

#: The number of items of a list that one call writes.
_TOGETHER = 64


def to_json(value: Any, indent: int | None = None, allow_nan: bool = True) -> str:
    r"""Return a value as JSON; bytes of a file name that are not UTF-8 become ``\xff``."""
    import json

    text = json.dumps(value, indent=indent, allow_nan=allow_nan)
    if "\\ud" not in text:
        return text
    return json.dumps(_encodable(value), indent=indent, allow_nan=allow_nan)


def listed(items: Iterable[Any], depth: int) -> Iterator[str]:
    """Yield a list as `to_json` with an indent of 2 writes it at a depth, some items at a time."""
    separator, rest = "[", iter(items)
    # Each call leaves cycles of functions, which are not collected here.
    while some := list(islice(rest, _TOGETHER)):
        yield separator + to_json(some, indent=2)[1:-2].replace("\n", "\n" + "  " * depth)
        separator = ","
    yield "[]" if separator == "[" else "\n" + "  " * depth + "]"


def _encodable(value: Any) -> Any:
    """Return a value in which UTF-8 can encode every string."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {_encodable(key): _encodable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(one) for one in value]
    return value
