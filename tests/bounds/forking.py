"""Runs commands in forks of a process that has imported everything; started by `measuring`.

A line of JSON on stdin is one command: `arguments`, `folder`, `bytes` and `seconds` at most. Its
answer is a line on stdout. What a command says is left in the folder, in `.stdout` and `.stderr`.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import traceback
from typing import Any

from netsharp_lsp.__main__ import COMMANDS, main

#: What comes early enough in a process to be no part of an answer's cost.
PRELOADED = (
    "argparse",
    "netsharp_lsp.cntk.checking.analysis",
    "netsharp_lsp.cntk.checking.check",
    "netsharp_lsp.cntk.formatting.formatter",
    "netsharp_lsp.cntk.migration.migrate",
    "netsharp_lsp.embedded.python.finder",
    "netsharp_lsp.netsharp.check",
    "netsharp_lsp.netsharp.describe",
    "netsharp_lsp.netsharp.formatting.formatter",
    "tomllib",
)


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Run one command in a fork; its exit code, CPU seconds and greatest memory in bytes."""
    child = os.fork()
    if child == 0:
        _become(job)
    _, status, usage = os.wait4(child, 0)
    return {
        "exit": os.waitstatus_to_exitcode(status),
        "cpu": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss * 1024,
    }


def _become(job: dict[str, Any]) -> None:
    """Be the command until its end, within its limits."""
    code = 3
    try:
        os.chdir(job["folder"])
        for stream, name in ((1, ".stdout"), (2, ".stderr")):
            target = os.open(name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
            os.dup2(target, stream)
        source = os.open(os.devnull, os.O_RDONLY)
        os.dup2(source, 0)
        resource.setrlimit(resource.RLIMIT_AS, (job["bytes"], job["bytes"]))
        resource.setrlimit(resource.RLIMIT_CPU, (job["seconds"], job["seconds"] + 1))
        code = main(job["arguments"])
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def serve() -> None:
    """Answer until stdin ends."""
    os.environ["NETSHARP_DEBUG"] = "1"
    for name in (*PRELOADED, *(f"netsharp_lsp.cli.{command}" for command in COMMANDS)):
        __import__(name)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    serve()
