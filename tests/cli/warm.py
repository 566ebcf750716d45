"""Starts commands as forks of a process that has imported their modules, which saves the import.

Each is a process all the same, with arguments, folder, streams and an exit code of its own.  It
knows nothing of what commands do; `command_line` decides which start warm.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

MODULE = "netsharp_lsp"
#: Files for the commands that run once to learn which modules commands import; commands that import
#: numpy are left out, since the libraries below it have threads, which a fork does not copy.
SAMPLES = {
    "a.nn": "input X [3];\noutput Y [2] softmax from X all;\n",
    "b.cntk": "command = t\nt = {\n action = train\n BrainScriptNetworkBuilder = {\n"
    " x = Input {2}\n }\n NDLNetworkBuilder = [ run = n\n n = [ x = InputValue(2) ] ]\n}\n",
    "c.mel": 'm = LoadModel("a")\n',
}
COMMANDS = (
    ("check", "a.nn", "b.cntk", "c.mel"),
    ("fmt", "--check", "a.nn", "b.cntk", "c.mel"),
    ("describe", "a.nn"),
    ("describe", "b.cntk"),
    ("diff", "b.cntk", "b.cntk"),
    ("config", "b.cntk"),
    ("migrate", "b.cntk"),
)


def serve(door: socket.socket) -> None:
    """Fork for each request on the socket until it is closed."""
    _import_modules()
    while True:
        heard, descriptors = _receive(door)
        if not heard:
            return
        child = os.fork()
        if child == 0:
            door.close()
            _become(json.loads(heard), descriptors)
        for one in descriptors:
            os.close(one)
        door.sendall(b"%d\n" % child)
        _, status = os.waitpid(child, 0)
        door.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _receive(door: socket.socket) -> tuple[bytes, list[int]]:
    """Read one request and the streams that came with it."""
    with contextlib.suppress(ConnectionError):
        head, descriptors, _, _ = socket.recv_fds(door, 8, 3)
        size = int.from_bytes(head, "big")
        heard = b""
        while len(heard) < size:
            heard += door.recv(size - len(heard))
        return heard, list(descriptors)
    return b"", []


def _become(request: dict[str, Any], descriptors: Sequence[int]) -> None:
    """Be the command, and end as the interpreter would."""
    for number, one in enumerate(descriptors):
        os.dup2(one, number)
        os.close(one)
    os.chdir(request["folder"])
    sys.path.insert(0, os.getcwd())
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[:] = ["-m", *request["arguments"]]
    code = 0
    try:
        runpy.run_module(MODULE, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else end.code is not None
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _import_modules() -> None:
    """Import what the commands import: they are run in forks, which say what that was."""
    names: dict[str, None] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SAMPLES.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        for command in COMMANDS:
            names |= dict.fromkeys(_modules_of(command, folder))
    for name in names:
        __import__(name)


def _modules_of(command: Sequence[str], folder: str) -> list[str]:
    """Return the modules that a command imports, in their order; none where numpy is one."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        atexit.register(_tell_modules, writing)
        nowhere = [os.open(os.devnull, os.O_RDWR) for _ in range(3)]
        request = {"folder": folder, "arguments": command, "environment": dict(os.environ)}
        _become(request, nowhere)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        names = stream.read().decode().split()
    os.waitpid(child, 0)
    return [] if "numpy" in names else names


def _tell_modules(writing: int) -> None:
    names = " ".join(name for name in sys.modules if name != "__main__")
    with os.fdopen(writing, "wb") as stream:
        stream.write(names.encode())


class Starter:
    """The process that forks, from the outside; one for each process of tests."""

    def __init__(self) -> None:
        self._door, other = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, str(other.fileno())],
            pass_fds=(other.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        other.close()
        self._output: IO[bytes] = self._door.makefile("rb")

    def run(
        self,
        arguments: Sequence[str],
        cwd: Path,
        stdin: bytes,
        environment: Mapping[str, str],
        timeout: float,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command as ``subprocess.run`` would; TimeoutExpired where it takes too long."""
        words = {"arguments": arguments, "folder": str(cwd), "environment": dict(environment)}
        request = json.dumps(words).encode()
        given, out, err = os.pipe(), os.pipe(), os.pipe()
        theirs = [given[0], out[1], err[1]]
        self._send(request, theirs)
        for one in theirs:
            os.close(one)
        child = int(self._output.readline())
        found: dict[int, bytes] = {}
        work = [(_feed, (given[1], stdin)), (_drain, (out[0], found)), (_drain, (err[0], found))]
        threads = [threading.Thread(target=do, args=what, daemon=True) for do, what in work]
        clock = threading.Timer(timeout, os.kill, (child, 9))
        clock.start()
        for thread in threads:
            thread.start()
        code = int(self._output.readline())
        late = clock.finished.is_set()
        clock.cancel()
        for thread in threads:
            thread.join()
        if late:
            raise subprocess.TimeoutExpired(list(arguments), timeout)
        return subprocess.CompletedProcess(list(arguments), code, found[out[0]], found[err[0]])

    def _send(self, request: bytes, descriptors: list[int]) -> None:
        head = len(request).to_bytes(8, "big")
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        self._door.sendmsg([head], ancillary)
        self._door.sendall(request)


def _feed(descriptor: int, given: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as stream:
        stream.write(given)


def _drain(descriptor: int, found: dict[int, bytes]) -> None:
    with os.fdopen(descriptor, "rb") as stream:
        found[descriptor] = stream.read()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
