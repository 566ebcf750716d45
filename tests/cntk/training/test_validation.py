"""Data that evaluate every epoch, and minibatches that are worked through in parts."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.cntk.samples.minibatches import Parts, Sweeps
from netsharp_engine.cntk.samples.text_format import Sequences
from tests.cntk.training.experiments import made, run

EVALUATION = (
    'cvReader = { file = "other.ctf" ; input = { features = { dim = 2 ; format = "dense" } ; '
    'labels = { dim = 3 ; format = "dense" } } } ; SGD'
)


def checked(folder: Path) -> Path:
    """The experiment with data of validation: a third of the others."""
    made(folder)
    path = folder / "net.cntk"
    path.write_text(path.read_text().replace("    SGD", f"    {EVALUATION}"))
    lines = (folder / "data.ctf").read_text().splitlines(keepends=True)
    (folder / "other.ctf").write_text("".join(lines[::3]))
    return folder


def test_every_epoch_is_checked_by_other_data(tmp_path: Path) -> None:
    folder = checked(tmp_path)
    answer, follower = run(folder, "command=learn", "makeMode=false")
    assert answer.code == 0
    lines = [line for line in follower.lines if "[Validate]" in line]
    assert len(lines) == 4
    assert "CrossEntropyWithSoftmax = " in lines[0]
    assert lines[0].endswith("* 50")
    reported = [event["validation"] for event in follower.epochs]
    assert all(one.keys() == {"loss", "evaluation"} for one in reported)
    score = ("command=score", "score=[reader=[file=other.ctf]]")
    (tested,) = [one for one in run(folder, *score)[1].events if one["event"] == "end"]
    assert reported[-1]["loss"] == pytest.approx(tested["loss"], rel=1e-6)
    assert reported[-1]["evaluation"]["EvalClassificationError"] == pytest.approx(
        tested["evaluation"]["EvalClassificationError"]
    )


def test_what_judges_changes_nothing_unless_rates_are_adjusted(tmp_path: Path) -> None:
    run(checked(tmp_path / "judged"), "command=learn")
    run(made(tmp_path / "plain"), "command=learn")
    ours = (tmp_path / "judged" / "out" / "net.dnn").read_bytes()
    assert ours == (tmp_path / "plain" / "out" / "net.dnn").read_bytes()


@pytest.mark.parametrize(
    ("message", "key"),
    [
        ("", "validation"),
        ("UseCVSetControlLRIfCVExists=false ;", "training"),
        ("UseEvalCriterionControlLR=true ;", "evaluation"),
    ],
)
def test_a_rate_follows_what_judges(tmp_path: Path, message: str, key: str) -> None:
    sgd = "maxEpochs=6 ; learningRatesPerSample=0.4 ; minibatchSize=10 ; "
    adjust = f"AutoAdjust=[autoAdjustLR=adjustAfterEpoch ; {message} loadBestModel=false]"
    answer, follower = run(checked(tmp_path), "command=learn", f"learn=[SGD=[{sgd}{adjust}]]")
    assert answer.code == 0
    rate, before = float(np.float32(0.4)), math.inf
    for number, event in enumerate(follower.epochs):
        assert event["rate"] == rate
        means = event if key == "training" else event["validation"]
        c = means["evaluation"]["EvalClassificationError"] if key == "evaluation" else means["loss"]
        if number and not math.isinf(before) and before - c <= 0:
            rate *= 0.618
        before = c


@pytest.mark.parametrize("message", ["numSubminibatches=3", "maxSamplesInRAM=4"])
def test_parts_of_a_minibatch_add_up(tmp_path: Path, message: str) -> None:
    items = ("command=learn", "precision=double")
    _, whole = run(made(tmp_path / "whole"), *items)
    answer, parts = run(made(tmp_path / "parts"), *items, f"learn=[SGD=[{message}]]")
    assert answer.code == 0
    for ours, others in zip(parts.epochs, whole.epochs, strict=True):
        assert ours["loss"] == pytest.approx(others["loss"], rel=1e-11)
        assert ours["step"] == others["step"]
    lines = [[line for line in one.lines if "Minibatch[" in line] for one in (parts, whole)]
    assert len(lines[0]) == len(lines[1]) > 4


def test_the_parts() -> None:
    source = Sweeps(Sequences({"x": np.arange(7.0)[:, None]}, [7], []), randomize=False)
    (batch,) = source.epoch(0, 0, 7)

    def sizes(parts: Parts, size: int = 7) -> list[int]:
        return [one.samples for one in parts.of(batch, source, size)]

    assert sizes(Parts()) == [7]
    assert sizes(Parts(3)) == [2, 2, 3]
    assert sizes(Parts(100)) == [1] * 7
    assert sizes(Parts(0, 4)) == [3, 4]
    assert sizes(Parts(1, 3)) == [2, 2, 3]
    assert sizes(Parts(2, 1)) == [3, 4]
    assert sizes(Parts(0, 100)) == [7]


def test_data_of_validation_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    folder = checked(tmp_path)
    path = folder / "net.cntk"
    path.write_text(path.read_text().replace("features = { dim = 2", "features = { dim = 3", 1))
    answer, follower = run(folder, "command=learn")
    assert answer.code in (1, 2)
    assert answer.reports or "'features' has dim=3 here" in answer.complaints[0]
    assert follower.events == []
