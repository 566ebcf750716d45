"""Bytes of a file to UTF-8 text and back; byte-order mark, encoding and line end are kept aside.

Knows no language and no disk: an error is a value with the offset of its byte.
"""

from __future__ import annotations

# Longest first: the mark of UTF-32 LE begins with that of UTF-16 LE.
_UTF32_MARKS = (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")
_UTF16_MARKS = ((b"\xff\xfe", "utf-16-le", "UTF-16 LE"), (b"\xfe\xff", "utf-16-be", "UTF-16 BE"))
_UTF8_MARK = b"\xef\xbb\xbf"
WINDOWS_1252 = "windows-1252"
#: Where Windows-1252 is not Latin-1.
_TO_UNICODE = dict(
    zip(
        (byte for byte in range(0x80, 0xA0) if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)),
        "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ",
        strict=True,
    )
)
_FROM_UNICODE = {ord(character): byte for byte, character in _TO_UNICODE.items()}


class Source:
    """A decoded file: `text` is UTF-8 without a byte-order mark, the rest is for writing it back.

    `encoding` is "utf-8", "utf-16-le", "utf-16-be" or "windows-1252", `mark` the byte-order mark of
    the file (or empty), `line_end` the most frequent one ("\\n" where none is), and `warning` a
    sentence for people where the file should be stored in another encoding.
    """

    __slots__ = ("encoding", "line_end", "mark", "text", "warning")

    def __init__(
        self,
        text: bytes,
        encoding: str = "utf-8",
        mark: bytes = b"",
        line_end: str = "\n",
        warning: str | None = None,
    ) -> None:
        self.text = text
        self.encoding = encoding
        self.mark = mark
        self.line_end = line_end
        self.warning = warning

    def __repr__(self) -> str:
        return f"Source({self.text!r}, {self.encoding!r}, mark={self.mark!r})"


class DecodeError:
    """Bytes that cannot be decoded: where (byte `offset` in the file) and a sentence."""

    __slots__ = ("message", "offset")

    def __init__(self, offset: int, message: str) -> None:
        self.offset = offset
        self.message = message

    def __repr__(self) -> str:
        return f"DecodeError({self.offset}, {self.message!r})"


def decode(data: bytes) -> Source | DecodeError:
    """Read the bytes of a file: UTF-8, or UTF-16 where a byte-order mark says so.

    `encode(result, result.text)` gives `data` again for every `data` that decodes.
    """
    if data.startswith(_UTF32_MARKS):
        return DecodeError(0, "The file is UTF-32, which is not read; save it as UTF-8.")
    for mark, encoding, name in _UTF16_MARKS:
        if data.startswith(mark):
            return _decode_utf16(data, mark, encoding, name)
    mark = _UTF8_MARK if data.startswith(_UTF8_MARK) else b""
    text = data[len(mark) :]
    if not text.isascii():
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as error:
            return _utf8_error(data, error.start + len(mark))
    return Source(text, "utf-8", mark, majority_line_end(text))


def decode_legacy(data: bytes) -> Source:
    """Read bytes as `decode` does, and those that are not UTF-8 as Windows-1252.

    Every byte is a character then: the five that the code page leaves undefined become the control
    characters of the same number.
    """
    decoded = decode(data)
    if isinstance(decoded, Source):
        return decoded
    text = data.decode("latin-1").translate(_TO_UNICODE).encode("utf-8")
    warning = f"{decoded.message.partition('; ')[0]}: the file is read as Windows-1252."
    return Source(text, WINDOWS_1252, line_end=majority_line_end(text), warning=warning)


def encode(source: Source, text: bytes) -> bytes:
    """Return UTF-8 `text` as bytes for the file that `source` was read from.

    A file in Windows-1252 becomes UTF-8 when it gets characters that the code page lacks.
    """
    if source.encoding == "utf-8":
        return source.mark + text
    if source.encoding == WINDOWS_1252:
        try:
            return text.decode("utf-8").translate(_FROM_UNICODE).encode("latin-1")
        except UnicodeEncodeError:
            return text
    return source.mark + text.decode("utf-8").encode(source.encoding)


def majority_line_end(text: bytes) -> str:
    """Return the most frequent line end; the first of LF, CRLF, CR where two are as frequent."""
    if b"\r" not in text:
        return "\n"
    crlf = text.count(b"\r\n")
    counts = (
        (text.count(b"\n") - crlf, "\n"),
        (crlf, "\r\n"),
        (text.count(b"\r") - crlf, "\r"),
    )
    return max(counts, key=lambda pair: pair[0])[1]


def _decode_utf16(data: bytes, mark: bytes, encoding: str, name: str) -> Source | DecodeError:
    """Recode to UTF-8; offsets of errors count the two bytes of the mark before the text."""
    try:
        text = data[2:].decode(encoding).encode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + 2
        message = f"Byte {offset} is not {name}, which the byte-order mark announces."
        return DecodeError(offset, message)
    warning = f"The file is {name}; other programs that read it may expect UTF-8."
    return Source(text, encoding, mark, majority_line_end(text), warning)


def _utf8_error(data: bytes, offset: int) -> DecodeError:
    line = data.count(b"\n", 0, offset) + 1
    return DecodeError(
        offset,
        f"Byte {offset} (0x{data[offset]:02X}, on line {line}) is not UTF-8; "
        "save the file as UTF-8.",
    )


def encode_text(text: str) -> bytes:
    """Return text as UTF-8; ValueError for a lone surrogate, which only a program can produce."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        from netsharp_lsp.text.lines import LineIndex

        before = text[: error.start].encode()
        line, column = LineIndex(before).position(len(before))
        raise ValueError(
            f"The specification is not valid text: U+{ord(text[error.start]):04X} at line {line}, "
            f"column {column} is a lone surrogate. Decode it from UTF-8."
        ) from None
