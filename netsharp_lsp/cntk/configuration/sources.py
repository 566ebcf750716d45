"""The source texts of a configuration, and places in them; reads no disk itself.

A text is UTF-8 here, whatever the encoding of its file: `Files` returns bytes, `Source` keeps them
decoded together with notes about the decoding.
"""

from __future__ import annotations

from netsharp_lsp.limits import CONFIGURATION_BYTES
from netsharp_lsp.text.decode import WINDOWS_1252, decode_legacy
from netsharp_lsp.text.extent import CONFIGURATION, refused
from netsharp_lsp.text.lines import LineIndex

#: The name of the source of values that were given as arguments.
COMMAND_LINE = "<command line>"


class Source:
    """A text by the `name` shown to users, with its lines."""

    __slots__ = ("lines", "name", "text", "warning")

    def __init__(self, name: str, text: bytes, warning: str | None = None) -> None:
        self.name = name
        self.text = text
        self.lines = LineIndex(text)
        self.warning = warning

    def __repr__(self) -> str:
        return f"Source({self.name!r})"


class SourcePlace:
    """The bytes ``start:end`` of a source."""

    __slots__ = ("end", "source", "start")

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end

    @property
    def key(self) -> tuple[str, int, int]:
        """Return the identity of the place."""
        return self.source.name, self.start, self.end

    @property
    def text(self) -> bytes:
        """Return the text at the place."""
        return self.source.text[self.start : self.end]

    def __str__(self) -> str:
        line, column = self.source.lines.position(self.start)
        return f"{self.source.name}:{line}:{column}"

    def __repr__(self) -> str:
        return f"SourcePlace({self})"


def read_text(name: str, data: bytes) -> Source | str:
    """Decode the bytes of a file; a sentence on why it is not a text."""
    if len(data) > CONFIGURATION_BYTES.most:
        size = f"{len(data) / 2**20:.1f} MiB"
        most = CONFIGURATION_BYTES
        return f"The file has {size}; a configuration of more than {most} is not read."
    decoded = decode_legacy(data)
    binary = why_binary(data if decoded.encoding == WINDOWS_1252 else decoded.text)
    if binary is not None:
        return binary
    why = refused(decoded.text, CONFIGURATION)
    if why is not None:
        return f"The file {why}"
    return Source(name, decoded.text, decoded.warning)


def why_binary(data: bytes) -> str | None:
    """Return the sentence on a file that contains a NUL, by the bytes to count; None for a text."""
    if b"\0" not in data:
        return None
    return f"The file is binary: byte {data.index(0)} is NUL. Name a text file."
