"""Texts of the corpus after random edits: formatting proves itself, and settles at once."""

from __future__ import annotations

import os
import random

import pytest

from netsharp_lsp.cntk.formatting import format_text
from netsharp_lsp.cntk.formatting.safety import find_difference
from tests.cntk.collection import FILES, CntkFile

#: How many texts each seed tries.
COUNT = int(os.environ.get("CNTK_FORMAT_FUZZ", "400"))
LARGEST = 6000
_COMMON = (" ", "\n", ";", "}", "{", "x = ", "(", ")", "[", "]", ", ", "#", "# x\n", '"', "=", ":")
PIECES = {
    "brainscript": (
        *(*_COMMON, "if ", "1..", ".", "**", "new X {", "\t", "-", "[|1;2|]", "'", "/*", "*/"),
        *("// y\n", "/* z\n */", "# fmt: skip\n", "\n# fmt: off\n", "//"),
    ),
    "cntk": (
        *(*_COMMON, "F(", "BrainScriptNetworkBuilder = {", "include=", "\ninclude=z\n", "_", "."),
        *(" # x\n", "-", "$a$", " # fmt: skip\n", "\n# fmt: off\n", "\t", "\r\n", "\ufeff"),
    ),
}
TEXTS = [file for file in FILES if len(file.data) < LARGEST and b"\0" not in file.data]


@pytest.mark.parametrize("number", range(3))
def test_edited_texts(number: int, seed: int) -> None:
    for trial in range(COUNT):
        chance = random.Random(f"{seed} {number} {trial}")
        file = chance.choice(TEXTS)
        text = edited(file, chance)
        message = f"--seed {seed}, {number}, trial {trial}: {file.name}"
        result = format_text(text, file.id)
        assert result.failure is None, message
        assert find_difference(text, result.text, file.id) is None, message
        if not result.broken or result.text != text:
            assert format_text(result.text, file.id).text == result.text, message


def edited(file: CntkFile, chance: random.Random) -> bytes:
    """A text with up to four pieces put in, taken out or doubled."""
    text = file.data.decode("utf-8", "replace")
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(text) + 1)
        kind = chance.random()
        if kind < 0.6:
            text = text[:at] + chance.choice(PIECES[file.language]) + text[at:]
        elif kind < 0.8:
            text = text[:at] + text[at + chance.choice((1, 1, 3, 20)) :]
        else:
            start = chance.randrange(len(text) + 1)
            text = text[:at] + text[start : start + chance.randrange(40)] + text[at:]
    return text.encode()
