"""Long work in a process of its own: typing continues, and a cancellation ends it.

Run as a module it is that process, so it imports no protocol.
"""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
from importlib import import_module
from subprocess import PIPE
from typing import TYPE_CHECKING, TypeVar

from netsharp_lsp.server.jobs.processes import PYTHON, environment

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")

COMMAND = (*PYTHON, "netsharp_lsp.server.jobs.worker")
#: The most bytes of a text that is processed at once; a larger one in another process.
AT_ONCE = 20_000


async def in_process(function: Callable[..., Value], *arguments: object) -> Value:
    """Return the result of a module's function, called in another process.

    Arguments and result are copied. RuntimeError where the process failed; why, it has written
    to standard error.
    """
    process = await asyncio.create_subprocess_exec(
        *COMMAND, stdin=PIPE, stdout=PIPE, env=environment()
    )
    try:
        out, _ = await process.communicate(_order(function, arguments))
    finally:
        if process.returncode is None:
            process.kill()
    return _result(function, process.returncode, out)


def in_process_and_wait(function: Callable[..., Value], *arguments: object) -> Value:
    """Return the same, but block the calling thread alone."""
    order = _order(function, arguments)
    done = subprocess.run(COMMAND, input=order, stdout=PIPE, env=environment(), check=False)
    return _result(function, done.returncode, done.stdout)


def _order(function: Callable[..., Value], arguments: tuple[object, ...]) -> bytes:
    return pickle.dumps((function.__module__, function.__qualname__, arguments))


def _result(function: Callable[..., Value], code: int | None, out: bytes) -> Value:
    if code != 0:
        name = function.__qualname__
        raise RuntimeError(f"'{name}' failed in its process, exit code {code}.")
    result: Value = pickle.loads(out)
    return result


def main() -> None:
    """Do what standard input asks for, and write the result to standard output."""
    module, name, arguments = pickle.load(sys.stdin.buffer)
    result = getattr(import_module(module), name)(*arguments)
    pickle.dump(result, sys.stdout.buffer)


if __name__ == "__main__":
    main()
