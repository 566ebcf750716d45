"""Rates that are adjusted after epochs: the decisions, and runs that go back and continue."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.cntk.descent.adjusting import AFTER, Adjusting, Control, counted, decide
from tests.cntk.training.experiments import Follower, made, run
from tests.cntk.training.test_restart import figures

#: A first rate so large that epochs get worse; each test appends the options that adjust it.
SGD = "maxEpochs=7 ; learningRatesPerSample=0.7 ; minibatchSize=10 ; "


def block(adjust: str, more: str = "") -> tuple[str, str]:
    return (
        "command=learn",
        f"learn=[SGD=[{SGD}{more} AutoAdjust=[autoAdjustLR=adjustAfterEpoch ; {adjust}]]]",
    )


def rates(follower: Follower) -> list[float]:
    return [event["rate"] for event in follower.epochs]


def test_a_worse_epoch_is_rolled_back_and_repeated_with_a_smaller_rate(tmp_path: Path) -> None:
    folder = made(tmp_path)
    answer, follower = run(folder, *block("learnRateDecreaseFactor=0.5"))
    assert answer.code == 0
    best = math.inf
    rate = float(np.float32(0.7))
    kept, back = 0, 0
    for number, event in enumerate(follower.epochs):
        assert event["epoch"] == kept + 1
        assert event["rate"] == rate
        worse = number > 0 and event["loss"] > best
        if worse:
            back += 1
        else:
            best, kept = event["loss"], kept + 1
        rate *= 0.5 if worse else 1.0
    assert back >= 2
    assert kept >= 3
    assert sum("rolling back" in line for line in follower.lines) == back
    assert sum(line.startswith("learnRatePerSample reduced to") for line in follower.lines) == back
    reported = [
        one for one in follower.notices if "is worse: training continues after epoch" in one
    ]
    # Each line reports the rate that training continues with.
    rates = [float(one.rpartition(" rate ")[2].rstrip(".")) for one in reported]
    assert rates == pytest.approx([0.7 * 0.5**number for number in range(1, back + 1)], rel=1e-5)
    assert (folder / "out" / "net.dnn").exists()


@pytest.mark.costly
@pytest.mark.parametrize(
    ("adjust", "more"),
    [
        ("loadBestModel=true", ""),
        ("learnRateAdjustInterval=2", "keepCheckPointFiles=true ; "),
        ("learnRateAdjustInterval=3 ; learnRateDecreaseFactor=0.9", ""),
        ("continueReduce=true ; reduceLearnRateIfImproveLessThan=0.02", ""),
        (
            "loadBestModel=false ; increaseLearnRateIfImproveMoreThan=0.1",
            "gradUpdateType=rmsProp ;",
        ),
    ],
)
def test_a_run_that_is_stopped_is_one_that_is_not(tmp_path: Path, adjust: str, more: str) -> None:
    """Stopped after every epoch line, those that are rolled back among them."""
    items = block(adjust, more)
    whole, follower = run(made(tmp_path / "whole"), *items)
    assert whole.code == 0
    folder = made(tmp_path / "stopped")
    pieces: list[dict[str, object]] = []
    for _ in range(100):
        answer, part = run(folder, *items, follower=Follower(ends=1))
        pieces += figures(part)
        if answer.code == 0:
            break
    assert pieces == figures(follower)
    names = sorted(os.listdir(tmp_path / "whole" / "out"))
    assert sorted(os.listdir(folder / "out")) == names
    for name in names:
        if name.endswith(".safetensors"):  # it contains the duration
            continue
        ours = (folder / "out" / name).read_bytes()
        assert ours == (tmp_path / "whole" / "out" / name).read_bytes(), name


def test_reducing_that_continues_ends_training_with_the_final_model(tmp_path: Path) -> None:
    folder = made(tmp_path)
    adjust = "continueReduce=true ; reduceLearnRateIfImproveLessThan=0.5 ; loadBestModel=false"
    answer, follower = run(folder, *block(adjust))
    assert answer.code == 0
    first, second = follower.epochs[1:3]
    assert second["rate"] == pytest.approx(first["rate"] * 0.618, rel=1e-15)
    assert len(follower.epochs) == 3
    assert any("reduced before" in one for one in follower.notices)
    assert list(answer.lines) == ["learn: model out/net.dnn"]
    assert (folder / "out" / "net.dnn").exists()


def test_a_rate_that_becomes_too_small_writes_the_final_model(tmp_path: Path) -> None:
    folder = made(tmp_path)
    adjust = "reduceLearnRateIfImproveLessThan=10 ; learnRateDecreaseFactor=0.001"
    answer, follower = run(folder, *block(adjust, "minLearningRatePerSample=1e-6 ; "))
    assert answer.code == 0
    assert len(follower.epochs) < 7
    assert list(answer.lines) == ["learn: model out/net.dnn"]
    assert (folder / "out" / "net.dnn").exists()


def test_what_would_be_repeated_for_ever_ends(tmp_path: Path) -> None:
    answer, follower = run(made(tmp_path), *block("learnRateDecreaseFactor=1"))
    assert answer.code == 0
    assert any("for ever" in one for one in follower.notices)


@pytest.mark.costly
def test_a_criterion_that_is_no_number_goes_back(tmp_path: Path) -> None:
    """Where nothing is adjusted the same run ends."""
    folder = made(tmp_path)
    items = block("loadBestModel=true ; increaseLearnRateIfImproveMoreThan=0 ; "
                  "learnRateIncreaseFactor=1e30")  # fmt: skip
    answer, follower = run(folder, *items, "learn=[SGD=[learningRatesPerSample=0.01]]")
    assert answer.code == 0
    assert any("rolling back" in line for line in follower.lines)
    assert all(math.isfinite(one["loss"]) for one in follower.epochs)


@pytest.mark.parametrize(
    ("adjust", "word"),
    [
        ("learnRateDecreaseFactor=1.5", "learnRateDecreaseFactor"),
        ("learnRateIncreaseFactor=0.5", "learnRateIncreaseFactor"),
        ("reduceLearnRateIfImproveLessThan=nan", "reduceLearnRateIfImproveLessThan"),
        ("autoAdjustLR=sometimes", "autoAdjustLR"),
    ],
)
def test_what_is_wrong_is_reported(tmp_path: Path, adjust: str, word: str) -> None:
    answer, follower = run(made(tmp_path), *block(adjust))
    assert answer.code in (1, 2)
    assert answer.code == 1 or any(word in one for one in answer.complaints)
    assert follower.events == []


def test_the_decisions() -> None:
    """Gains are relative to the interval before."""
    plan = Adjusting(AFTER, reduce_up_to=0.1, increase_above=0.3)
    known = Control(rate=1.0, previous=10.0)
    for criterion, rate in ((9.5, 0.618), (9.0, 0.618), (8.0, 1.0), (6.9, 1.382), (12.0, 0.618)):
        assert decide(plan, known._replace(mean=criterion)).control.rate == rate
    assert decide(plan, Control(rate=1.0, mean=5.0)).control.rate == 1.0
    assert decide(plan, Control(rate=1.0, mean=math.nan)).control.rate == 0.618
    going = plan._replace(goes_on_reducing=True)
    first = decide(going, known._replace(mean=9.5))
    assert (first.control.rate, first.control.reduced, first.ends) == (0.618, True, False)
    assert decide(going, first.control._replace(mean=8.0)).control.rate == 0.618 * 0.618
    assert decide(going, first.control._replace(mean=9.9)).ends


def test_an_interval_has_the_mean_of_its_epochs() -> None:
    plan, control = Adjusting(AFTER, interval=3), Control()
    for epoch, criterion in enumerate((6.0, 3.0, 9.0)):
        control = counted(plan, control, epoch, criterion)
    assert control.mean == 6.0
    assert counted(plan, control, 3, 1.0).mean == 1.0
    resumed = Control(uncounted=1)
    for epoch, criterion in ((1, 3.0), (2, 9.0)):
        resumed = counted(plan, resumed, epoch, criterion)
    assert resumed.mean == 6.0


def test_what_stands_where_no_one_reads_it_is_reported(tmp_path: Path) -> None:
    _, follower = run(made(tmp_path), "command=learn", "learn=[SGD=[loadBestModel=true]]")
    assert sum("loadBestModel of SGD: without effect" in one for one in follower.notices) == 1
    _, follower = run(made(tmp_path / "other"), *block("learnRateDecreaseFactor=0.5"))
    assert not any("without effect" in one for one in follower.notices)
