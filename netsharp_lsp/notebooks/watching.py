"""Training as Python code watches it: callbacks, a bar or lines, and a clean end when interrupted.

It knows events of the run log, no language and no estimator.
"""

from __future__ import annotations

import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

Event = dict[str, Any]
#: Called with the event of each epoch; training ends after it if the result is true.
Callback = Callable[[Event], object]
#: The number of lines that report a whole training outside a notebook.
LINES = 20


class Watch:
    """The observer of a training: it passes on events of epochs and decides when to stop."""

    def __init__(self, callbacks: Callback | Sequence[Callback] | None, *, verbose: bool) -> None:
        given = [callbacks] if callable(callbacks) else list(callbacks or ())
        for one in given:
            if not callable(one):
                raise ValueError(f"callbacks must be functions of one event, found {one!r}.")
        self._callbacks: list[Callback] = given
        self._shown = _display() if verbose else None
        self._stopped = self.interrupted = False

    def event(self, event: Event) -> bool:
        """Take an event of the run log; return whether training ends after its epoch."""
        if self._shown is not None:
            self._shown(event)
        if event["event"] != "epoch":
            return False
        for callback in self._callbacks:
            # Each is called, whatever the others return.
            self._stopped = bool(callback(dict(event))) or self._stopped
        return self._stopped or self.interrupted

    def should_stop(self) -> bool:
        """Return whether an interrupt wants an end."""
        return self.interrupted

    def take(self, number: int, frame: object) -> None:
        """Note an interrupt; another one ends at once."""
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True


@contextmanager
def watching(
    callbacks: Callback | Sequence[Callback] | None, *, verbose: bool, depth: int = 4
) -> Iterator[Watch]:
    """End the training after the current step on an interrupt (Ctrl-C, a kernel's stop).

    The model is then that of this step, and a warning says so.  A caller's own handlers stay,
    and threads other than the first are not interrupted.  ``depth``: the frame that the warning is
    about, from here.  Raises ValueError for callbacks that cannot be called.
    """
    watch = Watch(callbacks, verbose=verbose)
    plain = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    caught = plain and threading.current_thread() is threading.main_thread()
    if caught:
        signal.signal(signal.SIGINT, watch.take)
    try:
        yield watch
    finally:
        if caught:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if watch.interrupted:
        warnings.warn(
            "The training was interrupted; the model is as it was then.", UserWarning, depth
        )


def line_of(event: Mapping[str, Any]) -> str:
    """Return an epoch as a line: its number, loss, metrics, figures of validation rows."""
    figures = {"loss": event.get("loss"), **event.get("metrics", {})}
    figures |= {f"validation {name}": one for name, one in event.get("validation", {}).items()}
    figures_shown = [f"{name} {value:.4g}" for name, value in figures.items() if value is not None]
    return f"epoch {event['epoch']}: {', '.join(figures_shown)}"


def _display() -> Callable[[Event], None]:
    shell = _notebook()
    return _Lines() if shell is None else _Bar()


def _notebook() -> Any:
    """Return the shell of a notebook, None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None


class _Lines:
    """Some epochs as lines on standard output, as scikit-learn's networks print theirs."""

    def __init__(self) -> None:
        self._epochs = 1

    def __call__(self, event: Event) -> None:
        if event["event"] == "start":
            self._epochs = int(event["metrics"]["epochs"])
        if event["event"] == "epoch" and _is_shown(event["epoch"], self._epochs):
            print(line_of(event), flush=True)


def _is_shown(epoch: int, epochs: int) -> bool:
    return epoch == epochs or epoch * LINES // epochs != (epoch - 1) * LINES // epochs


class _Bar:
    """A bar of a notebook that grows with the epochs, with the figures of the last beside it."""

    def __init__(self) -> None:
        self._epochs = 1
        self._handle: Any = None
        self._line = ""

    def __call__(self, event: Event) -> None:
        from html import escape

        if event["event"] == "start":
            self._epochs = int(event["metrics"]["epochs"])
        if event["event"] == "epoch":
            self._line = escape(line_of(event))
        if event["event"] not in ("start", "epoch"):
            return
        done = event["epoch"]
        bar = f'<progress value="{done}" max="{self._epochs}"></progress> {self._line}'
        self._show({"text/html": bar, "text/plain": f"{done}/{self._epochs} {self._line}"})

    def _show(self, data: dict[str, str]) -> None:
        import IPython.display

        # Its functions have no types.
        show: Any = IPython.display.display
        if self._handle is None:
            self._handle = show(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)
