"""Microsoft's package microsoftml on this engine: scripts change the name of the package alone.

>>> from netsharp.microsoftml import rx_neural_network, rx_predict
"""

from __future__ import annotations

from typing import Any

from netsharp_lsp.microsoftml.learning import NeuralNetwork, rx_neural_network
from netsharp_lsp.microsoftml.refused import function_of
from netsharp_lsp.microsoftml.scoring import rx_predict
from netsharp_lsp.microsoftml.values import (
    adadelta_optimizer,
    avx_math,
    clr_math,
    concat,
    gpu_math,
    log_loss,
    mkl_math,
    sgd_optimizer,
    squared_loss,
    sse_math,
)

__all__ = [
    "NeuralNetwork",
    "adadelta_optimizer",
    "avx_math",
    "clr_math",
    "concat",
    "gpu_math",
    "log_loss",
    "mkl_math",
    "rx_neural_network",
    "rx_predict",
    "sgd_optimizer",
    "squared_loss",
    "sse_math",
]


def __getattr__(name: str) -> Any:
    """Return a placeholder for another function of MicrosoftML, which says so when called."""
    return function_of(name)
