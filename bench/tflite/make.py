"""Makes the .tflite files that measurements take, in an environment of its own with TensorFlow.

    python bench/compiled_networks.py FOLDER                # with netsharp: weights and rows
    python -m venv ELSEWHERE && ELSEWHERE/bin/pip install tensorflow-cpu==2.21.0
    ELSEWHERE/bin/python bench/tflite/make.py FOLDER       # mlp.tflite and cnn.tflite beside it

Weights of int8 with a scale for each node, operands and answers of int8, ranges of the rows of the
training: what its converter makes where nothing else is asked.  Prints the hash of each file.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import tensorflow as tf

#: The rows from which the ranges are taken.
SHOWN = 500


class Dense(tf.Module):
    """Full layers, tangents between them."""

    size = 784

    def __init__(self, given: dict[str, np.ndarray]) -> None:
        super().__init__()
        self.layers = [
            (given[f"{name}.{source}.weights"].T.copy(), given[f"{name}.biases"])
            for name, source in (("A", "Image"), ("B", "A"), ("Digit", "B"))
        ]

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        """Answers of one row before the softmax."""
        for number, (weights, biases) in enumerate(self.layers):
            x = tf.matmul(x, weights) + biases
            if number + 1 < len(self.layers):
                x = tf.tanh(x)
        return x


class Images(tf.Module):
    """Two convolutions with pools, and a full layer."""

    size = 784

    def __init__(self, given: dict[str, np.ndarray]) -> None:
        super().__init__()
        # In our weights maps come before rows and columns; in theirs after them.
        self.kernels = []
        for name, maps in (("C1.Image", 1), ("C2.P1", 8)):
            stored = given[f"{name}.weights"]
            kernel = stored[:, :-1].reshape(len(stored), maps, 5, 5)
            self.kernels.append((kernel.transpose(2, 3, 1, 0).copy(), stored[:, -1].copy()))
        last = given["Digit.P2.weights"].reshape(10, 16, 4, 4).transpose(2, 3, 1, 0)
        self.last = last.reshape(256, 10), given["Digit.biases"]

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        """Answers of one row before the softmax."""
        x = tf.reshape(x, (1, 28, 28, 1))
        for kernel, biases in self.kernels:
            x = tf.tanh(tf.nn.conv2d(x, kernel, 1, "VALID") + biases)
            x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        weights, biases = self.last
        return tf.matmul(tf.reshape(x, (1, 256)), weights) + biases


def converted(network: Dense | Images, rows: np.ndarray) -> bytes:
    """The file of a network, whose ranges are those of rows."""

    def shown() -> Iterator[list[np.ndarray]]:
        for row in rows[:SHOWN]:
            yield [row[None]]

    call = tf.function(
        network.__call__, input_signature=[tf.TensorSpec((1, network.size), tf.float32)]
    ).get_concrete_function()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([call], network)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = shown
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    made: bytes = converter.convert()
    return made


def main(folder: Path) -> None:
    """Make both files."""
    for name, kind in (("mlp", Dense), ("cnn", Images)):
        with np.load(folder / f"{name}.npz") as stored:
            given = {key: stored[key] for key in stored.files}
        made = converted(kind(given), given.pop("rows"))
        (Path(__file__).parent / f"{name}.tflite").write_bytes(made)
        print(f"{name}.tflite {len(made)} bytes, SHA-256 {hashlib.sha256(made).hexdigest()}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
