"""The gradient of a loss over the rows of all processes, computed by torch's means of modules in
parallel; neither the rows of a step nor its update are known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch

from netsharp_engine.distributed.comm import AveragingComm
from netsharp_engine.torch_backend.kernels.rows import Tensor


class RankLoss(torch.nn.Module):  # type: ignore[misc]
    """The loss of a process's own rows as a module, whose parameters are those it depends on."""

    def __init__(self, compute: Callable[[], Tensor], leaves: Iterable[Tensor]) -> None:
        super().__init__()
        self._compute = compute
        self.leaves = torch.nn.ParameterList(leaves)

    def forward(self, has_rows: bool) -> Tensor:
        """Return the loss; without rows 0, with zeros as the gradient of each parameter."""
        if has_rows:
            return self._compute()
        loss = torch.zeros((), dtype=self.leaves[0].dtype, device=self.leaves[0].device)
        for leaf in self.leaves:
            loss = loss + 0 * leaf.sum()
        return loss


class AveragedGradient:
    """The gradient of the loss of all processes.

    ``leaves`` are those that the loss depends on, in the order in which it is computed.
    """

    def __init__(
        self, compute: Callable[[], Tensor], leaves: Sequence[Tensor], comm: AveragingComm
    ) -> None:
        self._leaves, self._size = leaves, comm.size
        self._module = comm.averaged(RankLoss(compute, leaves))
        # After its first step DistributedDataParallel divides the gradient into buckets, in the
        # order in which it was found. A step of zeros makes this the same order in each run, so
        # that one that resumes adds up in the order of one that was never stopped.
        self.gradient(self.loss(has_rows=False), 0.0)

    def loss(self, *, has_rows: bool) -> Tensor:
        """Return the loss of the rows here, 0 without any; CommError where a process has ended."""
        return self._module(has_rows)

    def gradient(self, loss: Tensor, share: float) -> None:
        """Set ``grad`` of the leaves to the sum over all processes of the gradient of their losses,
        each times its ``share``. The next call overwrites it. Raises CommError.
        """
        for leaf in self._leaves:
            leaf.grad = None
        self._module.backward(loss * (share * self._size))
