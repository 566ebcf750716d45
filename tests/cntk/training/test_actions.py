"""The actions that look at models: cv compares those of epochs, dumpNode and plot show one."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from netsharp_lsp.cntk.training.networks.models import ModelFiles
from netsharp_lsp.project.roots import ANYWHERE
from tests.cli.command_line import netsharp
from tests.cntk.training.experiments import made, run

READER = """reader = { file = "data.ctf" ; randomize = false ; input = {
    features = { dim = 2 ; format = "dense" } ; labels = { dim = 3 ; format = "dense" } } }"""
COMMANDS = f"""
compare = {{ action = "cv" ; crossValidationInterval = 1:1:4 ; {READER} }}
show = {{ action = "dumpNode" }}
draw = {{ action = "plot" }}
"""


def folder_of(tmp_path: Path, *trained: str) -> Path:
    folder = made(tmp_path / "run")
    with (folder / "net.cntk").open("a") as stream:
        stream.write(COMMANDS)
    if trained:
        assert run(folder, *trained)[0].code == 0
    return folder


def test_cv_judges_every_epoch_and_names_the_best(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    answer, follower = run(folder, "command=learn:compare")
    assert answer.code == 0, answer.complaints
    ends = [one for one in follower.events if one["event"] == "end"]
    assert [one["epoch"] for one in ends] == [1, 2, 3, 4]
    assert {(one["command"], one["action"]) for one in ends} == {("compare", "cv")}
    lines = follower.lines[follower.lines.index("Model out/net.dnn.1 --> ") :]
    assert "Model out/net.dnn.4 does not exist." in lines
    assert "Model out/net.dnn --> " in lines
    last = lines[lines.index("Best models:") :]
    assert last[1] == "------------"
    least = min(ends, key=lambda one: one["loss"])
    name = "out/net.dnn" if least["epoch"] == 4 else f"out/net.dnn.{least['epoch']}"
    assert last[3] == f"Based on Err[1]: Best model = {name} with min err {least['loss']:.8g}"
    assert answer.lines[-2].startswith("compare: best EvalClassificationError ")
    _, tested = run(folder, "command=score")
    assert tested.events[0]["loss"] == pytest.approx(ends[-1]["loss"], rel=1e-12)


@pytest.mark.parametrize(
    ("interval", "word"),
    [
        ("1:0:4", "a step of 1 or more"),
        ("4:1:1", "a step of 1 or more"),
        ("1:2", "a step of 1 or more"),
        ("0:1:1000000000", "at most 10,000 models are compared"),
        ("11:1:20", "net.dnn"),
    ],
)
def test_an_interval_that_cannot_be_is_reported(interval: str, word: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    answer, follower = run(
        folder, "command=compare", f"compare=[crossValidationInterval={interval}]"
    )
    assert answer.code == 2
    assert word in answer.complaints[0]
    assert follower.lines == []


def test_a_dump_has_every_number_of_the_model(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "command=learn:show")
    text = (folder / "out" / "net.dnn.__AllNodes__.txt").read_text()
    model = ModelFiles(ANYWHERE).load(str(folder / "out" / "net.dnn"))
    heads = re.findall(r"^(\S+)=(\w+)", text, re.MULTILINE)
    assert sorted(name for name, _ in heads) == sorted(model.network.nodes)
    assert [name for name, _ in heads] == sorted(model.network.nodes, key=str.lower)
    assert (
        "\nW0=LearnableParameter [8,2]   learningRateMultiplier=1.000000  NeedsGradient=true \n"
        in text
    )
    assert "\nH1=Tanh ( W0*features+B0 ) \n" in text
    assert "\nMeanOfFeatures=Mean ( features ) [2]   HasComputed=true \n" in text
    assert "\nfeatures=InputValue [ 2 ]" in text
    body = text.partition("\nW0=")[2].partition("\n")[2].partition(" ####")[0]
    rows = np.array([[float(one) for one in row.split()] for row in body.splitlines()], np.float32)
    stored = model.values["W0"].reshape(2, 8).T
    assert np.array_equal(rows, stored)


def test_a_dump_shows_what_is_asked_for(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "command=learn")
    asked = "nodeName=B0 ; printMetadata=false ; outputFile=b0.txt"
    answer, _ = run(folder, "command=show", f"show=[{asked}]")
    assert answer.code == 0, answer.complaints
    values = ModelFiles(ANYWHERE).load(str(folder / "out" / "net.dnn")).values["B0"]
    shown = [np.float32(line) for line in (folder / "b0.txt").read_text().split()]
    assert shown == list(values)
    asked = 'nodeNameRegex="W[0-9]" ; printValues=false ; outputFile=w.txt'
    answer, follower = run(folder, "command=show", f"show=[{asked}]")
    assert answer.code == 0, answer.complaints
    assert re.findall(r"^(\w+)=", (folder / "w.txt").read_text(), re.MULTILINE) == ["W0", "W1"]
    assert "DumpNodeInfo: 2 nodes matching RegEx(W[0-9]): " in follower.lines


@pytest.mark.parametrize(
    ("command", "asked", "word"),
    [
        ("show", 'nodeNameRegex="(a+)+b"', "repeats a group"),
        ("show", 'nodeNameRegex="["', "is not a valid pattern"),
        ("show", "printValues=false ; printMetadata=false", "nothing would be shown"),
        ("show", "outputFile=../out.txt", "outside"),
        ("show", "modelPath=none.dnn", "none.dnn"),
        ("draw", "outputDotFile=../out.dot", "outside"),
        ("draw", "outputFile=out.png", "without a 'renderCmd'"),
        ("draw", 'outputFile=../out.png ; renderCmd="dot"', "outside"),
        ("draw", 'outputDotFile="|dot"', "names a program"),
        ("score", 'reader=[file="zcat data.gz |"]', "names a program"),
    ],
)
def test_what_cannot_be_shown_is_reported(
    command: str, asked: str, word: str, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path, "command=learn")
    answer, follower = run(folder, f"command={command}", f"{command}=[{asked}]")
    assert answer.code == 2, (answer.reports, answer.complaints)
    assert word in answer.complaints[0]
    assert follower.lines == []


def test_a_plot_is_a_graph_and_starts_nothing(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "command=learn")
    asked = 'outputFile=net.png ; renderCmd="touch started <IN> <OUT>"'
    answer, follower = run(folder, "command=draw", f"draw=[{asked}]")
    assert answer.code == 0, answer.complaints
    text = (folder / "out" / "net.dnn.dot").read_text()
    assert text.startswith(
        " strict digraph {\n rankdir = BT ;  \n // special nodes \n node [ shape = box"
    )
    assert '  "H1" [ label = "H1 [8 x 1 x *]\\nTanh" ] ;\n' in text
    assert '"W0*features+B0" -> "H1" ; \n' in text
    model = ModelFiles(ANYWHERE).load(str(folder / "out" / "net.dnn"))
    # No group leads to the node of probabilities: it is drawn alone, as the original does.
    nodes = [one for one in model.network.nodes.values() if one.name != "PosteriorProb"]
    assert text.count(" -> ") == sum(len(node.inputs) for node in nodes)
    assert text.count("[ label = ") == len(nodes) + 1
    assert text.count("{") == text.count("}")
    assert not (folder / "started").exists()
    assert any("touch started out/net.dnn.dot net.png" in one for one in follower.notices)


def test_a_program_is_started_where_a_person_allows_it(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "command=learn")
    copy = f"{Path(sys.executable).as_posix()} -c 'import shutil, sys; shutil.copy(*sys.argv[1:])'"
    asked = f'draw=[outputFile=net.png ; renderCmd="{copy} <IN> <OUT>"]'
    done = netsharp("run", "net.cntk", "command=draw", asked, cwd=folder)
    assert done.code == 0, done.err
    assert "no program is started without --allow-commands" in done.err
    assert not (folder / "net.png").exists()
    done = netsharp("run", "net.cntk", "command=draw", asked, "--allow-commands", cwd=folder)
    assert done.code == 0, done.err
    assert (folder / "net.png").read_bytes() == (folder / "out" / "net.dnn.dot").read_bytes()
    asked = 'draw=[outputFile=net.png ; renderCmd="exit 1"]'
    done = netsharp("run", "net.cntk", "command=draw", asked, "--allow-commands", cwd=folder)
    assert done.code == 2
    assert "ended with the exit code 1" in done.err
