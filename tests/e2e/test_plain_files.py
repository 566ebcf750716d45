"""Pipes, devices, sockets and folders in the place of a file: refused at once, in one sentence."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from netsharp_engine.plain_files import NotPlainError, open_plain, read_plain
from tests.cli.command_line import Answer, clean_environment
from tests.e2e.workshop import LABELLED, table, write_idx

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes have names on POSIX only")

MODEL = "digits.safetensors"
CNTK = 'command = T\nT = { action = train ; BrainScriptNetworkBuilder = { include "odd.bs" } }\n'
SIMPLE = """command = T
T = { action = "train"; BrainScriptNetworkBuilder = {
  x = Input {2}; y = Input {2}; z = x + y; featureNodes = (x); labelNodes = (y); outputNodes = (z)
} }
"""
RUN = ("run", "net.nn", *LABELLED, "--epochs", "1", "--model", "new.safetensors", "--quiet")
#: What makes a command read `odd`, by who names it: the name of the odd file, other files, command.
READERS: dict[str, tuple[str, dict[str, str], tuple[str, ...]]] = {
    "a specification": ("odd.nn", {}, ("check", "odd.nn")),
    "a formatted one": ("odd.nn", {}, ("fmt", "odd.nn")),
    "a described one": ("odd.nn", {}, ("describe", "odd.nn")),
    "a compared one": ("odd.nn", {}, ("diff", "net.nn", "odd.nn")),
    "a trained one": ("odd.nn", {}, ("run", "odd.nn", "--train", "digits.csv", *LABELLED)),
    "a host": ("odd.py", {}, ("check", "odd.py")),
    "a configuration": ("odd.cntk", {}, ("check", "odd.cntk")),
    "an evaluated one": ("odd.cntk", {}, ("config", "odd.cntk")),
    "a migrated one": ("odd.cntk", {}, ("migrate", "odd.cntk")),
    "a run": ("odd.cntk", {}, ("run", "odd.cntk")),
    "a described layer": ("odd.cntk", {"a.cntk": CNTK}, ("describe", "a.cntk+odd.cntk")),
    "a run layer": ("odd.cntk", {"a.cntk": CNTK}, ("run", "a.cntk+odd.cntk")),
    "a layer": ("odd.cntk", {"a.cntk": CNTK}, ("config", "a.cntk+odd.cntk")),
    "a library": ("odd.bs", {"a.cntk": SIMPLE}, ("describe", "a.cntk", "--library", "odd.bs")),
    "a log": ("odd.log", {"a.cntk": SIMPLE}, ("describe", "a.cntk", "--log", "odd.log")),
    "settings": ("netsharp.toml", {}, ("check", "net.nn")),
    "shared settings": ("pyproject.toml", {}, ("check", "net.nn")),
    "settings by flag": ("odd.toml", {}, ("check", "net.nn", "--config", "odd.toml")),
    "a run file": ("net.toml", {}, ("run", "net.nn", "--train", "digits.csv", *LABELLED)),
    "a run file by flag": ("odd", {}, (*RUN, "--train", "digits.csv", "--run-file", "odd")),
    "a run file's table": ("odd.csv", {"net.toml": '[data]\ntrain = "odd.csv"\n'}, RUN),
    "a table": ("odd.csv", {}, (*RUN, "--train", "odd.csv")),
    "validation rows": ("odd.csv", {}, (*RUN, "--train", "digits.csv", "--validation", "odd.csv")),
    "label files": ("odd", {}, (*RUN, "--train", "images", "--labels", "odd")),
    "a baseline": ("odd.json", {}, ("check", "net.nn", "--baseline", "odd.json")),
    "a model": ("odd.safetensors", {}, ("weights", "odd.safetensors")),
    "a described model": ("odd.safetensors", {}, ("describe", "odd.safetensors")),
    "a resumed model": (
        "new.safetensors",
        {},
        (*RUN, "--train", "digits.csv", "--resume"),
    ),
    "data to predict": ("odd.csv", {}, ("predict", MODEL, "--data", "odd.csv")),
    "data to evaluate": ("odd.npz", {}, ("evaluate", MODEL, "--data", "odd.npz")),
    "data to check by": ("odd.csv", {}, ("check", "net.nn", "--data", "odd.csv")),
}


def answer(folder: Path, *command: str) -> Answer:
    """What a command says; one that waits for a pipe is ended, which is a failure."""
    done = subprocess.run(
        [sys.executable, "-m", "netsharp_lsp", *command],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=30,
        stdin=subprocess.DEVNULL,
        env=clean_environment(),
    )
    return Answer(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_is_refused_in_a_sentence(reader: str, folder: Path) -> None:
    name, files, command = READERS[reader]
    for other, text in files.items():
        (folder / other).write_text(text)
    write_idx(folder / "images", table(folder)[0])
    os.mkfifo(folder / name)
    got = answer(folder, *command)
    assert got.code == 2, (got.code, got.out, got.err)
    sentence, *more = got.err.splitlines()
    assert name in sentence
    assert "a pipe" in sentence
    assert more in ([], ["netsharp: 1 file failed."])


@pytest.mark.parametrize("reader", ["a library", "a table", "a model", "settings by flag"])
@pytest.mark.parametrize("kind", ["device", "socket", "folder"])
def test_other_things_are_refused_in_a_sentence(reader: str, kind: str, folder: Path) -> None:
    name, files, command = READERS[reader]
    for other, text in files.items():
        (folder / other).write_text(text)
    if kind == "device":
        (folder / name).symlink_to("/dev/zero")
    elif kind == "folder":
        (folder / name).mkdir()
    else:
        here = os.getcwd()
        os.chdir(folder)  # a socket's name may only be short
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(name)
        os.chdir(here)
    got = answer(folder, *command)
    assert got.code == 2, got
    assert len(got.err.splitlines()) == 1
    assert kind in got.err or "irectory" in got.err


@pytest.mark.parametrize("inside", ["pipe.nn", "pipe.cntk", "pipe.sh", "pipe.py"])
def test_a_walk_passes_or_names_a_pipe_and_does_not_wait(inside: str, folder: Path) -> None:
    os.mkfifo(folder / inside)
    got = answer(folder, "check", ".", "--embedded")
    assert got.code in (0, 1, 2)
    assert "internal error" not in got.err


def test_an_include_that_is_a_pipe_is_a_finding(folder: Path) -> None:
    (folder / "a.cntk").write_text(CNTK)
    os.mkfifo(folder / "odd.bs")
    got = answer(folder, "check", "a.cntk")
    assert got.code == 1
    assert "odd.bs" in got.out


def test_a_file_is_opened_as_ever_and_a_pipe_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    with open_plain(tmp_path / "file") as stream:
        assert stream.read() == b"text"
        assert os.get_blocking(stream.fileno())
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotPlainError, match="it is a pipe, not a file"):
        open_plain(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        open_plain(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_plain(tmp_path / "none")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 100_000])
def test_a_file_is_read_whole_or_as_far_as_asked(tmp_path: Path, size: int) -> None:
    held = bytes(number % 251 for number in range(size))
    (tmp_path / "file").write_bytes(held)
    for most in (0, 1, 4096, size, size + 1, 1 << 30):
        assert read_plain(tmp_path / "file", most) == held[:most]


def test_what_says_that_it_is_empty_is_read_all_the_same() -> None:
    if not os.path.isfile("/proc/self/status"):
        pytest.skip("this system has no files of unknown size")
    assert os.path.getsize("/proc/self/status") == 0
    assert b"Name:" in read_plain("/proc/self/status", 1 << 20)


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    assert read_plain(tmp_path / "link", 9) == b"text"
    with pytest.raises(OSError, match="link"):
        read_plain(tmp_path / "link", 9, follow=False)
    with pytest.raises(NotPlainError, match="it is a pipe, not a file"):
        read_plain(tmp_path / "pipe", 9)
    with pytest.raises(IsADirectoryError):
        read_plain(tmp_path, 9)
