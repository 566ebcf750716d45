"""Operations that differ in training, draw, or remember: dropout, batch normalisation.

They are bound to a program's parameters, and receive an epoch's settings before it begins. Source:
CNTK, ComputationNetworkLib/TrainingNodes.h, and Math/BatchNormalizationEngine.cpp.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netsharp_engine.graph import Graph, Node
from netsharp_engine.ops.tensors import DRAWING
from netsharp_engine.phases import Draws, Phase
from netsharp_engine.tensor_backend.kernels.drawing import (
    EpochAccumulator,
    InclusionFrequency,
    RandomSample,
)
from netsharp_engine.tensor_backend.kernels.rows import Array, Sources, TensorKernel, total

if TYPE_CHECKING:
    from netsharp_engine.packing import Packing
    from netsharp_engine.program import Tensors


class Acting:
    """The state that the acting nodes of a program share."""

    def __init__(self, graph: Graph, values: Tensors, training: bool) -> None:
        self.values, self.training = values, training
        self.phase = Phase()
        #: The packing of the sequences of which the next node is computed; None: all samples share
        #: it.
        self.packing: Packing | None = None
        self.draws: dict[Node, Draws] = {}
        self._drawing = _drawing(graph)
        self._beginning: list[Callable[[], None]] = []
        #: Of nodes in loops what each column is multiplied with; None where nothing is dropped.
        self._masks: dict[Node, Array | None] = {}
        self.kernels: Mapping[Node, TensorKernel] = {
            node: ACTING[node.op](node, self) for node in graph.nodes if node.op in ACTING
        }

    def begin(self, phase: Phase) -> None:
        """Begin an epoch, and with it the generators."""
        self.phase = phase
        make = phase.draws
        if make is not None:
            count = len(self._drawing)
            self.draws = {
                node: make(at, count, node.op in DRAWING) for at, node in enumerate(self._drawing)
            }
        for begin in self._beginning:
            begin()

    def renewed(self, begin: Callable[[], None]) -> None:
        """Call something where an epoch begins."""
        self._beginning.append(begin)

    def mask(self, node: Node, shape: tuple[int, ...], kind: Any) -> Array | None:
        """Return the factors of a node's dropout, for values of a shape: 0, or 1 / (1 - rate); None
        where nothing is dropped.
        """
        rate = self.phase.dropout
        if not self.training or rate <= 0:
            return None
        drawn = self.draws[node](math.prod(shape)).reshape(shape)
        found: Array = np.where(drawn <= kind(rate), kind(0), kind(1 / (1 - rate)))
        return found

    def draw_steps(self, node: Node, packing: Packing, kind: Any, backwards: bool) -> None:
        """Draw for all steps of a node in a loop, in the order in which it is computed."""
        mask = self.mask(node, (packing.steps, packing.rows, *node.shape), kind)
        if mask is not None:
            mask = (mask[::-1] if backwards else mask).reshape(packing.columns, *node.shape)
        self._masks[node] = mask

    def mask_of_steps(self, node: Node) -> Array | None:
        """Return the mask of a node in a loop [columns, ...]; None without dropout."""
        return self._masks[node]

    def dropped(self, node: Node, values: Array, columns: slice) -> Array:
        """Return values or gradients of some columns of a node in a loop, of the same shape, after
        dropout.
        """
        mask = self._masks[node]
        return values if mask is None else values * mask[columns]


def _drawing(graph: Graph) -> list[Node]:
    """Return the nodes that draw, in the order of evaluation; those that no criterion depends on
    come last.
    """
    drawn = [one for one in graph.nodes if one.op in (*STEPWISE, *DRAWING)]
    ordered = [one for one in _in_order(graph) if one in set(drawn)]
    return ordered + [one for one in drawn if one not in set(ordered)]


def _in_order(graph: Graph) -> list[Node]:
    """Return nodes in the order of a depth-first walk from the first criterion, each after its
    sources except those that are on the way to it, since there are loops.
    """
    found: list[Node] = []
    seen: set[Node] = set()
    waiting = [(one, False) for one in graph.criteria[:1]]
    while waiting:
        node, ready = waiting.pop()
        if ready:
            found.append(node)
        elif node not in seen:
            seen.add(node)
            waiting.append((node, True))
            waiting += [(source, False) for source in reversed(node.inputs)]
    return found


class _Dropout:
    """Some elements become 0, the others as much larger."""

    def __init__(self, acting: Acting) -> None:
        self._acting = acting
        self._mask: Array | None = None

    def forward(self, node: Node, sources: Sources) -> Array:
        (values,) = sources
        self._mask = self._acting.mask(node, values.shape, values.dtype.type)
        return values if self._mask is None else values * self._mask

    def back(self, node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
        return gradient if self._mask is None else gradient * self._mask


class _Used(NamedTuple):
    """The statistics that a forward pass normalised with, [channels, 1] each: mean, inverse
    deviation, the weight of running values, and the number of values of each channel.
    """

    mean: Array
    inverse: Array
    blend: float
    counted: int = 0


class _BatchNormalization:
    """Values less their mean, by their deviation, of each element or of each map of the samples.

    Running statistics are parameters of two sources; that of the node itself counts samples.
    """

    def __init__(self, node: Node, acting: Acting) -> None:
        self._acting = acting
        self._running = [source.parameters[0].name for source in node.inputs[3:5]]
        self._counter = node.parameters[0].name
        self._attributes = node.attributes
        self._used: _Used | None = None

    def forward(self, node: Node, sources: Sources) -> Array:
        values, scale, bias = self._parts(sources)
        packing = self._acting.packing
        if not self._acting.training:
            self._used = self._inferred()
        elif packing is not None and len(packing.gaps):
            self._used = self._trained(values[packing.places])
        else:
            self._used = self._trained(values)
        used = self._used
        found: Array = values - used.mean
        # In place: making an array costs more than the arithmetic.
        for step, by in ((np.multiply, used.inverse), (np.multiply, scale), (np.add, bias)):
            step(found, by, out=found)
        return found.reshape(sources[0].shape)

    def by_values(self, node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
        values, scale, _ = self._parts(sources)
        by, standard, used = gradient.reshape(values.shape), self._standard(values), self._used
        assert used is not None
        both = standard * _over(by * standard) + _over(by)
        own = values.dtype.type((1 - used.blend) / used.counted)
        found: Array = scale * used.inverse * (by - own * both)
        return found.reshape(sources[0].shape)

    def by_scale(self, node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
        values, _, _ = self._parts(sources)
        standard = self._standard(values)
        return _over(gradient.reshape(values.shape) * standard).reshape(sources[1].shape)

    def by_bias(self, node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
        values, _, _ = self._parts(sources)
        return _over(gradient.reshape(values.shape)).reshape(sources[2].shape)

    def _parts(self, sources: Sources) -> tuple[Array, Array, Array]:
        """Return values [samples, channels, places], scale and bias [channels, 1]."""
        values, scale, bias = sources[:3]
        channels = values.shape[1] if self._attributes["spatial"] else values[0].size
        shown = values.reshape(len(values), channels, -1)
        return shown, scale.reshape(channels, 1), bias.reshape(channels, 1)

    def _standard(self, values: Array) -> Array:
        assert self._used is not None
        found: Array = (values - self._used.mean) * self._used.inverse
        return found

    def _inferred(self) -> _Used:
        mean, variance = (self._acting.values[name].reshape(-1, 1) for name in self._running)
        return _Used(mean, self._inverse(variance), 1.0)

    def _trained(self, values: Array) -> _Used:
        """Return the statistics of a batch, mixed with the running ones, which move towards them.
        Source: CNTK, Math/BatchNormalizationEngine.cpp, and TrainingNodes.h for the time constants.
        """
        kind, stored = values.dtype.type, self._acting.values
        samples, count = len(values), len(values) * values.shape[2]
        mean = _over(values) / kind(count)
        variance = _over(np.square(values - mean)) / kind(count)
        unbiased = variance * kind(count / (count - 1)) if count > 1 else np.zeros_like(variance)
        seen = float(stored[self._counter][0])
        phase = self._acting.phase
        part, blend = (
            moved_share(self._attributes, phase, samples, seen),
            blended_share(self._attributes, phase, samples, seen),
        )
        for name, found in zip(self._running, (mean, unbiased), strict=True):
            before = stored[name]
            new = kind(part) * found + kind(1 - part) * before.reshape(-1, 1)
            stored[name] = new.reshape(before.shape)
        if part != 0 or blend != 1:
            stored[self._counter] = stored[self._counter] + kind(samples)
        running, own = self._inferred(), kind(1 - blend)
        return _Used(
            kind(blend) * running.mean + own * mean,
            kind(blend) * running.inverse + own * self._inverse(variance),
            blend,
            count,
        )

    def _inverse(self, variance: Array) -> Array:
        kind = variance.dtype.type
        found: Array = kind(1) / np.sqrt(variance + kind(self._attributes["epsilon"]))
        return found


def moved_share(attributes: Mapping[str, Any], phase: Phase, samples: int, seen: float) -> float:
    """Return the share, 0 to 1, by which running statistics move towards a batch's."""
    given = phase.normalization
    constant: float = attributes["normalizationTimeConstant"] if given is None else given
    if seen == 0 or constant == 0:
        return 1.0
    if constant < 0:
        return samples / (samples + seen)
    return 0.0 if math.isinf(constant) else -math.expm1(-samples / constant)


def blended_share(attributes: Mapping[str, Any], phase: Phase, samples: int, seen: float) -> float:
    """Return the weight, 0 to 1, of running statistics against those of a batch."""
    given = phase.blend
    constant: float = attributes["blendTimeConstant"] if given is None else given
    if seen == 0 or constant <= 0:
        return 0.0
    return 1.0 if math.isinf(constant) else constant / (constant + samples)


def _over(values: Array) -> Array:
    """Return sums over samples and places, [channels, 1]."""
    return total(values, (0, 2))[:, None]


def _dropout(node: Node, acting: Acting) -> TensorKernel:
    one = _Dropout(acting)
    return TensorKernel(one.forward, (one.back,))


def _batch_normalization(node: Node, acting: Acting) -> TensorKernel:
    one = _BatchNormalization(node, acting)
    return TensorKernel(one.forward, (one.by_values, one.by_scale, one.by_bias, None, None))


def _random_sample(node: Node, acting: Acting) -> TensorKernel:
    return _renewed(RandomSample(lambda: acting.draws[node]), acting)


def _inclusion_frequency(node: Node, acting: Acting) -> TensorKernel:
    return _renewed(InclusionFrequency(lambda: acting.draws[node]), acting)


def _epoch_accumulator(node: Node, acting: Acting) -> TensorKernel:
    return _renewed(EpochAccumulator(), acting)


def _renewed(
    one: RandomSample | InclusionFrequency | EpochAccumulator, acting: Acting
) -> TensorKernel:
    """Return a kernel without a gradient that begins again with each epoch."""
    acting.renewed(one.begin)
    return TensorKernel(one.forward, (None,))


#: Operations that may be computed step by step; the others join all samples.
STEPWISE = ("Dropout",)
#: By the names of `netsharp_engine.ops.tensors`.
ACTING: Mapping[str, Callable[[Node, Acting], TensorKernel]] = {
    "Dropout": _dropout,
    "BatchNormalization": _batch_normalization,
    "RandomSample": _random_sample,
    "RandomSampleInclusionFrequency": _inclusion_frequency,
    "EpochAccumulator": _epoch_accumulator,
}
