"""Starts the installed command as people do, within limits, and says what is wrong with an answer.

A hang, a bomb of memory or a crash of the child is a failure of the try and never of the campaign.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tests.cli.command_line import clean_environment

#: The console script, which an environment has beside its Python.
COMMAND = str(Path(sys.executable).with_name("netsharp"))
GIB = 1 << 30
#: What one process may take: a machine with eight times as much runs the campaign beside others.
MOST_MEMORY = 4 * GIB
MOST_CPU_SECONDS = 60
#: Seconds until a command counts as hanging; it takes a few, even beside other work.
PATIENCE = 180.0
#: What a command may end with: fine, found, cannot run, by Ctrl-C, hang-up, SIGTERM, closed pipe.
EXITS = frozenset((0, 1, 2, 130, 129, 143, 141))
#: Seconds to wait for pipes that another process holds open after a process's end.
HELD_OPEN = 1.0
#: How a process ends that a signal's default action has ended.
BY_DEFAULT = {signal.SIGTERM: 143, signal.SIGHUP: 129}
#: Words that no output contains, whatever the input.
FORBIDDEN = ("internal error", "Exception ignored", "RuntimeWarning", "MemoryError")
#: A traceback with a frame of ours; Python's own start is interrupted before any of our code runs.
OUR_TRACEBACK = re.compile(r"Traceback \(most recent call last\)[^\0]*?netsharp_(?:lsp|engine)/")
#: How much of an answer is shown with a failure.
SHOWN = 300


@dataclass(slots=True)
class Ended:
    """How a process ended: its exit code, what it said, the CPU seconds and bytes that it took.

    `late`: it was ended because it took too long.
    """

    arguments: tuple[str, ...]
    code: int
    out: bytes
    err: bytes
    cpu: float = 0.0
    wall: float = 0.0
    memory: int = 0
    late: bool = False

    @property
    def output(self) -> str:
        """Everything that it said, as text."""
        return (self.out + b"\n" + self.err).decode("utf-8", "replace")

    @property
    def last(self) -> str:
        """The last line of what it said on standard error, else of the rest."""
        lines = (self.err or self.out).decode("utf-8", "replace").strip().splitlines()
        return lines[-1][-SHOWN:] if lines else ""

    def __str__(self) -> str:
        shown = " ".join(one if len(one) < 60 else f"{one[:60]}..." for one in self.arguments)
        return f"netsharp {shown}: exit {self.code}, {self.last!r}"


class Heard:
    """The output read from a pipe; a file would be under the limit of what the child may write."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        self.pieces: list[bytes] = []
        self._thread = threading.Thread(target=self._listen, args=(stream,), daemon=True)
        self._thread.start()

    def _listen(self, stream: IO[bytes] | None) -> None:
        if stream is not None:
            with stream:
                while piece := os.read(stream.fileno(), 1 << 16):
                    self.pieces.append(piece)

    def all(self) -> bytes:
        """Everything; what processes hold open that outlive their parent is not waited for."""
        self._thread.join(HELD_OPEN)
        return b"".join(self.pieces)


@dataclass(slots=True)
class Child:
    """A command that runs: `proceed` lets a moment pass, `end` waits for it."""

    process: subprocess.Popen[bytes]
    arguments: tuple[str, ...]
    out: Heard
    err: Heard
    started: float = field(default_factory=time.monotonic)
    ended: Ended | None = None
    #: The greatest memory of each of its processes, in bytes, as far as it was looked at.
    peaks: dict[int, int] = field(default_factory=dict)

    @property
    def age(self) -> float:
        """Seconds from its start."""
        return time.monotonic() - self.started

    def passed(self, seconds: float) -> bool:
        """Wait so long from its start on; whether it still runs then."""
        while self.ended is None and time.monotonic() - self.started < seconds:
            self._look()
            time.sleep(0.002)
        return self.ended is None

    def reached(self, there: Callable[[], bool]) -> bool:
        """Wait until something is there; whether it still runs then."""
        while self._look() is None and not there():
            if time.monotonic() - self.started > PATIENCE:
                break
            time.sleep(0.005)
        return self.ended is None

    def signal(self, number: int, *, group: bool = False) -> None:
        """Send it a signal, or all of its processes."""
        if self._look() is None:
            (os.killpg if group else os.kill)(self.process.pid, number)

    def end(self, patience: float = PATIENCE) -> Ended:
        """Wait for its end; after so long it is killed."""
        latest = time.monotonic() + patience
        while self._look() is None:
            if time.monotonic() > latest:
                os.killpg(self.process.pid, signal.SIGKILL)
                ended = self._take(*os.wait4(self.process.pid, 0)[1:])
                ended.late = True
                break
            time.sleep(0.002)
        assert self.ended is not None
        return self.ended

    def survivors(self, seconds: float) -> bool:
        """Whether a process that it started is still there so long after its end."""
        latest = time.monotonic() + seconds
        while next(_group(self.process.pid), None) is not None:
            if time.monotonic() > latest:
                os.killpg(self.process.pid, signal.SIGKILL)
                return True
            time.sleep(0.01)
        return False

    def watch(self) -> Ended:
        """Wait for its end; its memory is that of the greatest of its processes."""
        while self._look() is None:
            for pid in _group(self.process.pid):
                peak = memory(pid, "VmHWM")
                if peak is not None:
                    self.peaks[pid] = peak
            time.sleep(0.02)
        ended = self.end()
        ended.memory = max(self.peaks.values())
        return ended

    def _look(self) -> Ended | None:
        if self.ended is None:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self._take(status, usage)
        return self.ended

    def _take(self, status: int, usage: resource.struct_rusage) -> Ended:
        code = os.waitstatus_to_exitcode(status)
        self.process.returncode = code
        self.ended = Ended(
            self.arguments,
            code,
            self.out.all(),
            self.err.all(),
            usage.ru_utime + usage.ru_stime,
            time.monotonic() - self.started,
            usage.ru_maxrss * 1024,
        )
        return self.ended


def _group(group: int) -> Iterator[int]:
    """The processes of a group that are not zombies."""
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            try:
                with open(f"{entry.path}/stat", encoding="utf-8", errors="replace") as stream:
                    fields = stream.read().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] not in "ZX" and int(fields[2]) == group:
                yield int(entry.name)


def memory(pid: int, row: str = "VmRSS") -> int | None:
    """The bytes of memory of a process by a row of its status; None where it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as stream:
            found = next((line for line in stream if line.startswith(f"{row}:")), None)
    except OSError:
        return None
    return None if found is None else int(found.split()[1]) * 1024


def start(
    *arguments: str,
    cwd: Path,
    stdin: bytes | None = None,
    environment: Mapping[str, str] | None = None,
    file_size: int | None = None,
    memory: int = MOST_MEMORY,
    cpu_seconds: int = MOST_CPU_SECONDS,
    prepare: Callable[[], None] | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
) -> Child:
    """Start the command in a session of its own; `file_size` bounds every file that it writes.

    `stdout` and `stderr` are what it writes to in place of pipes that are read; `prepare` runs in
    the child before the command does.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
        if prepare is not None:
            prepare()

    with tempfile.TemporaryFile() as given:
        given.write(stdin or b"")
        given.seek(0)
        process = subprocess.Popen(
            [COMMAND, *arguments],
            cwd=cwd,
            stdin=given,
            stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE if stderr is None else stderr,
            env=clean_environment() | dict(environment or {}),
            start_new_session=True,
            preexec_fn=limit,
        )
    return Child(process, arguments, Heard(process.stdout), Heard(process.stderr))


def netsharp(*arguments: str, cwd: Path, **options: object) -> Ended:
    """Run the command to its end."""
    return start(*arguments, cwd=cwd, **options).end()  # type: ignore[arg-type]


def faults(ended: Ended, exits: Iterable[int] = EXITS, heard: bool = True) -> list[str]:
    """What is wrong with any answer: a hang, a crash, an exit code or words that may not be.

    `heard`: standard error was there to say why nothing could be done.
    """
    found = []
    if ended.late:
        found.append(f"{ended}: not done after {ended.wall:.0f} s")
    elif ended.code not in exits:
        found.append(f"{ended}: not an exit code of {sorted(exits)}")
    found += [f"{ended}: says '{word}'" for word in FORBIDDEN if word in ended.output]
    if OUR_TRACEBACK.search(ended.output):
        found.append(f"{ended}: a traceback")
    if ended.code == 2 and heard and not ended.err.strip():
        found.append(f"{ended}: no sentence says why")
    return found


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its name, hidden ones, too; links are not followed."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def torn(before: Mapping[str, bytes], after: Mapping[str, bytes], folder: Path) -> list[str]:
    """The files of a folder that are neither as they were nor as they become."""
    now = contents(folder)
    found = [
        f"{name}: neither the old content nor the new"
        for name in before.keys() | after.keys()
        if name in now and now[name] not in (before.get(name), after.get(name))
    ]
    found += [f"{name}: is gone" for name in before if name not in now]
    return found


def leftovers(folder: Path, *known: Iterable[str]) -> list[str]:
    """The files of a folder that are not expected there."""
    expected = {name for names in known for name in names}
    return [f"{name}: is left over" for name in contents(folder) if name not in expected]
