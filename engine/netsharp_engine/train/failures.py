"""The error of training that cannot start: a sentence for people."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class TrainingError(ValueError):
    """Network, data and settings do not fit, or a run diverged; ``str(error)`` says what to do.

    Attributes
    ----------
    line, column : int or None
        The place in the specification, from 1, if one place of it is at fault, such as a kernel
        that is too large; columns count code points.
    results : dict of str to CommandResult
        Of `netsharp.run`: the results of the commands that were completed; else empty.

    Since
    -----
    0.1
    """

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.results: dict[str, Any] = {}
