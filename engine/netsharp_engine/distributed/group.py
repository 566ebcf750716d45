"""Processes that torchrun has started, as torch.distributed connects them; nothing else knows it.

Arrays of the host are reduced by gloo where they lie, tensors of a GPU by what torch has for it,
gradients of a module by DistributedDataParallel.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from netsharp_engine.distributed.comm import CommError

#: How long everybody waits for the others to come, and then for an answer: reading a table may
#: take one of them long.  One that has ended is noticed at once.
COMING = timedelta(seconds=120)
ANSWERING = timedelta(hours=6)
#: What connects processes on the GPUs of a kind, as torch names both (ROCm is called cuda).
COLLECTIVES = {"cuda": "nccl", "xpu": "xccl"}


class TorchComm:
    """The process group of torch, joined where it is made.  Raises CommError."""

    def __init__(self) -> None:
        self.rank, self.size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self._kinds = ["cpu", *_connected_gpus()]
        for kind in self._kinds[1:]:
            gpus = getattr(torch, kind)
            gpus.set_device(int(os.environ["LOCAL_RANK"]) % gpus.device_count())
        parts = [f"{kind}:{COLLECTIVES.get(kind, 'gloo')}" for kind in self._kinds]
        backend = ",".join(parts)
        with _connected("the processes did not find each other"):
            dist.init_process_group(backend, timeout=COMING)
            atexit.register(dist.destroy_process_group)
            self._group = dist.new_group(timeout=ANSWERING, backend=backend)

    def broadcast(self, array: npt.NDArray[np.generic], source: int = 0) -> None:
        """Overwrite an array with that of a rank."""
        with _connected():
            dist.broadcast(_tensor(array), source, group=self._group)

    def all_reduce_(self, *arrays: Any) -> None:
        """Sum arrays over the ranks, all at the same time."""
        with _connected():
            works = [
                dist.all_reduce(_tensor(array), group=self._group, async_op=True)
                for array in arrays
            ]
            for work in works:
                work.wait()

    def averaged(self, module: torch.nn.Module) -> ParallelModule:
        """Return a module whose gradients are averaged over the ranks. CommError, a sentence, where
        torch connects no processes on its device.
        """
        kind = next(module.parameters()).device.type
        if kind not in self._kinds:
            raise CommError(
                f"PyTorch connects no processes on '{kind}' devices here. Leave --procs and "
                "--nodes out, or train on the processor: --device torch:cpu."
            )
        return ParallelModule(module, self._group)

    def gather(self, data: bytes) -> list[bytes]:
        """Return the data of each rank, in the order of the ranks."""
        sizes = np.zeros(self.size, np.int64)
        sizes[self.rank] = len(data)
        self.all_reduce_(sizes)
        most = max(int(sizes.max()), 1)
        own = np.zeros(most, np.uint8)
        own[: len(data)] = np.frombuffer(data, np.uint8)
        found = [np.empty(most, np.uint8) for _ in range(self.size)]
        with _connected():
            dist.all_gather([_tensor(each) for each in found], _tensor(own), group=self._group)
        return [each[:size].tobytes() for each, size in zip(found, sizes.tolist(), strict=True)]

    def barrier(self) -> None:
        """Wait for everybody."""
        self.all_reduce_(np.zeros(1))


class ParallelModule:
    """A module of torch of which each rank has a copy, with gradients averaged over the ranks.

    A step is a call and, unless all ranks leave it out, ``backward``; each raises CommError where a
    rank has ended.
    """

    def __init__(self, module: torch.nn.Module, group: dist.ProcessGroup) -> None:
        with _connected():
            self._module = DistributedDataParallel(
                module,
                process_group=group,
                # All ranks begin with the same values.
                init_sync=False,
                gradient_as_bucket_view=True,
            )

    def __call__(self, *arguments: Any) -> torch.Tensor:
        """Return what the module computes."""
        with _connected():
            found: torch.Tensor = self._module(*arguments)
        return found

    def backward(self, loss: torch.Tensor) -> None:
        """Set ``grad`` of the parameters to the means over the ranks, the same bits on all."""
        with _connected():
            loss.backward()


def _connected_gpus() -> list[str]:
    """Return the kinds of GPUs here on which torch connects processes."""
    return [
        kind
        for kind, name in COLLECTIVES.items()
        if hasattr(torch, kind)
        and getattr(torch, kind).is_available()
        and dist.is_backend_available(name)
    ]


def _tensor(array: Any) -> torch.Tensor:
    """Return a view of an array of numpy, without a copy; a tensor as it is."""
    return torch.from_numpy(array) if isinstance(array, np.ndarray) else array


@contextmanager
def _connected(
    what: str = "another process of this training has ended or cannot be reached",
) -> Iterator[None]:
    """Make a sentence of what torch raises."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except (RuntimeError, ValueError) as error:
        raise CommError(f"Training by several processes: {what}.") from error
