"""Every kind of bundle in integers: the numbers of the network, and C of the simulator's bits."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.layers import layers_of, values_of
from netsharp_compile.planning import ACTIVATIONS, LOGITS, WEIGHTS
from tests.compiling.builds import SANITIZED, require_same_bits
from tests.compiling.drawn_texts import DrawnText
from tests.compiling.networks import trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")


def require_the_layers_of_the_network(model: Any, x: np.ndarray) -> None:
    """What is made integers is what the engine computes."""
    rows = x[:20].astype(model.settings.dtype)
    model.normalizer.apply(rows)
    layers = layers_of(model.graph, model.tensors)
    *_, (sums, values) = values_of(layers, rows.astype(np.float64))
    if layers[-1].function == "softmax":
        powers = np.exp(sums - sums.max(axis=1, keepdims=True))
        values = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(values, model.compute(x[:20]), rtol=2e-3, atol=1e-4)


def drawn(chance: random.Random, layers: int) -> tuple[Any, np.ndarray]:
    text = DrawnText(chance, layers)
    return trained(
        str(text),
        features=text.features,
        normalizer=chance.choice(["robust", "minmax", "gaussian", "none", "binning"]),
        dtype=chance.choice(["float32", "float64"]),
        epochs=1,
        learning_rate=1e-3,
    )


@pytest.mark.costly
@pytest.mark.drawn
@pytest.mark.parametrize("round_", range(80))
def test_networks_of_all_kinds_drawn_by_chance(round_: int, seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"kinds {seed} {round_}")
    model, x = drawn(chance, chance.randrange(1, 6))
    require_the_layers_of_the_network(model, x)
    settings: dict[str, Any] = {
        "activations": chance.choice(ACTIVATIONS),
        "weights": chance.choice(WEIGHTS),
        "logits": chance.choice(LOGITS),
        "share_tables": chance.random() < 0.5,
    }
    made = netsharp.compile(model, x[: chance.choice([1, 2, 200])], **settings)
    flags = ["-O0", "-O2", "-O3 -march=native", " ".join(SANITIZED)]
    require_same_bits(made, x * chance.choice([1, 1e6]), tmp_path, *chance.sample(flags, 2))
