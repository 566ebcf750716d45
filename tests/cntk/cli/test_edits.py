"""`describe` and `check` of edits in MEL: the network after them, and what does not fit."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from tests.cli.command_line import netsharp
from tests.cntk.cli.experiments import checked, write
from tests.cntk.layered import LAYER, NETWORK

#: A usual chain of commands: add a layer to a trained model, continue training, test.
RUN = """\
command = Pre:Add:Train:Top:Test
ndlMacros = "macros.ndl"
Pre = [
    action = "train" ; modelPath = "one/net"
    NDLNetworkBuilder = [ networkDescription = "net.ndl" ]
]
Add = [ action = "edit" ; editPath = "add.mel" ; from = "one/net" ; to = "two/net.0" ; n = 2 ]
Train = [
    action = "train" ; modelPath = "two/net"
    NDLNetworkBuilder = [ networkDescription = "net.ndl" ]
]
Top = [ action = "edit" ; editPath = "top.mel" ]
Test = [ action = "test" ; modelPath = "top/net" ]
"""
ADD = """\
m = LoadModel("$from$", format=cntk)
SetDefaultModel(m)
Dim = 8
H$n$ = Layer(H1.y, Dim, Dim)
SetInput(z, 1, H$n$.y)
SaveModel(m, "$to$")
"""
TOP = """\
m = LoadModel("two/net")
err = ClassificationError(labels, z, tag=evaluation)
{}
SaveModel(m, "top/net")
"""


def folder_of(folder: pathlib.Path, lines: str = "", add: str = ADD) -> None:
    write(
        folder,
        a_dot_cntk=RUN,
        macros_dot_ndl=LAYER,
        net_dot_ndl=NETWORK,
        add_dot_mel=add,
        top_dot_mel=TOP.format(lines),
    )


def network_of(folder: pathlib.Path, command: str) -> dict[str, Any]:
    arguments = ("describe", "a.cntk", "--command", command, "--format", "json")
    answer = netsharp(*arguments, cwd=folder)
    assert answer.code == 0, answer.err
    nodes = json.loads(answer.out)["nodes"]
    return {one["name"]: one for one in nodes}


def reported(folder: pathlib.Path) -> list[tuple[str, str, int, str]]:
    _, found = checked(folder, "a.cntk", "--select", "ME,BS05,BS06,CK114,CK115")
    return [(one["code"], one["file"], one["start"]["line"], one["message"]) for one in found]


@pytest.mark.parametrize("command", ["Add", "Train"])
def test_the_network_after_an_edit_and_of_the_training_that_continues(
    tmp_path: pathlib.Path, command: str
) -> None:
    folder_of(tmp_path)
    nodes = network_of(tmp_path, command)
    assert nodes["z"]["inputs"] == ["W", "H2.y"]
    assert (nodes["H2.W"]["shape"], nodes["H2.y"]["shape"]) == ([8, 8], [8, 1])
    assert (nodes["H2.W"]["file"], nodes["H1.W"]["file"]) == ("macros.ndl", "macros.ndl")
    drawn = netsharp("describe", "a.cntk", "--command", command, "--format", "svg", cwd=tmp_path)
    assert "H2" in drawn.out


def test_a_test_sees_the_last_edit(tmp_path: pathlib.Path) -> None:
    lines = (
        "SetProperty(H1.*, learningRateMultiplier, 0)\nRename(H2.*, Top.*)\n"
        "SetProperty(ce, criterion, false)"
    )
    folder_of(tmp_path, lines)
    nodes = network_of(tmp_path, "Test")
    assert nodes["err"]["groups"] == ["evaluation"]
    assert nodes["ce"]["groups"] == []
    assert (nodes["Top.W"]["trainable"], nodes["H1.W"]["trainable"]) == (True, False)
    assert nodes["z"]["inputs"] == ["W", "Top.y"]
    assert "H2.W" not in nodes
    assert reported(tmp_path) == []


def test_a_log_of_an_edit_is_compared(tmp_path: pathlib.Path) -> None:
    folder_of(tmp_path)
    log = "".join(
        f"Validating --> {line}\n"
        for line in (
            "H1.y = Sigmoid (H1.p) : [8 x 1 x *] -> [8 x 1 x *]",
            "z = Times (W, H1.y) : [2 x 8], [8 x 1 x *] -> [2 x 1 x *]",
            "z = Times (W, H2.y) : [2 x 8], [8 x 1 x *] -> [2 x 1 x *]",
        )
    )
    write(tmp_path, edit_dot_log=log, old_dot_log=log.replace("W, H2", "W, H1"))
    arguments = ("describe", "a.cntk", "--command", "Add", "--log")
    assert "no node 'x'" in netsharp(*arguments, "edit.log", cwd=tmp_path).out
    assert "inputs (W, H1.y) in the log" in netsharp(*arguments, "old.log", cwd=tmp_path).out


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("SetInput(z, 1, x)", ("BS051", "top.mel", 3, "'z': ")),
        ("V = Parameter(2, 5)\nSetInput(z, 0, V)", ("BS051", "top.mel", 4, "'z': ")),
        ("q = Plus(H1.W, H2.W)", ("BS050", "top.mel", 3, "'q': ")),
        ("DeleteNode(H1.y)", ("ME031", "top.mel", 3, "Input 1 of 'H2.t' (Times, ")),
        ("Copy(H2.t, H3.t)", ("ME031", "top.mel", 3, "Input 0 of 'H3.t' (Times, ")),
        ("SetInput(H1.t, 1, H2.y)", ("BS051", "top.mel", 3, "'H1.t': ")),
    ],
)
def test_what_does_not_fit_is_reported_at_the_edit(
    tmp_path: pathlib.Path, lines: str, expected: tuple[str, str, int, str]
) -> None:
    folder_of(tmp_path, lines)
    found = reported(tmp_path)
    assert (expected[:3], True) in [
        ((code, file, line), message.startswith(expected[3])) for code, file, line, message in found
    ], found
    answer = netsharp("describe", "a.cntk", "--command", "Test", cwd=tmp_path)
    assert answer.code != 0
    assert "what it loads or does is not completely known" in answer.err


@pytest.mark.parametrize(
    "lines",
    [
        "SetInput(z, 1, $Node$)",
        "SetProperty(H1.W, learningRateMultiplier, $Rate$)",
        "Rename(z, $New$)",
        "$New$ = Sigmoid(z)",
        "n = LoadModel($Other$)\nCopy(n.H1.*, m.K.*)",
        'n = LoadModel("elsewhere")\nCopySubTree(n.z, m, k)',
        'n = LoadModel("elsewhere")\nCopy(n.*, m.*)',
    ],
)
def test_what_is_not_known_stays_unknown(tmp_path: pathlib.Path, lines: str) -> None:
    folder_of(tmp_path, f"SetInput(z, 1, x)\n{lines}")
    write(tmp_path, elsewhere="")
    assert [one for one in reported(tmp_path) if one[0][:2] != "ME"] == []
    answer = netsharp("describe", "a.cntk", "--command", "Test", cwd=tmp_path)
    assert answer.code == 2
    assert "the edit 'Top' writes 'top/net', and what it loads" in answer.err


PART = """\
Head = [ x = Input(4, tag=feature) ; V = Parameter(3, 4) ; t = Times(V, x) ; y = Tanh(t) ]
Wrong = [ x = Input(4, tag=feature) ; V = Parameter(3, 5) ; t = Times(V, x) ]
Open = [ x = Input($Dim$, tag=feature) ; y = Tanh(x) ]
"""


def test_a_section_of_ndl_that_an_edit_loads_is_a_model(tmp_path: pathlib.Path) -> None:
    load = 'LoadNDLSnippet(n, "part.ndl", section={})\n'
    write(tmp_path, part_dot_ndl=PART)
    folder_of(tmp_path, f"{load.format('HEAD')}SetDefaultModel(m)\nCopySubTree(n.y, m, K)")
    nodes = network_of(tmp_path, "Test")
    assert (nodes["KV"]["shape"], nodes["Ky"]["inputs"]) == ([3, 4], ["Kt"])
    assert nodes["z"]["inputs"] == ["W", "H2.y"]
    assert reported(tmp_path) == []
    folder_of(tmp_path, f"{load.format('Head')}SetInput(n.y, 0, n.q)")
    ((code, file, line, message),) = reported(tmp_path)
    assert (code, file, line) == ("ME010", "top.mel", 4)
    assert message.startswith("The model 'n' has no node 'q': it is written in NDL.")
    folder_of(tmp_path, f'{load.format("Wrong")}SaveModel(n, "n")')
    assert [one[:3] for one in reported(tmp_path)] == [("BS051", "top.mel", 3)]
    # What a variable of that file stands for is not known, and nothing follows from it.
    folder_of(tmp_path, f"{load.format('Open')}SetInput(n.y, 0, n.q)\nCopy(n.*, m.*)")
    assert reported(tmp_path) == []


def test_an_edit_that_writes_nothing_leaves_the_model(tmp_path: pathlib.Path) -> None:
    folder_of(tmp_path)
    write(tmp_path, top_dot_mel='m = LoadModel("two/net")\nDumpNode(z, "z.txt")\n')
    answer = netsharp("describe", "a.cntk", "--command", "Top", cwd=tmp_path)
    assert answer.code == 2
    assert "the edit 'Top' writes no model" in answer.err


def test_names_of_nodes_are_those_after_the_edit(tmp_path: pathlib.Path) -> None:
    folder_of(tmp_path, "Rename(z, top)")
    run = RUN.replace('"top/net" ]', '"top/net" ; evalNodeNames = "top:z" ]')
    write(tmp_path, a_dot_cntk=run)
    found = reported(tmp_path)
    assert [(code, file) for code, file, _, _ in found] == [("CK114", "a.cntk")]
    assert "has no node 'z'" in found[0][3]


def test_a_part_of_a_node_is_a_name_of_before_a_migration(tmp_path: pathlib.Path) -> None:
    """A network in BrainScript calls what a macro returns by the macro's own name."""
    folder_of(tmp_path, "SetInput(err, 1, z.y)")
    ((code, _, _, message),) = reported(tmp_path)
    assert (code, message.rpartition(": ")[2].partition(". ")[2]) == ("ME010", "Did you mean 'z'?")
    before = (tmp_path / "top.mel").read_bytes()
    netsharp("check", "--fix", "a.cntk", cwd=tmp_path)
    assert (tmp_path / "top.mel").read_bytes() == before
    netsharp("check", "--unsafe-fixes", "a.cntk", "top.mel", cwd=tmp_path)
    assert "SetInput(err, 1, z)" in (tmp_path / "top.mel").read_text()
