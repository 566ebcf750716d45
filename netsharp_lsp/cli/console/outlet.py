"""A standard stream for work that continues without it: closed, full or without a reader, it falls
silent.  Knows nothing of what is printed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


class Outlet:
    """Output to a stream until it fails for the first time, when `fault` says how."""

    __slots__ = ("_stream", "fault")

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.fault: OSError | None = None

    @property
    def encoding(self) -> str:
        """Return the encoding of the stream."""
        return getattr(self._stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        """Return whether a person watches."""
        return self._stream is not None and self._stream.isatty()

    def fileno(self) -> int:
        """Return the number of the stream; OSError where it has none."""
        if self._stream is None:
            raise OSError("closed")
        return self._stream.fileno()

    def write(self, text: str) -> int:
        """Print a text, or nothing."""
        if self._stream is not None:
            try:
                self._stream.write(text)
            except OSError as error:
                self._drop_output(self._stream, error)
        return len(text)

    def flush(self) -> None:
        """Flush the output."""
        if self._stream is not None:
            try:
                self._stream.flush()
            except OSError as error:
                self._drop_output(self._stream, error)

    def line(self, text: str) -> None:
        """Print a line at once."""
        self.write(f"{text}\n")
        self.flush()

    def _drop_output(self, stream: TextIO, fault: OSError) -> None:
        """Print nothing any more; buffered output is discarded."""
        from netsharp_lsp.cli.console.streams import silence

        self._stream, self.fault = None, fault
        silence(stream)
