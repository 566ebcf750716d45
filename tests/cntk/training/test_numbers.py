"""Random numbers, orders and schedules: worked values of CNTK."""

from __future__ import annotations

import numpy as np
import pytest

from netsharp_engine.cntk.descent.schedules import (
    PER_MINIBATCH,
    PER_SAMPLE,
    TIME_CONSTANT,
    Schedule,
)
from netsharp_engine.cntk.generators import MinimalStandard, Twister
from netsharp_engine.cntk.samples.minibatches import Sweeps
from netsharp_engine.cntk.samples.order import shuffled
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.cntk.starts import RANDOM, Start, gaussian, started

UNIFORM = [
    ("float32", 1, [-0.0499992184, -0.0368462205, 0.0255605318, -0.00413498655]),
    ("float32", 2, [-0.0499984361, -0.0236924421, 0.00112106279, 0.0417300276]),
    (
        "float64",
        1,
        [
            -0.036846221775175415,
            -0.0041349868592941222,
            -0.028104081797535551,
            0.017886471940597753,
        ],
    ),
]
GAUSSIAN = [
    ("float32", [-0.259093195, 1.60159206, -1.49896121, 0.174767554]),
    ("float64", [-0.12196578414159691, -1.0868180442613573, 0.68428994379655483]),
]


@pytest.mark.parametrize(("dtype", "seed", "worked"), UNIFORM)
def test_uniform_numbers(dtype: str, seed: int, worked: list[float]) -> None:
    found = started((4, 1), Start("uniform", 1.0, seed), dtype)
    assert found.dtype == dtype
    assert found.tolist() == np.array(worked, dtype).tolist()


@pytest.mark.parametrize(("dtype", "worked"), GAUSSIAN)
def test_gaussian_numbers(dtype: str, worked: list[float]) -> None:
    found = gaussian(MinimalStandard(1), 4, dtype)[: len(worked)]
    np.testing.assert_allclose(found, np.array(worked, dtype), rtol=4 * np.finfo(dtype).eps)


def test_the_minimal_standard_generator_is_its_recurrence() -> None:
    state, plain = 1, []
    for _ in range(5_000):
        state = 16807 * state % (2**31 - 1)
        plain.append(state)
    assert plain[:2] == [16807, 282475249]
    assert MinimalStandard(0).draws(5_000).tolist() == plain
    halves = MinimalStandard(1)
    assert [*halves.draws(777).tolist(), *halves.draws(4_223).tolist()] == plain


def test_the_twister_draws_what_the_standard_says() -> None:
    assert Twister(0).draws(2).tolist() == [2947667278772165694, 18301848765998365067]
    assert Twister(1).draws(2).tolist() == [2469588189546311528, 2516265689700432462]
    # The C++ standard gives the 10,000th number of the default seed.
    assert Twister(5489).draws(10_000)[-1] == 9981545732273789042
    pieces = Twister(7)
    joined = [*pieces.draws(5).tolist(), *pieces.draws(700).tolist()]
    assert joined == Twister(7).draws(705).tolist()


@pytest.mark.parametrize(
    ("sweep", "worked"),
    [
        (0, [4, 7, 3, 9, 1, 2, 8, 6, 5, 0]),
        (1, [1, 2, 8, 6, 5, 7, 0, 9, 3, 4]),
        (2, [8, 5, 7, 3, 6, 4, 9, 1, 0, 2]),
    ],
)
def test_orders_of_one_chunk(sweep: int, worked: list[int]) -> None:
    assert shuffled([10], sweep) == worked


def test_chunks_change_places_before_their_sequences_do() -> None:
    draws = Twister(3).draws(3).tolist()
    chunks = [0, 1, 2]
    for place, draw in enumerate(draws):
        other = draw % 3
        chunks[place], chunks[other] = chunks[other], chunks[place]
    spans = {0: [0, 1, 2, 3], 1: [4, 5], 2: [6, 7, 8]}
    joined = [position for chunk in chunks for position in spans[chunk]]
    for place, draw in enumerate(Twister(3).draws(9).tolist()):
        other = draw % 9
        joined[place], joined[other] = joined[other], joined[place]
    assert shuffled([4, 2, 3], 3) == joined


def test_a_minibatch_ends_with_an_epoch_and_with_a_sweep() -> None:
    source = Sweeps(Sequences({"x": np.arange(10.0).reshape(10, 1)}, [10], []), randomize=False)

    def epoch(number: int, size: int) -> list[list[float]]:
        return [batch.inputs["x"].ravel().tolist() for batch in source.epoch(number, size, 4)]

    assert epoch(0, 0) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert epoch(0, 6) == [[0, 1, 2, 3], [4, 5]]
    assert epoch(1, 6) == [[6, 7, 8, 9], [0, 1]]
    assert epoch(2, 6) == [[2, 3, 4, 5], [6, 7]]
    assert epoch(0, 25) == [*epoch(0, 0) * 2, [0, 1, 2, 3], [4]]


def test_each_sweep_has_an_order_of_its_own() -> None:
    source = Sweeps(Sequences({"x": np.arange(10.0).reshape(10, 1)}, [10], []), randomize=True)
    for number in range(3):
        rows = [batch.inputs["x"].ravel().tolist() for batch in source.epoch(number, 0, 3)]
        assert [int(one) for row in rows for one in row] == shuffled([10], number)


@pytest.mark.parametrize("kind", RANDOM)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_starts_have_the_spread_of_their_kind(kind: str, dtype: str) -> None:
    fans = {"incoming": 40, "outgoing": 60}
    spread = {
        "uniform": 0.05,
        "gaussian": 0.2 / 40**0.5,
        "xavier": (3 / 40) ** 0.5,
        "glorotUniform": (6 / 100) ** 0.5,
        "glorotNormal": (2 / 100) ** 0.5,
        "heUniform": (6 / 40) ** 0.5,
        "heNormal": (2 / 40) ** 0.5,
    }[kind]
    found = started((fans["outgoing"], fans["incoming"]), Start(kind, 2.0, 5), dtype)
    assert found.dtype == dtype
    is_uniform = RANDOM[kind][0]
    if is_uniform:
        assert 0.98 * 2 * spread < np.abs(found).max() <= 2 * spread * (1 + 1e-6)
    else:
        assert found.std() == pytest.approx(2 * spread, rel=0.05)


def test_a_filter_is_read_by_more_than_its_matrix() -> None:
    shape = (5, 5, 3, 32)
    narrow = started(shape, Start("heUniform", 1.0, 1, filter_rank=2, output_rank=-1), "float64")
    assert np.abs(narrow).max() == pytest.approx((6 / 75) ** 0.5, rel=0.01)


def test_rates_and_momentum_are_rounded_where_the_original_rounds() -> None:
    simple = Schedule([0.5, 0.2], PER_MINIBATCH, [0.9], PER_MINIBATCH, [25])
    assert simple.rate(7) == 0.00800000037997961
    assert simple.momentum(0) == pytest.approx(0.9957944465, abs=5e-11)
    assert simple.time_constant(0) == pytest.approx(237.28, abs=0.005)
    image = Schedule([2e-6], PER_SAMPLE, [1000], TIME_CONSTANT, [100])
    assert image.momentum(0) == pytest.approx(0.9990004897, abs=5e-11)
    assert image.effective_momentum(0, 100) == pytest.approx(0.90483650, abs=5e-9)
    still = Schedule([0.1], PER_SAMPLE, [0], TIME_CONSTANT, [10, 20])
    assert (still.momentum(0), still.time_constant(0), still.size(5)) == (0.0, 0.0, 20)
