"""Texts and what becomes of them: `cases/*` beside `*.out.*`, rewritten by `--update`."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsharp_lsp.cntk.formatting import format_text
from tests.cntk.collection import IDS

CASES = Path(__file__).parent / "cases"
INPUTS = sorted(path for path in CASES.iterdir() if ".out." not in path.name)


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_case(path: Path, update: bool) -> None:
    language = IDS[path.suffix]
    result = format_text(path.read_bytes(), language)
    assert (result.failure, result.broken) == (None, ())
    expected = path.with_suffix(f".out{path.suffix}")
    if update:
        expected.write_bytes(result.text)
    assert result.text == expected.read_bytes()
    assert format_text(result.text, language).text == result.text
