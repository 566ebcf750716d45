"""Ctrl-C at any moment ends a command quietly: by the signal or with 130, and without a trace."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.command_line import clean_environment

if os.name == "nt":
    pytest.skip("signals are sent as POSIX has them", allow_module_level=True)

SEED = 20261122
TRIES = 40
#: The text of the installed command, without the interpreter in its first line.
SHIM = "import sys\nfrom netsharp_lsp.start import main\nsys.exit(main())\n"
COMMANDS = (
    ("check", "big.nn"),
    ("check", "many"),
    ("describe", "ok.nn"),
    ("explain", "NS001"),
    ("config", "a=1"),
    ("weights", "none.safetensors"),
    ("lsp",),
)


@pytest.mark.costly
def test_no_moment_shows_a_trace(tmp_path: Path) -> None:
    (tmp_path / "shim").write_text(SHIM)
    (tmp_path / "ok.nn").write_text("input A [3];\noutput R [2] softmax from A all;\n")
    (tmp_path / "big.nn").write_text("input A [0];\n" * 20000)
    (tmp_path / "many").mkdir()
    for number in range(120):
        (tmp_path / "many" / f"{number}.nn").write_text("input A [0];\n" * 100)
    chance = random.Random(SEED)
    print("seed", SEED)
    ended = 0
    for _ in range(TRIES):
        command, delay = chance.choice(COMMANDS), chance.uniform(0, 0.9)
        how = chance.choice((["-m", "netsharp_lsp"], ["shim"]))
        process = subprocess.Popen(
            [sys.executable, *how, *command],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=clean_environment(),
        )
        time.sleep(delay)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        _, output = process.communicate(timeout=60)
        reported = (command, how, delay, process.returncode, output)
        # What Python says before it has read a line of ours is its own.
        if b"Traceback" in output or b"Fatal Python error" in output:
            assert b"netsharp_lsp" not in output.replace(b"-m netsharp_lsp", b""), reported
            continue
        assert b"Exception ignored" not in output, reported
        assert b"internal error" not in output, reported
        assert process.returncode in (0, 1, 2, 130, -signal.SIGINT), reported
        ended += process.returncode in (130, -signal.SIGINT)
    assert ended > TRIES / 4


@pytest.mark.costly
def test_an_ignored_interrupt_stays_ignored(tmp_path: Path) -> None:
    (tmp_path / "big.nn").write_text("input A [0];\n" * 20000)
    command = f"trap '' INT; exec '{sys.executable}' -m netsharp_lsp check big.nn"
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        env=clean_environment(),
    )
    time.sleep(0.4)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) == 1


def test_a_program_that_imports_netsharp_keeps_its_interrupts(tmp_path: Path) -> None:
    code = (
        "import signal, netsharp, netsharp_lsp.__main__ as entry\n"
        "entry.main(['--version'])\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert done.returncode == 0
