"""Standard streams that are closed, full or without a reader: a sentence where one can be read."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import clean_environment

if os.name == "nt":
    pytest.skip("the shell's redirections are those of POSIX", allow_module_level=True)

FAULTY = "input A [0];\n"
CLEAN = "input A [3];\noutput R [2] softmax from A all;\n"
#: Each command with its code where all can be heard; what it prints goes to stdout where marked.
COMMANDS = {
    "check bad.nn": 1,
    "check ok.nn": 0,
    "check bad.nn --output-file r": 1,
    "describe ok.nn": 0,
    "diff ok.nn ok.nn": 0,
    "config a=1": 0,
    "explain NS001": 0,
    "run --help": 0,
    "--version": 0,
    "--help": 0,
}
SILENT = {"check bad.nn --output-file r"}
CLOSED = "netsharp: standard output: it is closed.\n"
FULL = "netsharp: standard output: No space left on device.\n"


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    for name, text in (("bad.nn", FAULTY), ("ok.nn", CLEAN), ("big.nn", FAULTY * 20000)):
        (folder / name).write_text(text)
    return subprocess.run(
        ["bash", "-c", command.replace("netsharp", f"'{sys.executable}' -m netsharp_lsp", 1)],
        cwd=folder,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=False,
        env=clean_environment() | environment,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_closed_streams(command: str, tmp_path: Path) -> None:
    code = COMMANDS[command]
    ignored_options = code if command in SILENT else 2
    for streams, wanted in (
        ("<&-", code),
        ("2>&-", code),
        (">&-", ignored_options),
        ("<&- >&- 2>&-", ignored_options),
    ):
        done = shell(f"netsharp {command} {streams}", tmp_path)
        assert done.returncode == wanted, (streams, done.stderr)
        assert done.stderr == (CLOSED if streams == ">&-" and wanted == 2 else ""), streams


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("command", ["check bad.nn", "run --help", "--version", "check big.nn"])
@pytest.mark.costly
def test_full_streams(command: str, buffered: str, tmp_path: Path) -> None:
    code = COMMANDS.get(command, 1)
    unbuffered = {"PYTHONUNBUFFERED": buffered}
    done = shell(f"netsharp {command} >/dev/full", tmp_path, **unbuffered)
    assert (done.returncode, done.stderr) == (2, FULL)
    assert shell(f"netsharp {command} 2>/dev/full", tmp_path, **unbuffered).returncode == code
    both = shell(f"netsharp {command} >/dev/full 2>&1", tmp_path, **unbuffered)
    assert (both.returncode, both.stdout + both.stderr) == (2, "")


@pytest.mark.costly
@pytest.mark.parametrize("command", ["check --format concise big.nn", "check bad.nn", "--version"])
def test_a_reader_that_has_gone(command: str, tmp_path: Path) -> None:
    done = shell(f"netsharp {command} | head -c1 | true; echo ${{PIPESTATUS[0]}}", tmp_path)
    assert done.stdout in ("141\n", f"{COMMANDS.get(command, 1)}\n")
    assert done.stderr == ""


def test_a_dead_socket(tmp_path: Path) -> None:
    (tmp_path / "big.nn").write_text(FAULTY * 20000)
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours:
        done = subprocess.run(
            [sys.executable, "-m", "netsharp_lsp", "check", "big.nn"],
            cwd=tmp_path,
            stdout=ours,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            env=clean_environment(),
        )
    assert (done.returncode, done.stderr) == (141, b"")


def test_reading_what_is_closed_is_a_sentence(tmp_path: Path) -> None:
    done = shell("netsharp check - <&-", tmp_path)
    assert done.returncode == 2
    assert done.stderr == "netsharp: standard input: it is closed.\n"


def test_no_file_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    (tmp_path / "bad.nn").write_text(FAULTY)
    done = shell("netsharp check bad.nn --output-file report.txt >&- 2>&- <&-", tmp_path)
    assert done.returncode == 1
    report = (tmp_path / "report.txt").read_text()
    assert report.endswith("1 file checked: 2 errors.\n")
    assert "netsharp:" not in report


@pytest.mark.parametrize("streams", ["<&-", ">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_the_server_needs_both(streams: str, tmp_path: Path) -> None:
    # Opened for both, a pipe is never at its end: only a closed stream can end the server.
    os.mkfifo(tmp_path / "held")
    done = shell(f"netsharp lsp <>held {streams}", tmp_path)
    assert done.returncode == 2
    assert "one is closed" in done.stderr or "2>&-" in streams


@pytest.mark.costly
def test_a_slow_reader_of_a_stream_that_does_not_block_gets_all(tmp_path: Path) -> None:
    (tmp_path / "big.nn").write_text(FAULTY * 20000)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    process = subprocess.Popen(
        [sys.executable, "-m", "netsharp_lsp", "check", "--format", "concise", "big.nn"],
        cwd=tmp_path,
        stdout=writing,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    )
    os.close(writing)
    with open(reading, "rb") as stream:
        text = stream.read()
    assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == 1
    assert text.count(b"\n") >= 20000
