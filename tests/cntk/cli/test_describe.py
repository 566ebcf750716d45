"""`netsharp describe` of commands, files of networks, layers, revisions, and beside a log."""

from __future__ import annotations

import json
import pathlib
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

import netsharp_lsp
from tests.cli.command_line import netsharp
from tests.cntk.cli.experiments import FAULTY_NETWORK, NETWORK, TRAINS, write
from tests.cntk.collection import FILES, FOLDER
from tests.integrations.checkout import git

SCHEMA = json.loads(
    (pathlib.Path(netsharp_lsp.__file__).parent / "schemas" / "describe.json").read_text("utf-8")
)
NODES = ("features", "labels", "ce", "z", "z.PlusArgs[0]")
LOG = """\
Validating --> labels = InputValue() :  -> [3 x *]
Validating --> z.PlusArgs[0].W = LearnableParameter() :  -> [3 x 4]
"""


def described(folder: pathlib.Path, *arguments: str, stdin: bytes = b"") -> dict[str, Any]:
    answer = netsharp("describe", *arguments, "--format", "json", cwd=folder, stdin=stdin)
    assert answer.code == 0, answer.err
    found: dict[str, Any] = json.loads(answer.out)
    jsonschema.validate(found, SCHEMA)
    return found


def by_name(description: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {node["name"]: node for node in description["nodes"]}


def test_the_network_of_the_command_that_trains(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=TRAINS, net_dot_bs=NETWORK)
    found = described(tmp_path, "a.cntk")
    assert (found["layers"], found["connections"]) == ([], None)
    assert (found["command"], found["builder"]) == ("Train", "BrainScriptNetworkBuilder")
    assert found["commands"] == ["Train"]
    assert (found["parameters"], found["multiply_adds"], found["loops"]) == (15, 12, [])
    nodes = by_name(found)
    assert set(NODES) <= set(nodes)
    assert nodes["features"]["groups"] == ["feature"]
    assert (nodes["z"]["shape"], nodes["z"]["axis"], nodes["z"]["loop"]) == ([3], "*", None)
    assert nodes["ce"]["inputs"] == ["labels", "z"]
    ce = nodes["ce"]
    assert (ce["file"], ce["start"], ce["end"]["line"]) == ("net.bs", {"line": 4, "column": 6}, 4)
    assert found["memory_bytes"] % 4 == 0
    assert found["memory_bytes"] > 4 * 15


def test_memory_follows_the_precision(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=f"OutDir = out\n{TRAINS}", net_dot_bs=NETWORK)
    single = described(tmp_path, "a.cntk")["memory_bytes"]
    double = described(tmp_path, "a.cntk", "--set", "precision=double")["memory_bytes"]
    assert double == 2 * single


def test_a_command_can_be_chosen_and_a_wrong_one_is_reported(tmp_path: pathlib.Path) -> None:
    text = (
        "command = first:second\n"
        "first = { action = test ; BrainScriptNetworkBuilder = { f = Input {2} ; z = Tanh (f) } }\n"
        "second = { action = train ; BrainScriptNetworkBuilder = { f = Input {3} ; z = Tanh (f) }\n"
        "    SGD = { learningRatesPerMB = 1 } }\n"
        "third = { action = cv ; BrainScriptNetworkBuilder = { f = Input {4} ; z = Tanh (f) } }\n"
    )
    (tmp_path / "a.cntk").write_text(text)
    assert described(tmp_path, "a.cntk")["command"] == "second"
    first = described(tmp_path, "a.cntk", "--command", "FIRST")
    assert (first["command"], first["commands"]) == ("first", ["first", "second", "third"])
    assert by_name(first)["z"]["shape"] == [2]
    assert by_name(described(tmp_path, "a.cntk", "--command", "third"))["z"]["shape"] == [4]
    answer = netsharp("describe", "a.cntk", "--command", "secnd", cwd=tmp_path)
    assert answer.code == 2
    assert "no command 'secnd' builds a network. Did you mean 'second'?" in answer.err


def test_layers_and_assignments_give_the_values(tmp_path: pathlib.Path) -> None:
    network = NETWORK.replace("{3}", "{$size$}")
    text = TRAINS.replace('include "net.bs"', network).replace("dim = 3", "dim = $size$")
    (tmp_path / "a.cntk").write_text(f"OutDir = out\n{text}")
    (tmp_path / "b.cntk").write_text("size = 7\n")
    assert by_name(described(tmp_path, "a.cntk+b.cntk"))["z"]["shape"] == [7]
    layered = described(tmp_path, "a.cntk+b.cntk", "--set", "size=9")
    assert by_name(layered)["z"]["shape"] == [9]
    assert by_name(described(tmp_path, "a.cntk", "--set", "size=5"))["z"]["shape"] == [5]
    toml = '[[cntk.run]]\nfiles = ["a.cntk"]\nset = ["size=6"]\n'
    (tmp_path / "netsharp.toml").write_text(toml)
    assert by_name(described(tmp_path, "a.cntk"))["z"]["shape"] == [6]


@pytest.mark.parametrize("name", ["networks/autoencoder.bs", "ndl/one_hidden.ndl"])
def test_a_file_of_a_network_for_itself(tmp_path: pathlib.Path, name: str) -> None:
    found = described(FOLDER, name)
    assert (found["command"], found["builder"], found["commands"]) == (None, None, [])
    assert found["nodes"]
    data = (FOLDER / name).read_bytes()
    suffix = pathlib.Path(name).suffix
    again = described(tmp_path, "-", "--stdin-filename", f"x{suffix}", stdin=data)
    assert [node["name"] for node in again["nodes"]] == [node["name"] for node in found["nodes"]]


def test_every_form_says_the_same_nodes(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=TRAINS, net_dot_bs=NETWORK)
    forms = {
        form: netsharp("describe", "a.cntk", "--format", form, cwd=tmp_path).out
        for form in ("text", "markdown", "dot", "svg")
    }
    for name in NODES:
        assert all(name in text for text in forms.values()), name
    assert "15 parameters" in forms["text"]
    assert "| node | operation |" in forms["markdown"]
    picture = ElementTree.fromstring(forms["svg"])
    drawn = {group.get("data-name") for group in picture.iter() if group.get("data-name")}
    assert set(NODES) <= drawn


def test_loops_are_reported(tmp_path: pathlib.Path) -> None:
    text = "f = Input {2}\nh = Tanh (f + PastValue (2, h))\noutputNodes = (h)\n"
    (tmp_path / "loop.bs").write_text(text)
    found = described(tmp_path, "loop.bs")
    assert len(found["loops"]) == 1
    assert "h" in found["loops"][0]
    assert by_name(found)["h"]["loop"] is not None
    assert "loop 1: " in netsharp("describe", "loop.bs", cwd=tmp_path).out


def test_errors_go_to_stderr(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=TRAINS, net_dot_bs=FAULTY_NETWORK)
    answer = netsharp("describe", "a.cntk", cwd=tmp_path)
    assert (answer.code, answer.out) == (1, "")
    assert "error[BS020]" in answer.err
    assert "--> net.bs:2:5" in answer.err


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.cntk", "command = x\nx = { action = devtest }\n", "no command has a network builder"),
        (
            "a.cntk",
            "command = x\nx = { action = train ; NDLNetworkBuilder = {\n"
            "networkDescription = $Nets$/a.ndl ; ndlMacros = $Shared$/m.ndl } }\n",
            "the variables 'Nets' and 'Shared' have no value. Give one with --set Nets=... ",
        ),
        (
            "a.cntk",
            "command = x\nx = { action = train ; BrainScriptNetworkBuilder = "
            '(BS.Network.Load ("a.dnn")) }\n',
            "the model 'a.dnn' does not exist, and no earlier command writes it.",
        ),
        ("a.mel", "CopyNode(a, b)\n", "edits a network and does not define one"),
        ("a.cntk", "a = 1\0\n", "The file is binary"),
    ],
)
def test_what_cannot_be_described(
    tmp_path: pathlib.Path, name: str, text: str, sentence: str
) -> None:
    (tmp_path / name).write_text(text)
    answer = netsharp("describe", name, cwd=tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err
    assert netsharp("describe", "lost.cntk", cwd=tmp_path).code == 2
    assert netsharp("describe", "a.cntk+lost.cntk", cwd=tmp_path).code == 2


def test_a_log_of_the_original_is_compared(tmp_path: pathlib.Path) -> None:
    (tmp_path / "net.bs").write_text("f = Input {4}\nz = Tanh (f)\noutputNodes = (z)\n")
    good = (
        "Validating --> f = InputValue() :  -> [4 x *]\n"
        "Validating --> z = Tanh (f) : [4 x *] -> [4 x *]\n"
    )
    (tmp_path / "good.log").write_text(good)
    (tmp_path / "bad.log").write_text(good.replace("-> [4 x *]\n", "-> [5 x *]\n"))
    same = netsharp("describe", "net.bs", "--log", "good.log", cwd=tmp_path)
    assert (same.code, same.out) == (0, "The log has the same 2 nodes.\n")
    other = netsharp("describe", "net.bs", "--log", "bad.log", cwd=tmp_path)
    assert (other.code, other.out) == (1, "bad.log: 'f' is [5] in the log and [4] here.\n")
    assert netsharp("describe", "net.bs", "--log", "lost.log", cwd=tmp_path).code == 2


def test_another_library_is_read_in_place_of_ours(tmp_path: pathlib.Path) -> None:
    library = (
        "Input (dims) = new ComputationNode [ operation = 'InputValue' ; shape = dims ; "
        "isImage = false ]\n"
    )
    (tmp_path / "own.bs").write_text(library)
    (tmp_path / "net.bs").write_text("f = Tanh (1)\n")
    assert netsharp("describe", "net.bs", "--library", "lost.bs", cwd=tmp_path).code == 2
    answer = netsharp("describe", "net.bs", "--library", "own.bs", cwd=tmp_path)
    assert (answer.code, answer.out) == (1, "")
    assert "net.bs: a part of the network is unknown: 'Tanh' is " in answer.err


def test_a_revision_is_read_with_the_files_that_it_had(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=TRAINS, net_dot_bs=NETWORK)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    write(tmp_path, net_dot_bs=NETWORK.replace("LinearLayer {3} (f", "LinearLayer {3} (2 * f"))
    now, before = described(tmp_path, "a.cntk"), described(tmp_path, "HEAD:a.cntk")
    assert len(before["nodes"]) < len(now["nodes"])
    (tmp_path / "net.bs").unlink()
    assert described(tmp_path, "HEAD:a.cntk") == before
    answer = netsharp("describe", "HEAD:lost.cntk", cwd=tmp_path)
    assert (answer.code, "git cannot show it" in answer.err) == (2, True)


@pytest.mark.costly
def test_every_network_of_the_collection_is_described_or_says_why_not() -> None:
    networks = [file.name for file in FILES if file.name.startswith("networks/")]
    reported = 0
    for name in networks:
        answer = netsharp("describe", name, "--isolated", "--format", "json", cwd=FOLDER)
        assert bool(answer.out) == (answer.code == 0) or answer.err, name
        if answer.out:
            jsonschema.validate(json.loads(answer.out), SCHEMA)
            reported += 1
    assert reported > 20
