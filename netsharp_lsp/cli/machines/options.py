"""The number of processes and machines that a run is asked for; it starts none."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import argparse

#: Environment variables that torchrun sets in each process that it starts.
_OF_TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID")
#: Formats in which the start of a run on several machines is written.
EMITTED = ("slurm",)
DEFAULT_PORT = 29400


class Machines(NamedTuple):
    """``procs`` processes on each of ``nodes`` machines that meet at ``host``:``port``.

    ``joined``: this is one of the processes.  ``prints_errors``: it is the first of its machine.
    """

    procs: int = 1
    nodes: int = 1
    host: str = ""
    port: int = 0
    emit: str = ""
    check: bool = False

    @property
    def joined(self) -> bool:
        """Return whether torchrun has started this process."""
        return all(name in os.environ for name in _OF_TORCHRUN)

    @property
    def prints_errors(self) -> bool:
        """Return whether this process is the one that prints errors."""
        return os.environ.get("LOCAL_RANK", "0") == "0"

    @property
    def restarted(self) -> bool:
        """Return whether processes were lost before this one was started."""
        return os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") != "0"


def add_machine_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags for the device and processes of a run."""
    add = parser.add_argument_group("several processes and machines (with PyTorch)").add_argument
    add(
        "--procs",
        type=int,
        metavar="N",
        help="processes on each machine, which share the rows of a step",
    )
    add("--nodes", type=int, metavar="N", help="machines; start this command on each")
    add(
        "--rendezvous",
        metavar="HOST:PORT",
        help="address on one of the machines, for all to connect to",
    )
    add("--emit", choices=EMITTED, help="write the job script of a cluster, and stop")
    add(
        "--check",
        action="store_true",
        help="connect the processes, compare their settings, and stop",
    )


def machines_asked(args: argparse.Namespace) -> Machines | str | None:
    """Return the machines of the flags; None for one process, a sentence where they conflict."""
    if args.examine or args.show_settings:
        return None
    procs = 1 if args.procs is None else args.procs
    nodes = 1 if args.nodes is None else args.nodes
    if min(procs, nodes) < 1:
        return "--procs and --nodes are numbers from 1 on."
    if procs == 1 and nodes == 1:
        for flag in ("rendezvous", "emit", "check"):
            if getattr(args, flag):
                return f"--{flag} goes with --procs N or --nodes N, which say on what to train."
        return None
    if nodes == 1 and args.rendezvous:
        return "--rendezvous is where machines meet: give their number with --nodes."
    if nodes > 1 and not args.rendezvous and not args.emit:
        return (
            "--nodes needs --rendezvous HOST:PORT, the address of one of the machines, on all of "
            f"them the same: for example --rendezvous {socket.gethostname()}:{DEFAULT_PORT}."
        )
    host, _, port = (args.rendezvous or "").rpartition(":")
    if args.rendezvous and not (host and port.isdigit() and 0 < int(port) < 65536):
        named = host or args.rendezvous.strip(":") or socket.gethostname()
        return f"--rendezvous is HOST:PORT, for example {named}:{DEFAULT_PORT}."
    if args.specification == "-":
        return "Several processes cannot all read one standard input: name a file."
    return Machines(procs, nodes, host, int(port or 0), args.emit or "", args.check)
