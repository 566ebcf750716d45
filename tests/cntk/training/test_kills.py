"""Trainings that are killed at any moment, or find no space: what continues has the same bits."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.command_line import clean_environment, netsharp
from tests.cntk.training.experiments import Follower, made, run
from tests.conftest import SEED

if sys.platform == "win32":
    pytest.skip("no signals and bounds of this kind there", allow_module_level=True)

import resource

KILLS = 4
EPOCHS = 12
LONGER = ("command=learn", f"learn=[SGD=[maxEpochs={EPOCHS}]]")
ENDLESS = ("command=learn", "learn=[SGD=[maxEpochs=100000]]")
#: What does not depend on the clock.
SAME = ("net.dnn", "net.dnn.ckp", *(f"net.dnn.{epoch}" for epoch in range(EPOCHS)))


def started(folder: Path, *items: str, room: int | None = None) -> subprocess.Popen[bytes]:
    """A run in a process, which can make no file larger than `room` bytes."""

    def bound() -> None:
        if room is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    return subprocess.Popen(
        [sys.executable, "-m", "netsharp_lsp", "run", "net.cntk", *items],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=clean_environment(),
        preexec_fn=bound,
    )


def epochs_in(log: Path) -> list[dict[str, object]]:
    """The finished epochs of a run log, without the clock; a line cut off by a kill is ignored."""
    found = []
    for line in log.read_text().splitlines():
        event = json.loads(line) if line.endswith("}") else {}
        if event.get("event") == "epoch":
            found.append({key: value for key, value in event.items() if key != "seconds"})
    return found


@pytest.mark.costly
def test_killed_again_and_again_is_run_through(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    whole = made(tmp_path / "whole", rows=2000)
    assert netsharp("run", "net.cntk", *LONGER, "--log", "run.jsonl", cwd=whole).code == 0
    expected = {one["epoch"]: one for one in epochs_in(whole / "run.jsonl")}
    assert len(expected) == EPOCHS
    folder = made(tmp_path / "killed", rows=2000)
    out = folder / "out"
    logs = [folder / f"{number}.jsonl" for number in range(KILLS + 1)]
    for number in range(KILLS):
        process = started(folder, *LONGER, "--log", logs[number].name)
        while process.poll() is None and not (logs[number].exists() and epochs_in(logs[number])):
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.08))
        process.kill()
        process.communicate()
    assert netsharp("run", "net.cntk", *LONGER, "--log", logs[-1].name, cwd=folder).code == 0
    for name in SAME:
        assert (out / name).read_bytes() == (whole / "out" / name).read_bytes(), name
    reported = [one for log in logs for one in epochs_in(log)]
    assert {one["epoch"] for one in reported} == set(expected)
    assert all(one == expected[one["epoch"]] for one in reported)
    assert not list(out.glob(".netsharp-*"))


@pytest.mark.costly
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_leaves_a_checkpoint(number: signal.Signals, code: int, tmp_path: Path) -> None:
    folder = made(tmp_path)
    process = started(folder, *ENDLESS)
    while not (folder / "out" / "net.dnn.1").exists():
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(number)
    _, output = process.communicate(timeout=60)
    assert process.returncode == code, output
    kept = sorted(path.name for path in (folder / "out").glob("*.ckp*"))
    assert len(kept) == 2
    assert kept[1] == f"{kept[0]}.safetensors"
    answer, follower = run(folder, *ENDLESS, follower=Follower(ends=0))
    assert answer.code == 130
    epoch = kept[0].split(".")[2]
    assert any(f"continues after epoch {epoch}" in one for one in follower.notices)


def test_no_room_is_reported_before_the_first_epoch(tmp_path: Path) -> None:
    folder = made(tmp_path)
    run(folder, "command=learn", follower=Follower(ends=2))
    before = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    size = len(before["net.dnn.2"])
    process = started(folder, "command=learn", room=size - 1)
    _, output = process.communicate(timeout=60)
    assert process.returncode == 2
    assert b"net.dnn.3: cannot be written" in output
    assert b"nothing is trained" in output
    after = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    assert after == before
    assert run(folder, "command=learn")[0].code == 0


def test_a_folder_in_the_place_of_a_model_spoils_nothing(tmp_path: Path) -> None:
    folder = made(tmp_path)
    run(folder, "command=learn", follower=Follower(ends=2))
    (folder / "out" / "net.dnn.3.ckp").mkdir()
    before = {path.name: path.read_bytes() for path in (folder / "out").glob("*.2*")}
    answer, _ = run(folder, "command=learn")
    assert answer.code == 2
    assert "net.dnn.3.ckp: cannot be written" in answer.complaints[0]
    assert {path.name: path.read_bytes() for path in (folder / "out").glob("*.2*")} == before
    (folder / "out" / "net.dnn.3.ckp").rmdir()
    answer, follower = run(folder, "command=learn")
    assert answer.code == 0
    assert [one["epoch"] for one in follower.epochs] == [3, 4]


@pytest.mark.parametrize("damage", [b"", b"no file of ours", b"\x00" * 64])
def test_a_damaged_position_is_one_sentence(damage: bytes, tmp_path: Path) -> None:
    folder = made(tmp_path)
    run(folder, "command=learn", follower=Follower(ends=2))
    path = folder / "out" / "net.dnn.2.ckp.safetensors"
    path.write_bytes(damage)
    answer, _ = run(folder, "command=learn")
    assert answer.code == 2
    (sentence,) = answer.complaints
    assert path.name in sentence
    path.unlink()
    assert run(folder, "command=learn")[0].code == 0


def test_the_position_of_another_state_is_not_taken(tmp_path: Path) -> None:
    folder = made(tmp_path)
    run(folder, "command=learn", "keepCheckPointFiles=true", follower=Follower(ends=2))
    name = "net.dnn.{}.ckp.safetensors"
    (folder / "out" / name.format(1)).replace(folder / "out" / name.format(2))
    answer, follower = run(folder, "command=learn")
    assert answer.code == 0
    assert [one["epoch"] for one in follower.epochs] == [3, 4]
