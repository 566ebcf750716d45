"""Kernels of operations that sum over samples: criteria, figures reported beside them, and norms.

Their sources are samples alone: gaps between sequences are left out before. Source: CNTK,
ComputationNetworkLib/TrainingNodes.h and EvaluationNodes.h.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from netsharp_engine.graph import SamplesError
from netsharp_engine.nodes import Node
from netsharp_engine.tensor_backend.kernels.elements import (
    away_from_zero,
    clipped_log,
    log_softmax,
    one_number,
    softmax,
)
from netsharp_engine.tensor_backend.kernels.rows import (
    Array,
    Backward,
    Sources,
    TensorKernel,
    total,
)


def _entropy(node: Node, sources: Sources) -> Array:
    labels, z = sources
    return one_number(total(-(labels.reshape(z.shape) * log_softmax(z))))


def _entropy_labels(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    found: Array = -log_softmax(sources[1]).reshape(sources[0].shape) * gradient[0]
    return found


def _entropy_values(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    """Return the gradient by CNTK's rule, which assumes that labels sum to 1."""
    labels, z = sources
    found: Array = (softmax(z) - labels.reshape(z.shape)) * gradient[0]
    return found


def _plain_entropy(node: Node, sources: Sources) -> Array:
    """Return the cross entropy of labels and probabilities."""
    labels, found = _flat(sources)
    return one_number(total(-(labels * clipped_log(found))))


def _plain_entropy_labels(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    found: Array = -clipped_log(_flat(sources)[1]) * gradient[0]
    return found.reshape(-1, *node.inputs[0].shape)


def _plain_entropy_values(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    labels, given = _flat(sources)
    found: Array = -labels / away_from_zero(given) * gradient[0]
    return found.reshape(-1, *node.inputs[1].shape)


def _errors(node: Node, sources: Sources) -> Array:
    """Return the number of samples whose first largest value is elsewhere than the label's.

    A third source gives the number of largest values that count.
    """
    labels, z = _flat(sources[:2])
    wanted = labels.argmax(axis=1)
    most = int(sources[2].reshape(-1)[0]) if len(sources) == 3 else 1
    if most <= 1:
        missed = wanted != z.argmax(axis=1)
    else:
        best = np.argsort(-z, axis=1, kind="stable")[:, :most]
        missed = (best != wanted[:, None]).all(axis=1)
    return one_number(np.asarray(np.count_nonzero(missed), z.dtype))


def _flat(sources: Sources) -> list[Array]:
    """Return sources as [samples, elements], the same number of samples for each."""
    count = max(map(len, sources))
    flat = [one.reshape(len(one), -1) for one in sources]
    return [np.broadcast_to(one, (count, one.shape[1])) for one in flat]


def _difference(sources: Sources) -> Array:
    """Return the difference of two sources with equally many elements, [samples, elements]."""
    first, second = (one.reshape(len(one), -1) for one in sources)
    found: Array = first - second
    return found


def _squares(node: Node, sources: Sources) -> Array:
    return one_number(total(np.square(_difference(sources))))


def _squares_by(number: int, sign: int) -> Backward:
    """Return the gradient of a sum of squares by one of both."""

    def back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
        found: Array = _difference(sources) * (2 * sign * gradient[0])
        return found.reshape(-1, *sources[number].shape[1:])

    return back


def _hits(sources: Sources) -> tuple[Array, Array, Array | None]:
    """Return the probability that is given to each label, which is 0 or 1, the label, and its
    weight.
    """
    labels, given, *weights = _flat(sources)
    hits = 2 * labels * given + 1 - labels - given
    return hits, labels, weights[0] if weights else None


def _logistic(node: Node, sources: Sources) -> Array:
    """Return the logistic criterion; weights of samples count as shares of their sum, times the
    samples.
    """
    hits, _, weights = _hits(sources)
    logs = clipped_log(hits)
    if weights is None:
        return one_number(-total(logs))
    weights = np.broadcast_to(weights, logs.shape)
    return one_number(-total(weights * logs) / total(weights) * len(logs))


def _logistic_values(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    """Return the gradient by CNTK's rule, which assumes that weights are 1 in the mean."""
    hits, labels, weights = _hits(sources)
    by = 2 * labels - 1 if weights is None else (2 * labels - 1) * weights
    found: Array = -by / away_from_zero(hits) * gradient[0]
    return found.reshape(-1, *node.inputs[1].shape)


def _sum(node: Node, sources: Sources) -> Array:
    return one_number(total(sources[0]))


def _sum_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    return np.broadcast_to(gradient.reshape((1,) * sources[0].ndim), sources[0].shape)


def _first_norm_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    found: Array = np.sign(sources[0]) * gradient[0]
    return found


def _second_norm(node: Node, sources: Sources) -> Array:
    return one_number(np.sqrt(total(np.square(sources[0]))))


def _second_norm_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    found: Array = sources[0] * (gradient[0] / away_from_zero(value[0]))
    return found


def _given_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    found: Array = sources[1] * gradient[0]
    return found.reshape(-1, *node.inputs[2].shape)


class _Class(NamedTuple):
    """The words of a class: which samples have one of it, which each, and where they stand."""

    samples: Array
    words: Array
    range: slice


class _Classes:
    """The words that labels name, gathered by their classes, and the values of these."""

    def __init__(self, node: Node, sources: Sources) -> None:
        labels, self.hidden, self.values = _flat([sources[0], sources[1], sources[3]])
        self.weights = sources[2].reshape(-1, sources[2].shape[-1])
        self._node, self._labels = node, labels.astype(np.intp)
        self._check()

    @property
    def classes(self) -> Array:
        """Return the class of the word of each sample."""
        found: Array = self._labels[:, 1]
        return found

    def each(self) -> Iterator[_Class]:
        """Yield class after class."""
        ranges, number = np.unique(self._labels[:, 2:], axis=0, return_inverse=True)
        order = np.argsort(number.reshape(-1), kind="stable")
        ends = np.cumsum(np.bincount(number.reshape(-1), minlength=len(ranges)))
        for (first, end), samples in zip(ranges.tolist(), np.split(order, ends[:-1]), strict=True):
            words = self._labels[samples, 0] - first
            yield _Class(samples, words, slice(first, end))

    def scores(self, one: _Class) -> Array:
        """Return the scores of the words of a class in each of its samples."""
        found: Array = self.hidden[one.samples] @ self.weights[one.range].T
        return found

    def slope(self, one: _Class) -> Array:
        """Return the gradient by these scores."""
        found = softmax(self.scores(one))
        found[np.arange(len(found)), one.words] -= 1
        return found

    def _check(self) -> None:
        word, kind, first, end = self._labels.T
        wrong = (first < 0) | (end > len(self.weights)) | (word < first) | (word >= end)
        wrong |= (kind < 0) | (kind >= self.values.shape[1])
        if wrong.any():
            values = ", ".join(map(str, self._labels[np.flatnonzero(wrong)[0]].tolist()))
            raise SamplesError(
                f"'{self._node.name}' has the label {values}: word, class, first word and end of "
                f"the class. A word is one of its class, and there are {len(self.weights):,} words "
                f"in {self.values.shape[1]:,} classes"
            )


def _class_entropy(node: Node, sources: Sources) -> Array:
    """Return the entropy of the class of each word, plus that of the word among those of its
    class.
    """
    classes = _Classes(node, sources)
    logs = log_softmax(classes.values)
    found = logs[np.arange(len(logs)), classes.classes]
    for one in classes.each():
        scores = log_softmax(classes.scores(one))
        found[one.samples] += scores[np.arange(len(scores)), one.words]
    return one_number(-total(found))


def _class_entropy_hidden(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    classes = _Classes(node, sources)
    found = np.zeros(classes.hidden.shape, gradient.dtype)
    for one in classes.each():
        found[one.samples] = classes.slope(one) @ classes.weights[one.range]
    found *= gradient[0]
    return found.reshape(-1, *node.inputs[1].shape)


def _class_entropy_weights(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    classes = _Classes(node, sources)
    found = np.zeros(classes.weights.shape, gradient.dtype)
    for one in classes.each():
        found[one.range] += classes.slope(one).T @ classes.hidden[one.samples]
    found *= gradient[0]
    return found.reshape(-1, *node.inputs[2].shape)


def _class_entropy_values(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    classes = _Classes(node, sources)
    found = softmax(classes.values)
    found[np.arange(len(found)), classes.classes] -= 1
    found *= gradient[0]
    return found.reshape(-1, *node.inputs[3].shape)


CRITERIA: dict[str, TensorKernel] = {
    "CrossEntropyWithSoftmax": TensorKernel(_entropy, (_entropy_labels, _entropy_values)),
    "CrossEntropy": TensorKernel(_plain_entropy, (_plain_entropy_labels, _plain_entropy_values)),
    "ClassificationError": TensorKernel(_errors, (None, None, None)),
    "SquareError": TensorKernel(_squares, (_squares_by(0, 1), _squares_by(1, -1))),
    "Logistic": TensorKernel(_logistic, (None, _logistic_values, None)),
    "ClassBasedCrossEntropyWithSoftmax": TensorKernel(
        _class_entropy,
        (None, _class_entropy_hidden, _class_entropy_weights, _class_entropy_values),
    ),
    "DummyCriterion": TensorKernel(_sum, (None, None, _given_back)),
    "SumElements": TensorKernel(_sum, (_sum_back,)),
    "MatrixL1Reg": TensorKernel(
        lambda node, sources: one_number(total(np.abs(sources[0]))), (_first_norm_back,)
    ),
    "MatrixL2Reg": TensorKernel(_second_norm, (_second_norm_back,)),
}
