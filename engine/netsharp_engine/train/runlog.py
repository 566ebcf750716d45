"""The run log: one JSON object per line and event, written as it happens."""

from __future__ import annotations

import json
import math
from types import TracebackType
from typing import Any, TextIO

from .failures import TrainingError


def event_line(event: dict[str, Any]) -> str:
    """An event as one line of JSON; numbers that are not finite become null."""
    return json.dumps(plain(event), ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """A value that JSON knows: numbers that are not finite become None."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class RunLog:
    """A log file open for a run; ``append`` continues the log of a resumed one.

    Raises TrainingError when the file cannot be written.
    """

    def __init__(self, path: str, *, append: bool = False) -> None:
        self._path = path
        try:
            self._stream: TextIO = open(  # noqa: SIM115
                path, "a" if append else "w", encoding="utf-8", newline="\n"
            )
        except OSError as error:
            raise TrainingError(
                f"The run log {path} cannot be written: {error.strerror}."
            ) from None

    def write(self, event: dict[str, Any]) -> None:
        """Write one event at once."""
        try:
            self._stream.write(event_line(event) + "\n")
            self._stream.flush()
        except OSError as error:
            raise TrainingError(
                f"The run log {self._path} cannot be written: {error.strerror}."
            ) from None

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def __enter__(self) -> RunLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
