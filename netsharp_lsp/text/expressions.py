"""Regular expressions that are compiled at their first use; knows nothing else.

Most are only needed for faulty texts, and compiling them took a twentieth of the time of a check.
Type checkers see those of `re`.
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
            """Compile it when one of its methods is first used, and keep that method."""
            found = getattr(re.compile(*self._given), name)
            setattr(self, name, found)
            return found


__all__ = ["late"]
