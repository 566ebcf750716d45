"""Writing files: whole or not at all, over nothing that was not read, and never open to more
people.
"""

from __future__ import annotations

import os
import pathlib
import re
import signal
import stat
import subprocess
import sys

import pytest

from netsharp_engine.atomic_files import AtomicFile
from netsharp_lsp.project.writing import (
    ChangedError,
    refusal,
    write_atomic,
    write_linked,
    write_new,
    write_over,
)
from tests.cli.command_line import clean_environment

ROOT = os.geteuid() == 0


def test_a_new_file_has_the_usual_permissions(tmp_path: pathlib.Path) -> None:
    mask = os.umask(0o027)
    try:
        write_atomic(str(tmp_path / "new"), b"text")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["new"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755, 0o666])
def test_a_file_keeps_its_permissions_and_stands_aside_with_them(
    mode: int, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    path.chmod(mode)
    for mask in (0o000, 0o077):
        former = os.umask(mask)
        try:
            with AtomicFile(str(path)) as aside:
                assert stat.S_IMODE(os.stat(aside.path).st_mode) == mode
            write_over(str(path), b"new", path.read_bytes())
        finally:
            os.umask(former)
        assert stat.S_IMODE(path.stat().st_mode) == mode


def test_the_name_aside_cannot_be_guessed(tmp_path: pathlib.Path) -> None:
    names = set()
    for _ in range(100):
        with AtomicFile(str(tmp_path / ("n" * 250))) as aside:
            names.add(os.path.basename(aside.path))
    assert len(names) == 100
    assert all(re.fullmatch(r"\.netsharp-[0-9a-f]{8}-[0-9a-f]{16}\.part", one) for one in names)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not ROOT, reason="only root may give files away")
def test_the_owner_is_kept_where_that_is_allowed(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    path.chmod(0o660)
    os.chown(path, 1234, 5678)
    write_atomic(str(path), b"new")
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 5678, 0o660)
    os.chmod(tmp_path, 0o777)
    # Another user's file: the permissions of its group do not pass to the writer's group.
    pid = os.fork()
    if pid == 0:
        try:
            os.chroot(tmp_path)  # the folders around are others'
            os.setgroups([])
            os.setgid(4321)
            os.setuid(4321)
            write_atomic("/old", b"his")
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    found = path.stat()
    assert path.read_bytes() == b"his"
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (4321, 4321, 0o600)


def test_attributes_are_kept(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.origin", b"here")
    except (OSError, AttributeError):
        pytest.skip("this file system has no attributes")
    write_atomic(str(path), b"new")
    assert os.getxattr(path, "user.origin") == b"here"


def test_a_link_stays_and_its_target_is_written(tmp_path: pathlib.Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("deep/file")
    write_over(str(tmp_path / "link"), b"new", b"old")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "deep" / "file").read_bytes() == b"new"
    assert os.listdir(tmp_path / "deep") == ["file"]


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


def test_a_file_that_was_named_by_someone_is_left_and_stops_no_one(
    tmp_path: pathlib.Path,
) -> None:
    names = (f".new.{os.getpid()}.tmp", ".netsharp-mine.part", ".netsharp-0-0.part")
    for name in names:
        (tmp_path / name).write_bytes(b"other")
    write_atomic(str(tmp_path / "new"), b"text")
    assert (tmp_path / "new").read_bytes() == b"text"
    assert all((tmp_path / name).read_bytes() == b"other" for name in names)


# Over what was read, and nothing else.


def test_what_has_changed_since_it_was_read_is_left(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "old"
    for now in (b"old and a line", b"", b"OLD"):
        path.write_bytes(now)
        with pytest.raises(ChangedError) as raised:
            write_over(str(path), b"new", b"old")
        assert "has changed since it was read" in str(raised.value.strerror)
        assert path.read_bytes() == now
    path.unlink()
    with pytest.raises(ChangedError):
        write_over(str(path), b"new", b"old")
    (tmp_path / "made").write_bytes(b"by somebody")
    with pytest.raises(ChangedError):
        write_over(str(tmp_path / "made"), b"new", None)
    assert os.listdir(tmp_path) == ["made"]


def test_what_is_there_already_is_well(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"new")
    write_over(str(path), b"new", b"old")
    write_over(str(path), b"new", None)
    assert os.listdir(tmp_path) == ["file"]


def test_an_edit_in_the_last_moment_is_put_back(tmp_path: pathlib.Path) -> None:
    """Between the comparison and the exchange of names, where nothing checks any more."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with AtomicFile(str(path)) as file:
        file.stream.write(b"new")
        file.stream.flush()
        path.write_bytes(b"edited")
        with pytest.raises(ChangedError):
            file._exchanged(b"old")
    assert path.read_bytes() == b"edited"
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_of_two_names_is_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.link(path, tmp_path / "other")
    for write in (write_atomic, lambda path, data: write_over(path, data, b"old")):
        with pytest.raises(OSError, match=r"2 names \(hard links\)"):
            write(str(path), b"new")
    assert "hard links" in str(refusal(str(path)))
    assert (path.read_bytes(), (tmp_path / "other").read_bytes()) == (b"old", b"old")
    assert sorted(os.listdir(tmp_path)) == ["file", "other"]


# Writers that were killed, that live, that come at once, and that have no room.

#: Keeps a temporary file with half of a text until it is killed.
HALF = """
import sys, time
from netsharp_engine.atomic_files import AtomicFile
file = AtomicFile(sys.argv[1])
file.stream.write(b"half")
file.stream.flush()
print(file.path, flush=True)
time.sleep(60)
"""
WRITE = """
import sys
from netsharp_lsp.project.writing import write_atomic
write_atomic(sys.argv[1], b"whole")
"""
MANY = """
import sys
from netsharp_lsp.project.writing import write_atomic
for number in range(40):
    write_atomic(sys.argv[1], sys.argv[2].encode() * 50_000)
"""


def start(program: str, *arguments: str, **how: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(),
        **how,  # type: ignore[call-overload]
    )


def test_leftovers_go_when_their_writer_is_dead(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "file")
    dead, alive = (start(HALF, path) for _ in range(2))
    try:
        asides = [process.stdout.readline().strip() for process in (dead, alive)]
        dead.send_signal(signal.SIGKILL)
        dead.wait()
        assert all(map(os.path.exists, asides))
        assert start(WRITE, path).wait() == 0
        assert list(map(os.path.exists, asides)) == [False, True]
    finally:
        for process in (dead, alive):
            process.kill()
            process.communicate()
    assert start(WRITE, path).wait() == 0
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("a.nn", "input A [2];\n", ("fmt", "a.nn")),
        ("a.nn", "input A [2];\n", ("fmt", ".")),
        ("a.nn", "input A [2];\n", ("check", "--fix", "a.nn")),
        ("a.cntk", "command = T\n", ("migrate", "--write", "a.cntk")),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_leftovers_go_where_there_is_nothing_more_to_write(
    name: str, text: str, command: tuple[str, ...], tmp_path: pathlib.Path
) -> None:
    (tmp_path / name).write_text(text)
    dead = start(HALF, str(tmp_path / name))
    aside = pathlib.Path(dead.stdout.readline().strip())
    dead.kill()
    dead.communicate()
    assert aside.exists()
    for arguments in (("fmt", "--check", "."), ("check", ".")):
        subprocess.run(
            [sys.executable, "-m", "netsharp_lsp", *arguments], cwd=tmp_path, check=False
        )
    assert aside.exists()
    subprocess.run([sys.executable, "-m", "netsharp_lsp", *command], cwd=tmp_path, check=False)
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_text() == text


def test_of_two_writers_one_wins_whole(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a" * 50_000)
    writers = [start(MANY, str(path), letter) for letter in "abc"]
    seen = set()
    while any(process.poll() is None for process in writers):
        data = path.read_bytes()
        assert len(data) == 50_000
        seen.add(data[:1])
        assert data == data[:1] * 50_000
    for process in writers:
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    assert len(seen) > 1
    assert os.listdir(tmp_path) == ["file"]


def test_without_room_the_old_file_stays(tmp_path: pathlib.Path) -> None:
    import resource

    path = tmp_path / "file"
    path.write_bytes(b"old")

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4))

    process = start(WRITE, str(path), preexec_fn=little_room)
    _, errors = process.communicate()
    assert "File too large" in errors
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_takes_no_others_place(tmp_path: pathlib.Path) -> None:
    write_new(str(tmp_path / "a"), b"first")
    with pytest.raises(FileExistsError):
        write_new(str(tmp_path / "a"), b"second")
    assert (tmp_path / "a").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["a"]


def test_what_cannot_be_written_is_reported_before(tmp_path: pathlib.Path) -> None:
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
        message = refusal(path)
        assert message is not None
        assert message.startswith(f"{path}: ")
        assert reason in message


def found_together(folder: pathlib.Path) -> tuple[bytes, bytes]:
    """A text and what it reads, as it looks for that: by its own name first."""
    text = (folder / "text").read_bytes()
    own = folder / f"numbers.{text.decode()}"
    return text, (own if own.exists() else folder / "numbers").read_bytes()


def written_until(folder: pathlib.Path, version: bytes, last: int) -> int:
    """Write both files in a process that is killed at a call of the disk; how it ended."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    calls = 0

    def stopping(step):
        def stepped(*arguments, **named):
            nonlocal calls
            calls += 1
            if calls == last:
                os.kill(os.getpid(), signal.SIGKILL)
            return step(*arguments, **named)

        return stepped

    for name in ("replace", "rename", "link", "unlink", "remove", "fsync", "open"):
        setattr(os, name, stopping(getattr(os, name)))
    text, numbers = str(folder / "text"), str(folder / "numbers")
    meanwhile = f"{numbers}.{version.decode()}"
    write_linked(text, {numbers: b"of " + version, text: version}, meanwhile)
    os._exit(0)


@pytest.mark.costly
def test_a_text_never_reads_the_numbers_of_another(tmp_path: pathlib.Path) -> None:
    """Wherever the writer is killed, both files are the old ones or the new ones."""
    seen = set()
    for last in range(1, 100):
        folder = tmp_path / str(last)
        folder.mkdir()
        assert written_until(folder, b"old", 0) == 0
        assert sorted(os.listdir(folder)) == ["numbers", "text"]
        ended = written_until(folder, b"new", last)
        text, numbers = found_together(folder)
        assert numbers == b"of " + text, last
        seen.add(text)
        if ended == 0:
            break
        # The files that a killed writer left do not hinder the next.
        assert written_until(folder, b"next", 0) == 0
        assert found_together(folder) == (b"next", b"of next")
    else:
        pytest.fail("it never ends")
    assert seen == {b"old", b"new"}
