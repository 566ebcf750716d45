"""Repeats an action whenever a file changes, until Ctrl-C; does not know what the action is."""

from __future__ import annotations

import os
import sys
import time

from netsharp_lsp.cli.console.terminal import give, remark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Seconds between two checks of the files.
PAUSE = 0.3
_CLEAR = "\x1b[2J\x1b[H"


def watch(act: Callable[[], int], list_files: Callable[[], Iterable[str]]) -> int:
    """Call `act` now and after each change of the files listed; ends by KeyboardInterrupt only.

    The files are listed again each time, so that new ones are seen too.
    """
    seen: dict[str, tuple[int, int]] | None = None
    while True:
        now = {path: state for path in list_files() if (state := _state(path)) is not None}
        if now != seen:
            seen = now
            if sys.stdout.isatty():
                give(_CLEAR)
            act()
            sys.stdout.flush()
            remark("Waiting for changes; Ctrl-C ends.")
        time.sleep(PAUSE)


def _state(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
