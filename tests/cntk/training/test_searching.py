"""Rates and sizes of minibatches that are looked for before epochs, by trials then forgotten."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.cntk.descent.adjusting import Control, Sizes
from netsharp_engine.cntk.descent.searching import Search, found_rate, found_size
from tests.cntk.training.experiments import Follower, made, run
from tests.cntk.training.test_restart import figures


def block(adjust: str, more: str = "") -> tuple[str, str]:
    sgd = (
        f"maxEpochs=4 ; numMBsToShowResult=0 ; {more} AutoAdjust=[numSamples4Search=60 ; {adjust}]"
    )
    return "command=learn", f"learn=[SGD=[{sgd}]]"


BEFORE = "autoAdjustLR=searchBeforeEpoch"
SIZES = "autoAdjustMinibatch=true ; minibatchSizeTuningMax=128"
CASES = {
    "rates": (BEFORE, ""),
    "rates on both sides": (f"{BEFORE} ; numBestSearchEpoch=3 ; numPrevLearnRates=2", ""),
    "sizes": (SIZES, "minibatchSize=10 ; "),
    "both": (f"{BEFORE} ; {SIZES} ; minibatchSizeTuningFrequency=2", "gradUpdateType=fsAdaGrad ; "),
}


@pytest.mark.parametrize("case", CASES)
def test_a_run_that_is_stopped_is_one_that_is_not(tmp_path: Path, case: str) -> None:
    items = block(*CASES[case])
    whole, follower = run(made(tmp_path / "whole"), *items)
    assert whole.code == 0, whole.complaints
    assert any("Finished Mini-Epoch" in line for line in follower.lines)
    folder = made(tmp_path / "stopped")
    pieces: list[dict[str, object]] = []
    for _ in range(10):
        answer, part = run(folder, *items, follower=Follower(ends=1))
        pieces += figures(part)
        if answer.code == 0:
            break
    assert pieces == figures(follower)
    for name in sorted(os.listdir(tmp_path / "whole" / "out")):
        if name.endswith(".safetensors"):  # it contains the duration
            continue
        ours = (folder / "out" / name).read_bytes()
        assert ours == (tmp_path / "whole" / "out" / name).read_bytes(), name


def test_a_search_needs_no_rate(tmp_path: Path) -> None:
    folder = made(tmp_path)
    path = folder / "net.cntk"
    path.write_text(path.read_text().replace("learningRatesPerSample = 0.05:0.02", ""))
    answer, follower = run(folder, *block(BEFORE))
    assert answer.code == 0, answer.complaints
    assert all(event["rate"] > 0 for event in follower.epochs)
    assert follower.epochs[-1]["loss"] < follower.epochs[0]["loss"]
    assert run(made(tmp_path / "other"), *block("autoAdjustLR=none"))[0].code == 0


def test_trials_leave_nothing_after(tmp_path: Path) -> None:
    """With a size that is chosen all the same, numbers are those of a run without trials."""
    plain = ("command=learn", "learn=[SGD=[minibatchSize=10:10:64 ; maxEpochs=4]]")
    searched = block(
        "autoAdjustMinibatch=true ; minibatchSizeTuningMax=64", "minibatchSize=10:10 ; "
    )
    _, one = run(made(tmp_path / "one"), *plain)
    _, other = run(made(tmp_path / "other"), *searched)
    assert any("minibatchSize = 64" in line for line in other.lines)
    momentum = [round(event["loss"], 12) for event in one.epochs[:3]]
    assert [round(event["loss"], 12) for event in other.epochs[:3]] == momentum


def search(epoch: int = 0, **more: object) -> Search:
    return Search(epoch, 16, 40, 160, Control(**more))  # type: ignore[arg-type]


def test_a_rate_is_made_smaller_until_it_does_no_harm() -> None:
    tried: list[float] = []

    def trial(rate: float, size: int) -> float:
        tried.append(rate)
        return math.nan if rate > 0.02 else 1.0 + rate - 0.01 if rate else 1.0

    first = float(np.float32(0.125) / np.float32(0.618)) / 4
    found = found_rate(search(), 1e-9, False, trial)
    assert tried[:2] == [0.0, first * 0.618]
    assert found == tried[-1] <= 0.01
    assert tried[-2] > 0.01
    tried.clear()
    known = search(3, former=(0.004, -1.0, 0.008), previous=5.0)
    assert found_rate(known, 1e-9, False, trial) == pytest.approx(0.008 / 0.618, rel=1e-6)
    assert len(tried) == 2


def test_the_better_one_of_two_sides_wins() -> None:
    def trial(rate: float, size: int) -> float:
        return (math.log(rate / 0.003)) ** 2 if rate else 1e9

    found = found_rate(search(), 1e-9, True, trial)
    assert 0.003 / 1.3 < found < 0.003 * 1.3


def test_what_is_no_number_without_a_rate_ends() -> None:
    assert math.isnan(found_rate(search(), 1e-9, True, lambda rate, size: math.nan))


def test_sizes_grow_until_the_criterion_does() -> None:
    tried: list[int] = []

    def trial(rate: float, size: int) -> float:
        tried.append(size)
        return 1.0 if size < 500 else 1.02

    sizes = Sizes()
    assert found_size(search(1), sizes, 0.1, 1.0, trial) == 384
    assert tried == [64, 64, 64, 64, 64, 64, 128, 192, 256, 384, 512]
    tried.clear()
    assert found_size(search(4, minibatch=200), sizes, 0.1, 1.0, trial) == 384
    assert tried == [128, 128, 192, 256, 384]
    assert found_size(search(4, minibatch=200), sizes._replace(frequency=2), 0.1, 1.0, trial) == 200
    assert found_size(search(4, minibatch=200), sizes._replace(largest=50), 0.1, 1.0, trial) == 50
    tried.clear()
    found_size(search(1), sizes, 0.1, 1 / 64, trial)
    assert tried[0] == 128


@pytest.mark.parametrize(
    "adjust",
    [
        "numPrevLearnRates=0",
        "numSamples4Search=-1",
        "minibatchSizeTuningFrequency=0",
        "minibatchSizeTuningMax=0",
        "minibatchSearchCriterionErrorMargin=-1",
    ],
)
def test_what_is_wrong_is_reported(tmp_path: Path, adjust: str) -> None:
    answer, follower = run(made(tmp_path), *block(f"{BEFORE} ; {adjust}"))
    assert answer.code in (1, 2)
    assert answer.code == 1 or adjust.partition("=")[0] in answer.complaints[0]
    assert follower.events == []
