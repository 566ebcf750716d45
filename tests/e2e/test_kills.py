"""Killed, signalled, overtaken by a user's edit at any moment: nothing is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from netsharp_engine.atomic_files import AtomicFile
from tests.cli.command_line import clean_environment
from tests.e2e.kills import LOG, MODEL, TRAIN, additions, finished, kills
from tests.e2e.test_interruption import PATIENCE
from tests.e2e.workshop import furnish

SEED = 5


@pytest.mark.costly
def test_a_training_survives_every_end() -> None:
    report = kills(24, SEED)
    assert (report.tries, report.failures) == (24, []), f"seed {SEED}"


@pytest.mark.costly
def test_a_line_that_is_added_while_a_command_works_is_kept() -> None:
    report = additions(12, SEED)
    assert (report.tries, report.failures) == (12, []), f"seed {SEED}"


def long_run(folder: Path, *before: str) -> subprocess.Popen[bytes]:
    """Start a run that takes hours, by another program."""
    furnish(folder)
    return subprocess.Popen(
        [*before, sys.executable, "-m", "netsharp_lsp", *TRAIN, "--epochs", "100000"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=clean_environment(),
        start_new_session=True,
    )


def until_it_trains(folder: Path) -> None:
    log = folder / LOG
    waiting = ["sh", "-c", f"until grep -q '\"epoch\": 2' '{log}'; do sleep 0.05; done"]
    subprocess.run(waiting, check=True, timeout=PATIENCE, stderr=subprocess.DEVNULL)


@pytest.mark.costly
def test_timeout_asks_twice_at_once_and_means_it_once(tmp_path: Path) -> None:
    """It signals its child, and then its group, in which that is."""
    process = long_run(tmp_path, "timeout", "--signal=TERM", "--preserve-status", "5")
    _, output = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143, output
    assert b"Stopped after step" in output
    assert (tmp_path / MODEL).exists()


def test_below_nohup_a_closed_terminal_changes_nothing(tmp_path: Path) -> None:
    process = long_run(tmp_path, "nohup")
    until_it_trains(tmp_path)
    process.send_signal(signal.SIGHUP)
    lines = (tmp_path / LOG).read_bytes().count(b"\n")
    grows = f"until [ $(wc -l < '{tmp_path / LOG}') -gt {lines + 3} ]; do sleep 0.05; done"
    subprocess.run(["sh", "-c", grows], check=True, timeout=PATIENCE)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 143


def test_what_a_killed_last_save_left_is_cleared_where_the_run_has_ended(tmp_path: Path) -> None:
    furnish(tmp_path)
    arguments = (*TRAIN, "--epochs", "1")
    assert finished(*arguments, folder=tmp_path)[0] == 0
    aside = AtomicFile(str(tmp_path / MODEL))
    aside.stream.close()  # and with it the lock, as when its writer is killed
    left = Path(aside.path)
    assert left.exists()
    code, output, _ = finished(*arguments, "--resume", folder=tmp_path)
    assert code == 2
    assert "has finished 1 epoch" in output
    assert not left.exists()
