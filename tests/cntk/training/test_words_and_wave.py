"""Two examples reach what their pages state: the next word of a sentence, and regression."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cntk.training.experiments import Follower, run

EXAMPLES = Path(__file__).parents[3] / "examples" / "cntk"
#: How far the next word may be from what can be known of it, and the mean square error.
BEYOND, SQUARES = 0.05, 0.01
WORDS = 20


def done(name: str, folder: Path) -> Follower:
    """What a copy of an example reports."""
    place = folder / name
    shutil.copytree(EXAMPLES / name, place, ignore=shutil.ignore_patterns("out"))
    answer, follower = run(place)
    assert (answer.code, answer.complaints) == (0, ())
    return follower


@pytest.mark.parametrize("name", ["words", "wave"])
def test_the_data_are_those_of_the_script(name: str, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / name / "make.py", tmp_path)
    reported = subprocess.run(
        [sys.executable, "make.py"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert reported.stdout == "seed 7\n"
    for path in tmp_path.glob("*.txt"):
        assert path.read_bytes() == (EXAMPLES / name / path.name).read_bytes(), path.name
    assert len(list(tmp_path.glob("*.txt"))) >= 2


@pytest.mark.costly
def test_the_next_word_is_known_but_for_the_first(tmp_path: Path) -> None:
    (end,) = [one for one in done("words", tmp_path).events if one["event"] == "end"]
    lines = (EXAMPLES / "words" / "test.txt").read_text().splitlines()
    samples = sum(len(line.split()) - 1 for line in lines)
    unknown = len(lines) * math.log(WORDS) / samples
    assert end["samples"] == samples
    print(end["loss"], unknown)
    assert end["loss"] <= unknown + BEYOND


@pytest.mark.costly
def test_the_wave_is_found(tmp_path: Path) -> None:
    (end,) = [one for one in done("wave", tmp_path).events if one["event"] == "end"]
    assert end["samples"] == 200
    assert end["loss"] <= SQUARES
