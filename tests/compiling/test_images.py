"""Networks of images in integers: what they lose on rows that neither training nor calibration saw,
and every example of this project.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from tests.cli.command_line import netsharp as command

pytestmark = [
    pytest.mark.filterwarnings("ignore:On training rows"),
    pytest.mark.filterwarnings("ignore:Columns .* have the same value"),
    pytest.mark.costly,
]
EXAMPLES = Path(__file__).parents[2] / "examples"
CONVOLUTION = (EXAMPLES / "digits" / "digits.nn").read_text()


#: Each map has kernels of its own, then a kernel of one cell joins all maps.
DEPTHWISE = (
    "input X [8, 8];"
    "hidden C [8, 8, 8] {} from X convolve { InputShape = [8, 8]; KernelShape = [3, 3];"
    " Padding = true; MapCount = 8; }"
    "hidden D [8, 8, 8] {} from C convolve { InputShape = [8, 8, 8]; KernelShape = [1, 3, 3];"
    " Padding = [false, true, true]; Sharing = [false, true, true]; }"
    "hidden P [8, 4, 4] from D mean pool { InputShape = [8, 8, 8]; KernelShape = [1, 2, 2];"
    " Stride = [1, 2, 2]; }"
    "hidden E [16, 4, 4] {} from P convolve { InputShape = [8, 4, 4]; KernelShape = [8, 1, 1];"
    " MapCount = 16; }"
    "hidden F [16, 4, 4] {} from E convolve { InputShape = [16, 4, 4]; KernelShape = [1, 3, 3];"
    " Padding = [false, true, true]; Sharing = [false, true, true]; }"
    "output Y auto softmax from F all;"
)
DEEP = (
    "input X [8, 8];"
    "hidden C1 [8, 8, 8] {} from X convolve { InputShape = [8, 8]; KernelShape = [3, 3];"
    " Padding = true; MapCount = 8; }"
    + "".join(
        f"hidden C{n} [8, 8, 8] {{}} from C{n - 1} convolve {{ InputShape = [8, 8, 8];"
        " KernelShape = [8, 3, 3]; Padding = [false, true, true]; MapCount = 8; }"
        for n in range(2, 8)
    )
    + "hidden P [8, 4, 4] from C7 max pool { InputShape = [8, 8, 8]; KernelShape = [1, 2, 2];"
    " Stride = [1, 2, 2]; } hidden H [32] {} from P all; output Y auto softmax from H all;"
)
#: A text, a function, a normaliser, and by which powers of ten features differ.
CASES: dict[str, tuple[str, str, str, float]] = {
    "convolution": (CONVOLUTION, "rlinear", "robust", 0),
    "bytes": (CONVOLUTION, "rlinear", "minmax", 0),
    "badly scaled": (CONVOLUTION, "rlinear", "gaussian", 4),
    "depthwise": (DEPTHWISE, "tanh", "minmax", 0),
    "ten layers": (DEEP, "tanh", "gaussian", 0),
}


@pytest.mark.parametrize("case", CASES)
def test_images_lose_nothing(case: str) -> None:
    """At most half a point, or a row; and other classes for hardly any row."""
    text, function, normalizer, powers = CASES[case]
    digits = pytest.importorskip("sklearn.datasets").load_digits()
    chance = np.random.default_rng(1)
    order = chance.permutation(len(digits.data))
    x, y = digits.data[order], digits.target[order]
    x = x * 10.0 ** chance.normal(0, powers / 2, 64)
    settings: dict[str, Any] = {"epochs": 25, "learning_rate": 0.02, "optimizer": "sgd"}
    settings |= {"momentum": 0.9, "batch_size": 16, "init_diameter": 0.4, "seed": 1}
    model = netsharp.train(
        text.replace("{}", function), x[:1200], y[:1200], normalizer=normalizer, **settings
    )
    made = netsharp.compile(model, x[:400])
    found = np.array(made.simulate(x[1200:]).predicted)
    known = np.array(model.predict(x[1200:]).predicted)
    assert (known == y[1200:]).mean() > 0.9
    assert (found == known).mean() >= 0.995
    drop = (known == y[1200:]).mean() - (found == y[1200:]).mean()
    assert drop <= max(0.005, 1 / len(known)), drop


RUNS = sorted(path.relative_to(EXAMPLES).with_suffix("") for path in EXAMPLES.rglob("*.toml"))


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_every_example_that_is_trained_is_compiled(run: Path, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    folder, name = tmp_path / "examples" / run.parent, run.name
    options = ("--epochs", "2", "--root", str(tmp_path))
    trained = command("run", f"{name}.nn", *options, cwd=folder)
    assert trained.code == 0, trained.err
    made = command("compile", f"{name}.safetensors", "--output", "made", cwd=folder)
    assert made.code == 0, made.err
