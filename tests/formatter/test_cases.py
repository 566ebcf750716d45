"""Texts and what becomes of them: `cases/*.nn` beside `*.out.nn`, rewritten by `--update`."""

from __future__ import annotations

import pathlib

import pytest

from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.netsharp.formatting import format_text

CASES = pathlib.Path(__file__).parent / "cases"
INPUTS = sorted(path for path in CASES.glob("*.nn") if not path.name.endswith(".out.nn"))


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.stem)
def test_case(path: pathlib.Path, update: bool) -> None:
    result = format_text(path.read_bytes(), FormatOptions())
    assert result.failure is None
    expected = path.with_suffix(".out.nn")
    if update:
        expected.write_bytes(result.text)
    assert result.text == expected.read_bytes()
    assert format_text(result.text).text == result.text


def test_the_guide_network_in_its_form() -> None:
    text = (CASES.parent.parent / "corpus/guide/digits.nn").read_bytes()
    assert format_text(text).text.decode() == DIGITS


DIGITS = """\
input Image [29, 29];
hidden Conv1 [5, 13, 13] from Image convolve {
  InputShape = [29, 29];
  KernelShape = [5, 5];
  Stride = [2, 2];
  MapCount = 5;
}
hidden Conv2 [50, 5, 5] from Conv1 convolve {
  InputShape = [5, 13, 13];
  KernelShape = [1, 5, 5];
  Stride = [1, 2, 2];
  Sharing = [false, true, true];
  MapCount = 10;
}
hidden Hid3 [100] from Conv2 all;
output Digit [10] from Hid3 all;
"""
