"""Work that takes long, done in a process of its own: typing goes on, and a cancellation ends it.

Run as a module it is that process, so it imports no protocol.
"""

from __future__ import annotations

import asyncio
import pickle
import sys
from asyncio.subprocess import PIPE
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from netsharp_lsp.server.processes import PYTHON, environment

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")

#: A text of so many bytes is worked on at once; a larger one aside.
AT_ONCE = 20_000


async def aside(function: Callable[..., Value], *arguments: object) -> Value:
    """Return what a function of a module gives, called in another process.

    Arguments and result are copied. RuntimeError where the process failed; why, it has written
    to standard error.
    """
    order = pickle.dumps((function.__module__, function.__qualname__, arguments))
    process = await asyncio.create_subprocess_exec(
        *PYTHON, "netsharp_lsp.server.aside", stdin=PIPE, stdout=PIPE, env=environment()
    )
    try:
        out, _ = await process.communicate(order)
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode != 0:
        name = function.__qualname__
        raise RuntimeError(f"'{name}' failed in its process, exit code {process.returncode}")
    result: Value = pickle.loads(out)
    return result


def main() -> None:
    """Do what standard input asks for, and write the result to standard output."""
    module, name, arguments = pickle.load(sys.stdin.buffer)
    result = getattr(import_module(module), name)(*arguments)
    pickle.dump(result, sys.stdout.buffer)


if __name__ == "__main__":
    main()
