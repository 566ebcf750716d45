"""Text of any usual encoding as UTF-8: detected by its first bytes or its contents, or named.

It knows bytes alone, and must not know lines and cells.
"""

from __future__ import annotations

import codecs
import io
from typing import BinaryIO, cast

from netsharp_engine.data.errors import DataError
from netsharp_engine.data.reading.files import open_bytes, read_bytes, stored_position
from netsharp_engine.excerpt import excerpt

UTF8 = "utf-8"
#: The encodings of tables besides UTF-8: Windows-1252, which is Latin-1 except for 32 characters.
LEGACY = "cp1252"
MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
BLOCK = 1 << 18


def found_encoding(path: str, given: str | None) -> str:
    """Return the encoding of a text file, by Python's name, detected where none is given.

    UTF-16 is known by its first bytes. A file that is not UTF-8 and has no character of UTF-8
    beyond ASCII either is Windows-1252, tested only when such a byte is met (`legacy`). Raises
    DataError for an encoding that Python does not know.
    """
    if given is not None:
        try:
            found = codecs.lookup(given)
        except (LookupError, ValueError):
            found = None
        if found is None or not getattr(found, "_is_text_encoding", True):
            raise DataError(
                f"encoding = '{excerpt(given)}' is not known. Write utf-8, utf-16, latin-1, "
                "cp1252, or another that Python knows."
            )
        return UTF8 if found.name in (UTF8, "utf-8-sig", "ascii") else found.name
    with open_bytes(path) as stream:
        head = read_bytes(path, stream, 2)
    return next((name for mark, name in MARKS if head == mark), UTF8)


def is_legacy(path: str) -> bool:
    """Return whether a file that is not UTF-8 can be read as Windows-1252.

    It cannot where it contains characters of UTF-8 beyond ASCII, too: then it is damaged. Raises
    DataError where it cannot be opened.
    """
    decoder = codecs.getincrementaldecoder(UTF8)("surrogateescape")
    with open_bytes(path) as stream:
        while block := read_bytes(path, stream, BLOCK):
            if block.isascii():
                decoder.decode(block)
                continue
            text = decoder.decode(block)
            beyond = [each for each in text if ord(each) > 0x7F]
            # PEP 383: a byte that is not UTF-8 becomes U+DC80 to U+DCFF.
            strange = bytes(ord(each) & 0xFF for each in beyond if 0xDC80 <= ord(each) <= 0xDCFF)
            if len(strange) < len(beyond):
                return False
            try:
                strange.decode(LEGACY)
            except UnicodeDecodeError:
                return False
    return True


def open_text(path: str, encoding: str) -> BinaryIO:
    """Return the content of a text file as UTF-8; reading raises DataError where it is not so
    encoded.
    """
    stream = open_bytes(path)
    if encoding == UTF8:
        return stream
    return cast(BinaryIO, Transcoded(path, stream, encoding))


class Transcoded(io.RawIOBase):
    """A stream of another encoding, read as UTF-8."""

    def __init__(self, path: str, stream: BinaryIO, encoding: str) -> None:
        self._path, self._stream, self._encoding = path, stream, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._held = b""
        self._ended = False
        self._decoded = 0

    def read(self, count: int = -1) -> bytes:
        """Read up to ``count`` bytes, all that are left without; fewer only at the end. DataError
        for bytes that are not in the encoding.
        """
        pieces, size = [self._held], len(self._held)
        while not self._ended and (count < 0 or size < count):
            block = read_bytes(self._path, self._stream, BLOCK)
            self._ended = not block
            begun = self._decoded - len(self._decoder.getstate()[0])
            try:
                text = self._decoder.decode(block, final=self._ended)
            except UnicodeError as error:
                why = excerpt(error, 100)
                if isinstance(error, UnicodeDecodeError):
                    why = f"byte {begun + error.start:,} is wrong ({error.reason})"
                raise DataError(
                    f"{self._path} is not {self._encoding.upper()} text: {why}. Name another "
                    "encoding, or save the file as UTF-8."
                ) from None
            self._decoded += len(block)
            piece = text.encode(UTF8, "replace")
            pieces.append(piece)
            size += len(piece)
        data = b"".join(pieces)
        taken = data if count < 0 else data[:count]
        self._held = data[len(taken) :]
        return taken

    def stored_position(self) -> int:
        """Return the bytes of the file read so far."""
        return stored_position(self._stream)

    def close(self) -> None:
        """Close the stream below, too."""
        self._stream.close()
        super().close()


def not_utf8(path: str, line: int, byte: int) -> DataError:
    """Return the error for a byte that is not UTF-8."""
    return DataError(
        f"{path}, line {line}: the byte {byte:02x} (hexadecimal) is not UTF-8 text. "
        'Save the file as UTF-8, or name its encoding, such as encoding = "cp1252".'
    )
