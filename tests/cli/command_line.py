"""Runs the command line as people do: a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys


class Answer:
    """What a process said: its exit code, and stdout and stderr as text."""

    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code = code
        self.raw = out
        self.out = out.decode()
        self.err = err.decode()
        assert "Traceback" not in self.err, self.err


def netsharp(
    *arguments: str,
    cwd: pathlib.Path,
    stdin: bytes = b"",
    environment: dict[str, str] | None = None,
) -> Answer:
    """Run `netsharp` with the arguments and wait for its end."""
    done = subprocess.run(
        [sys.executable, "-m", "netsharp_lsp", *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
        env=clean_environment() | (environment or {}),
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def clean_environment() -> dict[str, str]:
    """This process's environment without what changes colour, debugging or git's place."""
    dropped = (
        "NO_COLOR",
        "FORCE_COLOR",
        "NETSHARP_DEBUG",
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
    )
    return {key: value for key, value in os.environ.items() if key not in dropped}
