"""Starts a run's processes through torchrun, passes on signals, and reports the end.

It trains nothing and imports no torch; the only program that it starts is this Python.
"""

from __future__ import annotations

import importlib.util
import math
import os
import subprocess
import time
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.plain_files import open_plain
from netsharp_engine.train import catch_interrupts
from netsharp_lsp.cli.console.terminal import complain
from netsharp_lsp.cli.machines.meeting import absent, apart, is_taken, unreachable
from netsharp_lsp.server.jobs.processes import PYTHON, own_packages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_engine.train.interrupt import StopRequest
    from netsharp_lsp.cli.machines.options import Machines

FAILED = 2
#: Codes above it are of runs that a signal has ended.
INTERRUPTIONS = 128
#: The folder of a run on a machine, in which its processes exchange files.
FOLDER = "NETSHARP_RUN_FOLDER"
CODE = "code"
#: The file in it that is written when all processes have met.
MET = "met"
#: The file in it with the address of the others, and the variable with its path.
_READY, _SAYS_READY = "ready", "NETSHARP_AGENT_READY"
#: How often lost processes are started again; seconds that they have to end, and to come together.
RESTARTS, ENDING, MEETING = 3, 600, 600
#: Seconds in which a check finds missing machines, and the exit code of such a launch.
CHECKING, ABSENT = 20, 5
#: The files that are written when a process has loaded torch, and when it has connected; the
#: seconds between them in a check, and the exit code of a launch that takes longer.
LOADED, CONNECTED, CONNECTING, APART = "loaded", "connected", 8, 7
#: Seconds between two checks for a request to stop.
_LOOKS = 0.2
_LACKING = (
    "Training by several processes needs PyTorch, which is not installed here. "
    "Run: pip install 'netsharp[torch]'"
)
#: What the agent ends with, as sentences.
WORKERS_LOST, NOT_MET, NOT_LOADED = 3, 4, 6
_ENDS = {
    WORKERS_LOST: f"Processes of the training were lost more than {RESTARTS} times. "
    "Continue what was saved with --resume.",
    NOT_MET: "The machines did not come together. Was the command started on each of them, with "
    "the same --rendezvous? --check looks for the cause.",
    NOT_LOADED: "Training by several processes needs PyTorch, which is installed and cannot be "
    "loaded; python -c 'import torch' shows why. Reinstall it: "
    "python -m pip install --force-reinstall 'netsharp[torch]'",
}


def launch(machines: Machines, arguments: Sequence[str]) -> int:
    """Let torchrun start the processes of `netsharp run` with these arguments; return their code.

    Where this process is asked to end, they are, once: they save and end.
    """
    if importlib.util.find_spec("torch") is None:
        complain(_LACKING)
        return FAILED
    fault = unreachable(machines)
    if fault is not None:
        complain(fault)
        return FAILED
    taken = machines.check and is_taken(machines)
    with TemporaryDirectory(prefix="netsharp-") as folder, catch_interrupts() as request:
        command = (*PYTHON, "netsharp_engine.distributed.agent", *torchrun(machines, folder), "--")
        worker = (*PYTHON, "netsharp_lsp", "run", *arguments)
        process = subprocess.Popen(
            (*command, *worker), env=_environment(folder), start_new_session=True
        )
        try:
            code = _followed(process, request, _waits(machines, folder))
        finally:
            if process.poll() is None:
                process.kill()  # its workers detect that, save and end
                process.wait()
        recorded = _recorded(folder)
        if request() and (recorded is None or recorded > INTERRUPTIONS):
            return request.exit_code
        if recorded is not None:
            return recorded
        if code == ABSENT or (code == NOT_MET and machines.check):
            complain(absent(machines, CHECKING, taken=taken))
            return FAILED
        if code == APART:
            complain(apart(machines, CONNECTING))
            return FAILED
        complain(_ENDS.get(code, "The training ended unexpectedly."))
        return FAILED


def torchrun(machines: Machines, folder: str) -> tuple[str, ...]:
    """Return the arguments of torchrun, up to the command of a process."""
    where: tuple[str, ...] = ("--standalone",)
    if machines.nodes > 1:
        where = (
            "--rdzv-backend=c10d",
            f"--rdzv-endpoint={machines.host}:{machines.port}",
            "--rdzv-id=netsharp",
            f"--rdzv-conf=join_timeout={MEETING},last_call_timeout=1",
        )
    return (
        *where,
        f"--nnodes={machines.nodes}",
        f"--nproc-per-node={machines.procs}",
        f"--max-restarts={RESTARTS}",
        "--monitor-interval=0.2",
        f"--shutdown-timeout={ENDING}",
        f"--log-dir={folder}",
        "--no-python",
    )


def _environment(folder: str) -> dict[str, str]:
    """Return the environment of processes: no module of the folder, one thread each, no log but
    ours.
    """
    given = {"OMP_NUM_THREADS": "1", **os.environ}
    silent = {"TORCH_CPP_LOG_LEVEL": "FATAL"}
    # Processes that are started again must not find addresses of those that were lost.
    apart = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    own = {**own_packages(), "PYTHONSAFEPATH": "1", FOLDER: folder}
    own[_SAYS_READY] = os.path.join(folder, _READY)
    return {**given, **silent, **apart, **own}


class _Wait(NamedTuple):
    """A limit in ``seconds`` from one file to the next, and the code of what does not keep it."""

    begins: str
    ends: str
    seconds: float
    code: int


def _waits(machines: Machines, folder: str) -> list[_Wait]:
    """Return the limits of a check: all machines meet, then their processes connect."""
    ready, met, loaded, connected = (
        os.path.join(folder, name) for name in (_READY, MET, LOADED, CONNECTED)
    )
    meets = [_Wait(ready, met, CHECKING, ABSENT)] if machines.nodes > 1 else []
    return [*meets, _Wait(loaded, connected, CONNECTING, APART)] if machines.check else []


def _followed(
    process: subprocess.Popen[bytes], request: StopRequest, waits: Sequence[_Wait]
) -> int:
    """Wait for the end, and pass on the first request to stop; return the code of a wait that is
    exceeded.
    """
    passed_on, begun = False, dict.fromkeys(waits, math.inf)
    while True:
        for wait in waits:
            if begun[wait] == math.inf and os.path.exists(wait.begins):
                begun[wait] = time.monotonic()
            exceeded = time.monotonic() - begun[wait] > wait.seconds
            if exceeded and not os.path.exists(wait.ends):
                return wait.code
        try:
            return process.wait(_LOOKS)
        except subprocess.TimeoutExpired:
            if request.number is not None and not passed_on:
                passed_on = True
                process.send_signal(request.number)


def _recorded(folder: str) -> int | None:
    """Return the code with which the run has ended on this machine; None where it has not."""
    try:
        with open_plain(os.path.join(folder, CODE)) as stream:
            return int(stream.read())
    except (OSError, ValueError):
        return None
