"""What a row of the table of torch's kernels is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from netsharp_engine.nodes import Node

IntArray = npt.NDArray[np.int64]
#: A tensor; nothing is known of torch's types here, for torch may not be there.
Tensor = Any
#: From the values [rows, ...] of the sources, flat in canonical order, to that of the node.
Call = Callable[..., Tensor]


class TorchPlace(NamedTuple):
    """Where a node is computed.

    ``parts`` are the tensors of each of its parameters (kernels [kernels, taps] and their biases
    [kernels]; one tensor of all others), ``masks`` the batch's factors for layers with dropout.
    """

    parts: Sequence[tuple[Tensor, ...]]
    device: torch.device
    dtype: torch.dtype
    training: bool
    masks: Mapping[str, Tensor]


#: What binds a node to its place.
Bind = Callable[[Node, TorchPlace], Call]


def shaped(values: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return values [rows, ...] as [rows, *shape]; those that are so stay as they are."""
    return values if values.shape[1:] == shape else values.reshape(values.shape[0], *shape)


def matrix(values: Tensor) -> Tensor:
    """Return values [rows, ...] as [rows, nodes]."""
    return values if values.dim() == 2 else values.reshape(values.shape[0], -1)
