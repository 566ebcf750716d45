"""Torch's rows that act otherwise in training, draw, or remember.

What is drawn is drawn on the host, by the same generators as on the processor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from netsharp_engine.graph import Graph, Node
from netsharp_engine.phases import Phase
from netsharp_engine.tensor_backend.kernels.acting import Acting, blended_share, moved_share
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.tensors.kernels.rows import Tensors, ruled

if TYPE_CHECKING:
    from netsharp_engine.packing import Packing

#: From its sources, and the packing of their sequences, to the value of a node.
ActingRow = Callable[[Tensors, "Packing | None"], Tensor]


class TorchActing:
    """What the acting nodes of a program share; ``values`` are its parameters."""

    def __init__(self, graph: Graph, values: dict[str, Tensor], training: bool, kind: Any) -> None:
        #: The generators and masks of the host.
        self.host = Acting(graph, {}, training)
        self.values, self.training, self.kind = values, training, kind
        self.beginning: list[Callable[[], None]] = []
        self.rows: Mapping[Node, ActingRow] = {
            node: ACTING[node.op](node, self) for node in graph.nodes if node.op in ACTING
        }

    @property
    def phase(self) -> Phase:
        """Return the phase of the epoch."""
        return self.host.phase

    def begin(self, phase: Phase) -> None:
        """Begin an epoch: generators and means begin, too."""
        self.host.begin(phase)
        for begin in self.beginning:
            begin()

    def step_masks(self, node: Node, packing: Packing, like: Tensor) -> Tensor | None:
        """Draw for all steps of a node in a loop; return masks [columns, ...], None for none."""
        found = self.host.mask_of_steps(node)
        return None if found is None else torch.from_numpy(found).to(like.device)


def _dropout(node: Node, acting: TorchActing) -> ActingRow:
    def row(sources: Tensors, packing: Packing | None) -> Tensor:
        (values,) = sources
        mask = acting.host.mask(node, tuple(values.shape), acting.kind)
        return values if mask is None else values * torch.from_numpy(mask).to(values.device)

    return row


class TorchNormalization:
    """Values less their mean, by their deviation, of each element or of each map of the samples.

    Running statistics are parameters of two sources; that of the node itself counts samples.
    """

    def __init__(self, node: Node, acting: TorchActing) -> None:
        self._acting, self._attributes = acting, node.attributes
        self._running = [source.parameters[0].name for source in node.inputs[3:5]]
        self._counter = node.parameters[0].name

    def __call__(self, sources: Tensors, packing: Packing | None) -> Tensor:
        """Return normalised values of all columns, by statistics of those that are samples."""
        values = sources[0].reshape(sources[0].shape[0], -1)
        channels = sources[0].shape[1] if self._attributes["spatial"] else values.shape[1]
        shown = values.reshape(values.shape[0], channels, -1)
        scale, bias = (one.reshape(channels, 1) for one in sources[1:3])
        with torch.no_grad():
            mean, inverse, own = self._used(shown.detach(), packing)

        def back(standard: Tensor, by: Tensor, _: Tensor) -> tuple[Tensor]:
            """By CNTK's rule: of mixed statistics the batch's share of a number is given back."""
            both = standard * _over(by * standard) + _over(by)
            return (inverse * (by - own * both),)

        standard = ruled(lambda x: (x - mean) * inverse, back, shown)
        return (standard * scale + bias).reshape(sources[0].shape)

    def _used(self, values: Tensor, packing: Packing | None) -> tuple[Tensor, Tensor, float]:
        """Return mean and inverse deviation, and the share that one number has in them."""
        if not self._acting.training:
            return *self._inferred(), 0.0
        if packing is not None and len(packing.gaps):
            values = values[torch.from_numpy(packing.places).to(values.device)]
        samples, count = values.shape[0], values.shape[0] * values.shape[2]
        mean = _over(values) / count
        variance = _over((values - mean).square()) / count
        unbiased = variance * (count / (count - 1)) if count > 1 else torch.zeros_like(variance)
        stored, phase = self._acting.values, self._acting.phase
        seen = float(stored[self._counter])
        part = moved_share(self._attributes, phase, samples, seen)
        blend = blended_share(self._attributes, phase, samples, seen)
        for name, found in zip(self._running, (mean, unbiased), strict=True):
            before = stored[name]
            stored[name] = part * found.reshape(before.shape) + (1 - part) * before
        if part != 0 or blend != 1:
            stored[self._counter] = stored[self._counter] + samples
        running_mean, running_inverse = self._inferred()
        return (
            blend * running_mean + (1 - blend) * mean,
            blend * running_inverse + (1 - blend) * self._inverse(variance),
            (1 - blend) / count,
        )

    def _inferred(self) -> tuple[Tensor, Tensor]:
        mean, variance = (self._acting.values[name].reshape(-1, 1) for name in self._running)
        return mean, self._inverse(variance)

    def _inverse(self, variance: Tensor) -> Tensor:
        return 1 / torch.sqrt(variance + self._attributes["epsilon"])


def _over(values: Tensor) -> Tensor:
    """Return sums over samples and places, [channels, 1]."""
    return values.sum((0, 2))[:, None]


class TorchAccumulator:
    """The mean of all samples since the epoch began, [1, ...]; it is given samples without gaps."""

    def __init__(self, node: Node, acting: TorchActing) -> None:
        self._mean: Tensor | None = None
        self._count = 0
        acting.beginning.append(self.begin)

    def begin(self) -> None:
        """Begin an epoch."""
        self._mean, self._count = None, 0

    def __call__(self, sources: Tensors, packing: Packing | None) -> Tensor:
        """Take the samples of a minibatch, and return the mean."""
        values = sources[0].detach()
        before, self._count = self._count, self._count + values.shape[0]
        count = max(self._count, 1)
        new = values.sum(0, keepdim=True) * (1 / count)
        self._mean = new if self._mean is None else self._mean * (before / count) + new
        return self._mean


def _drawn(node: Node, acting: TorchActing) -> ActingRow:
    """Bind classes that are drawn on the host by weights."""

    def row(sources: Tensors, packing: Packing | None) -> Tensor:
        weights = sources[0].detach().cpu().numpy()
        found = acting.host.kernels[node].forward(node, [weights])
        return torch.from_numpy(np.array(found)).to(sources[0].device)

    return row


#: By the names of `netsharp_engine.ops.tensors`.
ACTING: Mapping[str, Callable[[Node, TorchActing], ActingRow]] = {
    "Dropout": _dropout,
    "BatchNormalization": TorchNormalization,
    "RandomSample": _drawn,
    "RandomSampleInclusionFrequency": _drawn,
    "EpochAccumulator": TorchAccumulator,
}
