"""The run log: one JSON object per line and event, written as it happens."""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress
from types import TracebackType
from typing import Any

from netsharp_engine.train.failures import TrainingError

#: The beginning of every line, and a length that none reaches.
HEAD = b'{"event": '
LONGEST_LINE = 1 << 16


def event_line(event: dict[str, Any]) -> str:
    """Return an event as one line of JSON; numbers that are not finite become null."""
    return json.dumps(plain(event), ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """Return a value that JSON can represent: numbers that are not finite become None."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class RunLog:
    """A log file open for a run; ``append`` continues the log of a resumed one.

    It has whole lines only, also where a run was killed or a disk was full in the midst of one.
    Raises TrainingError when the file cannot be written.
    """

    def __init__(self, path: str, *, append: bool = False) -> None:
        self._path = path
        try:
            self._stream = open(path, "a+b" if append else "wb", buffering=0)  # noqa: SIM115
            if append and self._stream.seekable():
                self._end_last_line()
        except OSError as error:
            raise self._failure(error) from None

    def write(self, event: dict[str, Any]) -> None:
        """Write one event at once."""
        line = f"{event_line(event)}\n".encode()
        written = 0
        try:
            while written < len(line):
                written += self._stream.write(line[written:]) or 0
        except OSError as error:
            if written:
                self._take_back(written)
            raise self._failure(error) from None

    def _end_last_line(self) -> None:
        """Remove an incomplete last line that a killed run wrote; end the last line of another
        writer.
        """
        size = self._stream.seek(0, os.SEEK_END)
        start = max(0, size - LONGEST_LINE)
        self._stream.seek(start)
        torn = (self._stream.read(LONGEST_LINE) or b"").rpartition(b"\n")[2]
        if torn[: len(HEAD)] and HEAD.startswith(torn[: len(HEAD)]):
            self._stream.truncate(size - len(torn))
        elif torn:
            self._stream.write(b"\n")

    def _take_back(self, written: int) -> None:
        with suppress(OSError):  # it is not a file but a pipe
            self._stream.truncate(os.fstat(self._stream.fileno()).st_size - written)

    def _failure(self, error: OSError) -> TrainingError:
        return TrainingError(f"The run log {self._path} cannot be written: {error.strerror}.")

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
