"""Generic classes without the module `typing`, whose import is a thirtieth of what a check takes.

Type checkers see those of `typing`.  Knows nothing else.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic as Generic
    from typing import TypeVar as TypeVar
else:

    class Generic:
        """A class whose parameters mean something to type checkers alone."""

        __slots__ = ()

        def __class_getitem__(cls, parameters: object) -> type:
            return cls

    def TypeVar(name: str, **_: object) -> str:  # noqa: N802
        """Return a parameter of a generic class."""
        return name
