"""A compiled network: its flat vectors, its buffers, and the calls that fill them.

It knows neither operations nor how a batch is chosen or a weight updated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.graph import GraphError
from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.site import Call
from netsharp_engine.numpy_backend.vectors import Vectors


class Entrance(NamedTuple):
    """An input's buffer [nodes, samples] and its columns of the feature table."""

    buffer: Array
    columns: slice


class Targets(NamedTuple):
    """What a loss compares with, [outputs, samples] and [samples]; see ``kernels.losses``."""

    goal: Array
    share: Array
    mass: Array
    labels: Array
    classes: Array


class Program(NamedTuple):
    """Bound calls in order: up to what the loss reads, a fused activation, loss, backward."""

    forward: tuple[Call, ...]
    finish: tuple[Call, ...]
    loss: Callable[[], float] | None
    backward: tuple[Call, ...]


class Plan:
    """A network with a fixed largest batch.

    ``weights`` and ``gradient`` are flat vectors in plan order (``gradient`` is None in a
    plan that does not train); ``loss`` is the mean loss of the last step.  After ``feed``,
    ``step`` or ``forward`` runs the calls; nothing is allocated then.
    """

    def __init__(
        self,
        *,
        batch: int,
        weights: Array,
        gradient: Array | None,
        vectors: Vectors,
        entrances: tuple[Entrance, ...],
        targets: Targets | None,
        output: Array,
        named: Mapping[str, Callable[[], Array]],
        program: Program,
    ) -> None:
        self.batch = batch
        self.weights = weights
        self.gradient = gradient
        self.loss = 0.0
        self.samples = batch
        self._vectors = vectors
        self._entrances = entrances
        self._targets = targets
        self._output = output
        self._named = named
        self._program = program
        self._complete = program.forward + program.finish

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return self.weights.dtype

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The parameters' names in order of creation."""
        return tuple(self._vectors.places)

    def feed(
        self, x: Array, targets: Array | None = None, sample_weight: Array | None = None
    ) -> None:
        """Copy a batch in: ``x`` [n, features] with 1 <= n <= batch.

        ``targets`` is [n] class indices (for one output: its values) or [n, outputs];
        for the softmax loss these are probabilities.  ``sample_weight`` is [n], not all 0.
        """
        count = len(x)
        self.samples = count
        for buffer, columns in self._entrances:
            np.copyto(buffer[:, :count], x[:, columns].T, casting="same_kind")
            if count < self.batch:
                np.copyto(buffer[:, count:], buffer[:, :1])
        if targets is not None and self._targets is not None:
            self._weigh(count, sample_weight)
            self._aim(count, targets)

    def _weigh(self, count: int, sample_weight: Array | None) -> None:
        assert self._targets is not None
        share = self._targets.share
        if sample_weight is None:
            share[:count] = 1.0 / count
        else:
            total = float(np.add.reduce(sample_weight))
            np.multiply(sample_weight, 1.0 / total, out=share[:count], casting="same_kind")
        share[count:] = 0.0

    def _aim(self, count: int, targets: Array) -> None:
        assert self._targets is not None
        goal, share, mass, labels, classes = self._targets
        if targets.ndim == 1 and len(goal) > 1:
            np.copyto(labels[:count], targets, casting="unsafe")
            labels[count:] = 0
            np.equal(classes, labels, out=goal)
            np.copyto(mass, share)
        else:
            aim = targets[:, None] if targets.ndim == 1 else targets
            np.copyto(goal[:, :count], aim.T, casting="unsafe")
            goal[:, count:] = 0.0
            np.add.reduce(goal, axis=0, out=mass)
            np.multiply(mass, share, out=mass)
        np.multiply(goal, share, out=goal)

    def forward(self) -> None:
        """Compute the output of the fed samples."""
        with np.errstate(all="ignore"):
            for call in self._complete:
                call()

    def step(self) -> None:
        """Compute output and loss of the fed samples, and the gradient if the plan trains."""
        forward, _, loss, backward = self._program
        if loss is None:
            raise GraphError("this plan was compiled without a loss")
        with np.errstate(all="ignore"):
            for call in forward:
                call()
            self.loss = loss()
            for call in backward:
                call()

    @property
    def output(self) -> Array:
        """The output [n, outputs] of the fed samples: a view, valid until the next call."""
        return self._output.T[: self.samples]

    def layer(self, name: str) -> Array:
        """The values [n, nodes] of the last node of that name, canonical order; a copy.

        A node that another was computed over in place shows that one's values.

        KeyError where no node has the name.
        """
        return self._named[name]()[: self.samples]

    def load(self, values: Mapping[str, Any]) -> None:
        """Set all weights from canonical arrays; GraphError names a misfit."""
        self._vectors.flatten(values, self.weights)

    def store(self, vector: Array | None = None) -> dict[str, Array]:
        """Canonical copies by name of the weights, or of any flat vector in plan order."""
        return self._vectors.restore(self.weights if vector is None else vector)

    def vector(self, values: Mapping[str, Any]) -> Array:
        """A new flat vector in plan order from canonical arrays."""
        flat = np.empty_like(self.weights)
        self._vectors.flatten(values, flat)
        return flat

    def initialise(self, seed: int, diameter: float) -> None:
        """Draw all weights uniformly from [-diameter / 2, diameter / 2]; given ones win.

        Numbers are drawn in canonical order, so that they do not depend on the plan.
        """
        random = np.random.default_rng(seed)
        for place in self._vectors.places.values():
            drawn = random.uniform(-diameter / 2, diameter / 2, place.parameter.size)
            given = place.parameter.initial
            self._vectors.put(place, drawn if given is None else given, self.weights)

    def incoming(self) -> list[Array]:
        """Views [rows, fan-in] into ``weights`` of the incoming vectors, biases left out."""
        return list(self._vectors.incoming(self.weights))
