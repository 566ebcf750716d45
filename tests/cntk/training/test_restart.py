"""A training stopped after any epoch and resumed equals one that ran through, bit for bit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.cntk.training.experiments import Follower, made, run

TIMES = ("seconds",)


def figures(follower: Follower) -> list[dict[str, Any]]:
    return [{k: v for k, v in one.items() if k != "seconds"} for one in follower.epochs]


@pytest.mark.parametrize("precision", ["float", "double"])
@pytest.mark.parametrize("epoch", [0, 1, 2, 3])
def test_stopped_and_resumed_is_run_through(tmp_path: Path, epoch: int, precision: str) -> None:
    extra = (f"precision={precision}", "command=learn")
    whole, follower = run(made(tmp_path / "whole"), *extra)
    assert whole.code == 0
    folder = made(tmp_path / "stopped")
    stopped, first = run(folder, *extra, follower=Follower(ends=epoch))
    assert stopped.code == 130
    assert not (folder / "out" / "net.dnn").exists()
    resumed, second = run(folder, *extra)
    assert resumed.code == 0
    assert any(f"continues after epoch {epoch}" in one for one in second.notices)
    assert figures(first) + figures(second) == figures(follower)
    for name in ("net.dnn", "net.dnn.ckp", "net.dnn.0", "net.dnn.1", "net.dnn.2", "net.dnn.3"):
        ours = (folder / "out" / name).read_bytes()
        assert ours == (tmp_path / "whole" / "out" / name).read_bytes(), name


#: Blocks that change how parameters are updated.
RULES = {
    "useNAG": "useNAG = true",
    "adagrad": "gradUpdateType = adagrad ; clippingThresholdPerSample = 0.1",
    "fsAdaGrad": "gradUpdateType = fsAdaGrad ; varianceTimeConstant = 100",
    "rmsProp": "gradUpdateType = rmsProp ; L2RegWeight = 0.001",
    "noise": "gaussianNoiseInjectStd = 0.01 ; L1RegWeight = 0.001",
}


@pytest.mark.parametrize("rule", RULES)
def test_what_a_rule_remembers_continues(tmp_path: Path, rule: str) -> None:
    items = ("command=learn", f"learn=[SGD=[{RULES[rule]} ; learningRatesPerSample = 0.005]]")
    whole, follower = run(made(tmp_path / "whole"), *items)
    assert whole.code == 0
    folder = made(tmp_path / "stopped")
    first = run(folder, *items, follower=Follower(ends=2))[1]
    second = run(folder, *items)[1]
    assert figures(first) + figures(second) == figures(follower)
    for name in ("net.dnn", "net.dnn.ckp"):
        ours = (folder / "out" / name).read_bytes()
        assert ours == (tmp_path / "whole" / "out" / name).read_bytes(), name


def test_what_another_rule_remembers_is_refused(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    run(folder, "command=learn", follower=Follower(ends=2))
    for rule in ("fsAdaGrad", "rmsProp", "adagrad"):
        answer, follower = run(folder, "command=learn", f"learn=[SGD=[gradUpdateType={rule}]]")
        assert answer.code == 2
        assert "another gradUpdateType" in answer.complaints[0]
        assert follower.epochs == []


def test_a_rate_that_is_too_small_ends_with_the_model_that_was_kept(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    answer, follower = run(
        folder, "command=learn", "learn=[SGD=[learningRatesPerSample=0.05:0.02:1e-10]]"
    )
    assert answer.code == 0
    assert len(follower.epochs) == 2
    assert not (folder / "out" / "net.dnn").exists()
    assert any("is less than minLearningRatePerSample" in one for one in follower.notices)
    assert any("'out/net.dnn.2' is the last model" in one for one in follower.notices)
    assert list(answer.lines) == ["learn: model out/net.dnn.2"]


def test_a_model_that_is_there_is_not_trained(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    run(folder)
    before = (folder / "out" / "net.dnn").read_bytes()
    answer, follower = run(folder, "command=learn")
    assert answer.code == 0
    assert "No further training is necessary." in follower.lines
    assert any("makeMode=false" in one for one in follower.notices)
    assert (folder / "out" / "net.dnn").read_bytes() == before
    answer, follower = run(folder, "command=learn", "makeMode=false")
    assert len(follower.epochs) == 4
    assert (folder / "out" / "net.dnn").read_bytes() == before


def test_a_model_that_was_removed_is_trained_again_from_the_last_epoch(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    _, whole = run(folder, "keepCheckPointFiles=true")
    before = (folder / "out" / "net.dnn").read_bytes()
    (folder / "out" / "net.dnn").unlink()
    _, again = run(folder, "keepCheckPointFiles=true")
    assert figures(again) == figures(whole)[-1:]
    assert (folder / "out" / "net.dnn").read_bytes() == before


def test_a_checkpoint_that_is_missing_is_reported(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    run(folder, "command=learn", follower=Follower(ends=2))
    (folder / "out" / "net.dnn.2.ckp").unlink()
    answer, follower = run(folder, "command=learn")
    assert answer.code == 0
    assert any("momentum starts again at 0" in one for one in follower.notices)


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        (lambda data: data[: len(data) // 2], "byte"),
        (lambda data: b"no model", "not a model"),
        (lambda data: b"", "not a model"),
    ],
)
def test_a_damaged_model_is_one_sentence(tmp_path: Path, damage: Any, word: str) -> None:
    folder = made(tmp_path / "run")
    run(folder, "command=learn", follower=Follower(ends=2))
    path = folder / "out" / "net.dnn.2"
    path.write_bytes(damage(path.read_bytes()))
    os.utime(path)
    answer, _ = run(folder, "command=learn")
    assert answer.code == 2
    (sentence,) = answer.complaints
    assert "net.dnn.2" in sentence
    assert word in sentence


def test_the_model_of_another_network_is_refused(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    run(folder, "command=learn", follower=Follower(ends=2))
    answer, _ = run(folder, "command=learn", "learn=[SimpleNetworkBuilder=[layerSizes=2:9:3]]")
    assert answer.code == 2
    assert "another network" in answer.complaints[0]
