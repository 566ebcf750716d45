"""Editors in a terminal of their own, with keys that come one by one as a person types them."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import threading
import time
from collections.abc import Callable

SECONDS = 30.0


class Terminal:
    """A program in a terminal; `show` asks it for a value, as text."""

    def __init__(self, command: list[str], environment: dict[str, str], ask: list[str]) -> None:
        self._ask = ask
        self._environment = environment
        self._main, side = pty.openpty()
        self._process = subprocess.Popen(
            # Emacs asks for a terminal that controls it; the session is the program's own.
            ["setsid", "--ctty", "--wait", *command],
            stdin=side,
            stdout=side,
            stderr=side,
            env={**environment, "TERM": "xterm", "LINES": "40", "COLUMNS": "120"},
        )
        os.close(side)
        # A terminal whose output is not read blocks the program that draws on it.
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while os.read(self._main, 1 << 16):
                pass

    def type(self, text: str, milliseconds: int = 30) -> None:
        """Press a key for each character; a sequence that begins with ESC is one key."""
        keys = [text] if text.startswith("\x1b") else list(text)
        for key in keys:
            os.write(self._main, key.encode())
            time.sleep(milliseconds / 1000)

    def show(self, expression: str) -> str:
        """Return what an expression of the editor's language gives; '' while it cannot answer."""
        try:
            done = subprocess.run(
                [*self._ask, expression],
                env=self._environment,
                stdout=subprocess.PIPE,
                # Neovim answers there.
                stderr=subprocess.STDOUT,
                text=True,
                timeout=SECONDS / 4,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""

    def until(self, expression: str, holds: Callable[[str], bool], seconds: float = SECONDS) -> str:
        """Ask until an answer holds or time is over, and return the last answer."""
        end = time.monotonic() + seconds
        while not holds(answer := self.show(expression)) and time.monotonic() < end:
            time.sleep(0.05)
        return answer

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._main)
