"""Errors of logits in integers beside onnxruntime's own quantisation of the same weights, and what
onnxruntime makes of our integers.

Knows no bound.
"""

from __future__ import annotations

import shutil
import statistics
from pathlib import Path
from typing import NamedTuple

import compiled_hosts
import numpy as np
from compiled_networks import Trained

import netsharp
from netsharp_compile.layers import layers_of, values_of
from netsharp_compile.simulating import logits_of

#: Answers of bytes, as onnxruntime's tool has them, and those that `compile` has by itself.
EQUAL, WIDE = "uint8", "int16"


class LogitErrors(NamedTuple):
    """Errors on rows held back, as parts of the spread of logits in floating point: onnxruntime's,
    and ours with logits of each width.
    """

    theirs: float
    ours: dict[str, float]

    def quotient(self, width: str) -> float:
        """Ours by theirs."""
        return self.ours[width] / self.theirs


class Differing(NamedTuple):
    """Of the rows held back how many codes of answers differ in onnxruntime from the simulator's,
    how many of those of all layers given the same codes before them, and how many rows have another
    class.
    """

    rows: int
    answers: int
    codes: int
    given: int
    all_codes: int
    classes: int


def errors(found: Trained, folder: Path) -> LogitErrors:
    """Measure one network, both calibrated by the rows that it has learned."""
    from netsharp_engine.exporting.onnx.trained import FEATURES

    model, rows = found.model, found.held.astype(found.model.settings.dtype)
    normalized = rows.copy()
    model.normalizer.apply(normalized)
    layers = layers_of(model.graph, model.tensors)
    *_, (wanted, _) = values_of(layers, normalized.astype(np.float64))
    session = compiled_hosts.onnx_session(compiled_hosts.quantized_by_onnxruntime(found, folder))
    shutil.rmtree(folder)
    (theirs,) = session.run(None, {FEATURES: found.held.astype(np.float32)})
    ours = {}
    for width in (EQUAL, WIDE):
        network = netsharp.compile(model, found.learned, logits=width).network
        ours[width] = _error(logits_of(network, rows.astype(np.float64)), wanted)
    return LogitErrors(_error(theirs, wanted), ours)


def _error(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.sqrt(np.square(found - wanted).mean()) / wanted.std())


def differing(found: Trained) -> Differing:
    """Compare our own QDQ file in onnxruntime with the simulator."""
    seen = found.compiled().to_onnx([found.held]).agreement
    return Differing(
        seen.rows,
        seen.answers.differing,
        seen.answers.codes,
        sum(one.differing for one in seen.layers),
        sum(one.codes for one in seen.layers),
        seen.rows - seen.same,
    )


def mean(quotients: list[float]) -> float:
    """The geometric mean."""
    return statistics.geometric_mean(quotients)
