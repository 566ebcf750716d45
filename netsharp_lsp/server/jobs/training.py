"""Training runs that editors start: each a process of its own, followed line by line.

A run trains what is on disk, because the model records that text; so a document with unsaved
changes is refused.  Lines of the run log become notifications; the last of each run, with the
event "end", comes when its process has ended and says beside the log's figures how it went.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import threading
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from netsharp_lsp.project.roots import Roots
from netsharp_lsp.project.run_file import model_file, read_run_file, run_file_beside
from netsharp_lsp.server.jobs.processes import PYTHON, environment
from netsharp_lsp.server.jobs.work import MeasuredWork

if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.ide.answers import StartedRun
    from netsharp_lsp.server.client.connection import Connection

#: How a run ended, by the exit code of `netsharp run`; any other means that it failed.
STATUSES = {0: "finished", 129: "stopped", 130: "stopped", 143: "stopped"}
#: Ctrl-Break on Windows, and the process group without which only the server would receive it.
_BREAK = getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT)
_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
#: The most characters of a process's errors that are kept: the last ones explain the failure.
LINES_KEPT = 40


@dataclass(frozen=True, slots=True)
class Order:
    """A training: the specification's path (`script.R::name` in a host), and its arguments;
    `start`: the run that is started instead for a program of several files.

    `shows_end`: a message reports its end, for clients that do not follow runs.
    """

    uri: str
    specification: str
    run_file: str | None = None
    resume: bool = False
    shows_end: bool = False
    roots: tuple[str, ...] = ()
    start: StartedRun | None = None

    @property
    def path(self) -> str:
        """The file that the specification is in."""
        return self.specification.partition("::")[0]

    @property
    def model(self) -> str:
        """Return where the run keeps its model; empty for none."""
        if self.start is not None:
            return self.start.model
        found = (
            read_run_file(self.run_file)
            if self.run_file
            else run_file_beside(self.path, Roots(self.roots))
        )
        return model_file(self.path, None if isinstance(found, str) else found)

    def command(self) -> list[str]:
        """Return the command line of the run."""
        folders = [word for root in self.roots for word in ("--root", root)]
        if self.start is not None:
            place = ["--events", "--cd", self.start.directory]
            return [*PYTHON, "netsharp_lsp", "run", *place, *folders, "--", *self.start.items]
        words = [*PYTHON, "netsharp_lsp", "run", self.specification, "--events"]
        words += ["--run-file", self.run_file] if self.run_file else []
        words += folders
        return [*words, "--resume"] if self.resume else words


@dataclass(slots=True)
class Run:
    """A run in progress: its process, and the output that waits for its end."""

    id: str
    order: Order
    process: subprocess.Popen[str]
    work: MeasuredWork
    epochs: int = 0
    asked_to_stop: bool = False
    last: dict[str, Any] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


class Runs:
    """The runs of a session; they end with it, each keeping its model.

    `written` is called with files that a run has written.
    """

    def __init__(self, connection: Connection, written: Callable[[list[str]], object]) -> None:
        self._connection = connection
        self._written = written
        self._numbers = count(1)
        self._running: dict[str, Run] = {}

    @property
    def ids(self) -> list[str]:
        """The runs that go on, in the order of their start."""
        return list(self._running)

    def training(self, uri: str) -> bool:
        """Return whether a run of a document is in progress."""
        return any(run.order.uri == uri for run in self._running.values())

    def start(self, order: Order) -> str:
        """Start a run and return its id; OSError where no process can be started."""
        if not self._running:
            self._connection.closing.append(self.close)
        name = f"run-{next(self._numbers)}"
        process = _start(order.command())
        title = f"Training {os.path.basename(order.specification)}"
        work = MeasuredWork(self._connection, title, lambda: self.stop(name))
        self._running[name] = Run(name, order, process, work)
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._follow, args=(name, process, loop), daemon=True).start()
        return name

    def stop(self, name: str) -> bool:
        """Ask a run to stop and keep its model, a second time to stop at once.

        Return False where no such run is in progress.
        """
        run = self._running.get(name)
        if run is None:
            return False
        run.asked_to_stop = True
        with contextlib.suppress(OSError):
            run.process.send_signal(_BREAK)
        return True

    def close(self) -> None:
        """Ask all runs to stop, without waiting; they keep their models."""
        for name in self.ids:
            self.stop(name)

    def _follow(
        self, name: str, process: subprocess.Popen[str], loop: asyncio.AbstractEventLoop
    ) -> None:
        """Read the output of a process until it ends; runs in a thread."""
        assert process.stdout is not None
        assert process.stderr is not None
        errors: list[str] = []
        listener = threading.Thread(target=_keep_last, args=(process.stderr, errors), daemon=True)
        listener.start()
        for line in process.stdout:
            _call_in_loop(loop, self._take, name, line)
        listener.join()
        _call_in_loop(loop, self._end, name, process.wait(), errors)

    def _take(self, name: str, line: str) -> None:
        """Pass a line of the run log on; the one that ends it waits for the process."""
        run = self._running[name]
        event = json.loads(line)
        if event["event"] == "end":
            run.last = event
            if run.order.start is None:
                return
            # That of a test; the run's own has a status.
        self._connection.notify("netsharp/runProgress", {"id": name, **event})
        if event["event"] == "start":
            run.epochs = event.get("metrics", {}).get("epochs", 0)
        else:
            run.work.report(*_progress(event, run.epochs))

    def _end(self, name: str, code: int, errors: list[str]) -> None:
        """Report how a run ended."""
        run = self._running.pop(name)
        if not self._running:
            with contextlib.suppress(ValueError):  # the session is closing
                self._connection.closing.remove(self.close)
        status = STATUSES.get(code, "stopped" if run.asked_to_stop else "failed")
        last: dict[str, Any] = {"event": "end", **run.last, "status": status}
        has_ended = run.last or (run.order.start is not None and status != "failed")
        if has_ended and os.path.exists(run.order.model):
            last["model"] = run.order.model
            self._written([os.path.normpath(run.order.model)])
        if status == "failed":
            last["error"] = sentence_of(errors, code)
        self._connection.notify("netsharp/runProgress", {"id": name, **last})
        run.work.end(last.get("error", status))
        if run.order.shows_end:
            self._show_end(run, last)

    def _show_end(self, run: Run, last: dict[str, Any]) -> None:
        name = os.path.basename(run.order.specification)
        if "error" in last:
            self._connection.warn(f"Training {name} failed: {last['error']}")
            return
        model = f" The model is {last['model']}." if "model" in last else ""
        self._connection.show_message(f"Training {name}: {last['status']}.{model}")


def _start(command: list[str]) -> subprocess.Popen[str]:
    """Start a process that finds packages where this one does and gets no key of the terminal."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env=environment(),
        start_new_session=True,
        creationflags=_GROUP,
    )


def _call_in_loop(
    loop: asyncio.AbstractEventLoop, function: Callable[..., None], *args: Any
) -> None:
    with contextlib.suppress(RuntimeError):  # the server has ended
        loop.call_soon_threadsafe(function, *args)


def _keep_last(stream: Any, lines: list[str]) -> None:
    for line in stream:
        lines.append(line.rstrip())
        del lines[:-LINES_KEPT]


def _progress(event: dict[str, Any], epochs: int) -> tuple[str, float | None]:
    """Return the progress text of an event, and the part of the run that is done, from 0 to 1."""
    epoch, total = event.get("epoch", 0), max(epochs, 1)
    done = epoch if event["event"] == "epoch" else max(epoch - 1, 0)
    words = [f"epoch {epoch} of {epochs}"] if epochs and epoch else []
    if isinstance(event.get("loss"), (int, float)):
        words.append(f"loss {event['loss']:.4g}")
    return ", ".join(words), min(done / total, 1.0)


def sentence_of(errors: list[str], code: int | None) -> str:
    """Return the error message of a process without its name; of a report, the first finding."""
    sentences = [
        line.removeprefix("netsharp: ") for line in errors if line.startswith("netsharp: ")
    ]
    if sentences:
        return " ".join(sentences)
    shown = next((line for line in errors if line.strip()), "")
    return shown or f"The run ended with exit code {code} and said nothing."
