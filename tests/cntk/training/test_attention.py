"""The library's attention: a decoder that looks at the last steps of another sequence, against a
formulation step by step, with its slopes; trained through the public interface, and continued.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.packing import packed
from netsharp_engine.program import Batch, Job, Packed, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft, TensorProgram
from netsharp_lsp.cntk.training.networks.lowering import lowered
from tests.cntk.brainscript.building import network
from tests.cntk.training.experiments import Follower, run
from tests.cntk.training.test_sequences import gradients_of
from tests.conftest import SEED

Array = Any
CELLS, LOOKED_AT, WINDOW, SOURCE, TARGET = 5, 3, 4, 6, 7
TEXT = f"""{{
    src = Input {{{SOURCE}}}
    later = DynamicAxis ()
    tgt = Input {{{TARGET}, dynamicAxis=later}}
    lab = Input {{{TARGET}, dynamicAxis=later}}
    enc = BS.RNNs.RecurrentLSTMP ({CELLS}, src)
    hook = BS.Seq2Seq.CreateAugmentWithFixedWindowAttentionHook ({LOOKED_AT}, {WINDOW}, tgt, enc)
    dec = BS.RNNs.RecurrentLSTMP ({CELLS}, tgt, augmentInputHook=hook, augmentInputDim={CELLS})
    z = LinearLayer {{{TARGET}}} (dec.h)
    ce = SquareError (lab, z)
    featureNodes = (src : tgt)
    labelNodes = (lab)
    criterionNodes = (ce)
}}"""
#: Steps of the sources and of the targets: fewer than the window, as many, and more.
LENGTHS = ((1, 3), (4, 2), (7, 5), (3, 1), (5, 4))
#: The value before the first step of a recurrence, where a text does not say it.
BEFORE = 0.1
#: Values that are constants, not parameters to learn.
CONSTANTS = {
    "BS.Constants.Zero": 0.0,
    "BS.Constants.One": 1.0,
    "dec.auxInput.weightedAttentionAverage.x.y": 1.0,
}
#: Where the library has the sum of each gate.
GATES = {
    "o": "ot._.PlusArgs",
    "f": "ft._.PlusArgs",
    "i": "it._.PlusArgs",
    "c": "bit.ElementTimesArgs[1].z.PlusArgs",
}


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


class Cell:
    """A recurrent layer of the library: gates with matrices of their own, and peepholes."""

    def __init__(self, given: dict[str, Array], name: str) -> None:
        self._given, self._name = given, f"{name}.lstmState._."
        self.h = self.c = np.full(CELLS, BEFORE)

    def step(self, x: Array, more: Array | None = None) -> Array:
        """The next state; a decoder adds what it has looked at."""
        put = sigmoid(self._sum("i", x, more) + self._peephole("i") * self.c)
        keep = sigmoid(self._sum("f", x, more) + self._peephole("f") * self.c)
        self.c = keep * self.c + put * np.tanh(self._sum("c", x, more))
        out = sigmoid(self._sum("o", x, more) + self._peephole("o") * self.c)
        self.h = out * np.tanh(self.c)
        return self.h

    def _sum(self, gate: str, x: Array, more: Array | None) -> Array:
        """Bias and products of a gate."""
        all_of = self._name + GATES[gate] + ("[0].PlusArgs" if gate != "c" else "")
        of_input, state = f"{all_of}[0].PlusArgs", self._given[f"{all_of}[1].TimesArgs[0]"]
        total = self.h @ state
        if more is not None:
            total = total + more @ self._given[f"{of_input}[1].TimesArgs[0]"]
            of_input += "[0].PlusArgs"
        return (
            total + self._given[f"{of_input}[0]"] + x @ self._given[f"{of_input}[1].TimesArgs[0]"]
        )

    def _peephole(self, gate: str) -> Array:
        return self._given[f"{self._name}{GATES[gate]}[1].ElementTimesArgs[0]"]


def loss(given: dict[str, Array], source: Array, target: Array, label: Array) -> float:
    """The criterion of one pair of sequences, step by step."""
    encoder, decoder = Cell(given, "enc"), Cell(given, "dec")
    window = [encoder.step(x) for x in source][::-1][:WINDOW]
    seen = [one @ given["hook.projectedAttentionWindowBroadcast.W"] for one in window]
    total = 0.0
    for x, wanted in zip(target, label, strict=True):
        asked = decoder.h @ given["dec.auxInput.W"]
        scores = np.array([np.tanh(one + asked) @ given["dec.auxInput.v.h"] for one in seen])
        weights = np.exp(scores.reshape(-1))
        looked = (weights / weights.sum()) @ np.array(window)
        answer = decoder.step(x, looked) @ given["z.W"].reshape(CELLS, TARGET) + given["z.b"]
        total += float(((answer - wanted) ** 2).sum())
    return total


def program_and_batch() -> tuple[TensorProgram, Batch, list[tuple[Array, Array, Array]]]:
    built = network(TEXT)
    graph = lowered(built, [built.nodes["ce"]], [built.nodes["ce"]])
    program = TensorDraft(Job(graph, 64, "float64", UpdateRule("sgd", 1.0))).program()
    chance = np.random.default_rng(SEED)
    program.load(
        {
            one.name: np.full(one.shape, CONSTANTS[one.name])
            if one.name in CONSTANTS
            else chance.normal(size=one.shape) / 2
            for one in graph.parameters
        }
    )
    sequences = [
        (
            chance.normal(size=(before, SOURCE)),
            chance.normal(size=(after, TARGET)),
            chance.normal(size=(after, TARGET)),
        )
        for before, after in LENGTHS
    ]
    lengths = np.array(LENGTHS).T
    packings = (packed(lengths[0]), packed(lengths[1]), packed(lengths[1]))
    inputs = {}
    for name, number in (("src", 0), ("tgt", 1), ("lab", 2)):
        rows = np.concatenate([one[number] for one in sequences])
        full = np.full((packings[number].columns, rows.shape[1]), np.nan)
        full[packings[number].places] = rows
        inputs[name] = Packed(full, packings[number])
    return program, Batch(inputs, expected=1.0), sequences


def test_it_is_what_a_formulation_step_by_step_is() -> None:
    program, batch, sequences = program_and_batch()
    given = program.store()
    program.feed(batch)
    assert program.step()
    expected = sum(loss(given, *one) for one in sequences)
    assert program.figures().sums[0] == pytest.approx(expected, rel=1e-10)


def test_the_gradient_is_the_slope_of_that_formulation() -> None:
    program, batch, sequences = program_and_batch()
    given, found = program.store(), gradients_of(program, batch)
    chance = np.random.default_rng(SEED + 1)
    for name in given.keys() - CONSTANTS.keys():
        way = chance.normal(size=given[name].shape)
        ends = [
            sum(loss({**given, name: given[name] + step * way}, *one) for one in sequences)
            for step in (1e-6, -1e-6)
        ]
        slope = (ends[0] - ends[1]) / 2e-6
        assert float((found[name] * way).sum()) == pytest.approx(slope, rel=1e-5, abs=1e-6), name


EXPERIMENT = """\
command = learn:score
modelPath = "out/turned.dnn"
learn = {
    action = "train"
    BrainScriptNetworkBuilder = {
        src = Input {6, sparse=true}
        later = DynamicAxis ()
        tgt = Input {6, sparse=true, dynamicAxis=later}
        lab = Input {6, sparse=true, dynamicAxis=later}
        enc = BS.RNNs.RecurrentLSTMP (8, src)
        hook = BS.Seq2Seq.CreateAugmentWithFixedWindowAttentionHook (6, 4, tgt, enc)
        dec = BS.RNNs.RecurrentLSTMP (8, tgt, augmentInputHook=hook, augmentInputDim=8)
        z = LinearLayer {6} (dec.h)
        ce = CrossEntropyWithSoftmax (lab, z)
        errs = ClassificationError (lab, z)
        featureNodes = (src : tgt)
        labelNodes = (lab)
        criterionNodes = (ce)
        evaluationNodes = (errs)
        outputNodes = (z)
    }
    SGD = { maxEpochs = 4; minibatchSize = 40; learningRatesPerSample = 0.02 }
}
score = { action = "test" }
reader = {
    readerType = "CNTKTextFormatReader"
    file = "data.txt"
    input = {
        src = { dim = 6; format = "sparse" }
        tgt = { dim = 6; format = "sparse" }
        lab = { dim = 6; format = "sparse" }
    }
}
"""


def write_experiment(folder: Path) -> Path:
    """Write sequences of other lengths than those that are said of them, backwards."""
    folder.mkdir()
    chance = random.Random(SEED)
    lines = []
    for number in range(60):
        words = [chance.randint(1, 5) for _ in range(chance.randint(1, 6))]
        reported = words[::-1][:4]
        for step in range(len(words)):
            shown = f"{number} |src {words[step]}:1"
            if step < len(reported):
                shown += f" |tgt {(0, *reported)[step]}:1 |lab {reported[step]}:1"
            lines.append(f"{shown}\n")
    (folder / "data.txt").write_text("".join(lines))
    (folder / "turned.cntk").write_text(EXPERIMENT)
    return folder


def test_it_is_trained_tested_and_gone_on_with(tmp_path: Path) -> None:
    whole, parted = write_experiment(tmp_path / "whole"), write_experiment(tmp_path / "parted")
    answer, follower = run(whole)
    assert answer.code == 0
    losses = [one["loss"] for one in follower.epochs]
    assert len(losses) == 4
    assert losses[-1] < losses[0] < np.log(6) * 1.2
    assert any(one["event"] == "end" for one in follower.events)
    assert len(run(parted, follower=Follower(ends=2))[1].epochs) == 2
    assert len(run(parted)[1].epochs) == 2
    model = Path("out") / "turned.dnn"
    assert (whole / model).read_bytes() == (parted / model).read_bytes()
