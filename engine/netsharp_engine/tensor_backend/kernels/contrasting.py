"""Noise-contrastive estimation: the next word against a few that were drawn.

Sources are labels, vectors, a column of weights for each word, and a bias for each. A label holds
the word and the logarithm of its probability as noise, then each drawn word with minus that of its
own; a label of one number is the word alone, which is then compared with all words, or, where it is
negative, scored unnormalised [CNTK: Math/CPUMatrix.cpp, AssignNoiseContrastiveEstimation].
"""

from __future__ import annotations

import numpy as np

from netsharp_engine.graph import GraphError, Node, SamplesError
from netsharp_engine.tensor_backend.kernels.elements import log_softmax, one_number
from netsharp_engine.tensor_backend.kernels.rows import Array, Sources, TensorKernel, total


class _Scores:
    """Words [samples, words of a label], and the scores of each of them."""

    def __init__(self, node: Node, sources: Sources) -> None:
        count = max(len(sources[0]), len(sources[1]))
        labels, self.hidden = (
            np.broadcast_to(one.reshape(len(one), -1), (count, one[0].size)) for one in sources[:2]
        )
        self.weights = sources[2].reshape(-1, sources[2].shape[-1])
        self.biases = sources[3].reshape(-1)
        self.words, self._noise = labels[:, ::2].astype(np.intp), labels[:, 1::2]
        self._demand_words(node, np.abs(self.words))

    def found(self) -> Array:
        """Return the score of each word of each label, in float64."""
        chosen = self.weights[self.words]
        scores = np.einsum("nwd,nd->nw", chosen, self.hidden, dtype=np.float64)
        found: Array = scores + self.biases[self.words]
        return found

    def likelihoods(self) -> tuple[Array, Array]:
        """Return the logarithms of the probabilities that a word is data, and that it is noise."""
        noise = -self._noise.astype(np.float64)
        noise[:, 0] *= -1
        noise += np.log(self.words.shape[1] - 1) if self.words.shape[1] > 1 else -np.inf
        scores = self.found()
        whole = np.logaddexp(scores, noise)
        return scores - whole, noise - whole

    def slope(self) -> Array:
        """Return the gradient by the scores."""
        found: Array = np.exp(self.likelihoods()[0])
        found[:, 0] -= 1
        return found

    def _demand_words(self, node: Node, words: Array) -> None:
        wrong = np.argwhere(words >= len(self.weights))
        if len(wrong):
            raise SamplesError(
                f"'{node.name}' has a label with word {words[tuple(wrong[0])]:,}, and there are "
                f"{len(self.weights):,} words"
            )


def _estimated(node: Node, sources: Sources) -> Array:
    scores = _Scores(node, sources)
    if sources[0][0].size == 1:
        return one_number(np.asarray(_evaluated(scores, sources), sources[1].dtype))
    own, noise = scores.likelihoods()
    likelihood = own[:, 0].sum() + noise[:, 1:].sum()
    return one_number(np.asarray(-likelihood, sources[1].dtype))


def _evaluated(scores: _Scores, sources: Sources) -> float:
    """Return the criterion for labels of one number: a word among all, or its score where it is
    below 0.
    """
    given = sources[0].reshape(-1)
    if (given < 0).any() and not (given > 0).any():
        scores.words = np.abs(scores.words)
        return float(-scores.found().sum())
    every = log_softmax(scores.hidden @ scores.weights.T + scores.biases)
    return float(-total(every[np.arange(len(every)), scores.words[:, 0]]))


def _by_hidden(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    scores = _trained(node, sources)
    found = np.einsum("nw,nwd->nd", scores.slope(), scores.weights[scores.words])
    return _as_by(found, node, 1, gradient)


def _by_weights(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    scores = _trained(node, sources)
    found = np.zeros(scores.weights.shape, np.float64)
    np.add.at(found, scores.words, scores.slope()[..., None] * scores.hidden[:, None])
    return _as_by(found, node, 2, gradient)


def _by_biases(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    scores = _trained(node, sources)
    found = np.zeros(len(scores.biases), np.float64)
    np.add.at(found, scores.words, scores.slope())
    return _as_by(found, node, 3, gradient)


def _as_by(found: Array, node: Node, number: int, gradient: Array) -> Array:
    """Return a gradient in the shape and type of a source."""
    scaled: Array = (found * gradient[0]).astype(gradient.dtype)
    return scaled.reshape(-1, *node.inputs[number].shape)


def _trained(node: Node, sources: Sources) -> _Scores:
    """Return the scores for a gradient. GraphError for labels of one number, which are evaluated
    and not trained.
    """
    if sources[0][0].size == 1:
        why = "has labels of one number, which are evaluated and not trained by: noise is needed"
        raise GraphError(f"'{node.name}' {why}", node.origin)
    return _Scores(node, sources)


CONTRASTING = {
    "NoiseContrastiveEstimation": TensorKernel(
        _estimated, (None, _by_hidden, _by_weights, _by_biases)
    ),
}
