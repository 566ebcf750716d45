"""Suppressions act on lines: what formatting may not move because of them, and what it may."""

from __future__ import annotations

import pytest

from netsharp_lsp.netsharp.formatting import format_text

IGNORE = b"// netsharp: ignore[NS074]"


def formatted(text: bytes) -> bytes:
    result = format_text(text)
    assert result.failure is None
    assert format_text(result.text).text == result.text
    return result.text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"input A[3];%b\ninput B[3];\n", b"input A [3]; %b\ninput B [3];\n"),
        (b"%b\n  input A[3];\ninput B[3];\n", b"%b\ninput A [3];\ninput B [3];\n"),
        (
            b"hidden H[3]from A convolve{ %b\nStride=[1];}\n",
            b"hidden H [3] from A convolve { %b\n  Stride = [1];\n}\n",
        ),
        (
            b"hidden H[3]from A convolve{\nStride=[1]; %b\nMapCount=3;\n}\n",
            b"hidden H [3] from A convolve {\n  Stride = [1]; %b\n  MapCount = 3;\n}\n",
        ),
        (b"%b\n\n\ninput A[3];\n", b"%b\n\ninput A [3];\n"),
    ],
)
def test_what_a_suppression_lets_move(before: bytes, after: bytes) -> None:
    assert formatted(before % IGNORE) == after % IGNORE


@pytest.mark.parametrize(
    "kept",
    [
        b"hidden H[3]from A convolve{Stride=[1];} %b\n",
        b"hidden H[3]from A convolve\n{ %b\nStride=[1];}\n",
        b"%b\nhidden H[3]from A convolve{Stride=[1];}\n",
        b"const W = [1, 2, %b\n 3];\n",
        b"hidden H[3]\n  from A all; %b\n",
        b"input A[3]; input B[3]; %b\n",
    ],
)
def test_what_a_suppression_holds(kept: bytes) -> None:
    around = b"const  X=1;\n%bconst  Y=2;\n"
    wanted = b"const X = 1;\n%bconst Y = 2;\n"
    assert formatted(around % (kept % IGNORE)) == wanted % (kept % IGNORE)


def test_capitals_that_a_suppression_defends_stay() -> None:
    text = b"Input A[3]; // netsharp: ignore[NS014]\nInput B[3];\n"
    assert formatted(text) == b"Input A[3]; // netsharp: ignore[NS014]\ninput B [3];\n"
