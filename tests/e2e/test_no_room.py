"""Disks and streams that take no more: the file is named, the old one stays, training continues."""

from __future__ import annotations

import json
import os
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import Answer, clean_environment, netsharp
from tests.e2e.test_run_and_predict import tensors
from tests.e2e.workshop import LABELLED, QUICK

MODEL = "digits.safetensors"
RUN = ("run", "net.nn", "--train", "digits.csv", *LABELLED, *QUICK)
OLD = b"what was there before\n"


def with_room(room: int, *arguments: str, folder: Path) -> Answer:
    """Run a command that can make no file larger than `room` bytes."""
    done = subprocess.run(
        [sys.executable, "-m", "netsharp_lsp", *arguments],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=60,
        env=clean_environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )
    return Answer(done.returncode, done.stdout, done.stderr)


#: What writes a file, and that file.
WRITING = (
    ((*RUN, "--quiet", "--model", "old.bin"), "old.bin"),
    ((*RUN, "--quiet", "--model", "old.bin", "--checkpoint", "0.0001"), "old.bin"),
    (("predict", MODEL, "--data", "digits.csv", "--output", "old.csv"), "old.csv"),
    (("predict", MODEL, "--data", "digits.csv", "--output", "old.jsonl"), "old.jsonl"),
    (("predict", MODEL, "--data", "digits.csv", "--output", "old.parquet"), "old.parquet"),
    (("weights", MODEL, "--spec", "--output", "old.nn"), "old.nn"),
    (("check", "net.nn", "--format", "sarif", "--output-file", "old.json"), "old.json"),
    (("describe", "net.nn", "--format", "svg", "--output", "old.svg"), "old.svg"),
    (("fmt", "ugly.nn"), "ugly.nn"),
    (("check", "--fix", "ugly.nn"), "ugly.nn"),
    (("check", "ugly.nn", "--baseline", "old.json", "--update-baseline"), "old.json"),
)


@pytest.mark.parametrize("number", range(len(WRITING)))
@pytest.mark.parametrize("room", [0, 30])
def test_without_room_the_file_is_named_and_the_old_one_stays(
    room: int, number: int, folder: Path
) -> None:
    command, name = WRITING[number]
    text = "input A [3];;\n" + "".join(f"hidden  H{n} [2] from A all;\n" for n in range(40))
    (folder / "ugly.nn").write_text(f"{text}output O [2] softmax from H1 all;\n")
    if "--baseline" in command:
        (folder / name).write_text('{"version": 1, "diagnostics": []}\n')
        assert netsharp(*command, cwd=folder).code == 0
    elif name != "ugly.nn":
        (folder / name).write_bytes(OLD)
    before = {one.name: one.read_bytes() for one in folder.iterdir()}
    if "--baseline" in command:
        (folder / "ugly.nn").write_text(f"{text}output O [2] softmax from H2 all;\n\nhidden;\n")
        before["ugly.nn"] = (folder / "ugly.nn").read_bytes()
    done = with_room(room, *command, folder=folder)
    assert done.code == 2
    assert f"{name} cannot be written" in done.err or f"{name}: " in done.err
    assert "File too large" in done.err
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == before


def test_a_full_log_does_not_end_the_run(folder: Path) -> None:
    """The lines that are there stay whole."""
    log = folder / "full.jsonl"
    line = json.dumps({"event": "epoch", "epoch": 1}) + "\n"
    log.write_text(line * 9_000)
    more = ("run", "net.nn", "--train", "digits.csv", *LABELLED, "--quiet", "--epochs", "4")
    resumed = (*more, "--resume", "--model", MODEL, "--log", "full.jsonl")
    (folder / "kept").write_bytes((folder / MODEL).read_bytes())
    done = with_room(log.stat().st_size + 300, *resumed, folder=folder)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "netsharp: The run log full.jsonl cannot be written: File too large. "
        "The run continues without it.\n"
    )
    added = log.read_text().removeprefix(line * 9_000).splitlines()
    assert json.loads(added[0])["event"] == "start"
    assert all(json.loads(one) for one in added)
    assert netsharp(*more, "--resume", "--model", "kept", cwd=folder).code == 0
    assert tensors(folder / MODEL) == tensors(folder / "kept")


def test_a_log_of_a_killed_run_continues_with_a_line_of_its_own(folder: Path) -> None:
    log = folder / "run.jsonl"
    whole = log.read_bytes()
    more = ("--quiet", "--resume", "--model", MODEL, "--log", "run.jsonl", "--epochs")
    command = ("run", "net.nn", "--train", "digits.csv", *LABELLED, *more)
    for epochs, torn in (("3", b'{"event": "ep'), ("4", b'{"ev'), ("5", b"a note")):
        log.write_bytes(whole + torn)
        assert netsharp(*command, epochs, cwd=folder).err == ""
        now = log.read_bytes()
        assert now.startswith(whole + (b"a note\n" if torn == b"a note" else b'{"event": "start"'))


@pytest.mark.parametrize(
    "streams",
    ["2>&1 | head -1", "| true", "2>/dev/full", ">/dev/full", ">/dev/full 2>&1", "2>&-", ">&-"],
)
@pytest.mark.parametrize("how", [(), ("--events",)])
@pytest.mark.costly
def test_no_reader_is_needed(how: tuple[str, ...], streams: str, folder: Path) -> None:
    """But a reader of events that disconnects wants the run to stop: see `test_events`."""
    command = [sys.executable, "-m", "netsharp_lsp", *RUN, *how, "--model", "new.safetensors"]
    script = f"set -o pipefail; {shlex.join(command)} {streams}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=60,
        env=clean_environment(),
    )
    output = done.stderr.decode()
    assert "Traceback" not in output
    if how and "|" in streams:
        assert done.returncode in (0, 130)
        return
    assert done.returncode == 0, output
    quiet = netsharp(*RUN, "--quiet", "--model", "whole.safetensors", cwd=folder)
    assert quiet.code == 0
    assert tensors(folder / "new.safetensors") == tensors(folder / "whole.safetensors")


def test_a_disk_that_fills_up_while_training(folder: Path) -> None:
    """Where a small disk can be had: the last model that found room stays and can be resumed."""
    disk = folder / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size=300k tmpfs {disk}"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mount], check=False).returncode:
        assert with_room(30, *RUN, "--model", "disk/m.safetensors", folder=folder).code == 2
        return
    model = ("--model", "disk/m.safetensors", "--quiet")
    command = shlex.join([sys.executable, "-m", "netsharp_lsp", *RUN, *model])
    filled = "head -c 10000000 /dev/zero > disk/zeros 2>/dev/null"
    script = (
        f"{mount}; {command} || exit 9; cp disk/m.safetensors kept; {filled}; "
        f"{command} --epochs 4 --resume; echo $?; cmp kept disk/m.safetensors; ls -A disk"
    )
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment(),
    )
    assert done.stdout.split() == ["2", "m.safetensors", "zeros"], done.stderr
    assert "The model disk/m.safetensors cannot be written: No space left on device." in done.stderr


@pytest.mark.parametrize("command", [("fmt", "shelf"), ("check", "--fix", "shelf")])
def test_counts_in_a_folder_that_is_read_only(command: tuple[str, ...], folder: Path) -> None:
    shelf = folder / "shelf"
    shelf.mkdir()
    ugly = "input   A [3];;\noutput O [2] softmax from A all;\n"
    neat = "input A [3];\noutput O [2] softmax from A all;\n"
    for name, text in (("a", ugly), ("b", ugly), ("c", neat)):
        (shelf / f"{name}.nn").write_text(text)
    lock = "chmod 555 shelf"
    around: tuple[str, ...] = ()
    if os.geteuid() == 0:  # whom no mode stops
        around = ("unshare", "-m")
        lock = "mount --bind shelf shelf && mount -o remount,ro,bind shelf"
    words = shlex.join([sys.executable, "-m", "netsharp_lsp", *command])
    done = subprocess.run(
        [*around, "sh", "-c", f"{lock} && {words}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment(),
    )
    assert done.returncode == 2, done.stderr
    output = done.stderr.splitlines()
    assert sum("cannot be written" in line for line in output) == 2
    if command[0] == "fmt":
        assert output[-1] == "netsharp: 1 file unchanged, 2 files failed."
    else:
        assert not any("fixed" in line for line in output)
        assert done.stdout.count("NS013") == 2, "what was not repaired is told still"
    assert [(shelf / f"{name}.nn").read_text() for name in "abc"] == [ugly, ugly, neat]


def test_counts_where_there_is_no_room(folder: Path) -> None:
    ugly = "input   A [3];\noutput O [2] softmax from A all;\n"
    for name in "abc":
        (folder / f"{name}.nn").write_text(ugly if name != "c" else ugly.replace("   ", " "))
    done = with_room(0, "fmt", "a.nn", "b.nn", "c.nn", folder=folder)
    assert done.code == 2
    assert done.err.splitlines()[-1] == "netsharp: 1 file unchanged, 2 files failed."
