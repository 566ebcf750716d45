"""The compiled twin of a line of text against the careful reading, which it leaves faults to."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.cntk.samples import lines, text_format
from netsharp_engine.cntk.samples.text_format import (
    TextOptions,
    _Column,
    _Reading,
    read_text,
    survey_text,
)
from netsharp_engine.cntk.samples.text_lines import TextStream
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


def outcome(path: Path, options: TextOptions, held: int) -> object:
    """What is read, all of it, or the sentence; with all that is wrong."""
    try:
        found = read_text(str(path), STREAMS, "float64", options, held)
        given = found.values or (found.again and found.again(np.arange(sum(found.chunks))))
    except DataError as error:
        return str(error)
    values = []
    for one in (given or {}).values():
        parts = one if isinstance(one, Sparse) else (one,)
        values.append([(np.asarray(part).tobytes(), np.asarray(part).shape) for part in parts])
    counts = None if found.lines is None else found.lines.tolist()
    lengths = {name: one.tolist() for name, one in found.lengths.items()}
    faults = survey_text(str(path), STREAMS, options).faults
    return values, found.chunks, found.warnings, counts, lengths, found.keys, faults


def text_of(chosen: random.Random, number: int) -> str:
    """Some lines, half of them plain, two thirds with ids that come more than once."""
    few = PARTS[:14] if number % 2 else PARTS
    first, identity = chosen.choice(("", "5 ", "5 ")), 5
    found = [f"{first}|x 1 2 |ww 3:4"]
    for _ in range(chosen.randint(4, 30)):
        identity += chosen.randint(0, 1)
        name = f"{identity} " if first and chosen.random() < 0.9 else ""
        plain = chosen.random() < 0.7
        found.append(name + ("|x 1 2 |ww 3:4" if plain else "".join(chosen.choices(few, k=2))))
    return "\n".join(found) + chosen.choice(("\n", "\n", ""))


def test_both_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in blocks of a few bytes, from files that are read again, in chunks, as frames."""
    print(f"seed {SEED}")
    chosen = random.Random(SEED)
    path = tmp_path / "data.ctf"
    good = 0
    for number in range(600):
        path.write_text(text_of(chosen, number), encoding="ascii", newline="")
        options = TextOptions(
            skip_ids=chosen.random() < 0.1,
            most_errors=chosen.choice((0, 100, 100, 100)),
            chunk=chosen.choice((1, 40, 100, 1000)),
            frames=chosen.random() < 0.2,
            keys=chosen.random() < 0.1,
        )
        held = chosen.choice((0, 1 << 20))
        with monkeypatch.context() as patch:
            patch.setattr(lines, "_BLOCK", chosen.choice((1, 5, 20, 100, 1 << 18)))
            found = outcome(path, options, held)
        with monkeypatch.context() as patch:
            patch.setattr(text_format, "twins", None)
            assert found == outcome(path, options, held), path.read_text(encoding="ascii")
        good += not isinstance(found, str)
    assert good > 100, good


def test_plain_sequences_are_read_by_the_twin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the last one, which may go on, and what is wrong are read line by line."""
    short = "7 |x 1 |ww 3:4\n"
    path = tmp_path / "data.ctf"
    plain = [f"{number // 3} |x 1 2 |ww 3:4\n" for number in range(300)]
    path.write_text("".join(plain[:150]) + short + "".join(plain[150:]), encoding="ascii")
    taken: list[int] = []
    take = _Reading._take
    monkeypatch.setattr(
        _Reading,
        "_take",
        lambda self, number, *rest: (taken.append(number), take(self, number, *rest)),
    )
    assert read_text(str(path), STREAMS, "float32").total == 301
    assert taken[0] == 151
    assert len(taken) < 25, taken


def test_what_makes_no_sense_is_refused() -> None:
    assert text_format.twins is not None
    read, kinds = text_format.twins.read_sequences, np.array([1, 0])
    assert read(b"|x 1\n|x 2\n|x", 0, False, 9, (b"x",), kinds)[:2] == (5, False)
    with pytest.raises(ValueError, match="out of range"):
        read(b"|x 1\n", 6, False, 9, (b"x",), kinds)
    with pytest.raises(ValueError, match="out of range"):
        read(b"|x 1\n", 0, False, 9, (), kinds)
    with pytest.raises(ValueError, match="an array is too short"):
        read(b"|x 1\n", 0, False, 9, (b"x", b"y"), kinds)
    with pytest.raises(TypeError, match="another number of arguments"):
        read(b"|x 1\n")  # type: ignore[call-arg]


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
    reading = _Reading("", STREAMS, text_format.DEFAULTS, columns, text_format.IgnoredFaults())
    assert text_format.twins is not None
    for part in PARTS[:6]:
        kinds, line = reading._kinds, part.encode()
        assert text_format.twins.read_columns(line, 0, reading._aliases, kinds), part
    with pytest.raises(ValueError, match="out of range"):
        text_format.twins.read_columns(b"|x 1", 9, (b"x",), np.array([1, 0]))
    with pytest.raises(TypeError, match="another number of arguments"):
        text_format.twins.read_columns(b"|x 1")  # type: ignore[call-arg]
