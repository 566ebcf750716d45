"""The networks that compiled code is measured with, trained from seeds on the digits.

    python bench/compiled_networks.py FOLDER

writes the weights and rows of those that `tflite/make.py` makes .tflite files of.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import netsharp

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))

from make_tables import enlarge, read_digits  # noqa: E402

#: The seed of a single network; of each kind whose accuracy is measured there are three.
SEED = 1
SEEDS = (1, 2, 3)
DENSE = """
input Image [{0}];
hidden A [64] {1} from Image all;
hidden B [32] {1} from A all;
output Digit [10] softmax from B all;
"""
IMAGES = """
input Image [28, 28];
hidden C1 [8, 24, 24] {0} from Image convolve {{
  InputShape = [28, 28]; KernelShape = [5, 5]; MapCount = 8;
}}
hidden P1 [8, 12, 12] from C1 max pool {{
  InputShape = [8, 24, 24]; KernelShape = [1, 2, 2]; Stride = [1, 2, 2];
}}
hidden C2 [16, 8, 8] {0} from P1 convolve {{
  InputShape = [8, 12, 12]; KernelShape = [8, 5, 5]; MapCount = 16;
}}
hidden P2 [16, 4, 4] from C2 max pool {{
  InputShape = [16, 8, 8]; KernelShape = [1, 2, 2]; Stride = [1, 2, 2];
}}
output Digit [10] softmax from P2 all;
"""
DIGIT = """
input Image [64];
hidden Hidden [32] tanh from Image all;
output Digit [10] softmax from Hidden all;
"""
_DEEP = "".join(
    f"hidden H{n} [24] tanh from {f'H{n - 1}' if n else 'Image'} all;\n" for n in range(9)
)
DEEP = f"input Image [64];\n{_DEEP}output Digit [10] softmax from H8 all;"
#: Each map of the second layer sees one map of the first, with weights of its own.
DEPTHWISE = """
input Image [8, 8];
hidden C1 [8, 8, 8] rlinear from Image convolve {
  InputShape = [8, 8]; KernelShape = [3, 3]; Padding = true; MapCount = 8;
}
hidden C2 [8, 6, 6] rlinear from C1 convolve {
  InputShape = [8, 8, 8]; KernelShape = [1, 3, 3]; Sharing = [false, true, true];
}
hidden F [32] rlinear from C2 all;
output Digit [10] softmax from F all;
"""
#: Features that are given as they are, some a thousand times as large as others.
SCALED = "input Image [64]; hidden A [32] tanh from Image all; hidden B [24] rlinear from A all;\
 output Digit [10] softmax from B all;"


class Kind(NamedTuple):
    """A network, the side of its pictures, and what rows and training have that is unusual."""

    text: str
    side: int
    badly_scaled: bool = False
    settings: tuple[tuple[str, Any], ...] = ()


KINDS = {
    "digit MLP, tanh": Kind(DIGIT, 8),
    "MLP, tanh": Kind(DENSE.format(784, "tanh"), 28),
    "MLP, sigmoid": Kind(DENSE.format(784, "sigmoid"), 28, settings=(("epochs", 40),)),
    "MLP, rlinear": Kind(DENSE.format(784, "rlinear"), 28),
    "CNN, tanh": Kind(IMAGES.format("tanh"), 28, settings=(("epochs", 12),)),
    "CNN, rlinear": Kind(IMAGES.format("rlinear"), 28, settings=(("epochs", 12),)),
    "10 layers": Kind(DEEP, 8, settings=(("epochs", 60),)),
    "depthwise": Kind(DEPTHWISE, 8),
    "badly scaled": Kind(SCALED, 8, badly_scaled=True, settings=(("normalizer", "minmax"),)),
}
#: Those whose size and speed are measured, too.
DIGITS, MLP, CNN = "digit MLP, tanh", "MLP, tanh", "CNN, tanh"
#: Names without blanks, of files and in C.
NAMES = {DIGITS: "digits", MLP: "mlp", CNN: "cnn"}


class Trained(NamedTuple):
    """A trained network with the rows that it has learned and those that were held back."""

    model: Any
    learned: np.ndarray
    held: np.ndarray
    answers: np.ndarray

    def compiled(self) -> Any:
        """It in integers, judged by the rows held back."""
        return netsharp.compile(self.model, self.learned, holdout=(self.held, self.answers))


@cache
def trained(kind: str, seed: int = SEED) -> Trained:
    """Train a network; two fifths of the rows, which the seed chooses, are held back."""
    text, side, badly_scaled, settings = KINDS[kind]
    pictures, digits = read_digits()
    rows = (pictures if side == 8 else enlarge(pictures, side, side)).reshape(len(pictures), -1)
    rows = rows / 16.0
    if badly_scaled:
        rows = rows * 10.0 ** (np.arange(rows.shape[1]) % 7 - 3)
    order = np.random.default_rng(seed).permutation(len(rows))
    held, learned = np.split(order, [2 * len(rows) // 5])
    given: dict[str, Any] = {"epochs": 20, "seed": seed, "normalizer": "none", "validation": 0.0}
    model = netsharp.train(
        text, rows[learned], digits[learned], task="multiclass", **(given | dict(settings))
    )
    return Trained(model, rows[learned], rows[held], digits[held])


def store(folder: Path) -> None:
    """Write weights and rows, as float32, by the name of the network."""
    for kind in (MLP, CNN):
        found = trained(kind)
        tensors = {key.replace("/", "."): value for key, value in found.model.tensors.items()}
        rows = found.learned.astype(np.float32)
        np.savez(folder / f"{NAMES[kind]}.npz", **tensors, rows=rows)


if __name__ == "__main__":
    store(Path(sys.argv[1]))
