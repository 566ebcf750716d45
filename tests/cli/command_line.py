"""Runs the command line as people do: a process of its own, in a folder of its own.

Most are forked from one that has the modules already (see `warm`); some, by the seed, and those
with an environment of their own begin with the interpreter, as a person's do.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import zlib
from functools import cache

from tests.cli.warm import Starter
from tests.conftest import SEED

#: One of this number of commands starts a new interpreter.
COLD = 10
#: The seconds that a command may take at most.
MOST_SECONDS = 60


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
    named = f"{SEED} {os.environ.get('PYTEST_CURRENT_TEST', '')} {arguments}"
    full = clean_environment() | (environment or {})
    if environment is None and hasattr(os, "fork") and zlib.crc32(named.encode()) % COLD:
        done = starter().run(arguments, cwd, stdin, full, MOST_SECONDS)
    else:
        done = subprocess.run(
            [sys.executable, "-m", "netsharp_lsp", *arguments],
            cwd=cwd,
            input=stdin,
            capture_output=True,
            timeout=MOST_SECONDS,
            check=False,
            env=full,
        )
    return Answer(done.returncode, done.stdout, done.stderr)


@cache
def starter() -> Starter:
    """Return the process that forks, started with the first command."""
    return Starter()


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
