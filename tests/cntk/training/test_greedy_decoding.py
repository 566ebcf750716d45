"""Greedy decoding of the library: a trained model whose next step sees what it said itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import netsharp
from tests.cntk.training.experiments import run
from tests.conftest import SEED

Array = Any
LETTERS, CELLS = 5, 6
GREEDY = '(BS.Seq2Seq.GreedySequenceDecoderFrom (BS.Network.Load ("out/told.dnn")))'
CONFIGURATION = f"""\
command = learn:decode
learn = {{
    action = "train" ; modelPath = "out/told.dnn"
    BrainScriptNetworkBuilder = {{
        inputSequence = Input {{{LETTERS}}}
        labelSequence = Input {{{LETTERS}}}
        decoderHistoryHook = Pass (labelSequence)
        before = PastValue ({LETTERS}, decoderHistoryHook, defaultHiddenActivation=0)
        W = ParameterTensor {{({CELLS}:{LETTERS}), initValueScale=3}}
        U = ParameterTensor {{({CELLS}:{LETTERS}), initValueScale=3}}
        R = ParameterTensor {{({CELLS}:{CELLS})}}
        V = ParameterTensor {{({LETTERS}:{CELLS}), initValueScale=3}}
        last = PastValue ({CELLS}, h, defaultHiddenActivation=0)
        h = Tanh (W * inputSequence + U * before + R * last)
        z = V * h
        decoderHistoryFromOutput = Hardmax (z)
        ce = CrossEntropyWithSoftmax (labelSequence, z)
        featureNodes = (inputSequence)
        labelNodes = (labelSequence)
        criterionNodes = (ce)
        outputNodes = (z : decoderHistoryFromOutput)
    }}
    SGD = {{ maxEpochs = 2 ; minibatchSize = 40 ; learningRatesPerSample = 0.05 }}
}}
decode = {{
    action = "write" ; outputPath = "out/said"
    BrainScriptNetworkBuilder = {GREEDY}
}}
reader = {{
    file = "data.txt"
    input = {{
        inputSequence = {{ dim = {LETTERS} ; format = "dense" }}
        labelSequence = {{ dim = {LETTERS} ; format = "dense" }}
    }}
}}
"""


def written(folder: Path, lengths: tuple[int, ...]) -> list[Array]:
    """The experiment in a folder; the inputs of its sequences."""
    random = np.random.default_rng(SEED)
    (folder / "net.cntk").write_text(CONFIGURATION, encoding="utf-8")
    lines, sequences = [], []
    for number, length in enumerate(lengths):
        given = random.normal(size=(length, LETTERS)).round(3)
        labels = np.eye(LETTERS)[random.integers(0, LETTERS, length)]
        sequences.append(given)
        for one, label in zip(given, labels, strict=True):
            texts = (" ".join(f"{value:g}" for value in row) for row in (one, label))
            lines.append("{} |inputSequence {} |labelSequence {}".format(number, *texts))
    (folder / "data.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return sequences


def decoded(given: dict[str, Array], sequence: Array) -> list[int]:
    """What is said step by step, each step with the letter of the one before."""
    weights = {name: given[name].T for name in ("U", "W", "R", "V")}
    state, letter, found = np.zeros(CELLS), np.zeros(LETTERS), []
    for x in sequence:
        state = np.tanh(weights["W"] @ x + weights["U"] @ letter + weights["R"] @ state)
        best = int(np.argmax(weights["V"] @ state))
        letter = np.eye(LETTERS)[best]
        found.append(best)
    return found


def test_each_step_sees_what_the_one_before_said(tmp_path: Path) -> None:
    sequences = written(tmp_path, (3, 7, 1, 5, 12, 4))
    answer, _ = run(tmp_path, "command=learn:decode")
    assert answer.code == 0, answer.complaints
    parameters = netsharp.load(str(tmp_path / "out" / "told.dnn")).parameters
    expected = [letter for sequence in sequences for letter in decoded(parameters, sequence)]
    rows = np.loadtxt(tmp_path / "out" / "said.network.decodeOut")
    assert rows.sum(axis=1).tolist() == [1.0] * len(expected)
    assert rows.argmax(axis=1).tolist() == expected
    given = np.loadtxt(tmp_path / "out" / "said.network.inputsOut")
    np.testing.assert_allclose(given, np.concatenate(sequences), atol=1e-6)


def test_a_text_that_takes_no_model_needs_one(tmp_path: Path) -> None:
    written(tmp_path, (3,))
    text = (tmp_path / "net.cntk").read_text(encoding="utf-8")
    builder = '(BS.Seq2Seq.GreedySequenceDecoderFrom (BS.Network.Load ("out/told.dnn")))'
    assert builder in text
    plain = (
        f"{{ labelSequence = Input {{{LETTERS}}} ; z = Tanh (labelSequence) ; outputNodes = (z) }}"
    )
    (tmp_path / "net.cntk").write_text(text.replace(builder, plain), encoding="utf-8")
    answer, follower = run(tmp_path, "command=decode")
    assert answer.code == 2
    shown_to_people = " ".join([*answer.complaints, *follower.notices, *map(str, answer.reports)])
    assert "modelPath" in shown_to_people, (answer.complaints, answer.reports, answer.lines)
