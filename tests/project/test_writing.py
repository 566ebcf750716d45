"""Writing files: whole or not at all, through links, and never in place of a device."""

from __future__ import annotations

import os
import pathlib
import stat

import pytest

from netsharp_lsp.project.writing import refusal, write_atomic


def test_a_new_file_has_the_usual_permissions(tmp_path: pathlib.Path) -> None:
    mask = os.umask(0o027)
    try:
        write_atomic(str(tmp_path / "new"), b"text")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["new"]


def test_a_pipe_is_written_to_and_stays(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomic(str(path), b"text")
        assert os.read(reading, 100) == b"text"
    finally:
        os.close(reading)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_file_that_stands_aside_is_left_to_its_owner(tmp_path: pathlib.Path) -> None:
    aside = tmp_path / f".new.{os.getpid()}.tmp"
    aside.write_bytes(b"other")
    with pytest.raises(FileExistsError):
        write_atomic(str(tmp_path / "new"), b"text")
    assert aside.read_bytes() == b"other"


def test_what_cannot_be_written_is_told_before(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refusal(str(tmp_path / "new")) is None
    (tmp_path / "old").write_bytes(b"")
    assert refusal(str(tmp_path / "old")) is None
    for name, reason in (
        ("no/new", "does not exist"),
        (".", "is a folder"),
        ("pipe", "is a device or a pipe"),
    ):
        path = os.path.join(tmp_path, name)
        told = refusal(path)
        assert told is not None
        assert told.startswith(f"{path}: ")
        assert reason in told
