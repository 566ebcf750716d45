"""The compiled twin of a line of text against the careful reading, which it leaves faults to."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.cntk.samples import text_format
from netsharp_engine.cntk.samples.text_format import TextStream, _Column, _Reading, read_text
from netsharp_engine.data.errors import DataError
from netsharp_engine.program import Sparse
from tests.conftest import SEED

STREAMS = [TextStream("x", "x", 2), TextStream("w", "ww", 30, sparse=True)]
#: What lines are made of; most of them are plain.
PARTS = (
    *("|x 1 2", "|x -0.5 +3.25e2", "|x 1e5\t2E-5 ", "|ww 3:1", "|ww 1:0.1 29:1e-3", "|ww"),
    *("|x 0.1 -0", "|x 1. 0007", "|# a | 3", "|ww\t7:2\r", "  ", "12 ", "7", "|x 1 2\r"),
    *("|x 1", "|x 1 2 3", "|x 1 .5", "|x nan 1", "|x 1_0 2", "|x 1e 2", "|x 1,2", "|ww 30:1"),
    *("|ww 000000000000000000003:1", "|ww 3 :1", "|y 1 2", "|", "| 1 2", "|x\x0b1 2", "a"),
    *("|x 9007199254740993 1e23", "|x 0.1234567890123456789 1e-400", "|x 1e99999999999 1", "|xx 1"),
)


def outcome(path: Path, errors: int) -> object:
    """What is read, all of it, or the sentence."""
    try:
        found = read_text(
            str(path), STREAMS, "float64", text_format.TextOptions(most_errors=errors)
        )
    except DataError as error:
        return str(error)
    values = []
    for one in found.values.values():
        parts = one if isinstance(one, Sparse) else (one,)
        values.append([(np.asarray(part).tobytes(), np.asarray(part).shape) for part in parts])
    lines = None if found.lines is None else found.lines.tolist()
    lengths = {name: one.tolist() for name, one in found.lengths.items()}
    return values, found.chunks, found.warnings, lines, lengths


def test_both_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    print(f"seed {SEED}")
    chosen = random.Random(SEED)
    path = tmp_path / "data.ctf"
    good = 0
    for number in range(600):
        few = PARTS[:14] if number % 2 else PARTS
        lines = ["".join(chosen.choices(few, k=chosen.randint(1, 3))) for _ in range(4)]
        path.write_text("|x 1 2 |ww 3:4\n" + "\n".join(lines) + "\n", encoding="ascii", newline="")
        errors = chosen.choice((0, 100, 100, 100))
        found = outcome(path, errors)
        with monkeypatch.context() as patch:
            patch.setattr(text_format, "twins", None)
            assert found == outcome(path, errors), path.read_text(encoding="ascii")
        good += not isinstance(found, str)
    assert good > 100, good


def test_numbers_are_those_of_python() -> None:
    """To the last bit, or left to the careful reading."""
    chosen = random.Random(SEED)
    twins = text_format.twins
    assert twins is not None
    read = 0
    for _ in range(20_000):
        digits = "".join(chosen.choices("0123456789", k=chosen.randint(1, 17)))
        at = chosen.randint(1, len(digits))
        text = chosen.choice(("", "-", "+")) + digits[:at]
        text += chosen.choice(("", "." + digits[at:]))
        text += chosen.choice(("", f"e{chosen.randint(-30, 30)}", f"E+{chosen.randint(0, 9)}"))
        found = twins.read_columns(f"|x {text}".encode(), 0, (b"x",), np.array([1, 0]))
        if found is not None:
            read += 1
            assert found[0] == np.float64(float(text)).tobytes(), text
    assert read > 10_000


def test_plain_lines_are_read_by_the_twin() -> None:
    """Otherwise nothing above says anything."""
    columns = {one.name: _Column(one) for one in STREAMS}
    reading = _Reading("", STREAMS, text_format.DEFAULTS, columns, text_format.Unheard())
    assert text_format.twins is not None
    for part in PARTS[:6]:
        kinds, line = reading._kinds, part.encode()
        assert text_format.twins.read_columns(line, 0, reading._aliases, kinds), part
    with pytest.raises(ValueError, match="out of range"):
        text_format.twins.read_columns(b"|x 1", 9, (b"x",), np.array([1, 0]))
    with pytest.raises(TypeError, match="another number of arguments"):
        text_format.twins.read_columns(b"|x 1")  # type: ignore[call-arg]
