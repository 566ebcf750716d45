"""CNTK's experiments trained: images and sequences beside PyTorch eager, a whole run, a reader.

    python bench/cntk_training.py [--rounds 7] [--seconds 0.5]

One thread each, CPU time, rounds in turns; medians.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable

import numpy as np
import peer_convolution
import recurrent
from measure import Command, headline, in_turns, left_out, verdict

from netsharp_engine.cntk.samples.text_format import TextStream, read_text
from netsharp_engine.program import Batch, Job, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft

IMAGES = """{
    Rectified (source, mapsIn, mapsOut) = {
        kernel = Parameter (mapsOut, 25 * mapsIn, init="uniform", initValueScale=10)
        offset = ParameterTensor ((1 : 1 : mapsOut), init="fixedValue", value=1)
        out = RectifiedLinear (offset + Convolution (
            kernel, source, (5 : 5 : mapsIn), mapDims=mapsOut, stride=(1 : 1 : mapsIn),
            autoPadding=false, imageLayout="cudnn"))
    }.out
    image = ImageInput (28, 28, 1, imageLayout="cudnn")
    class = Input {10}
    scaled = Scale (Constant (0.00390625), image)
    first = MaxPooling (Rectified (scaled, 1, 16), 2, 2, 2, 2, imageLayout="cudnn")
    second = AveragePooling (Rectified (first, 16, 32), 2, 2, 2, 2, imageLayout="cudnn")
    z = LinearLayer {10} (Sigmoid (LinearLayer {128} (FlattenDimensions (second, 1, 3))))
    ce = CrossEntropyWithSoftmax (class, z)
    featureNodes = (image)
    labelNodes = (class)
    criterionNodes = (ce)
}"""
LEAST_IMAGES, MOST_SECONDS, RUNS, GOAL = 1.5, 3.0, 5, 60.0
PLANE = os.path.join(os.path.dirname(__file__), "..", "examples", "cntk", "plane")


def images_step() -> Callable[[], object]:
    """Ours: feeding, forward, backward, update."""
    images, classes = peer_convolution.batch()
    graph, values = recurrent.built(IMAGES)
    rule = UpdateRule("smoothed", peer_convolution.RATE, peer_convolution.MOMENTUM)
    program = TensorDraft(Job(graph, len(images), "float32", rule)).program()
    program.load(values)
    batch = Batch({"image": images, "class": np.eye(10, dtype=np.float32)[classes]}, expected=1.0)

    def step() -> None:
        program.feed(batch)
        assert program.step()
        assert program.update(rule)

    return step


def images(rounds: int, seconds: float) -> bool:
    """Print how many images each side trains in a second; whether the bound is met."""
    headline("A convolutional network, minibatch 100, training, images per CPU-second")
    sides = {"engine": images_step()}
    try:
        sides["PyTorch"] = peer_convolution.step()
    except ImportError as error:
        left_out("PyTorch", error)
    seen: dict[str, list[float]] = {side: [] for side in sides}
    for number in range(rounds + 1):
        for side, step in sides.items():
            rate = recurrent.rate(step, seconds) * peer_convolution.SAMPLES
            seen[side] += [rate] if number else []
    found = {side: statistics.median(rates) for side, rates in seen.items()}
    print("  " + ", ".join(f"{side} {value:,.0f}" for side, value in found.items()))
    if len(found) == 1:
        return True
    quotient = found["engine"] / found["PyTorch"]
    return verdict("images, engine / PyTorch", quotient, LEAST_IMAGES, at_most=False)


def whole_run(folder: str, binaries: str) -> bool:
    """Train an experiment for three epochs and test it, cold, each time anew."""
    headline("The example 'plane': 10,000 samples, three epochs and a test, cold")
    place = os.path.join(folder, "plane")
    shutil.copytree(PLANE, place, ignore=shutil.ignore_patterns("out"))
    netsharp = os.path.join(binaries, "netsharp")
    words = (netsharp, "run", "--cd", place, "plane.cntk", "makeMode=false")
    took = in_turns({"run": Command(words)}, RUNS)["run"]
    return verdict("CPU", took.cpu, MOST_SECONDS, at_most=True, unit=" s")


def reader(folder: str) -> None:
    """Print how fast text of dense and of sparse samples is read."""
    headline(f"CNTK's text format, MB per CPU-second (goal {GOAL:g})")
    random = np.random.default_rng(1)
    dense = [" ".join(f"{x:.6f}" for x in row) for row in random.normal(size=(6000, 100))]
    sparse = [
        " ".join(f"{place}:{value:.4f}" for place, value in zip(places, values, strict=True))
        for places, values in zip(
            np.sort(random.integers(3000, size=(40_000, 10))),
            random.normal(size=(40_000, 10)),
            strict=True,
        )
    ]
    for name, rows, dim in (("dense", dense, 100), ("sparse", sparse, 3000)):
        path = os.path.join(folder, f"{name}.ctf")
        with open(path, "w", encoding="ascii") as stream:
            stream.writelines(f"|x {row} |y 0 1\n" for row in rows)
        streams = [TextStream("x", "x", dim, name == "sparse"), TextStream("y", "y", 2)]
        rates = []
        for _ in range(RUNS):
            started = time.process_time()
            read_text(path, streams, "float32")
            rates.append(os.path.getsize(path) / 1e6 / (time.process_time() - started))
        print(f"  {name}: {statistics.median(rates):.1f} MB/s", flush=True)


def measure(folder: str, binaries: str, rounds: int = 7, seconds: float = 0.5) -> bool:
    """Print the figures; whether every bound is met."""
    met = recurrent.measure(rounds, seconds)
    met &= images(rounds, seconds)
    reader(folder)
    return whole_run(folder, binaries) and met


def main() -> None:
    """Measure as the command line says, with the console script beside the interpreter."""
    import sys

    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="netsharp-bench-") as folder:
        measure(folder, os.path.dirname(sys.executable), options.rounds, options.seconds)


if __name__ == "__main__":
    main()
