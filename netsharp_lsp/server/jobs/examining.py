"""Looks at the start of a training that editors ask for: a process each, and what it saw.

What was seen holds for the text that was looked at: the next edit of the document forgets it.
"""

from __future__ import annotations

import asyncio
import json
from subprocess import DEVNULL, PIPE
from typing import TYPE_CHECKING

from netsharp_lsp.server.jobs.processes import environment
from netsharp_lsp.server.jobs.training import sentence_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.context import Seen


class Examinations:
    """Observations by the URI of the document, and the processes that make them."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[Seen, ...]] = {}
        self._looking: dict[str, asyncio.subprocess.Process] = {}

    def of(self, uri: str) -> tuple[Seen, ...]:
        """Return the observations on the current text of a document."""
        return self._seen.get(uri, ())

    def take(self, uri: str, seen: tuple[Seen, ...]) -> None:
        """Store the observations."""
        self._seen[uri] = seen

    def forget(self, uri: str) -> bool:
        """Discard the observations on a document. Return whether there were any."""
        return bool(self._seen.pop(uri, ()))

    def is_looking(self, uri: str) -> bool:
        """Return whether an examination of a document is in progress."""
        return uri in self._looking

    async def look(self, uri: str, command: Sequence[str]) -> tuple[Seen, ...] | str:
        """Run `netsharp run --examine --events` and return its observations, or why there are none.

        OSError where no process can be started.
        """
        process = await asyncio.create_subprocess_exec(
            *command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=environment()
        )
        self._looking[uri] = process
        try:
            out, errors = await process.communicate()
        finally:
            del self._looking[uri]
            if process.returncode is None:
                process.kill()
        if process.returncode != 0:
            lines = errors.decode("utf-8", "replace").splitlines()
            return sentence_of(lines, process.returncode)
        event = json.loads(out)
        return tuple((kind, layer, _figures(figures)) for kind, layer, figures in event["seen"])

    def close(self) -> None:
        """End the processes that are looking."""
        for process in list(self._looking.values()):
            if process.returncode is None:
                process.kill()


def _figures(given: Sequence[float | None]) -> tuple[float, ...]:
    """Numbers in JSON: NaN and infinities are written as null."""
    return tuple(float("nan") if one is None else float(one) for one in given)
