"""A run shown as the hosts of Net# showed theirs; the lines are made in `printed`."""

from __future__ import annotations

import sys
import time
from typing import Any

from netsharp_lsp.cli.console.outlet import Outlet
from netsharp_lsp.cli.console.progress import Silence
from netsharp_lsp.microsoftml.printed import (
    RULE,
    PrintedFacts,
    end_lines,
    iteration_line,
    mean_error,
    opening_lines,
    start_lines,
)


class HostLog(Silence):
    """The lines of the host's log on stderr; `facts` are printed before the run starts."""

    def __init__(self) -> None:
        self.out = Outlet(sys.stderr)
        self.facts: PrintedFacts | None = None
        self._epochs = self._updates = 0
        self._error = 0.0
        self._end: dict[str, Any] = {}
        self._began = time.perf_counter()

    def event(self, event: dict[str, Any]) -> None:
        """Print the lines for an event; a start and each epoch have `training`, the figures of all
        training rows.
        """
        kind = event["event"]
        if kind == "start":
            self._start(event)
        elif kind == "epoch":
            self._iteration(event)
        elif kind == "end":
            self._end = event

    def close(self, status: str) -> None:
        """Print the lines for the end of a run; a run that diverged has no error."""
        if status == "diverged":
            self._print([RULE])
            return
        figures = {"loss": self._end.get("loss", 0.0), **self._end.get("metrics", {})}
        self._print(end_lines(mean_error(figures), done=status != "interrupted"))

    def _start(self, event: dict[str, Any]) -> None:
        extent = event["metrics"]
        self._epochs, self._updates = extent["epochs"], extent["parameters"] * extent["rows"]
        self._error = mean_error(event.get("training", {"loss": 0.0}))
        if self.facts is not None:
            self._print(opening_lines(self.facts))
            weights = None if event["step"] else extent["parameters"]
            self._print(start_lines(self.facts.hidden, weights, self._error))
        self._began = time.perf_counter()

    def _iteration(self, event: dict[str, Any]) -> None:
        running = {"loss": event.get("loss", 0.0), **event.get("metrics", {})}
        # With more than two classes the run counts only the loss while it lasts.
        training = event.get("training", {})
        error = mean_error(training if "mean_error" in training else running)
        now = time.perf_counter()
        pace = self._updates / (now - self._began) if now > self._began else None
        self._print([iteration_line(event["epoch"], self._epochs, error, self._error, pace)])
        self._error, self._began = error, now

    def _print(self, lines: list[str]) -> None:
        for line in lines:
            self.out.line(line)
