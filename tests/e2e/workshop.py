"""A folder as a person has it: a network, a table of digits, its other forms, a trained model."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np

from tests.cli.command_line import Answer, netsharp

DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits.csv.gz"
NETWORK = """\
// Small enough for a test.
input Image [8, 8];
hidden Edges [24, 6] rlinear from Image convolve {
  InputShape = [8, 8]; KernelShape = [3, 3]; MapCount = 4;
}
hidden Full [20] tanh from Edges all;
output Digit [10] softmax from Full all;
"""
ROWS = 240
QUICK = (
    *("--epochs", "2", "--batch-size", "4", "--seed", "3"),
    *("--momentum", "0.8", "--init-diameter", "0.5"),
)
LABELLED = ("--label", "digit", "--task", "multiclass")


def furnish(folder: Path) -> None:
    """Write the specification and the table `digits.csv`, its first column the label."""
    (folder / "net.nn").write_text(NETWORK, encoding="utf-8")
    lines = gzip.decompress(DIGITS.read_bytes()).decode().splitlines(keepends=True)
    (folder / "digits.csv").write_text("".join(lines[: ROWS + 1]), encoding="utf-8")


def table(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """The pixels [rows, 8, 8] and the digits of the table."""
    rows = np.loadtxt(folder / "digits.csv", delimiter=",", skiprows=1)
    return rows[:, 1:].reshape(-1, 8, 8).astype(np.uint8), rows[:, 0].astype(np.uint8)


def write_idx(path: Path, array: np.ndarray) -> None:
    """An array of bytes as the files of MNIST store it."""
    head = bytes((0, 0, 8, array.ndim)) + struct.pack(f">{array.ndim}I", *array.shape)
    path.write_bytes(head + array.astype(np.uint8).tobytes())


def train(folder: Path, *arguments: str, model: str = "digits.safetensors") -> Answer:
    """Train the network quickly on the table."""
    return netsharp(
        *("run", "net.nn", "--train", "digits.csv", *LABELLED, *QUICK),
        *("--model", model, *arguments),
        cwd=folder,
    )
