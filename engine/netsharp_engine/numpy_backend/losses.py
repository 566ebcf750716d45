"""Numpy kernels of the criteria: value, and gradient by the network's last values.

All arrays are [outputs, samples]; ``goal`` is the target times the sample's share of the batch,
``share`` [samples] is that share (zero for samples that were not fed). Source: Bishop, Pattern
Recognition and Machine Learning (2006), section 5.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from netsharp_engine.numpy_backend.kernels.arrays import Array


class LossArrays(NamedTuple):
    """``last`` is what the loss reads: the output, or what a fused activation reads.

    ``output`` receives a fused activation's values and is scratch otherwise; ``gradient``
    (by ``last``) is None where none is wanted.  ``mass`` is a sample's share times the sum
    of its targets.  ``spare`` and ``line`` are scratch.
    """

    last: Array
    output: Array
    gradient: Array | None
    goal: Array
    share: Array
    mass: Array
    spare: Array
    line: Array


def softmax_entropy(arrays: LossArrays) -> float:
    """Return the categorical cross-entropy of a softmax of the logits, summed over samples, and set
    the gradient p * mass - goal, all [outputs, samples].
    """
    _, output, gradient, goal, _, mass, spare, line = arrays
    np.maximum.reduce(arrays.last, axis=0, out=line)
    np.subtract(arrays.last, line, out=spare)
    np.exp(spare, out=output)
    np.add.reduce(output, axis=0, out=line)
    np.divide(output, line, out=output)
    np.log(line, out=line)
    if gradient is not None:
        np.multiply(output, mass, out=gradient)
        np.subtract(gradient, goal, out=gradient)
    return float(np.dot(line, mass)) - float(np.vdot(goal, spare))


def sigmoid_entropy(arrays: LossArrays) -> float:
    """Return the binary cross-entropies of sigmoids of the logits, summed, and set the gradient (p
    - t) * share, all [outputs, samples].
    """
    last, output, gradient, goal, share, _, spare, line = arrays
    np.abs(last, out=spare)
    np.negative(spare, out=spare)
    np.exp(spare, out=spare)
    np.log1p(spare, out=spare)
    np.maximum(last, 0.0, out=output)
    np.add(spare, output, out=spare)
    np.add.reduce(spare, axis=0, out=line)
    np.negative(last, out=output)
    np.exp(output, out=output)
    np.add(output, 1.0, out=output)
    np.reciprocal(output, out=output)
    if gradient is not None:
        np.multiply(output, share, out=gradient)
        np.subtract(gradient, goal, out=gradient)
    return float(np.dot(line, share)) - float(np.vdot(goal, last))


def entropy(arrays: LossArrays) -> float:
    """Return the categorical cross-entropy of outputs that are probabilities, summed, and set the
    gradient -t / y.

    Probabilities below the smallest step of the dtype count as that step.
    """
    last, _, gradient, goal, _, _, spare, _ = arrays
    np.maximum(last, np.finfo(last.dtype).eps, out=spare)
    if gradient is not None:
        np.divide(goal, spare, out=gradient)
        np.negative(gradient, out=gradient)
    np.log(spare, out=spare)
    return -float(np.vdot(goal, spare))


def binary_entropy(arrays: LossArrays) -> float:
    """Return the binary cross-entropies, summed, of outputs that are probabilities, and set the
    gradient.
    """
    last, _, gradient, goal, share, _, spare, line = arrays
    least = np.finfo(last.dtype).eps
    np.maximum(last, least, out=spare)
    if gradient is not None:
        np.divide(goal, spare, out=gradient)
        np.negative(gradient, out=gradient)
    np.log(spare, out=spare)
    value = -float(np.vdot(goal, spare))
    rest = arrays.output
    np.subtract(1.0, last, out=spare)
    np.maximum(spare, least, out=spare)
    np.log(spare, out=rest)
    np.add.reduce(rest, axis=0, out=line)
    value -= float(np.dot(line, share)) - float(np.vdot(goal, rest))
    if gradient is not None:
        np.subtract(share, goal, out=rest)
        np.divide(rest, spare, out=rest)
        np.add(gradient, rest, out=gradient)
    return value


def squared(arrays: LossArrays) -> float:
    """Sum over outputs of (y - t)^2, without one half; gradient 2 (y - t) * share."""
    last, _, gradient, goal, share, _, spare, line = arrays
    np.multiply(last, share, out=spare)
    np.subtract(spare, goal, out=spare)
    if gradient is not None:
        np.add(spare, spare, out=gradient)
    np.maximum(share, np.finfo(share.dtype).tiny, out=line)
    rest = arrays.output
    np.divide(spare, line, out=rest)
    return float(np.vdot(spare, rest))


class Loss(NamedTuple):
    """A criterion: computed together with the activation that it reads, or alone."""

    fused: Callable[[LossArrays], float]
    plain: Callable[[LossArrays], float]


LOSSES: dict[str, Loss] = {
    "cross entropy": Loss(softmax_entropy, entropy),
    "binary cross entropy": Loss(sigmoid_entropy, binary_entropy),
    "squared error": Loss(squared, squared),
}


def right_answers(outputs: Array, codes: Array) -> int:
    """Return the number of rows of [rows, outputs] whose largest output is the one of the code.

    One output is right for class 1 above one half.
    """
    predicted = outputs[:, 0] > 0.5 if outputs.shape[1] == 1 else outputs.argmax(axis=1)
    return int(np.count_nonzero(predicted == codes))


#: Criteria that are reported beside the one that is minimised.
COUNTS: dict[str, Callable[[Array, Array], int]] = {"right answers": right_answers}
