"""Processes that torchrun starts, killed and stopped; on one machine, and on two agents of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from netsharp_engine.model import load_model
from netsharp_lsp.__main__ import main
from netsharp_lsp.cli.machines import launching
from tests.cli.command_line import clean_environment
from tests.cntk.training.experiments import made, run
from tests.distributed.threads import together
from tests.peers import peer

peer("torch")
if not sys.platform.startswith("linux"):
    pytest.skip("processes are looked for in /proc", allow_module_level=True)

IRIS = Path(__file__).parents[2] / "examples" / "iris"
NETSHARP = (sys.executable, "-P", "-m", "netsharp_lsp")
FLAGS = ("--patience", "0", "--epochs", "120", "--checkpoint", "0.05", "--log", "run.log")
#: Modules that lie in the folder and must not be ours, nor those of PyTorch.
TRAPS = ("torch", "numpy", "netsharp_engine", "netsharp_lsp", "socket", "json", "logging")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A copy of the example among traps; afterwards none of its processes is left."""
    made = tmp_path / "one"
    copy_to(made)
    yield made
    assert not (tmp_path / "trapped").exists()
    assert not processes_in(tmp_path)


def copy_to(folder: Path) -> None:
    folder.mkdir()
    for suffix in ("nn", "toml", "csv"):
        shutil.copy(IRIS / f"iris.{suffix}", folder)
    for name in TRAPS:
        trap = f"import pathlib\npathlib.Path({str(folder.parent / 'trapped')!r}).touch()\n"
        (folder / f"{name}.py").write_text(trap)


def processes_in(folder: Path) -> dict[int, int]:
    """The processes of torchrun below a folder, by their ranks; others have ranks below 0."""
    found: dict[int, int] = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            where = Path(os.readlink(f"/proc/{pid}/cwd"))
            told = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if folder not in (where, *where.parents) or int(pid) == os.getpid():
            continue
        given = dict(one.split("=", 1) for one in told if "=" in one)
        found[int(given.get("RANK", -int(pid)))] = int(pid)
    return found


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    named = words if words[0].endswith(".cntk") else ("iris.nn", *words)
    return subprocess.Popen(
        (*NETSHARP, "run", *named),
        cwd=folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def followed(
    run: subprocess.Popen[str], epoch: int, then: Callable[[], object]
) -> tuple[list[dict[str, Any]], str, int]:
    """The events of a run, in which something is done after an epoch; its errors and its code."""
    errors: list[str] = []
    assert run.stdout is not None
    assert run.stderr is not None
    reader = threading.Thread(target=lambda: errors.append(run.stderr.read()))  # type: ignore[union-attr]
    reader.start()
    events: list[dict[str, Any]] = []
    done = False
    for line in run.stdout:
        events.append(json.loads(line))
        if not done and events[-1]["event"] == "epoch" and events[-1]["epoch"] == epoch:
            done = True
            then()
    code = run.wait(60)
    reader.join()
    return events, errors[0], code


def losses(events: list[dict[str, Any]]) -> dict[int, float]:
    return {each["epoch"]: each["loss"] for each in events if each["event"] == "epoch"}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[int, float]:
    """The course of one process."""
    folder = tmp_path_factory.mktemp("alone") / "one"
    copy_to(folder)
    run = started(folder, *FLAGS, "--quiet")
    _, errors = run.communicate()
    assert run.returncode == 0, errors
    return logged(folder)


def logged(folder: Path) -> dict[int, float]:
    lines = (folder / "run.log").read_text(encoding="utf-8").splitlines()
    return losses([json.loads(line) for line in lines])


@pytest.mark.costly
def test_killed_processes_are_started_again_and_go_on(
    folder: Path, alone: dict[int, float]
) -> None:
    """The first one is killed, which saves: what it has saved is gone on with, on one course."""
    run = started(folder, *FLAGS, "--procs", "2", "--events")
    killed = []

    def kill() -> None:
        killed.append(processes_in(folder)[0])
        os.kill(killed[0], signal.SIGKILL)

    events, errors, code = followed(run, 20, kill)
    assert code == 0, errors
    assert killed
    begun = [each for each in events if each["event"] == "start"]
    assert len(begun) == 2
    assert 0 < begun[1]["step"] <= 21 * 23
    assert losses(events) == pytest.approx(alone, rel=1e-5)
    assert logged(folder) == losses(events)
    model = load_model(str(folder / "iris.safetensors"))
    assert model.state is not None
    assert model.state.finished
    assert f"were lost: it continues after step {begun[1]['step']:,}" in errors
    assert "Traceback" not in errors


@pytest.mark.costly
def test_who_is_asked_to_end_saves_and_one_continues_with_what_two_have_saved(
    folder: Path, alone: dict[int, float]
) -> None:
    run = started(folder, *FLAGS, "--procs", "2", "--events")
    events, errors, code = followed(run, 10, run.terminate)
    assert code == 128 + signal.SIGTERM, errors
    assert events[-1]["event"] == "end"
    assert errors.count("Stopped after step") == 1
    assert not processes_in(folder)
    again = started(folder, *FLAGS, "--resume", "--quiet")
    _, errors = again.communicate()
    assert again.returncode == 0, errors
    assert logged(folder) == pytest.approx(alone, rel=1e-5)


@pytest.mark.costly
def test_two_agents_that_meet_follow_one_course_through_a_loss(
    folder: Path, alone: dict[int, float]
) -> None:
    other = folder.parent / "two"
    copy_to(other)
    there = ("--nodes", "2", "--rendezvous", f"127.0.0.1:{free_port()}")
    second = started(other, *FLAGS, *there)
    first = started(folder, *FLAGS, *there)
    wait_for_epoch((folder, other), 20)
    victims = [pid for place in (folder, other) for rank, pid in ranks_in(place) if rank == 1]
    os.kill(victims[0], signal.SIGKILL)
    told = [run.communicate(timeout=120) for run in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0], told
    logs = [place for place in (folder, other) if (place / "run.log").exists()]
    models = [place for place in (folder, other) if (place / "iris.safetensors").exists()]
    assert models
    course = {epoch: loss for place in logs for epoch, loss in logged(place).items()}
    assert course == pytest.approx(alone, rel=1e-5)
    assert not any("Traceback" in errors for _, errors in told)


def ranks_in(folder: Path) -> list[tuple[int, int]]:
    return [(rank, pid) for rank, pid in processes_in(folder).items() if rank >= 0]


def wait_for_epoch(folders: tuple[Path, ...], epoch: int) -> None:
    waits = threading.Event()
    for _ in range(1200):
        for folder in folders:
            log = folder / "run.log"
            if log.exists() and log.read_text().count('"event": "epoch"') >= epoch:
                return
        waits.wait(0.05)
    pytest.fail("the machines did not come so far")


def free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        port: int = tried.getsockname()[1]
        return port


def checked(folder: Path, file: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """How a check of two processes ends."""
    return subprocess.run(
        (*NETSHARP, "run", file, "--procs", "2", "--check", *flags),
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.costly
def test_a_check_meets_compares_and_trains_nothing(folder: Path) -> None:
    done = checked(folder, "iris.nn")
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert first.startswith("2 processes met, 2 on each of 1 machines: ")
    assert "the same data: 112+38 rows of 4" in second
    assert third.startswith("Adding up the gradients of a step takes ")
    assert not (folder / "iris.safetensors").exists()


@pytest.mark.costly
def test_a_check_asks_for_the_device(folder: Path) -> None:
    """What a run would refuse, its check does: a device that is missing, or trains alone."""
    done = checked(folder, "iris.nn", "--device", "torch:mps")
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith("netsharp: device = torch:mps: ")
    assert "finds no mps here" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.costly
def test_a_check_of_a_configuration_meets(tmp_path: Path) -> None:
    made(tmp_path / "one")
    done = checked(tmp_path / "one", "net.cntk", "parallelTrain=true")
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert first.startswith("2 processes met, 2 on each of 1 machines: ")
    assert "the same data: learn 150 samples, checksum " in second
    assert third.startswith("Adding up the gradients of a step takes ")
    assert not list((tmp_path / "one").glob("net.dnn*"))


@pytest.mark.costly
def test_a_process_that_never_connects_ends_a_check(folder: Path) -> None:
    """One that is stopped before it can, as one that a firewall cuts off: no wait of minutes."""
    run = started(folder, "--procs", "2", "--check")
    waits, stopped = threading.Event(), 0
    for _ in range(1200):
        stopped = processes_in(folder).get(1, 0)
        if stopped:
            break
        waits.wait(0.02)
    os.kill(stopped, signal.SIGSTOP)
    try:
        run.wait(60)
    finally:
        os.kill(stopped, signal.SIGKILL)
    _, errors = run.communicate(timeout=10)
    assert run.returncode == 2, errors
    assert errors.startswith("netsharp: The processes did not connect within 8 seconds")
    assert errors.count("\n") == 1


@pytest.mark.costly
def test_other_data_are_reported_by_all_machines(folder: Path) -> None:
    other = folder.parent / "two"
    copy_to(other)
    with (other / "iris.csv").open("a") as stream:
        stream.write("5,3,2,1,setosa\n")
    there = ("--nodes", "2", "--rendezvous", f"127.0.0.1:{free_port()}")
    runs = [started(place, *there) for place in (folder, other)]
    told = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [2, 2], told
    for _, errors in told:
        assert "The processes have not the same data: " in errors
        assert "112+38 rows" in errors
        assert "113+38 rows" in errors
        assert errors.count("\n") == 1


@pytest.mark.costly
def test_a_machine_that_never_comes_is_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The real wait is 20 seconds from when this machine looks for the others."""
    assert launching.CHECKING <= 20
    monkeypatch.setattr(launching, "CHECKING", 1)
    monkeypatch.chdir(folder)
    place = f"127.0.0.1:{free_port()}"
    words = ("run", "iris.nn", "--nodes", "2", "--rendezvous", place, "--check")
    assert main(words) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"netsharp: Not all of the 2 machines came to {place} within 1 seconds.")
    assert "loops back" in told


@pytest.mark.costly
def test_processes_train_a_configuration_and_the_first_does_the_rest(tmp_path: Path) -> None:
    told = []
    for name, more in (("one", ()), ("two", ("--procs", "2"))):
        made(tmp_path / name)
        words = ("run", "net.cntk", "parallelTrain=true", "--log", "run.log", *more)
        done = subprocess.run(
            (*NETSHARP, *words),
            cwd=tmp_path / name,
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        told.append(done)
    assert "netsharp: learn: 2 processes exchange gradients.\n" in told[1].stderr
    first, second = (one.stdout.splitlines() for one in told)
    assert [line.split()[0] for line in second] == [line.split()[0] for line in first]
    assert logged(tmp_path / "two") == pytest.approx(logged(tmp_path / "one"), rel=1e-5)
    assert not processes_in(tmp_path)


@pytest.mark.costly
def test_killed_processes_go_on_with_the_momentum_of_blocks(tmp_path: Path) -> None:
    """Models averaged with a momentum: killed after an epoch, the course of those that are not."""
    method = "parallelizationMethod=BlockMomentumSGD;BlockMomentumSGD={blockSize=40}"
    items = ("parallelTrain=true", "command=learn")
    for name in ("whole", "killed"):
        path = made(tmp_path / name) / "net.cntk"
        block = f"ParallelTrain = {{ {method} }} ; maxEpochs = 40"
        path.write_text(path.read_text().replace("maxEpochs = 4", block))
    killed = tmp_path / "killed"
    whole = together(2, lambda ranks: run(tmp_path / "whole", *items, ranks=ranks))[0][1]
    running = started(killed, "net.cntk", *items, "--procs", "2", "--events")
    victim: list[int] = []

    def kill() -> None:
        victim.append(processes_in(killed)[0])
        os.kill(victim[0], signal.SIGKILL)

    events, errors, code = followed(running, 10, kill)
    assert code == 0, errors
    assert victim
    assert "continues after epoch" in errors
    assert losses(events) == pytest.approx(losses(whole.events), rel=1e-6)
    assert len(losses(events)) == 40
    assert not processes_in(tmp_path)


@pytest.mark.costly
def test_a_fault_of_all_is_reported_once(folder: Path) -> None:
    (folder / "iris.csv").write_text("a,b\n")
    done = subprocess.run(
        (*NETSHARP, "run", "iris.nn", "--procs", "2"),
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count("netsharp: ") == 1
    assert "Traceback" not in done.stderr
