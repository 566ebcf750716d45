"""A folder of old experiments, tried as a new user would: each one trains, tests and writes, or
says in a sentence why not.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from netsharp_lsp.cntk.training.networks.models import ModelFiles
from netsharp_lsp.project.roots import ANYWHERE
from tests.cli.command_line import netsharp
from tests.cntk.training.old_experiments import configurations, listing, starts, unpacked

#: What each start of the script leaves: models, other files, the events of its log but steps, by
#: command, and what its test may fail of in the end.
LEFT: list[tuple[str, str, dict[str, int], float]] = [
    (
        "Models/01_plane Models/01_plane.1",
        "01_plane.txt.out.z",
        {"trainNetwork epoch": 2, "testNetwork end": 1},
        0.4,
    ),
    ("02/columns.dnn 02/columns.top2.dnn", "02/labels.map", {"Train epoch": 2, "Test end": 1}, 0.7),
    (
        "03/one/net.dnn 03/two/net.dnn.0 03/two/net.dnn 03/three/net.dnn.0 03/three/net.dnn",
        "",
        {"PreTrain1 epoch": 2, "PreTrain2 epoch": 2, "Train3 epoch": 3},
        1.0,
    ),
    (
        "04/simple.dnn 04/simple.dnn.2 04/small.dnn",
        "04/W0.txt 04/simple.dot 04/simple.dnn.1.ckp",
        {"Train epoch": 3, "CrossValidate end": 3, "TestSmall end": 1},
        0.7,
    ),
    (
        "05/words.dnn",
        "05/vocab.txt 05/word2cls.txt 05/cls2idx.txt",
        {"train epoch": 2, "test end": 1},
        1.0,
    ),
    ("06/tagger.dnn", "06/tagged.outputs 06/tagged.labels", {"LSTM epoch": 2}, 1.0),
    ("07/slots.lstm", "07/slots.write.final", {"Train epoch": 2, "Test end": 1}, 0.7),
    ("08/pictures 08/pictures.pbn", "08/pictures.txt", {"Train epoch": 2, "Test end": 1}, 0.2),
    ("08/composite", "", {"Train epoch": 1}, 1.0),
    ("10/adjusted.dnn", "10/log", {"speechless epoch": 3}, 1.0),
    ("11/truncated.dnn", "", {"learn epoch": 2}, 1.0),
    ("12/net.dnn", "12/log", {"learn epoch": 1, "learn end": 1}, 0.8),
]
#: Those that cannot be done, with arguments that they need: the code, the place, and words.
NOT_DONE = {
    "speech.cntk DeviceId=-1": (2, "broken/speech.cntk, line 17", "HTKMLFReader"),
    "speech.cntk": (1, "broken/speech.cntk:3:10", "deviceId"),
    "lost.cntk": (1, "broken/lost.cntk, line 11", "train_2016.ctf: cannot be read"),
    "sequence_criterion.cntk": (2, "networks/sequence.ndl, line 5", "SequenceWithSoftmax"),
    "old_words.cntk": (1, "broken/old_words.cntk:2:1", "Write precision instead"),
    "converted.cntk": (2, "broken/converted.cntk, line 3", "'convertdbn' is not supported"),
    "kernel.cntk": (1, "broken/kernel.cntk:4:15", "no action 'pythonTrain'"),
    "kernel.cntk learn=[action=train]": (1, "broken/kernel.cntk:8:13", "'MyFastKernel'"),
    "given.cntk": (1, "broken/given.cntk:5:18", "'RunDir' has no value"),
    "torn.cntk": (1, "broken/torn.cntk:9:14", "is never closed"),
}
STARTS = starts()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(tmp_path_factory.mktemp("disk") / "old")


def logged_events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_file_of_the_folder_is_started() -> None:
    names = {Path(path).name for one in STARTS for path in configurations(one).split("+")}
    names |= {one.split()[0] for one in NOT_DONE}
    kept = Path(__file__).parent / "old"
    assert names == {path.name for path in kept.rglob("*.cntk")}
    assert len(STARTS) == len(LEFT)


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(len(STARTS)), ids=map(configurations, STARTS))
def test_each_trains_tests_and_writes(number: int, folder: Path, tmp_path: Path) -> None:
    models, others, events, worst = LEFT[number]
    before = listing(folder)
    done = netsharp(
        *("run", *STARTS[number], "--root", ".", "--log", f"{tmp_path}/log"), cwd=folder
    )
    assert done.code == 0, done.err
    after = listing(folder)
    assert {name: after[name] for name in before} == before
    new = [name.removeprefix("Output/") for name in after if name not in before]
    assert not [name for name in new if name.startswith((".", "/")) or "/." in name], new
    assert not {*models.split(), *others.split()} - set(new), new
    for name in [*models.split(), *others.split()]:
        assert after[f"Output/{name}"], name
    for name in models.split():
        values = ModelFiles(ANYWHERE).load(str(folder / "Output" / name)).values
        assert all(math.isfinite(float(one.sum())) for one in values.values())
    log = logged_events(tmp_path / "log")
    assert all(math.isfinite(one["loss"]) for one in log if "loss" in one)
    for what, count in events.items():
        command, kind = what.split()
        found = [one for one in log if (one["event"], one["command"]) == (kind, command)]
        assert len({one["epoch"] for one in found}) == count, (what, log)
        if kind == "epoch" and count > 1:
            assert found[-1]["loss"] < found[0]["loss"], found
        elif kind == "end":
            assert next(iter(found[-1]["evaluation"].values()), 0) < worst, found


@pytest.mark.parametrize("start", NOT_DONE)
def test_what_cannot_be_done_explains_why(start: str, folder: Path) -> None:
    code, place, words = NOT_DONE[start]
    before = listing(folder)
    done = netsharp("run", *f"broken/{start}".split(), "--root", ".", cwd=folder)
    assert (done.code, done.out) == (code, ""), done.err
    assert place in done.err
    assert words in done.err
    sentences = re.findall(r"^(?:error\[|netsharp: )", done.err, re.MULTILINE)
    assert len(sentences) == (2 if start == "kernel.cntk" else 1), done.err
    assert listing(folder) == before


def test_the_folder_is_listed_and_every_fault_is_in_what_is_broken(folder: Path) -> None:
    done = netsharp("config", "--list", ".", "--format", "json", cwd=folder)
    assert done.code == 0, done.err
    done = netsharp("check", ".", "--format", "json", cwd=folder)
    assert done.code == 1, done.err
    errors = [one for one in json.loads(done.out)["diagnostics"] if one["severity"] == "error"]
    assert errors
    assert {one["file"].replace("\\", "/").split("/")[0] for one in errors} == {"broken"}
