"""Answers sorted by queries: values and pulls by hand, differences, and a trained network."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.tensor_backend.kernels.table import TABLE
from tests.cntk.training.experiments import run
from tests.cntk.training.operations import node_of
from tests.conftest import SEED

Array = Any
ONE = ((1,), (1,), (1,))
#: What the comment of the original shows: two queries of three answers each.
WORTH = (31.0, 7.0, 0.0, 3.0, 0.0, 0.0)
SCORES = (0.9, 0.3, 0.0, 0.4, 0.5, 0.3)
QUERY = (0, 0, 0, 1, 1, 1)


def columns(*given: Any) -> list[Array]:
    return [np.array(one, np.float64).reshape(-1, 1) for one in given]


def by_hand(worth: Array, scores: Array, query: Array) -> tuple[float, float, Array]:
    """Both values and the pulls, by loops over pairs; the slopes that are used lag as there."""
    groups: dict[int, list[int]] = {}
    for at, one in enumerate(query):
        groups.setdefault(int(one), []).append(at)
    shares, firsts, slopes = [], [], []
    for group in groups.values():
        order = sorted(group, key=lambda at: (-scores[at], worth[at]))
        best = sum(worth[at] / math.log(2 + place) for place, at in enumerate(group))
        found = sum(worth[at] / math.log(2 + order.index(at)) for at in group)
        shares.append(found / best if best else 0.0)
        firsts.append(worth[order[0]] / worth[group[0]] if worth[group[0]] else 0.0)
        slopes += [
            -1 / (1 + math.exp(scores[one] - scores[other]))
            for one in group
            if worth[one] > worth[group[-1]]
            for other in group[group.index(one) + 1 :]
        ]
    pulls, used = np.zeros(len(worth)), iter(slopes)
    for group in groups.values():
        order = sorted(group, key=lambda at: (-scores[at], worth[at]))
        best = sum(worth[at] / math.log(2 + place) for place, at in enumerate(group))
        for one in group:
            if worth[one] <= worth[group[-1]]:
                continue
            for other in group[group.index(one) + 1 :]:
                if worth[one] == worth[other]:
                    continue
                slope = next(used)
                i, j = (math.log(2 + order.index(at)) for at in (one, other))
                change = abs((worth[one] - worth[other]) * (i - j) / (i * j) / best)
                pulls[one] += slope * change
                pulls[other] -= slope * change
    count = len(worth)
    return (
        (1 - sum(shares) / len(shares)) * 100 * count,
        sum(firsts) / len(firsts) * 100 * count,
        pulls,
    )


def test_the_example_of_the_original() -> None:
    """The first query is in order, the best answer of the second is in its second place."""
    sources = columns(WORTH, SCORES, QUERY)
    share = (1 + math.log(2) / math.log(3)) / 2
    unsorted = TABLE["LambdaRank"].forward(node_of("LambdaRank", ONE), sources).item()
    assert unsorted == pytest.approx((1 - share) * 100 * 6)
    first = TABLE["NDCG1Eval"].forward(node_of("NDCG1Eval", ONE), sources).item()
    assert first == pytest.approx(50 * 6)


def drawn(ties: bool) -> list[Array]:
    """Queries of one to eight answers, the worthiest first, some of whose worth is equal."""
    random = np.random.default_rng(SEED)
    worth: list[float] = []
    query: list[int] = []
    for number, count in enumerate(random.integers(1, 9, size=12).tolist()):
        values = random.integers(0, 4, size=count) if ties else random.permutation(20)[:count]
        worth += sorted(map(float, values), reverse=True)
        query += [number] * count
    return columns(worth, random.normal(size=len(worth)), query)


@pytest.mark.parametrize("ties", [False, True])
def test_values_and_pulls_by_loops_over_pairs(ties: bool) -> None:
    sources = drawn(ties)
    unsorted, first, pulls = by_hand(*(one.ravel() for one in sources))
    for operation, expected in (("LambdaRank", unsorted), ("NDCG1Eval", first)):
        node = node_of(operation, ONE)
        assert TABLE[operation].forward(node, sources).item() == pytest.approx(expected, rel=1e-12)
    back = TABLE["LambdaRank"].backward[1]
    assert back is not None
    value = np.zeros((1, 1))
    found = back(node_of("LambdaRank", ONE), sources, value, np.ones((1, 1)))
    np.testing.assert_allclose(found.ravel(), pulls, rtol=1e-12, atol=1e-14)


def test_pulls_are_the_slope_of_what_pairs_cost() -> None:
    """The sum over pairs of what their exchange changes, a constant, times log(1 + exp(-d))."""
    sources = drawn(ties=False)
    worth, scores, query = (one.ravel() for one in sources)

    def cost(moved: Array) -> float:
        total = 0.0
        for number in np.unique(query):
            group = np.flatnonzero(query == number).tolist()
            order = sorted(group, key=lambda at: (-scores[at], worth[at]))
            best = sum(worth[at] / math.log(2 + place) for place, at in enumerate(group))
            for one in group:
                for other in group[group.index(one) + 1 :]:
                    i, j = (math.log(2 + order.index(at)) for at in (one, other))
                    change = abs((worth[one] - worth[other]) * (i - j) / (i * j) / best)
                    total += change * math.log1p(math.exp(moved[other] - moved[one]))
        return total

    back = TABLE["LambdaRank"].backward[1]
    assert back is not None
    found = back(node_of("LambdaRank", ONE), sources, np.zeros((1, 1)), np.ones((1, 1))).ravel()
    for place in range(len(scores)):
        ends = []
        for step in (1e-6, -1e-6):
            moved = scores.copy()
            moved[place] += step
            ends.append(cost(moved))
        assert found[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-7)


CONFIGURATION = """\
command = learn:score
modelPath = "out/net.dnn"
learn = {
    action = "train"
    BrainScriptNetworkBuilder = {
        x = Input {3} ; gain = Input {1} ; query = Input {1}
        %s
        s = LinearLayer {1} (Tanh (LinearLayer {8} (x)))
        irm = LambdaRank (gain, s, query) ; best = NDCG1Eval (gain, s, query)
        featureNodes = (x:gain:query) ; criterionNodes = (irm) ; evaluationNodes = (best)
        outputNodes = (s)
    }
    SGD = { maxEpochs = 20 ; minibatchSize = 100 ; learningRatesPerSample = 0.05 }
    reader = { file = "data.ctf" ; randomize = false ; input = {
        x = { dim = 3 ; format = "dense" } ; gain = { dim = 1 ; format = "dense" }
        query = { dim = 1 ; format = "dense" } } }
}
score = { action = "test" ; reader = { file = "data.ctf" ; input = {
    x = { dim = 3 ; format = "dense" } ; gain = { dim = 1 ; format = "dense" }
    query = { dim = 1 ; format = "dense" } } } }
"""


def made(folder: Path, more: str = "") -> Path:
    """An answer is worth the more, the larger its first number is."""
    random = np.random.default_rng(SEED)
    lines = []
    for query in range(60):
        values = random.normal(size=(5, 3))
        worth = np.floor(2 + 1.5 * values[:, 0]).clip(0, 5)
        for at in np.argsort(-worth, kind="stable").tolist():
            shown = " ".join(f"{one:.4f}" for one in values[at])
            lines.append(f"|x {shown} |gain {worth[at]:.0f} |query {query}")
    folder.mkdir(exist_ok=True)
    (folder / "data.ctf").write_text("\n".join(lines) + "\n")
    (folder / "net.cntk").write_text(CONFIGURATION % more)
    return folder


def test_a_network_learns_to_sort(tmp_path: Path) -> None:
    answer, follower = run(made(tmp_path))
    assert (answer.code, answer.complaints) == (0, ())
    (end,) = [one for one in follower.events if one["event"] == "end"]
    print(follower.epochs[0]["loss"], end)
    attributes = {**end["evaluation"], end["criterion"]: end["loss"]}
    assert attributes["irm"] < 0.3 * follower.epochs[0]["loss"]
    assert attributes["best"] > 90
