"""The lines of CNTK's log about a network, in the forms of both releases."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from netsharp_lsp.cntk.commands.training import perform
from netsharp_lsp.project.roots import roots_around
from netsharp_lsp.questions import Performance
from netsharp_lsp.settings import Settings
from tests.cntk.training.experiments import Follower, made

PLANE = Path(__file__).parents[3] / "examples" / "cntk" / "plane"


def lines_of(folder: Path, release: str, *items: str, ends: int | None = 0) -> list[str]:
    """The lines that a training logs in the form of a release."""
    follower = Follower(ends=ends)
    asked = Performance(
        (next(folder.glob("*.cntk")).name, "command=learn", *items),
        str(folder),
        lambda names: roots_around(names, ()),
        lambda place, roots: Settings(),
    )
    asked.log = release
    perform(asked, follower)
    return follower.lines


@pytest.fixture
def plane(tmp_path: Path) -> Path:
    folder = tmp_path / "plane"
    shutil.copytree(PLANE, folder, ignore=shutil.ignore_patterns("out"))
    return folder


def test_nodes_are_reported_as_they_were_printed(plane: Path) -> None:
    lines = lines_of(plane, "2016-11", "traceLevel=1")
    reported = [line.removeprefix("Validating --> ") for line in lines if line.startswith("Valid")]
    assert reported[0] == "Validating network. 25 nodes to process in pass 1."
    assert reported[1:6] == [
        "labels = InputValue() :  -> [2 x *]",
        "W2 = LearnableParameter() :  -> [2 x 50]",
        "W1 = LearnableParameter() :  -> [50 x 50]",
        "W0 = LearnableParameter() :  -> [50 x 2]",
        "features = InputValue() :  -> [2 x *]",
    ]
    assert reported[16] == "H2 = Sigmoid (W1*H1+B1) : [50 x 1 x *] -> [50 x 1 x *]"
    assert reported[17] == "W2*H1 = Times (W2, H2) : [2 x 50], [50 x 1 x *] -> [2 x 1 x *]"
    assert (
        reported[-3]
        == "ScaledLogLikelihood = Minus (HLast, LogOfPrior) : [2 x 1 x *], [2] -> [2 x 1 x *]"
    )
    assert reported[-2:] == [
        "Validating network. 17 nodes to process in pass 2.",
        "Validating network, final pass.",
    ]
    roots = lines[lines.index("7 roots:") + 1 :][:7]
    assert [line.split()[0] for line in roots] == [
        *("CrossEntropyWithSoftmax", "EvalClassificationError", "InvStdOfFeatures"),
        *("MeanOfFeatures", "PosteriorProb", "Prior", "ScaledLogLikelihood"),
    ]


def test_how_parameters_begin_has_the_form_of_the_release(plane: Path) -> None:
    new = [one for one in lines_of(plane, "2016-11", "traceLevel=1") if "Initializing" in one]
    head = "Node 'W1' (LearnableParameter operation): Initializing Parameter[50 x 50] <- "
    assert new[2] == (
        f"{head}uniform(seed=2, init dims=[50 x 50], "
        "range=0.050000(0.050000*1.000000), onCPU=false."
    )
    assert new[3].startswith(")Node 'B1' (LearnableParameter operation): ")
    shutil.rmtree(plane / "out")
    old = [one for one in lines_of(plane, "2016-08", "traceLevel=1") if "Initializing" in one]
    assert len(old) == 12
    assert old[4:6] == [
        f"{head}0.000000.",
        f"{head}uniform(seed=2, range=0.050000*1.000000, onCPU=false).",
    ]


def test_a_release_has_its_own_frame(tmp_path: Path) -> None:
    folder = made(tmp_path)
    lines = lines_of(folder, "2016-08", ends=None)
    assert lines[2] == f"{'# Action ' + chr(34) + 'train' + chr(34):<76} #"
    assert lines[6] == "CNTKCommandTrainBegin: learn"
    assert "CNTKCommandTrainEnd: learn" in lines
    place = lines.index("Training criterion node(s):")
    assert lines[place + 1] == "\tCrossEntropyWithSoftmax = CrossEntropyWithSoftmax"
    assert "Created model with 20 nodes on CPU." in lines
    again = lines_of(made(tmp_path / "again"), "2016-11", ends=2)
    assert "Model has 20 nodes. Using CPU." in again
    assert not any("Validating" in line for line in again)
    resumed = lines_of(tmp_path / "again", "2016-11", "traceLevel=1", ends=3)
    assert "Starting from checkpoint. Loading network from 'out/net.dnn.2'." in resumed
    assert not any("Initializing" in line for line in resumed)
