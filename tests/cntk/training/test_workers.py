"""ParallelTrain: several processes on the course of one, and models that are averaged."""

from __future__ import annotations

import math
import re
import time
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.cntk.descent.reports import State
from netsharp_engine.model_file import read_file, write_file
from netsharp_lsp.cntk.training.actions.checkpoints import Checkpoints
from netsharp_lsp.cntk.training.networks.models import LearntNetwork, ModelFiles, Position
from netsharp_lsp.cntk.training.plans.sharing import require_fitting
from netsharp_lsp.project.roots import roots_around
from tests.cntk.training.experiments import Follower, made, run
from tests.distributed.threads import together

SPARSE = "sparse"
DOUBLE = ("precision=double", "command=learn", "parallelTrain=true")


def arranged(folder: Path, block: str) -> None:
    """Make an experiment with a block ParallelTrain."""
    path = made(folder) / "net.cntk"
    sharing = f"ParallelTrain = {{ {block} }} ; maxEpochs = 4"
    path.write_text(path.read_text().replace("maxEpochs = 4", sharing))


def shared(folder: Path, block: str, size: int, *items: str) -> list[Follower]:
    """What each of `size` processes reports of a run; all have to end well."""
    arranged(folder, block)
    if SPARSE in items:
        make_sparse(folder)
    given = (*DOUBLE, *(one for one in items if one != SPARSE))
    if size == 1:
        found = [run(folder, *given)]
    else:
        found = together(size, lambda ranks: run(folder, *given, ranks=ranks))
    for answer, _ in found:
        assert answer.code == 0, answer.complaints
    return [follower for _, follower in found]


def model_of(folder: Path) -> LearntNetwork:
    return ModelFiles(roots_around([str(folder)], ())).load(str(folder / "out" / "net.dnn"))


def assert_same_course(one: Follower, many: Follower, tolerance: float = 1e-9) -> None:
    assert len(one.epochs) == len(many.epochs)
    for mine, theirs in zip(one.epochs, many.epochs, strict=True):
        for key in ("step", "samples", "loss", "evaluation", "rate"):
            assert theirs[key] == pytest.approx(mine[key], rel=tolerance), key


def assert_same_models(one: Path, other: Path, tolerance: float = 1e-9) -> None:
    mine, theirs = model_of(one).values, model_of(other).values
    assert mine.keys() == theirs.keys()
    for name, values in mine.items():
        np.testing.assert_allclose(theirs[name], values, rtol=0, atol=tolerance, err_msg=name)


GRADIENTS = "parallelizationMethod=DataParallelSGD ; DataParallelSGD={gradientBits=1}"
CASES: dict[str, tuple[str, ...]] = {
    "momentum": (),
    "one sample behind the last whole minibatch": ("learn=[SGD=[minibatchSize=149]]",),
    "parts of a share": ("learn=[SGD=[numSubminibatches=3]]",),
    "sparse features": (SPARSE,),
    "fsAdaGrad": ("learn=[SGD=[gradUpdateType=fsAdaGrad]]",),
    "weights pulled to 0": ("learn=[SGD=[L2RegWeight=0.01;L1RegWeight=0.001]]",),
    "rates adjusted, an epoch undone": (
        "learn=[SGD=[learningRatesPerSample=1;autoAdjust=[autoAdjustLR=adjustAfterEpoch;"
        "reduceLearnRateIfImproveLessThan=0;loadBestModel=true;"
        "increaseLearnRateIfImproveMoreThan=1e10]]]",
    ),
    "a rate that is searched": (
        "learn=[SGD=[autoAdjust=[autoAdjustLR=searchBeforeEpoch;numMiniBatch4LRSearch=5]]]",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_processes_that_exchange_gradients_follow_the_course_of_one(
    case: str, tmp_path: Path
) -> None:
    items = CASES[case]
    (alone,) = shared(tmp_path / "one", GRADIENTS, 1, *items)
    for size in (2, 3):
        first, *others = shared(tmp_path / str(size), GRADIENTS, size, *items)
        assert_same_course(alone, first)
        assert_same_models(tmp_path / "one", tmp_path / str(size))
        for other in others:
            assert_same_course(first, other, 1e-15)
    assert any("gradientBits is without effect" in one for one in first.notices)


def test_an_undone_epoch_is_read_by_all_before_it_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first process rewrites the state that the others still read, if it does not wait."""
    read = Checkpoints._state

    def slowly(kept: Checkpoints, epoch: int, model: LearntNetwork) -> tuple[State, Position]:
        if not kept.ranks.leads:
            time.sleep(0.3)
        return read(kept, epoch, model)

    monkeypatch.setattr(Checkpoints, "_state", slowly)
    first, other = shared(tmp_path, GRADIENTS, 2, *CASES["rates adjusted, an epoch undone"])
    assert_same_course(first, other, 1e-15)


def make_sparse(folder: Path) -> None:
    """Read features that are below 0 as such that are not given."""
    path = folder / "data.ctf"
    lines = []
    for line in path.read_text().splitlines():
        labels, _, values = line.partition(" |features ")
        given = [f"{place}:{one}" for place, one in enumerate(values.split()) if float(one) > 0]
        lines.append(f"{labels} |features {' '.join(given)}\n")
    path.write_text("".join(lines))
    path = folder / "net.cntk"
    dense = 'features = { dim = 2 ; format = "dense" }'
    text = path.read_text().replace(dense, dense.replace("dense", "sparse"))
    path.write_text(text.replace("applyMeanVarNorm = true", "applyMeanVarNorm = false"))


def plain(rate: float) -> str:
    return f"learn=[SGD=[learningRatesPerSample={rate};minibatchSize=10;momentumAsTimeConstant=0]]"


def test_models_that_are_averaged_at_each_step_go_a_part_of_the_way(tmp_path: Path) -> None:
    """The mean of models that each went by the gradient of a half is half a step of the whole."""
    block = "parallelizationMethod=ModelAveragingSGD ; ModelAveragingSGD={blockSize=10}"
    first, _ = shared(tmp_path / "two", block, 2, plain(0.04))
    (alone,) = shared(tmp_path / "one", block, 1, plain(0.02))
    assert_same_models(tmp_path / "one", tmp_path / "two")
    for mine, theirs in zip(alone.epochs, first.epochs, strict=True):
        assert theirs["loss"] == pytest.approx(mine["loss"], rel=1e-9)


def test_models_that_are_averaged_once_an_epoch_are_means(tmp_path: Path) -> None:
    block = "parallelizationMethod=ModelAveragingSGD ; ModelAveragingSGD={blockSizePerWorker=999}"
    first, second = shared(tmp_path / "two", block, 2, plain(0.02), "learn=[SGD=[maxEpochs=1]]")
    assert any("every 1,998 samples" in one for one in first.notices)
    assert_same_course(first, second, 1e-15)
    (alone,) = shared(tmp_path / "one", block, 1, plain(0.02), "learn=[SGD=[maxEpochs=1]]")
    assert first.epochs[0]["loss"] != pytest.approx(alone.epochs[0]["loss"], rel=1e-4)


#: All samples at once, and no momentum within a block.
ONE_BATCH = "minibatchSize=150;learningRatesPerSample=0.01"


def test_blocks_go_on_with_a_momentum(tmp_path: Path) -> None:
    """Where a block is a step, it is CNTK's momentum, whose gain is 1, on one process."""
    method = "parallelizationMethod=BlockMomentumSGD ; BlockMomentumSGD="
    block = "{blockSize=150;blockMomentumPerSync=0.6;useNesterovMomentum=false}"
    still = f"learn=[SGD=[{ONE_BATCH};momentumAsTimeConstant=0]]"
    first, _ = shared(tmp_path / "two", method + block, 2, still)
    assert any("150 samples, with a block momentum of 0.6." in one for one in first.notices)
    kept = f"learn=[SGD=[{ONE_BATCH};momentumAsTimeConstant={-150 / math.log(0.6)}]]"
    (alone,) = shared(tmp_path / "one", method + block, 1, kept)
    # The momentum of a sample has seven digits there.
    assert_same_models(tmp_path / "one", tmp_path / "two", 1e-6)
    assert_same_course(alone, first, 1e-6)


def test_nesterov_goes_farther_before_the_next_block(tmp_path: Path) -> None:
    method = "parallelizationMethod=BlockMomentumSGD ; BlockMomentumSGD="
    still = f"learn=[SGD=[{ONE_BATCH};momentumAsTimeConstant=0;maxEpochs=1]]"
    for size, block in ((2, "{blockSize=150;blockMomentumPerSync=0.6}"), (1, "{}")):
        shared(tmp_path / str(size), method + block, size, still)
    store = ModelFiles(roots_around([str(tmp_path)], ()))
    start = store.load(str(tmp_path / "2" / "out" / "net.dnn.0")).values["W0"]
    moved, step = (start - model_of(tmp_path / str(size)).values["W0"] for size in (2, 1))
    np.testing.assert_allclose(moved, 1.6 * 0.4 * step, atol=1e-12)


MOMENTUM = "blockSize=40;blockMomentumPerSync=0.7;blockLearningRate=0.8"
RESUMED = {
    "blocks with a momentum": f"BlockMomentumSGD={{{MOMENTUM}}}",
    "nesterov's": f"BlockMomentumSGD={{{MOMENTUM};useNesterovMomentum=true}}",
    "an epoch without blocks": f"parallelizationStartEpoch=2;BlockMomentumSGD={{{MOMENTUM}}}",
}


@pytest.mark.parametrize("case", RESUMED)
def test_who_continues_has_the_momentum_of_blocks(case: str, tmp_path: Path) -> None:
    """Two processes that stop after the second epoch, and continue: the numbers of one run."""
    block = f"parallelizationMethod=BlockMomentumSGD ; {RESUMED[case]}"
    whole, _ = shared(tmp_path / "whole", block, 2)
    folder = tmp_path / "parts"
    arranged(folder, block)
    reported = []
    for ends in (2, None):
        found = together(
            2, lambda ranks, ends=ends: run(folder, *DOUBLE, follower=Follower(ends), ranks=ranks)
        )
        reported += found[0][1].epochs
    assert [answer.code for answer, _ in found] == [0, 0], found[0][0].complaints
    assert [each["loss"] for each in reported] == [each["loss"] for each in whole.epochs]
    assert_same_models(tmp_path / "whole", folder, 0.0)


def test_a_momentum_of_other_parameters_is_refused() -> None:
    values = {"W": np.ones((2, 3)), "b": np.ones(2)}
    require_fitting({"W": np.zeros((2, 3)), "b": np.zeros((1, 2))}, values, values)
    require_fitting({"W": np.zeros((2, 3))}, values, ["W"])
    require_fitting({}, values, values)
    others: list[tuple[dict[str, np.ndarray], str]] = [
        ({"V": np.zeros((2, 3))}, "'V' has a momentum of blocks of another size"),
        ({"W": np.zeros((3, 3))}, "'W' has a momentum of blocks of another size"),
        ({"W": np.full((2, 3), np.nan)}, "'W' has a momentum of blocks that is not finite"),
        ({"W": np.full((2, 3), -np.inf)}, "'W' has a momentum of blocks that is not finite"),
        ({"b": np.zeros(2)}, "'W' has no momentum of blocks"),
    ]
    for blocks, reported in others:
        with pytest.raises(ValueError, match=reported):
            require_fitting(blocks, values, [] if "V" in blocks else ["W"])


@pytest.mark.parametrize("kept", ["none", "not finite", "of some parameters"])
def test_a_momentum_of_blocks_that_is_lost_is_reported(kept: str, tmp_path: Path) -> None:
    """Models of other versions have none, and a file may be damaged."""
    block = f"parallelizationMethod=BlockMomentumSGD ; BlockMomentumSGD={{{MOMENTUM}}}"
    arranged(tmp_path, block)
    for ends in (2, None):
        found = together(
            2, lambda ranks, ends=ends: run(tmp_path, *DOUBLE, follower=Follower(ends), ranks=ranks)
        )
        if ends is None:
            break
        path = str(tmp_path / "out" / "net.dnn.2.ckp.safetensors")
        values, blocks = read_file(path)
        if kept == "none":
            blocks = {}
        elif kept == "not finite":
            blocks["blocks/W0"] = np.full((2, 8), np.nan)
        else:
            del blocks["blocks/W0"]
        write_file(path, values, blocks)
    (answer, follower), _ = found
    if kept == "none":
        assert answer.code == 0
        message = "no momentum of blocks is stored for 'out/net.dnn.2': it starts again at 0."
        assert any(message in one for one in follower.notices)
    else:
        assert answer.code == 2
        assert "net.dnn.2.ckp.safetensors' is damaged ('W0' has " in answer.complaints[0]


def test_one_of_the_processes_trains_where_nothing_is_shared(tmp_path: Path) -> None:
    folder = made(tmp_path / "one")
    items = ("precision=double", "command=learn:score")
    found = together(2, lambda ranks: run(folder, *items, ranks=ranks))
    (first, reported), (second, silent) = found
    assert (first.code, second.code) == (0, 0)
    assert len(reported.epochs) == 4
    assert not silent.epochs
    assert first.lines
    assert not second.lines
    assert "parallelTrain is not true, so that one of the 2 processes trains." in " ".join(
        reported.notices
    )


def test_processes_with_other_samples_train_nothing(tmp_path: Path) -> None:
    """Of a shorter file one process would end before the others, in the middle of an exchange."""
    folders = [made(tmp_path / "one"), made(tmp_path / "two", rows=90)]
    items = ("parallelTrain=true", "command=learn")
    found = together(2, lambda ranks: run(folders[ranks.comm.rank], *items, ranks=ranks))
    sentence = (
        r"The processes have not the same data: 150 samples, checksum \w+ \(process 0\), "
        r"90 samples, checksum \w+ \(process 1\)\."
    )
    for answer, follower in found:
        assert answer.code != 0
        assert re.search(sentence, " ".join(answer.complaints)), answer.complaints
        assert not follower.epochs
