"""Small trained networks to be compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

import netsharp
from tests.conftest import SEED

DEEP = (
    "input X auto; hidden A [7] tanh from X all; hidden B [6] tanh from A all;"
    "hidden C [5] rlinear { from A all; from B all; from X all; from A all; }"
    "output Y auto { from C all; from A all; }"
)
ONE = "input X auto; hidden H [5] {} from X all; output Y auto {} from H all;"


def trained(text: str, task: str = "multiclass", features: int = 6, **settings: Any) -> Any:
    """Train a network for a moment; return it, and its rows."""
    chance = np.random.default_rng(SEED)
    x = chance.normal(2, 3, size=(200, features))
    answers: Any = 1e3 * x[:, 0] + 5e3
    if task != "regression":
        classes = np.array(["no", "yes", "maybe"][: 2 if task == "binary" else 3])
        answers = classes[(x[:, 0] > 2).astype(int) + (task == "multiclass") * (x[:, 1] > 3)]
    return netsharp.train(text, x, answers, task=task, **{"epochs": 3, **settings}), x
