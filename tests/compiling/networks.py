"""Small trained networks to be compiled."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import netsharp
from netsharp_compile.widths import ACTIVATIONS, LOGITS, WEIGHTS
from netsharp_engine.activations import NAMES
from tests.conftest import SEED

DEEP = (
    "input X auto; hidden A [7] tanh from X all; hidden B [6] tanh from A all;"
    "hidden C [5] rlinear { from A all; from B all; from X all; from A all; }"
    "output Y auto { from C all; from A all; }"
)
#: Maps of every rest of four, a pool of largest sums, borders, bytes with and without signs, and
#: two bundles of convolutions into one layer.
MAPS = (
    "input X [6, 6]; hidden A [4, 6, 6] tanh from X convolve { InputShape = [6, 6];"
    " KernelShape = [3, 3]; Padding = true; MapCount = 4; }"
    "hidden B [7, 4, 4] rlinear { from A convolve { InputShape = [4, 6, 6];"
    " KernelShape = [4, 3, 3]; MapCount = 7; } from X convolve { InputShape = [1, 6, 6];"
    " KernelShape = [1, 3, 3]; MapCount = 7; } }"
    "hidden P [7, 2, 2] from B max pool { InputShape = [7, 4, 4]; KernelShape = [1, 2, 2];"
    " Stride = [1, 2, 2]; }"
    "hidden C [5, 4, 4] sigmoid from A convolve { InputShape = [4, 6, 6];"
    " KernelShape = [4, 3, 3]; MapCount = 5; }"
    "hidden Q [5, 2, 2] from C max pool { InputShape = [5, 4, 4]; KernelShape = [1, 2, 2];"
    " Stride = [1, 2, 2]; }"
    "hidden D [3, 6, 6] tanh from X convolve { InputShape = [6, 6]; KernelShape = [3, 3];"
    " Padding = true; MapCount = 3; }"
    "output Y auto { from P all; from Q all; from D all; }"
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


def drawn(chance: random.Random) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """Draw a network and train it for a moment; return it, its rows, and settings to compile it."""
    names, parts = ["X"], ["input X auto;"]
    for number in range(chance.randrange(1, 6)):
        read = chance.choices(names, k=chance.randrange(1, 4))
        bundles = " ".join(f"from {one} all;" for one in read)
        function = chance.choice([one for one in NAMES if one not in ("softmax", "square")])
        names.append(f"H{number}")
        parts.append(f"hidden H{number} [{chance.randrange(1, 9)}] {function} {{ {bundles} }}")
    ended = chance.choice(["softmax", "sigmoid", "tanh", "linear"])
    last = " ".join(f"from {one} all;" for one in sorted({names[-1], chance.choice(names)}))
    parts.append(f"output Y auto {ended} {{ {last} }}")
    model, x = trained(
        "\n".join(parts),
        features=chance.randrange(1, 9) + 1,
        normalizer=chance.choice(["robust", "minmax", "gaussian", "none"]),
        dtype=chance.choice(["float32", "float64"]),
        epochs=1,
    )
    settings: dict[str, Any] = {
        "activations": chance.choice(ACTIVATIONS),
        "weights": chance.choice(WEIGHTS),
        "logits": chance.choice(LOGITS),
        "share_tables": chance.random() < 0.5,
    }
    return model, x[: chance.choice([1, 2, 200])], settings
