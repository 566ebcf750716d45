"""Regular expressions that are compiled when they are first used; knows nothing else.

Most are for what is wrong in a text, and compiling them was a twentieth of what a check takes. Type
checkers see those of `re`.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import compile as late
else:

    class late:  # noqa: N801
        """A regular expression that few texts need."""

        def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
            self._given = pattern, flags

        def __getattr__(self, name: str) -> object:
            """Compile it where its method is asked for, which is then kept."""
            found = getattr(re.compile(*self._given), name)
            setattr(self, name, found)
            return found


__all__ = ["late"]
