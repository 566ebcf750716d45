"""`netsharp run` of a configuration, as people start it: what it prints, leaves and ends with."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import clean_environment, netsharp
from tests.cntk.training.experiments import made, run

#: What differs from run to run.
TIMES = re.compile(r"time = [0-9.]+s; samplesPerSecond = [0-9.]+|epochTime=[0-9.e+-]+s")


def test_a_run_tells_what_came_of_it(tmp_path: Path) -> None:
    folder = made(tmp_path)
    done = netsharp("run", "net.cntk", "--log", "run.jsonl", cwd=folder)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "learn: model out/net.dnn"
    assert re.fullmatch(r"score: EvalClassificationError [0-9.]+, .+ \(150 samples\)", lines[1])
    assert lines[2:] == [
        f"tell: wrote out/told.{name}" for name in ("ScaledLogLikelihood", "PosteriorProb")
    ]
    events = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds[0] == "start"
    assert kinds.count("epoch") == 4
    assert kinds[-1] == "end"
    epoch = next(event for event in events if event["event"] == "epoch")
    assert epoch.keys() == {
        *("event", "command", "action", "epoch", "step", "samples", "loss", "criterion"),
        *("evaluation", "rate", "seconds"),
    }
    assert [one["step"] for one in events if one["event"] == "epoch"] == [15, 25, 35, 45]
    assert {(one["command"], one["action"]) for one in events} == {
        ("learn", "train"),
        ("score", "test"),
    }


def test_events_are_the_log(tmp_path: Path) -> None:
    folder = made(tmp_path)
    done = netsharp("run", "net.cntk", "command=learn:score", "--events", cwd=folder)
    assert (done.code, done.err) == (0, "")
    kinds = [json.loads(line)["event"] for line in done.out.splitlines()]
    assert set(kinds) == {"start", "step", "epoch", "end"}


def test_the_log_of_the_original(tmp_path: Path) -> None:
    folder = made(tmp_path)
    done = netsharp("run", "net.cntk", "--cntk-log=2016-11", cwd=folder)
    assert (done.code, done.out) == (0, "")
    lines = TIMES.sub("TIME", done.err).splitlines()
    expected = (Path(__file__).parent / "net.2016-11.log").read_text().splitlines()
    number = re.compile(r"\d+\.\d+")
    assert [number.sub("N", line) for line in lines] == [number.sub("N", line) for line in expected]


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (("net.cntk", "--epochs", "3"), 2, "maxEpochs=N"),
        (("net.cntk", "--batch-size", "3"), 2, "minibatchSize=N"),
        (("net.cntk", "--learning-rate", "1"), 2, "learningRatesPerSample=N"),
        (("net.cntk", "--threads", "1"), 2, "numCPUThreads=N"),
        (("net.cntk", "--seed", "1"), 2, "a key of the configuration"),
        (("net.cntk", "--patience", "1"), 2, "AutoAdjust"),
        (("net.cntk", "--weight-decay", "1"), 2, "L2RegWeight=N"),
        (("net.cntk", "--optimizer", "adadelta"), 2, "gradUpdateType="),
        (("net.cntk", "--validation", "0.1"), 2, "cvReader"),
        (("net.cntk", "--train", "a.csv"), 2, "file=FILE"),
        (("net.cntk", "--resume"), 2, "makeMode=false"),
        (("net.cntk", "--show-settings"), 2, "netsharp config"),
        (("net.cntk", "command=none"), 1, "CK081"),
        (("other.cntk",), 2, "other.cntk"),
        (("net.cntk", "other.cntk"), 2, "other.cntk"),
        (("net.nn", "command=learn"), 2, "goes with a configuration"),
        (("net.cntk", "--log", "no/folder"), 2, "run log"),
        (("net.cntk", "precision=half"), 1, "precision"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    arguments: tuple[str, ...], code: int, word: str, tmp_path: Path
) -> None:
    folder = made(tmp_path)
    done = netsharp("run", *arguments, cwd=folder)
    assert done.code == code, done.err
    assert word in done.err
    assert not (folder / "out").exists()


def test_what_is_no_configuration_is_reported(tmp_path: Path) -> None:
    (tmp_path / "net.ndl").write_text("run = ndl\n")
    done = netsharp("run", "net.ndl", cwd=tmp_path)
    assert done.code == 2
    assert "Name a CNTK configuration that uses it" in done.err


def test_a_configuration_is_named_as_its_program_has_it(tmp_path: Path) -> None:
    folder = made(tmp_path / "inner")
    (folder / "more.cntk").write_text("learn = [SGD = [maxEpochs = 1]]\n")
    done = netsharp(
        "run", "configFile=net.cntk+more.cntk", "command=learn", "--cd", "inner", cwd=tmp_path
    )
    assert done.code == 0, done.err
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        *("net.dnn", "net.dnn.0", "net.dnn.ckp", "net.dnn.ckp.safetensors"),
    ]


def test_the_log_goes_into_the_file_that_is_named(tmp_path: Path) -> None:
    folder = made(tmp_path)
    answer, follower = run(folder, "stderr=logs/run.log", "parallelTrain=true", "command=learn")
    assert answer.code == 0
    assert (folder / "logs" / "run.log").read_text().splitlines() == follower.lines
    assert any("one process trains" in one for one in follower.notices)
    answer, _ = run(folder, "stderr=../run.log")
    assert answer.code == 2
    assert "outside the folders that are written here" in answer.complaints[0]


def test_the_folder_to_allow_is_there_and_enough(tmp_path: Path) -> None:
    folder = made(tmp_path / "configs")
    items = ("net.cntk", "modelPath=../out/models/net.dnn", "command=learn")
    done = netsharp("run", *items, cwd=folder)
    assert done.code == 2
    found = re.search(r"'--root ([^']+)' allows it", done.err)
    assert found is not None
    assert found[1] == str(tmp_path.resolve())
    done = netsharp("run", *items, "--root", found[1], cwd=folder)
    assert done.code == 0, done.err
    assert (tmp_path / "out" / "models" / "net.dnn").exists()


def test_workers_that_are_not_there_change_nothing(tmp_path: Path) -> None:
    folder = made(tmp_path)
    path = folder / "net.cntk"
    shared = "ParallelTrain = { DataParallelSGD = { gradientBits = 1 } } ; maxEpochs = 4"
    path.write_text(path.read_text().replace("maxEpochs = 4", shared))
    assert run(folder, "command=learn")[0].code == 0


@pytest.mark.parametrize(
    ("block", "word"),
    [
        ("", "one process trains."),
        ("parallelizationMethod=DataParallelSGD", "give the same results"),
        (
            "parallelizationMethod=DataParallelSGD ; DataParallelSGD={gradientBits=32}",
            "give the same results",
        ),
        (
            "parallelizationMethod=DataParallelSGD ; DataParallelSGD={gradientBits=32:1}",
            "rounded to 1 bit, with different results",
        ),
        ("parallelizationMethod=ModelAveragingSGD", "average their models, with different"),
        ("parallelizationMethod=BlockMomentumSGD", "a momentum of blocks"),
        ("parallelizationMethod=DataParallelASGD", "without waiting for each other"),
    ],
)
def test_what_several_workers_would_do_is_reported(block: str, word: str, tmp_path: Path) -> None:
    folder = made(tmp_path)
    path = folder / "net.cntk"
    shared = f"ParallelTrain = {{ {block} }} ; maxEpochs = 1"
    path.write_text(path.read_text().replace("maxEpochs = 4", shared))
    done = netsharp("run", "net.cntk", "command=learn", "parallelTrain=true", cwd=folder)
    assert done.code == 0, done.err
    assert done.err.count("one process trains") == 1
    assert word in done.err
    assert ("different results" in word) <= ("different results" in done.err)
    (folder / "out" / "net.dnn").unlink()
    done = netsharp("run", "net.cntk", "command=learn", "--cntk-log=2016-11", cwd=folder)
    line = "parallelTrain option is not enabled. ParallelTrain config will be ignored."
    assert line in done.err.splitlines()


def test_options_without_effect_are_reported_once(tmp_path: Path) -> None:
    folder = made(tmp_path)
    given = ("deviceId=0", "numCPUThreads=4", "prefetch=false", "verbosity=2", "traceLevel=1")
    done = netsharp("run", "net.cntk", *given, cwd=folder)
    assert done.code == 0, done.err
    assert done.err.splitlines()[0] == (
        "netsharp: without effect here: deviceId, numCPUThreads, verbosity, prefetch."
    )
    assert done.err.count("without effect") == 1
    done = netsharp("run", "net.cntk", "command=score", "deviceId=auto", cwd=folder)
    assert (done.code, done.err) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="no signal of this kind there")
def test_an_interrupted_run_continues(tmp_path: Path) -> None:
    whole = made(tmp_path / "whole")
    run(whole, "command=learn", "maxEpochs=4")
    folder = made(tmp_path / "run")
    started = subprocess.Popen(
        [sys.executable, "-m", "netsharp_lsp", "run", "net.cntk", "command=learn", "--events"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    )
    assert started.stdout is not None
    for line in started.stdout:
        if json.loads(line)["event"] == "epoch":
            started.send_signal(signal.SIGINT)
            break
    _, output = started.communicate(timeout=60)
    assert started.returncode in (0, 130), output
    assert netsharp("run", "net.cntk", "command=learn", cwd=folder).code == 0
    for name in ("net.dnn", "net.dnn.ckp"):
        assert (folder / "out" / name).read_bytes() == (whole / "out" / name).read_bytes()


def test_items_change_the_folder_that_data_and_models_are_in(tmp_path: Path) -> None:
    """An item before such an item is resolved in the folder where the command is started."""
    folder = made(tmp_path / "work")
    (folder / "net.cntk").rename(tmp_path / "net.cntk")
    (folder / "more.cntk").write_text("learn = [ SGD = [ maxEpochs = 1 ] ]\n")
    items = ("configFile=net.cntk", "currentDirectory=work", "more.cntk", "command=learn:score")
    done = netsharp("run", *items, cwd=tmp_path)
    assert done.code == 0, done.err
    assert [one.name for one in tmp_path.iterdir() if one.is_dir()] == ["work"]
    assert len(done.err.splitlines()) == 1
    assert (folder / "out/net.dnn").exists()
    (folder / "data.ctf").unlink()
    done = netsharp("run", *items, "makeMode=false", cwd=tmp_path)
    assert done.code == 1
    assert "work/data.ctf: cannot be read" in done.err
    assert done.err.startswith("netsharp: net.cntk, line "), done.err
    done = netsharp("config", *items, "--get", "learn.SGD.maxEpochs", cwd=tmp_path)
    assert (done.code, done.out) == (0, "1\n"), done.err
