"""The tagging experiment in double precision against PyTorch: the steps of two minibatches,
written again.

In double other initial values are drawn than in float, and from those the tags are found later.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.samples.order import shuffled
from netsharp_engine.cntk.stored.model_file import read_model
from tests.cntk.training.experiments import run
from tests.cntk.training.test_sentences import FOLDER, WRONG_TAGS
from tests.peers import peer

torch = peer("torch")
Tensors = dict[str, Any]
Sentence = list[tuple[int, int]]
CELLS, SIZE, CONSTANT, VARIANCE = 12, 100, 200.0, 720_000.0
EPOCH = 150
RATE = float(np.float32(0.02))
MOMENTUM = float(np.float32(math.exp(-1 / CONSTANT)))


def copied(folder: Path) -> Path:
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("out"))
    return folder


def numbers(path: Path) -> Tensors:
    """The parameters of a model: matrices [rows, columns]."""
    return {
        one.name: np.asarray(one.values).reshape(one.shape[::-1]).T.copy()
        for one in read_model(path.read_bytes()).nodes
        if one.operation == "LearnableParameter" and one.values is not None
    }


def sentences() -> list[Sentence]:
    """The word and the tag of each step."""
    found = []
    lines = (line.split("|") for line in (FOLDER / "train.ctf").read_text().splitlines())
    for _, rows in groupby(lines, lambda cells: cells[0]):
        streams = (dict(cell.split()[:2] for cell in cells[1:]) for cells in rows)
        found.append(
            [(int(one["word"].split(":")[0]), int(one["tag"].split(":")[0])) for one in streams]
        )
    return found


def minibatches(given: list[Sentence], epoch: int) -> Iterator[list[Sentence]]:
    """Sentences in their order, as many as have room."""
    batch: list[Sentence] = []
    for number in shuffled([len(given)], epoch, None, None):
        if batch and sum(map(len, batch)) + len(given[number]) > SIZE:
            yield batch
            batch = []
        batch.append(given[number])
    yield batch


def columns(batch: list[Sentence]) -> int:
    """The steps of a minibatch with its gaps: each sentence in the first row that has room."""
    width, rows = max(map(len, batch)), list[int]()
    for one in batch:
        at = next((row for row, filled in enumerate(rows) if filled + len(one) <= width), None)
        if at is None:
            rows.append(0)
            at = len(rows) - 1
        rows[at] += len(one)
    return len(rows) * width


def outputs(inputs: Any, number: int, p: Tensors) -> Any:
    """What an LSTM shows of one sentence [steps, numbers]; the second runs from its end."""
    weights, inner, bias = (p[f"z.x._[{number}].lstm.{letter}"] for letter in "WHB")
    shown = state = torch.full((CELLS,), 0.1, dtype=torch.float64)
    found = []
    for one in inputs.flip(0) if number else inputs:
        gates = (bias + weights @ one + inner @ shown).split(CELLS)
        let, new, keep, show = gates
        state = torch.sigmoid(keep) * state + torch.sigmoid(let) * torch.tanh(new)
        shown = torch.sigmoid(show) * torch.tanh(state)
        found.append(shown)
    return torch.stack(found[::-1] if number else found)


def loss(batch: list[Sentence], p: Tensors) -> Any:
    total = torch.zeros((), dtype=torch.float64)
    for sentence in batch:
        words, tags = zip(*sentence, strict=True)
        inputs = p["embed.E"].T[list(words)]
        both = torch.cat([outputs(inputs, number, p) for number in (0, 1)], dim=1)
        scores = both @ p["z.W"].T + p["z.b"]
        total = total + torch.nn.functional.cross_entropy(
            scores, torch.tensor(tags), reduction="sum"
        )
    return total


def update(p: Tensors, kept: dict[str, Any], samples: int, words: list[int]) -> None:
    """FsAdaGrad; AdaGrad for the embedding, of which only the columns of ``words`` have any."""
    fading, momentum = math.exp(-samples / VARIANCE), MOMENTUM**samples
    for name, one in p.items():
        if name == "embed.E":
            slope = one.grad[:, words]
            squares = kept.setdefault(name, torch.zeros_like(one))
            squares[:, words] += slope**2
            ends = (squares[:, words] + 1e-16).rsqrt()
            one[:, words] -= RATE / ends.mean() * slope * ends
            continue
        mean, smoothed, count = kept.get(name, (0.0, 0.0, 0.0))
        count = fading * count + (1 - fading) * samples
        mean = fading * mean + (1 - fading) * one.grad**2
        gain = (math.sqrt(count) / mean.sqrt()).clamp(max=10)
        slope = torch.where(mean != 0, one.grad * gain, one.grad)
        smoothed = momentum * smoothed + (1 - momentum) * slope
        kept[name] = mean, smoothed, count
        one -= RATE * smoothed


@pytest.mark.costly
def test_minibatches_in_double_are_those_of_another_formulation(tmp_path: Path) -> None:
    folder = copied(tmp_path / "run")
    few = f"tagging=[SGD=[maxEpochs=2;epochSize={EPOCH}]]"
    answer, follower = run(folder, "command=tagging", "precision=double", few)
    assert answer.code == 0, answer.complaints
    start = numbers(folder / "out/tags.dnn.0")
    p = {name: torch.tensor(one, requires_grad=True) for name, one in start.items()}
    assert {one.dtype for one in p.values()} == {torch.float64}
    kept: dict[str, Any] = {}
    total = steps = 0
    for batch in minibatches(sentences(), 0):
        # An epoch has the sentences that begin in it, each of them whole.
        room = EPOCH - steps
        fits = [one for at, one in enumerate(batch) if sum(map(len, batch[: at + 1])) <= room]
        taken = fits or batch[:1]
        if room <= 0:
            break
        value = loss(taken, p)
        for one in p.values():
            one.grad = None
        value.backward()
        total, steps = total + value.item(), steps + sum(map(len, taken))
        with torch.no_grad():
            update(p, kept, columns(taken), sorted({word for one in taken for word, _ in one}))
    assert follower.epochs[0]["samples"] == steps
    assert follower.epochs[0]["loss"] == pytest.approx(total / steps, rel=1e-12)
    for name, one in numbers(folder / "out/tags.dnn.1").items():
        moved = p[name].detach().numpy()
        assert abs(moved - start[name]).max() > 1e-3, name
        np.testing.assert_allclose(one, moved, rtol=1e-10, atol=1e-12, err_msg=name)


@pytest.mark.costly
def test_tags_are_found_in_double_with_more_epochs(tmp_path: Path) -> None:
    """The example's page states how many."""
    folder = copied(tmp_path / "run")
    items = "command=tagging:tagged", "precision=double", "tagging=[SGD=[maxEpochs=20]]"
    answer, follower = run(folder, *items)
    assert answer.code == 0
    (end,) = [one for one in follower.events if one["event"] == "end"]
    assert end["evaluation"]["errs"] <= WRONG_TAGS
    assert end["loss"] < 0.02
