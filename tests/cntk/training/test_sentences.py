"""Experiments on sequences from their configuration: what they reach, restart, what they write."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cntk.training.experiments import Follower, run

FOLDER = Path(__file__).parents[3] / "examples" / "cntk" / "sentences"
#: The largest share of wrong tags, and of wrong kinds, of which there is one a sentence.
WRONG_TAGS, WRONG_KINDS, SENTENCES, WORDS = 0.01, 0.08, 150, 1106
WRITTEN = (
    'tell = { action = "write" ; modelPath = "out/tags.dnn" ; outputPath = "out/told"\n'
    ' format = { precisionFormat = ".4" ; sequenceEpilogue = "\\n\\n" }\n'
    ' reader = { file = "test.ctf" ; input = {\n'
    '  word = { dim = $words$ ; format = "sparse" }\n'
    '  tag = { dim = $tags$ ; format = "sparse" } } } }\n'
)


def made(folder: Path) -> Path:
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("out"))
    path = folder / "sentences.cntk"
    path.write_text(path.read_text() + WRITTEN)
    return folder


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Follower]:
    folder = made(tmp_path_factory.mktemp("sentences") / "run")
    answer, follower = run(folder)
    assert (answer.code, answer.complaints, follower.notices) == (0, (), [])
    return folder, follower


def test_the_data_are_those_of_the_script(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "make.py", tmp_path)
    reported = subprocess.run(
        [sys.executable, "make.py"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert reported.stdout == "seed 7\n"
    for name in ("train.ctf", "test.ctf"):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()


@pytest.mark.costly
def test_both_reach_what_is_stated(done: tuple[Path, Follower]) -> None:
    tags, kinds = [one for one in done[1].events if one["event"] == "end"]
    assert (tags["samples"], kinds["samples"]) == (WORDS, WORDS)
    print(tags["evaluation"], kinds["evaluation"])
    assert tags["evaluation"]["errs"] <= WRONG_TAGS
    assert kinds["evaluation"]["errs"] * WORDS / SENTENCES <= WRONG_KINDS


@pytest.mark.parametrize("command", ["tagging", "sorting"])
def test_stopped_and_resumed_is_run_through(command: str, tmp_path: Path) -> None:
    few = f"{command}=[SGD=[maxEpochs=4]]"
    whole = made(tmp_path / "whole")
    assert run(whole, f"command={command}", few)[0].code == 0
    folder = made(tmp_path / "stopped")
    stopped, _ = run(folder, f"command={command}", few, follower=Follower(ends=2))
    assert stopped.code == 130
    answer, second = run(folder, f"command={command}", few)
    assert answer.code == 0
    assert any("continues after epoch 2" in one for one in second.notices)
    for name in ("", ".ckp", ".3"):
        file = f"{'tags' if command == 'tagging' else 'kinds'}.dnn{name}"
        assert (folder / "out" / file).read_bytes() == (whole / "out" / file).read_bytes()


def test_sequences_are_written_as_they_were_read_however_they_are_packed(
    done: tuple[Path, Follower],
) -> None:
    folder, _ = done
    answer, follower = run(folder, "command=tell")
    assert (answer.code, answer.complaints) == (0, ())
    together = (folder / "out" / "told.z").read_text()
    columns = next(one for one in follower.lines if one.startswith("Total Samples"))
    assert int(columns.rpartition("= ")[2]) >= WORDS
    sentences = [part.splitlines() for part in together.split("\n\n")[:-1]]
    lengths: dict[str, int] = {}
    for line in (folder / "test.ctf").read_text().splitlines():
        name = line.partition(" ")[0]
        lengths[name] = lengths.get(name, 0) + 1
    assert [len(one) for one in sentences] == list(lengths.values())
    assert run(folder, "command=tell", "tell=[minibatchSize=1]")[0].code == 0
    alone = (folder / "out" / "told.z").read_text()
    for one, other in zip(together.split(), alone.split(), strict=True):
        assert float(one) == pytest.approx(float(other), abs=2e-4)


def test_streams_of_other_lengths_are_reported_before_anything_is_trained(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    lines = (folder / "train.ctf").read_text().splitlines()
    lines[3] = lines[3].partition(" |tag")[0]
    (folder / "train.ctf").write_text("\n".join(lines) + "\n")
    answer, follower = run(folder, "command=tagging")
    assert answer.code == 1
    assert "sequence 1 has" in answer.complaints[0]
    assert "run along the same dynamic axis" in answer.complaints[0]
    assert follower.events == []
    assert not (folder / "out").exists()


def test_a_loop_that_needs_both_directions_is_refused(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    path = folder / "sentences.cntk"
    text = path.read_text().replace(
        "embed = EmbeddingLayer {12}\n        z = LinearLayer {$tags$} (both (embed (word)))",
        "e = EmbeddingLayer {12} (word)\n"
        "        c = e + PastValue (12, c) + FutureValue (12, c)\n"
        "        z = LinearLayer {$tags$} (c)",
    )
    path.write_text(text)
    answer, follower = run(folder, "command=tagging")
    assert answer.code in (1, 2)
    assert follower.events == []
