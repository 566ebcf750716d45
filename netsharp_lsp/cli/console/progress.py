"""Shows the progress of reading and training: bars where a person watches, a few lines elsewhere.

Everything goes to stderr, except for events that another program asked for; rich is imported only
for a terminal. Where nothing can be shown any more, work continues.
"""

from __future__ import annotations

import sys
import time
from typing import IO, TYPE_CHECKING, Any, Protocol, cast

from netsharp_lsp.cli.console.outlet import Outlet

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress, TaskID

    from netsharp_engine.data import ReadProgress

#: The number of lines that report a whole run where the output is not a terminal.
LINES_PER_RUN = 20
#: Reading is reported only if it takes longer, in seconds.
SECONDS_BEFORE_READING_SHOWS = 2.0


class Display(Protocol):
    """A display of a run, given bytes read and each event of the run log.

    `heard` is whether it still has a reader.
    """

    heard: bool

    def reading(self, progress: ReadProgress) -> None:
        """Show how far a table is read."""

    def event(self, event: dict[str, Any]) -> None:
        """Show an event of the run log."""

    def __enter__(self) -> Display: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def choose_display(quiet: bool, events: bool = False) -> Display:
    """Return the run log for another program, a silent display, bars for a terminal, or lines."""
    if events:
        return Events()
    if quiet:
        return Silence()
    return Bars() if Outlet(sys.stderr).isatty() else Lines()


#: Parts of a training that another device may compute, as keys of the facts about its device.
_PARTS = ("statistics", "validation")


class Silence:
    """Shows nothing."""

    heard = True

    def reading(self, progress: ReadProgress) -> None:
        """Show nothing."""

    def event(self, event: dict[str, Any]) -> None:
        """Show nothing."""

    def __enter__(self) -> Display:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None


class Events(Silence):
    """The lines of the run log on stdout, each at once.

    A reader that has gone gets no more; where a disk is full, the run continues
    as before.
    """

    def __init__(self) -> None:
        self.out = Outlet(sys.stdout)

    def event(self, event: dict[str, Any]) -> None:
        """Write a line, unless the reader has gone."""
        from netsharp_engine.train import event_line

        self.out.line(event_line(event))
        self.heard = not isinstance(self.out.fault, BrokenPipeError)


class Lines(Silence):
    """One line for some epochs, spread evenly over the run."""

    def __init__(self) -> None:
        self.out = Outlet(sys.stderr)
        self.epochs = 1
        self.shown = time.monotonic()

    def reading(self, progress: ReadProgress) -> None:
        """Print a line every few seconds."""
        now = time.monotonic()
        if now - self.shown < SECONDS_BEFORE_READING_SHOWS:
            return
        self.shown = now
        share = progress.bytes_read / max(progress.bytes_total, 1)
        rest = "" if progress.remaining is None else f", {duration(progress.remaining)} left"
        self.out.line(f"reading: {progress.rows:,} rows, {share:.0%}{rest}")

    def event(self, event: dict[str, Any]) -> None:
        """Print an epoch's figures when its turn has come."""
        if event["event"] == "start":
            self.epochs = event["metrics"]["epochs"]
            if event.get("device"):
                self.out.line(device_line(event["device"]))
        if event["event"] == "device":
            self.out.line(f"{event['command']}: {device_line(event['device'])}")
        if event["event"] != "epoch":
            return
        epoch, gap = event["epoch"], max(self.epochs // LINES_PER_RUN, 1)
        if epoch == 1 or epoch % gap == 0 or epoch == self.epochs:
            left = event["seconds"] / epoch * (self.epochs - epoch)
            line = f"epoch {epoch}/{self.epochs}  {figures(event)}  {duration(left)} left"
            self.out.line(line)


class Bars(Silence):
    """A bar of rich for reading, another for the run with loss, metric, rate and time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.bars: Progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeRemainingColumn(),
            # Last, so that a narrow terminal cuts the rate off and not the time.
            TextColumn("{task.fields[figures]}"),
            console=Console(file=cast("IO[str]", Outlet(sys.stderr))),
            transient=False,
        )
        self.read: TaskID | None = None
        self.run: TaskID | None = None
        self.epochs = self.steps = 1

    def __enter__(self) -> Display:
        self.bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bars.stop()

    def reading(self, progress: ReadProgress) -> None:
        """Move the reading bar."""
        if self.read is None:
            self.read = self.bars.add_task("reading", total=progress.bytes_total, figures="")
        rows = f"{progress.rows:,} rows"
        self.bars.update(self.read, completed=progress.bytes_read, figures=rows)

    def event(self, event: dict[str, Any]) -> None:
        """Move the run's bar."""
        kind = event["event"]
        if kind == "device":
            line = f"{event['command']}: {device_line(event['device'])}"
            self.bars.console.print(line, markup=False, highlight=False)
            return
        if kind == "start":
            self.epochs, self.steps = event["metrics"]["epochs"], event["metrics"]["steps"]
            self.run = self.bars.add_task("training", total=self.epochs * self.steps, figures="")
            if event.get("device"):
                line = device_line(event["device"])
                self.bars.console.print(line, markup=False, highlight=False)
        if self.run is None or kind == "start":
            return
        description = f"epoch {min(event['epoch'], self.epochs)}/{self.epochs}"
        self.bars.update(self.run, completed=event["step"], description=description)
        if "loss" in event:
            self.bars.update(self.run, figures=figures(event))


def device_line(device: dict[str, str]) -> str:
    """Return the line that says which device computes, and why, with the parts of a training that
    another one computes.
    """
    line = f"{device['name']} computes ({device['title']}): {device['why']}"
    parts = [f"; {part} by {device[part]}" for part in _PARTS if device.get(part)]
    variants = f"; kernels by {device['variants']}" if device.get("variants") else ""
    return "".join((line, *parts, variants))


def figures(event: dict[str, Any]) -> str:
    """Loss, first metric and rate of an event, those of validation where there are any."""
    parts = [f"loss {event['loss']:.4g}"]
    metrics = event.get("metrics", {})
    validation = event.get("validation")
    if validation:
        parts.append(f"validation {validation['loss']:.4g}")
        metrics = validation
    parts += [f"accuracy {metrics['accuracy']:.2%}"] if "accuracy" in metrics else []
    parts += [f"RMSE {metrics['rmse']:.4g}"] if "rmse" in metrics else []
    return "  ".join([*parts, f"rate {event['rate']:.3g}"])


def duration(seconds: float) -> str:
    """Return a time span as people say it."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
