"""The example with convolution, batch normalisation and dropout: it learns; stopped in its midst it
ends with the same bits.
"""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

import pytest

from tests.cntk.training.experiments import Follower, run

FOLDER = Path(__file__).parents[3] / "examples" / "cntk" / "numerals"
MODEL = ("numerals.dnn", "numerals.dnn.ckp")


def copied(folder: Path) -> Path:
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("out"))
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Follower]:
    folder = copied(tmp_path_factory.mktemp("numerals") / "run")
    answer, follower = run(folder)
    assert (answer.code, answer.complaints) == (0, ())
    return folder, follower


def test_it_learns(whole: tuple[Path, Follower]) -> None:
    (end,) = [event for event in whole[1].events if event["event"] == "end"]
    assert end["samples"] == 100
    assert end["evaluation"]["errors"] <= 0.05
    losses = [event["loss"] for event in whole[1].epochs]
    assert losses[-1] < 0.2 * losses[0]


def test_stopped_in_its_midst_it_ends_with_the_same_bits(
    whole: tuple[Path, Follower], tmp_path: Path
) -> None:
    folder = copied(tmp_path / "run")
    stopped, first = run(folder, "command=learn", follower=Follower(ends=3))
    assert stopped.code == 130
    answer, second = run(folder)
    assert answer.code == 0
    losses = [event["loss"] for follower in (first, second) for event in follower.epochs]
    assert losses == [event["loss"] for event in whole[1].epochs]
    for name in MODEL:
        ours, theirs = ((where / "out" / name).read_bytes() for where in (folder, whole[0]))
        assert ours == theirs, name
    assert second.events[-1]["evaluation"] == whole[1].events[-1]["evaluation"]


def test_the_script_draws_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = shutil.copy(FOLDER / "draw.py", tmp_path)
    runpy.run_path(script, run_name="__main__")
    assert capsys.readouterr().out == "seed 12\n"
    for name in ("train.ctf", "test.ctf"):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()
