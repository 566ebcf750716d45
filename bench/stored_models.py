"""Models that CNTK wrote, evaluated beside onnxruntime on what is exported of them.

    python bench/stored_models.py FOLDER [--rows 1 32] [--rounds 15]

FOLDER holds `cifar10.ResNet.cmf`, a network of 20 convolutions for images of 32 x 32, and
`slu.forward.backward.cmf`, an LSTM each way over words.  Ours is ``predict`` of the model that
``netsharp.load`` gives, up to the output node; the peer's is ``run`` of a session on the file of
``netsharp export --to onnx``.  Both get float32 that is ready: images, or sentences of 11 words
one-hot, a list of them or one tensor.  One thread each, in one process, rounds interleaved, medians
of CPU time a call.

The export of the image network, 192 nodes, is a process of its own: CPU seconds from its start to
its end, with both evaluations compared.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from inference import seconds
from measure import Command, cost, headline, left_out, verdict

import netsharp
from netsharp_lsp.__main__ import main as command

Step = Callable[[], Any]
WORDS = 11
IMAGES, TAGGER = "cifar10.ResNet.cmf", "slu.forward.backward.cmf"
#: What the quotient onnxruntime / ours is aimed at.
GOAL = 0.8
#: CPU seconds of an export in a cold process.
MOST_SECONDS = 2.0


def images(rows: int) -> tuple[dict[str, Any], Any]:
    """Pixels for ours, a sample a row, and for the peer [rows, channels, height, width]."""
    drawn = np.random.default_rng(1).integers(0, 256, (rows, 3, 32, 32)).astype(np.float32)
    return {"features": drawn.reshape(rows, -1)}, drawn


def sentences(rows: int) -> tuple[dict[str, Any], Any]:
    """One-hot words for ours, a list of sentences, and for the peer [words, sentences, 943]."""
    chosen = np.random.default_rng(1).integers(0, 943, (rows, WORDS))
    one_hot = np.eye(943, dtype=np.float32)[chosen]
    return {"query": list(one_hot)}, np.ascontiguousarray(one_hot.swapaxes(0, 1))


MODELS: Mapping[str, Callable[[int], tuple[dict[str, Any], Any]]] = {
    IMAGES: images,
    TAGGER: sentences,
}


def steps(path: Path, rows: int, target: Path) -> dict[str, Step]:
    """A call of each side, whose answers are the same within 1e-5 of the largest value."""
    given, tensor = MODELS[path.name](rows)
    model = netsharp.load(str(path))

    def ours() -> Any:
        return model.predict(given, outputs=["z"]).values["z"]

    found: dict[str, Step] = {"ours": ours}
    try:
        import onnxruntime
    except ImportError as error:
        left_out("onnxruntime", error)
        return found
    if command(["export", str(path), "--to", "onnx", str(target)]) != 0:
        raise RuntimeError(f"{path} cannot be exported")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(target), options, providers=["CPUExecutionProvider"])
    (name,) = (one.name for one in session.get_inputs())
    found["onnxruntime"] = lambda: session.run(["z"], {name: tensor})[0]
    return found


def require_same(path: Path, rows: int, found: Mapping[str, Step]) -> None:
    """RuntimeError where the sides answer otherwise."""
    values = {side: np.asarray(step()) for side, step in found.items()}
    one, other = values["ours"], values.get("onnxruntime", values["ours"])
    if path.name == TAGGER and other is not one:
        other = other.swapaxes(0, 1).reshape(one.shape)
    if np.abs(one.reshape(other.shape) - other).max() > 1e-5 * np.abs(one).max():
        raise RuntimeError(f"{path}, {rows} rows: the sides do not answer the same")


def measure(folder: Path, rows: Sequence[int] = (1, 32), rounds: int = 15) -> bool:
    """Print the figures; return whether the goal is reached by all."""
    headline("Models of CNTK, evaluated, float32, one thread each, microseconds of CPU a call")
    met = True
    for name in MODELS:
        for count in rows:
            with tempfile.TemporaryDirectory() as place:
                found = steps(folder / name, count, Path(place) / "model.onnx")
            require_same(folder / name, count, found)
            seen: dict[str, list[float]] = {side: [] for side in found}
            for _ in range(rounds):
                for side, step in found.items():
                    seen[side].append(seconds(step, 0.05))
            middle = {side: statistics.median(each) for side, each in seen.items()}
            for side, each in seen.items():
                print(
                    f"  {name:<26} {count:>3} rows: {side:<11} {middle[side] * 1e6:10,.0f} "
                    f"({min(each) * 1e6:,.0f} to {max(each) * 1e6:,.0f})"
                )
            if "onnxruntime" in middle:
                text = f"{name}, {count} rows, onnxruntime / ours"
                quotient = middle["onnxruntime"] / middle["ours"]
                met &= verdict(text, quotient, GOAL, at_most=False)
    return met


def measure_export(folder: Path, rounds: int = 5) -> bool:
    """Print what an export costs; return whether the bound is met."""
    headline("Export of a network of 192 nodes in a cold process, CPU seconds")
    with tempfile.TemporaryDirectory() as place:
        words = [sys.executable, "-P", "-m", "netsharp_lsp", "export", os.fspath(folder / IMAGES)]
        words += ["--to", "onnx", os.path.join(place, "model.onnx")]
        spent = statistics.median(cost(Command(words)).cpu for _ in range(rounds))
    return verdict(f"{IMAGES}, exported", spent, MOST_SECONDS, at_most=True)


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    measure(options.folder, options.rows, options.rounds)
    measure_export(options.folder)


if __name__ == "__main__":
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        # Read by the libraries when they are loaded.
        os.execve(
            sys.executable,
            [sys.executable, *sys.argv],
            {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
    main()
