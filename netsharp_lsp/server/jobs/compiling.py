"""Compilations that editors ask for: a process each, which a person can end, and what it wrote.

Knows no document; a model that is being compiled is not compiled a second time meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import os
from subprocess import DEVNULL, PIPE
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.server.jobs.processes import PYTHON, environment
from netsharp_lsp.server.jobs.training import STATUSES, sentence_of
from netsharp_lsp.server.jobs.work import Work

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from netsharp_lsp.server.client.connection import Connection

#: Exit codes of `netsharp compile` with which there is a report.
_DONE, _LOST = 0, 1


class CompileOrder(NamedTuple):
    """A compilation: the model, the folder for the files, one for a report where that stays
    unchanged, and further arguments of the command line.
    """

    model: str
    folder: str
    aside: str
    words: tuple[str, ...] = ()

    def command(self) -> list[str]:
        """Return the command line."""
        places = ["--output", self.folder, "--report", self.aside, "--format", "json"]
        return [*PYTHON, "netsharp_lsp", "compile", self.model, *places, *self.words]


class Compiled(NamedTuple):
    """The files that were written: the folder, the names in it, the path of the report as a page,
    and why there are no others; empty where there are.
    """

    folder: str
    files: tuple[str, ...]
    report: str
    lost: str


class Compilations:
    """The compilations of a session that go on."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        #: By model; None until there is a process.
        self._going: dict[str, Process | None] = {}
        self._ended: set[str] = set()

    def is_going(self, model: str) -> bool:
        """Return whether a model is being compiled."""
        return model in self._going

    async def compile(
        self, order: CompileOrder, title: str, token: str | int | None = None
    ) -> Compiled | str | None:
        """Compile, and return the files written, or why there are none; None where it was stopped.

        Raises OSError where no process can be started.
        """
        if not self._going:
            self._connection.closing.append(self.close)
        self._going[order.model] = process = None
        self._ended.discard(order.model)
        work = Work(self._connection, title, lambda: self.end(order.model), token)
        try:
            process = await asyncio.create_subprocess_exec(
                *order.command(), stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=environment()
            )
            self._going[order.model] = process
            if order.model in self._ended:  # While it was started.
                self.end(order.model)
            out, errors = await process.communicate()
        finally:
            del self._going[order.model]
            if not self._going and self.close in self._connection.closing:
                self._connection.closing.remove(self.close)
            if process is not None and process.returncode is None:
                process.kill()
            work.end()
        if process.returncode not in (_DONE, _LOST):
            if order.model in self._ended or STATUSES.get(process.returncode or 0) == "stopped":
                return None
            return sentence_of(errors.decode("utf-8", "replace").splitlines(), process.returncode)
        return _compiled(order, process.returncode, out, errors)

    def end(self, model: str) -> None:
        """End the compilation of a model; what it was to replace stays."""
        process = self._going.get(model)
        if process is None or process.returncode is None:
            self._ended.add(model)
        if process is not None and process.returncode is None:
            process.terminate()

    def close(self) -> None:
        """End all of them."""
        for model in list(self._going):
            self.end(model)


def _compiled(order: CompileOrder, code: int, out: bytes, errors: bytes) -> Compiled:
    files = tuple(json.loads(out)["files"])
    folder = order.folder if "report.md" in files else order.aside
    lost = ""
    if code == _LOST:
        lost = sentence_of(errors.decode("utf-8", "replace").splitlines(), code)
    return Compiled(order.folder, files, os.path.join(folder, "report.md"), lost)
