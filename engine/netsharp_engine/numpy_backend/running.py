"""A compiled network: its flat vectors, its buffers, and the calls that fill them.

It must not know operations, the choice of batches, or update rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.dropping import Draw
from netsharp_engine.graph import GraphError, Node
from netsharp_engine.initial import initial_values
from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.site import Call
from netsharp_engine.numpy_backend.vectors import Vectors


class Entrance(NamedTuple):
    """An input's name, its buffer [nodes, samples] and its columns of a table of all inputs."""

    name: str
    buffer: Array
    columns: slice


class Targets(NamedTuple):
    """The arrays that a loss compares with, [outputs, samples] and [samples]; see
    ``kernels.losses``.
    """

    goal: Array
    share: Array
    mass: Array
    labels: Array
    classes: Array


class Calls(NamedTuple):
    """Bound calls in order: up to the loss's source, a fused activation, loss, backward."""

    forward: tuple[Call, ...]
    finish: tuple[Call, ...]
    loss: Callable[[], float] | None
    backward: tuple[Call, ...]


class Plan:
    """A network with a fixed largest batch.

    ``weights`` and ``gradient`` are flat vectors in plan order; ``trained`` are the weights that
    training changes, ``gradient`` is theirs (None in a plan that does not train); ``loss`` is the
    mean loss of the last step.  After ``feed``, ``step`` or ``forward`` runs the calls; nothing is
    allocated then.
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
        node: Node,
        output: Array,
        shown: Mapping[Node, Callable[[], Array]],
        calls: Calls,
        masked: Sequence[Callable[[Draw | None, int], object]] = (),
    ) -> None:
        self.batch = batch
        self.weights = weights
        self.trained = weights[: vectors.trained]
        self.gradient = gradient
        self.loss = 0.0
        self.samples = batch
        self._vectors = vectors
        self._entrances = entrances
        self._targets = targets
        self._node, self._output = node, output
        self._shown = shown
        self._named = {each.name: each for each in shown if each.name}
        self._calls = calls
        self._masked = masked
        self._complete = calls.forward + calls.finish

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return float32 or float64."""
        return self.weights.dtype

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Return the parameters' names in order of creation."""
        return tuple(self._vectors.places)

    def feed(
        self, x: Array, targets: Array | None = None, sample_weight: Array | None = None
    ) -> None:
        """Copy a batch in: ``x`` [n, features] with 1 <= n <= batch.

        ``targets`` is [n] class indices (for one output: its values) or [n, outputs];
        for the softmax loss these are probabilities.  ``sample_weight`` is [n], not all 0.
        """
        self.enter({entrance.name: x[:, entrance.columns] for entrance in self._entrances})
        if targets is not None and self._targets is not None:
            self.set_targets(targets, sample_weight)

    def enter(self, values: Mapping[str, Array]) -> None:
        """Copy in the values [n, nodes] of every input."""
        for name, buffer, _ in self._entrances:
            rows = values[name]
            count = self.samples = len(rows)
            if count == self.batch:
                np.copyto(buffer, rows.T, casting="same_kind")
            else:
                np.copyto(buffer[:, :count], rows.T, casting="same_kind")
                np.copyto(buffer[:, count:], buffer[:, :1])

    def mask(self, draw: Draw | None) -> None:
        """Draw the masks of layers with dropout; see `Batch`."""
        for make in self._masked:
            make(draw, self.samples)

    def set_targets(self, targets: Array, sample_weight: Array | None = None) -> None:
        """Copy in the targets of the loss; see `Targets`. ``targets`` are [rows] or [rows,
        outputs], ``sample_weight`` is [rows].
        """
        self._set_weights(self.samples, sample_weight)
        self._set_targets(self.samples, targets)

    def _set_weights(self, count: int, sample_weight: Array | None) -> None:
        assert self._targets is not None
        share = self._targets.share
        if sample_weight is None:
            share[:count] = 1.0 / count
        else:
            total = float(np.add.reduce(sample_weight))
            np.multiply(sample_weight, 1.0 / total, out=share[:count], casting="same_kind")
        if count < self.batch:
            share[count:] = 0.0

    def _set_targets(self, count: int, targets: Array) -> None:
        assert self._targets is not None
        goal, share, mass, labels, classes = self._targets
        if targets.ndim == 1 and len(goal) > 1:
            np.copyto(labels[:count], targets, casting="unsafe")
            if count < self.batch:
                labels[count:] = 0
            np.equal(classes, labels, out=goal)
            np.copyto(mass, share)
        else:
            columns = targets[:, None] if targets.ndim == 1 else targets
            np.copyto(goal[:, :count], columns.T, casting="unsafe")
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
        """Compute output and loss of the fed samples, and the gradient if the plan trains. Raises
        GraphError for a plan that was compiled without a loss.
        """
        with np.errstate(all="ignore"):
            self.run()

    def run(self) -> None:
        """Do a step where numpy's warnings are silent already. GraphError without a criterion."""
        forward, _, loss, backward = self._calls
        if loss is None:
            raise GraphError("this plan was compiled without a loss")
        for call in forward:
            call()
        self.loss = loss()
        for call in backward:
            call()

    @property
    def output(self) -> Array:
        """Return the output [n, outputs] of the fed samples: a view, valid until the next call."""
        return self._output.T[: self.samples]

    def layer(self, name: str) -> Array:
        """Return the values [n, nodes] of the last node of that name, as ``read``; KeyError where
        there is none.
        """
        return self.read(self._named[name])

    def read(self, node: Node) -> Array:
        """Return the values [n, nodes] of a node, canonical order; a copy except for the output.

        A node that another was computed over in place has that one's values. KeyError for one that
        the output does not depend on.
        """
        if node is self._node:
            return self.output
        return self._shown[node]()[: self.samples]

    def load(self, values: Mapping[str, Any]) -> None:
        """Set all weights from canonical arrays; GraphError names a misfit."""
        self._vectors.flatten(values, self.weights)

    def store(self, vector: Array | None = None) -> dict[str, Array]:
        """Return canonical copies by name of the weights, or of any flat vector in plan order."""
        return self._vectors.restore(self.weights if vector is None else vector)

    @property
    def vectors(self) -> Vectors:
        """Return the places of the parameters."""
        return self._vectors

    def vector(self, values: Mapping[str, Any]) -> Array:
        """Return a new flat vector of the trained parameters, in plan order, from canonical
        arrays.
        """
        flat = np.empty_like(self.trained)
        self._vectors.flatten(values, flat)
        return flat

    def initialise(self, seed: int, diameter: float) -> None:
        """Take the values that a run begins with."""
        parameters = [place.parameter for place in self._vectors.places.values()]
        self.load(initial_values(parameters, seed, diameter, self.dtype.name))

    def incoming(self) -> list[Array]:
        """Return views [rows, fan-in] into ``trained`` of the incoming vectors, biases left out."""
        return list(self._vectors.incoming(self.trained))
