"""Ranks that are processes of this machine, connected by torch without a launcher."""

from __future__ import annotations

import os
import pickle
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from netsharp_engine.distributed.ranks import Ranks

#: Some work of a rank; pickled for the process, so it is a function of a module.
Work = Callable[[Ranks], Any]


def spawned(size: int, work: Work) -> list[Any]:
    """What some work gives in each of `size` processes; raises where one of them does."""
    import torch

    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        port = tried.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(_begin, args=(size, port, folder, work), nprocs=size)
        return [pickle.loads(_file(folder, rank).read_bytes()) for rank in range(size)]


def _file(folder: str, rank: int) -> Path:
    return Path(folder) / f"{rank}.pickle"


def _begin(rank: int, size: int, port: int, folder: str, work: Work) -> None:
    from netsharp_engine.distributed.group import TorchComm

    place = {"RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": rank, "MASTER_PORT": port}
    os.environ |= {name: str(value) for name, value in place.items()}
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    _file(folder, rank).write_bytes(pickle.dumps(work(Ranks(TorchComm()))))
