"""A manifest as a network that answers rows, bit by bit as a device does: in integers up to the
codes of the answers.  Knows no trained model and none of its numbers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from netsharp_compile.layers import SOFTMAX
from netsharp_compile.refusal import CompileError
from netsharp_compile.writing.manifest import network_of
from netsharp_engine.plain_files import open_plain

if TYPE_CHECKING:
    import numpy.typing as npt

    from netsharp_compile.form import ModelForm
    from netsharp_compile.integers import IntegerNetwork
    from netsharp_compile.operators import Array
    from netsharp_engine.data.answers import Predictions
    from netsharp_engine.data.stream import EncodedRows

#: The rows that are computed at once: more take memory and save no time.
_TOGETHER = 1024


class SimulatedNetwork:
    """A compiled network as its manifest has it."""

    def __init__(self, network: IntegerNetwork, form: ModelForm) -> None:
        self.network, self.form = network, form

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> SimulatedNetwork:
        """Return the network of a manifest file; CompileError where it cannot be read."""
        name = os.fspath(path)
        try:
            with open_plain(name) as stream:
                text = stream.read().decode()
            network, form = network_of(text)
        except OSError as error:
            raise CompileError(f"{name}: cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise CompileError(f"{name}: This is not the manifest of a compiled network.") from None
        except CompileError as error:
            raise CompileError(f"{name}: {error}") from None
        return cls(network, form)

    def compute(self, features: npt.NDArray[np.floating]) -> Array:
        """Return the outputs [rows, outputs] for features that are not normalised; NaN for a row in
        which a number is missing.
        """
        matrix = np.asarray(features, self.form.dtype).astype(np.float64)
        absent = np.isnan(matrix).any(axis=1)
        answers = answers_of(self.network, np.nan_to_num(matrix, nan=0.0))
        answers[absent] = np.nan
        return answers

    def predicted(self, parts: Iterable[EncodedRows]) -> Iterator[Predictions]:
        """Yield the answers for rows in parts, as ``predict_stream`` does for a model."""
        for part in parts:
            yield self.form.objective.answers(self.compute(part.features), part.kept)


def stretches(count: int) -> Iterator[slice]:
    """Yield slices of a few rows at a time, which bounds the memory of a network's values."""
    for start in range(0, count, _TOGETHER):
        yield slice(start, start + _TOGETHER)


def answers_of(network: IntegerNetwork, features: Array) -> Array:
    """Return the outputs [rows, outputs] of a network for features [rows, features] that are not
    normalised.
    """
    return answers_from(network, logits_of(network, features))


def logits_of(network: IntegerNetwork, features: Array) -> Array:
    """Return the values [rows, outputs] of the output codes, before a softmax."""
    last = network.layers[-1]
    values = np.empty((len(features), last.nodes))
    for some in stretches(len(features)):
        codes = network.simulate(network.features.of(features[some]))[-1]
        values[some] = last.target.dequantize(codes)
    return values


def answers_from(network: IntegerNetwork, logits: Array) -> Array:
    """Return the answers [rows, outputs] of these."""
    return _softmax(logits) if network.layers[-1].function == SOFTMAX else logits


def _softmax(values: Array) -> Array:
    powers = np.exp(values - values.max(axis=1, keepdims=True, initial=-np.inf))
    found: Array = powers / powers.sum(axis=1, keepdims=True)
    return found
