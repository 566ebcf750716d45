"""Files come in several encodings; what is read is written back as it was."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.text.decode import (
    DecodeError,
    Source,
    decode,
    decode_legacy,
    encode,
    majority_line_end,
)

LAW = settings(max_examples=300, deadline=None, derandomize=True)
MARKS = {
    "utf-8": b"",
    "utf-8-sig": b"",
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
PLAIN = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\ufeff\0"), max_size=40
)


@LAW
@given(PLAIN, st.sampled_from(sorted(MARKS)))
def test_every_encoding_gives_the_text_and_is_written_back(text: str, encoding: str) -> None:
    data = MARKS[encoding] + text.encode(encoding)
    source = decode(data)
    assert isinstance(source, Source)
    assert source.text.decode() == text
    assert encode(source, source.text) == data
    assert (source.warning is not None) == encoding.startswith("utf-16")


@LAW
@given(st.binary(max_size=60))
def test_any_bytes_are_text_that_comes_back_or_an_error_with_its_offset(data: bytes) -> None:
    source = decode(data)
    if isinstance(source, DecodeError):
        assert 0 <= source.offset <= len(data)
        assert source.message.endswith(".")
    else:
        source.text.decode()
        assert encode(source, source.text) == data


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"input \xff", 6),
        (b"\xef\xbb\xbfab\xe9", 5),
        (b"\xff\xfea\0\0\xd8", 4),
        (b"\xfe\xff\0a\0", 4),
        (b"\xff\xfe\0\0a\0\0\0", 0),
        (b"\0\0\xfe\xff\0\0\0a", 0),
        (b"caf\xe9 [3];", 3),
        (b"\xed\xa0\x80", 0),
    ],
)
def test_an_error_names_the_byte(data: bytes, offset: int) -> None:
    error = decode(data)
    assert isinstance(error, DecodeError)
    assert error.offset == offset


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    source = decode(b"\xef\xbb\xbfinput A [1];")
    assert isinstance(source, Source)
    assert source.text == b"input A [1];"
    assert encode(source, b"x") == b"\xef\xbb\xbfx"


@pytest.mark.parametrize(
    ("text", "line_end"),
    [
        (b"", "\n"),
        (b"a\nb\r\nc\r\n", "\r\n"),
        (b"a\nb\r\n", "\n"),
        (b"a\rb\rc\n", "\r"),
        (b"a\r\nb\r", "\r\n"),
        (b"a\r\n", "\r\n"),
    ],
)
def test_the_majority_decides_the_line_end(text: bytes, line_end: str) -> None:
    assert majority_line_end(text) == line_end
    source = decode(text)
    assert isinstance(source, Source)
    assert source.line_end == line_end


@LAW
@given(st.binary(max_size=64))
def test_whatever_is_no_utf8_is_windows_1252_and_goes_back_unchanged(data: bytes) -> None:
    source = decode_legacy(data)
    source.text.decode("utf-8")
    assert encode(source, source.text) == data


def test_what_windows_1252_lacks_is_written_as_utf8() -> None:
    source = decode_legacy(b"caf\xe9 \x80")
    assert (source.text.decode(), source.encoding) == ("café €", "windows-1252")
    assert encode(source, source.text + "→".encode()) == "café €→".encode()
