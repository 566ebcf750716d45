"""The networks that go onto boards: every example that compiles, some of the tests, and some drawn
by chance.
"""

from __future__ import annotations

import random
import shutil
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import netsharp
from netsharp_compile.compiled import CompiledNetwork, compile_model
from netsharp_compile.widths import CompileSettings
from netsharp_compile.writing.c_files import c_files
from netsharp_compile.writing.products.targets import TARGETS
from netsharp_engine.data.stream import RowQuery
from tests.cntk.training.experiments import run
from tests.compiling.networks import DEEP, MAPS, ONE, drawn, trained
from tests.compiling.test_images_of_cntk import (
    BRAINSCRIPT,
    NDL,
    NDL_TEXT,
    NETWORKS,
    NORMAL,
    images,
)
from tests.compiling.test_images_of_cntk import trained as run_of
from tests.compiling.test_networks_of_cntk import rows_of
from tests.conftest import SEED

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

from make_tables import enlarge, read_digits  # noqa: E402

#: A digit's network of each size that others publish figures of.
SMALL = "input X auto; hidden H [32] tanh from X all; output Y auto from H all;"
LARGE = (
    "input X auto; hidden A [64] tanh from X all; hidden B [32] tanh from A all;"
    "output Y auto from B all;"
)
DRAWN = 50


class Sample(NamedTuple):
    """A compiled network with the codes that it is tried with; its name begins names in C."""

    name: str
    network: CompiledNetwork
    codes: np.ndarray
    target: str = TARGETS[0]

    def files(self) -> dict[str, str]:
        """Its files in C; the test among them tries all codes."""
        network = self.network.network
        answers = network.simulate(self.codes)[-1]
        return c_files(network, self.name, None, self.codes, answers, target=self.target)


def worst(network: CompiledNetwork) -> np.ndarray:
    """The codes with which sums over the features go as far as they can, either way."""
    read, (layer, *_) = network.network.features.codes, network.network.layers
    # A bundle as weights of every value that it reads.
    dense = [
        part.bundle.sums(np.eye(part.bundle.source.size), part.weights.astype(np.float64)).T
        for part in layer.parts
    ]
    largest = np.sum([np.abs(one).sum(axis=1) for one in dense], axis=0) + np.abs(layer.node_biases)
    signs = np.zeros(len(network.network.features.offset), np.int64)
    for part, weights in zip(layer.parts, dense, strict=True):
        operand, first, size = part.bundle.source
        if operand == 0:
            signs[first : first + size] += weights[largest.argmax()].astype(np.int64)
    ends = np.where(signs > 0, read.most, read.least), np.where(signs > 0, read.least, read.most)
    return np.stack(ends).astype(read.dtype)


def tried(network: CompiledNetwork, rows: np.ndarray) -> np.ndarray:
    """Codes of a few rows, all of the least, all of the largest, the worst, and some by chance."""
    read = network.network.features
    chance = np.random.default_rng(SEED)
    ends = [
        np.full((1, rows.shape[1]), code, read.codes.dtype)
        for code in (read.codes.least, read.codes.most)
    ]
    random_ = chance.integers(read.codes.least, read.codes.most + 1, (4, rows.shape[1]))
    return np.concatenate(
        [read.of(rows[:4]), *ends, worst(network), random_.astype(read.codes.dtype)]
    )


def sample(
    name: str, model: Any, rows: np.ndarray, target: str = TARGETS[0], **settings: Any
) -> Sample:
    made = netsharp.compile(model, rows, **settings)
    return Sample(name, made, tried(made, np.asarray(model.encoded(rows), np.float64)), target)


@cache
def measured() -> tuple[Sample, ...]:
    """Networks whose sizes and instructions are held."""
    pictures, digits = read_digits()
    small, large = pictures.reshape(len(pictures), -1), enlarge(pictures, 28, 28)
    large = large.reshape(len(pictures), -1)
    deep, rows = trained(DEEP)
    wide, many = trained(ONE.format("tanh", "softmax"), features=900)
    of_large = _briefly(LARGE, large, digits)
    convolved = examples()["digits"]
    assert isinstance(convolved, Sample)
    return (
        sample("deep", deep, rows),
        sample("digits_mlp", _briefly(SMALL, small, digits), small[:200]),
        sample("mnist_mlp", of_large, large[:200]),
        sample("mnist_signals", of_large, large[:200], "cortex-m"),
        convolved,
        convolved._replace(name="digits_signals", target="cortex-m"),
        sample("wide_sums", wide, many, weights="int16"),
    )


@cache
def brim() -> Sample:
    """A network whose sums reach nearly all that 32 bits hold."""
    model, rows = trained(ONE.format("tanh", "softmax"), features=257, normalizer="minmax")
    weights = model.tensors["H/X/weights"]
    weights[:] = np.where(np.arange(len(weights))[:, None] % 2, 0.01, -0.01)
    model.tensors["H/biases"][:] = 0
    return sample("brim", model, rows, weights="int16")


@cache
def examples() -> dict[str, Sample | str]:
    """Each example of Net# that has a run file: compiled, or why not."""
    return dict(_examples())


def _examples() -> Iterator[tuple[str, Sample | str]]:
    for run_file in sorted(EXAMPLES.glob("*/*.toml")):
        settings = tomllib.loads(run_file.read_text(encoding="utf-8"))
        data, train = settings["data"], settings["train"]
        source = str(run_file.parent / data.pop("train"))
        text = run_file.with_suffix(".nn")
        try:
            train["epochs"] = 2
            model = netsharp.train(text, train=source, **data, **train)
            query = RowQuery([source], model.read_options())
            rows = np.concatenate([part.features for part in model.rows(query)])
            made = compile_model(model, lambda rows=rows: iter([rows]), CompileSettings())
            yield run_file.stem, Sample(run_file.stem, made, tried(made, rows))
        except netsharp.CompileError as error:
            yield run_file.stem, str(error)


@cache
def of_cntk() -> tuple[Sample, ...]:
    """Networks that runs of CNTK's experiments train: an example for each target, one over images
    whose channels lie beside each other, and one that is normalised before padding.
    """
    found = []
    with TemporaryDirectory() as place:
        folder = Path(shutil.copytree(EXAMPLES / "cntk" / "numerals", Path(place) / "numerals"))
        answer, _ = run(folder, "command=learn", "learn=[SGD=[maxEpochs=1]]")
        assert answer.code == 0, answer.complaints
        model, (rows, _) = (
            netsharp.load(folder / "out" / "numerals.dnn"),
            rows_of(folder / "train.ctf"),
        )
        found += [
            sample(f"numerals{n}", model, rows[:100], target) for n, target in enumerate(TARGETS)
        ]
        shown = images()
        text = NDL_TEXT.replace("@LAYOUT@", "legacy").replace("@FUNCTION@", "Sigmoid")
        text = text.replace("@NORMAL@", NORMAL["legacy"])
        beside = np.ascontiguousarray(shown.transpose(0, 2, 3, 1))
        before = BRAINSCRIPT.replace("@NETWORK@", NETWORKS["normalised before a convolution"])
        for name, builder, given, script in (
            ("legacy", NDL, beside, text),
            ("normalised", before, shown, ""),
        ):
            (Path(place) / name).mkdir()
            model = run_of(Path(place) / name, builder, given, script)
            found.append(sample(name, model, given.reshape(len(given), -1)))
    return tuple(found)


def by_chance() -> Iterator[Sample]:
    for number in range(DRAWN):
        model, rows, settings = drawn(random.Random(f"{SEED} board {number}"))
        target = TARGETS[number % len(TARGETS)]
        yield sample(f"drawn{number}", model, rows, target, **settings)


@cache
def samples() -> tuple[Sample, ...]:
    """All of them."""
    compiled = [one for one in examples().values() if isinstance(one, Sample)]
    known = {one.name for one in measured()}
    others = [one for one in compiled if one.name not in known]
    model, rows = trained(MAPS, features=36)
    maps = [sample(f"maps{n}", model, rows, target) for n, target in enumerate(TARGETS)]
    return (*measured(), brim(), *maps, *others, *of_cntk(), *by_chance())


def _briefly(text: str, features: np.ndarray, digits: np.ndarray) -> Any:
    return netsharp.train(text, features, digits, task="multiclass", epochs=2, seed=1)
