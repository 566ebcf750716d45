"""Edges that are counted in blocks against the same edges counted pair by pair."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.limits import CONDITION_EVALUATIONS
from netsharp_lsp.netsharp.compare import compare
from netsharp_lsp.netsharp.meaning.conditions import blocks
from netsharp_lsp.netsharp.meaning.conditions.edges import Edges
from netsharp_lsp.netsharp.meaning.counts.predicates import count_edges
from netsharp_lsp.netsharp.meaning.network import Network
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.reading.parser import parse
from tests.costs import assert_measured, spent

SEED = 20261123
#: Conditions over two layers of two dimensions each.
CONDITIONS = (
    "s[0] * d[0] % 7 == 3",
    "s[0] * d[0] % 6 >= 2 && s[0] > d[0]",
    "(s[0] - d[0]) % 4 == -1 || (s[1] + d[1]) % 3 == 0",
    "abs(s[0] - d[0]) + abs(s[1] - d[1]) <= 2",
    "(s[0] - d[0]) ^ 2 + (s[1] - d[1]) ^ 2 <= 9",
    "sqrt((s[0] - d[0]) ^ 2 + (s[1] - d[1]) ^ 2) < 2.5",
    "(s[0] - 1.5 * d[0]) ^ 2 < 3 && s[1] != d[1]",
    "s[0] / 3 == d[0] / 2",
    "pow(s[0], 3) > 20 * d[0] && mod(s[1], 2) == mod(d[1], 2)",
    "max(s[0], d[0], 4) - min(s[1], d[1]) == 3",
    "floor(s[0] * 0.7) == d[0] && ceil(s[1] / 2.0) >= d[1]",
    "(s[0] < d[0]) == (s[1] < d[1])",
    "!(s[0] == d[0]) && sign(s[1] - d[1]) == 1",
    "s == d",
    "P[s[0] % 4] > d[0]",
    "d[0] == 0 || s[0] / d[0] == 2",
    "12 / (d[0] + s[0] - 25) < 1",
    "s[0] > 100 || d[0] > 100",
    "round(s[0] / 2.5) * 2 == d[0]",
    "-s[0] + d[0] >= -3 && s[0] - d[0] % 5 > 0",
    "s[0] % 2 == 0 && (s[0] * 3 - 40) % 8 == -4 && s[0] > d[0]",
)


def network_of(condition: str, source: tuple[int, ...], destination: tuple[int, ...]) -> Network:
    text = (
        f"const P = [3, 1, 4, 1]; input A {list(source)};\n"
        f"output H {list(destination)} from A where (s, d) => {condition};"
    )
    return resolve(parse(text.encode()), Context())


def edges_of(network: Network, *, few: bool) -> Edges:
    (bundle,) = network.bundles()
    if not few:
        edges = count_edges(bundle, network, 0)
        assert edges is not None
        if not edges.groups:
            return edges
        edges.few, edges.count, edges.faults = False, None, []
        # Small blocks take more looks than there are pairs.
        edges.evaluations = max(edges.evaluations, 10**6)
        edges.drop_pairs()
    edges = count_edges(bundle, network, CONDITION_EVALUATIONS.most)
    assert edges is not None
    return edges


def edge_texts(edges: Edges) -> list[tuple[str, str]]:
    return [(fault.code, fault.message) for fault in edges.faults]


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("shapes", [((30, 2), (30, 3)), ((17, 5), (19, 4))], ids=str)
def test_blocks_find_the_edges_that_pairs_find(
    condition: str,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "SMALL", 4)
    one_by_one = edges_of(network_of(condition, *shapes), few=True)
    in_blocks = edges_of(network_of(condition, *shapes), few=False)
    assert edge_texts(in_blocks) == edge_texts(one_by_one)
    assert in_blocks.count == one_by_one.count
    if not one_by_one.faults:
        assert list(in_blocks.pairs()) == list(one_by_one.pairs())
        assert in_blocks.pattern() == one_by_one.pattern()


def drawn(draw: random.Random, depth: int) -> str:
    """A number over the indices of two dimensions."""
    if depth == 0 or draw.random() < 0.2:
        return draw.choice(["s[0]", "d[0]", "s[1]", "d[1]", str(draw.randint(0, 9)), "0.5", "2.5"])
    left, right = drawn(draw, depth - 1), drawn(draw, depth - 1)
    return draw.choice(
        [
            f"({left} + {right})",
            f"({left} - {right})",
            f"({left} * {right})",
            f"({left} / {right})",
            f"({left} % {draw.randint(-5, 9)})",
            f"(-{left})",
            f"abs({left})",
            f"min({left}, {right})",
            f"max({left}, {right})",
            f"floor({left})",
            f"({left} ^ {draw.randint(0, 3)})",
            f"sqrt({left})",
            f"sign({left})",
            f"round({left})",
        ]
    )


@pytest.mark.costly
def test_drawn_conditions_have_the_edges_that_pairs_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SMALL", 2)
    draw = random.Random(SEED)
    sound = 0
    for _ in range(600):
        parts = [
            f"{drawn(draw, 3)} {draw.choice(['<', '<=', '>', '>=', '==', '!='])} {drawn(draw, 2)}"
            for _ in range(draw.randint(1, 3))
        ]
        condition = f" {draw.choice(['&&', '||'])} ".join(parts)
        shapes = (draw.randint(1, 13), 2), (draw.randint(1, 9), 3)
        one_by_one = edges_of(network_of(condition, *shapes), few=True)
        in_blocks = edges_of(network_of(condition, *shapes), few=False)
        where = (SEED, condition, shapes)
        assert edge_texts(in_blocks) == edge_texts(one_by_one), where
        assert in_blocks.count == one_by_one.count, where
        if one_by_one.count is not None:
            sound += 1
            assert in_blocks.pattern() == one_by_one.pattern(), where
    assert sound > 200


def test_patterns_distinguish_edges_and_know_no_words() -> None:
    def pattern(condition: str, shape: tuple[int, ...] = (2_000,)) -> int:
        return edges_of(network_of(condition, shape, shape), few=False).pattern()

    assert pattern("s[0] == d[0]") == pattern("!(s[0] < d[0] || d[0] < s[0])")
    assert pattern("s[0] == d[0]") == pattern("s[0] == d[0] && s[1] == d[1]", (50, 40))
    assert pattern("s[0] == d[0]") != pattern("s[0] == d[0] && s[0] != 1999")
    assert pattern("s[0] < d[0]") != pattern("s[0] > d[0]")


@pytest.mark.costly
@pytest.mark.parametrize(
    "condition",
    [
        "s[0] * d[0] % 7 == 3",
        "s[0] == d[0]",
        "s[0] + d[0] == SIZE",
        "(s[0] - d[0]) ^ 2 < 9",
        "1 / (s[0] + d[0] - 2 * SIZE) > 0",
    ],
)
def test_comparing_conditions_grows_with_their_borders(condition: str) -> None:
    def cost(size: int) -> float:
        asked = condition.replace("SIZE", str(size))
        texts = [network_of(asked, (size,), (size,)) for _ in range(2)]

        def compared() -> None:
            assert compare(*texts).same

        return spent(compared)

    def hold(costs: list[float]) -> bool:
        ratios = [after / before for before, after in pairwise(costs) if before > 0.05]
        return costs[-1] < 8 and sum(ratios) <= 2.5 * len(ratios)

    cost(1_100)
    sizes = (1_500, 3_000, 6_000, 12_000)
    assert_measured(lambda: [min(cost(size) for _ in range(2)) for size in sizes], hold)


@pytest.mark.costly
def test_a_condition_without_blocks_leaves_half_of_what_is_allowed() -> None:
    network = network_of("s[0] * s[0] * d[0] % 99991 == 3", (30_000,), (30_000,))
    (bundle,) = network.bundles()
    edges = count_edges(bundle, network, CONDITION_EVALUATIONS.most)
    assert edges is not None
    assert edges.count is None
    assert network.evaluated == CONDITION_EVALUATIONS.most // 2
    count_edges(bundle, network, CONDITION_EVALUATIONS.most)
    assert network.evaluated == CONDITION_EVALUATIONS.most // 2
