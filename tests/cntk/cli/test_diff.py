"""`netsharp diff` of experiments: values, then networks, and revisions of both."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import jsonschema

import netsharp_lsp
from tests.cli.command_line import netsharp
from tests.cntk.cli.experiments import FAULTY_NETWORK, NETWORK, TRAINS, write
from tests.cntk.collection import FOLDER
from tests.integrations.checkout import git

SCHEMA = json.loads(
    (pathlib.Path(netsharp_lsp.__file__).parent / "schemas" / "diff.json").read_text("utf-8")
)
WHOLE = f"OutDir = out\n{TRAINS}"


def compared(folder: pathlib.Path, *arguments: str) -> dict[str, Any]:
    answer = netsharp("diff", *arguments, "--format", "json", cwd=folder)
    assert answer.code in (0, 1), answer.err
    found: dict[str, Any] = json.loads(answer.out)
    jsonschema.validate(found, SCHEMA)
    assert found["same"] == (answer.code == 0)
    return found


def rows(found: dict[str, Any], what: str) -> list[tuple[str, str, str | None]]:
    return [
        (one["change"], one["name"], one["aspect"])
        for one in found["differences"]
        if one["what"] == what
    ]


def test_values_come_resolved_and_before_nodes(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=WHOLE, net_dot_bs=NETWORK)
    changed = WHOLE.replace("OutDir = out", "OutDir = other\nnew = 1")
    write(tmp_path, b_dot_cntk=changed.replace(' ; file = "data.txt"', ""))
    found = compared(tmp_path, "a.cntk", "b.cntk")
    assert rows(found, "value") == [
        ("changed", "OutDir", None),
        ("added", "new", None),
        ("changed", "Train.modelPath", None),
        ("removed", "Train.reader.file", None),
    ]
    path = next(one for one in found["differences"] if one["name"] == "Train.modelPath")
    assert (path["before"], path["after"]) == ("out/net.dnn", "other/net.dnn")
    assert rows(found, "node") == []
    assert found["parameters"] == {"before": 15, "after": 15}
    text = netsharp("diff", "a.cntk", "b.cntk", cwd=tmp_path)
    assert "needs file" in text.err
    assert text.out.splitlines() == [
        "~ value OutDir: out -> other",
        "+ value new added: 1",
        "~ value Train.modelPath: out/net.dnn -> other/net.dnn",
        "- value Train.reader.file removed: data.txt",
    ]


def test_what_is_only_spelt_otherwise_is_the_same(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=WHOLE, net_dot_bs=NETWORK)
    write(tmp_path, b_dot_cntk=f"# said elsewhere\n{WHOLE}".replace("Train", "train", 1))
    answer = netsharp("diff", "a.cntk", "a.cntk", cwd=tmp_path)
    assert (answer.code, answer.out) == (0, "The networks are the same.\n")
    inline = WHOLE.replace('include "net.bs"', NETWORK).replace("# said", "#")
    (tmp_path / "c.cntk").write_text(inline)
    assert compared(tmp_path, "a.cntk", "c.cntk")["differences"] == []


def test_nodes_are_compared_by_what_they_do_and_by_name(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.bs").write_text(NETWORK)
    renamed = NETWORK.replace("z", "out")
    (tmp_path / "b.bs").write_text(renamed)
    found = compared(tmp_path, "a.bs", "b.bs")
    assert found["same"]
    assert ("renamed", "z", "name") in rows(found, "node")
    (tmp_path / "c.bs").write_text(NETWORK.replace("{3}", "{5}"))
    found = compared(tmp_path, "a.bs", "c.bs")
    assert ("changed", "z", "shape") in rows(found, "node")
    assert rows(found, "node").count(("changed", "z.W", "shape")) == 1
    assert {one["change"] for one in found["differences"]} == {"changed"}
    (tmp_path / "d.bs").write_text(f"{NETWORK}more = Tanh (z)\n".replace("(z)\n", "(more)\n", 1))
    found = compared(tmp_path, "a.bs", "d.bs")
    assert ("added", "more", None) in rows(found, "node")
    assert ("changed", "z", "groups") in rows(found, "node")


def test_commands_are_paired_by_their_names(tmp_path: pathlib.Path) -> None:
    def two(first: int, second: str) -> str:
        train = "{{ action = train ; SGD = {{ learningRatesPerMB = 1 }} ; reader = {{ {reader} }}\n"
        reader = "readerType = CNTKTextFormatReader ; file = x ; input = { features = { dim = 4 ; "
        streams = "format = dense } ; labels = { dim = 3 ; format = dense } }"
        head = train.format(reader=reader + streams)
        builder = NETWORK.replace("LinearLayer {3} (f", f"LinearLayer {{3}} ({first} * f")
        return (
            f"command = one:{second}\nmodelPath = m\n"
            f"one = {head}    BrainScriptNetworkBuilder = {{\n{builder}    }}\n}}\n"
            f"{second} = {head}    BrainScriptNetworkBuilder = {{\n{NETWORK}    }}\n}}\n"
        )

    (tmp_path / "a.cntk").write_text(two(2, "other"))
    (tmp_path / "b.cntk").write_text(two(3, "third"))
    found = compared(tmp_path, "a.cntk", "b.cntk")
    assert rows(found, "network") == [("removed", "other", None), ("added", "third", None)]
    changed = [name for change, name, _ in rows(found, "node") if change == "changed"]
    assert changed
    assert all(name.startswith("one: ") for name in changed)


def test_revisions_and_assignments(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=WHOLE, net_dot_bs=NETWORK)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    assert compared(tmp_path, "HEAD:a.cntk", "a.cntk")["same"]
    write(tmp_path, net_dot_bs=NETWORK.replace("LinearLayer {3} (f", "LinearLayer {3} (2 * f"))
    found = compared(tmp_path, "HEAD:a.cntk", "a.cntk")
    assert "added" in {change for change, _, _ in rows(found, "node")}
    assert rows(found, "value") == []
    assert compared(tmp_path, "HEAD:net.bs", "net.bs")["same"] is False


def test_layers_are_compared_as_one(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=WHOLE, net_dot_bs=NETWORK)
    (tmp_path / "b.cntk").write_text("Train = [ SGD = [ maxEpochs = 9 ] ]\n")
    found = compared(tmp_path, "a.cntk", "a.cntk+b.cntk")
    assert rows(found, "value") == [("changed", "Train.SGD.maxEpochs", None)]


def test_ndl_and_brainscript_of_one_network_are_the_same(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.ndl").write_text("f = Input(4)\nz = Tanh(f)\nFeatureNodes = (f)\n")
    (tmp_path / "b.bs").write_text("f = Input {4}\nz = Tanh (f)\nfeatureNodes = (f)\n")
    assert compared(tmp_path, "a.ndl", "b.bs")["same"]


def test_text_that_cannot_be_read_is_not_compared(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.cntk").write_text("a = { b = 1\n")
    answer = netsharp("diff", "a.cntk", "a.cntk", cwd=tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert "error[CK003]" in answer.err


def test_what_cannot_be_compared(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=WHOLE, net_dot_bs=FAULTY_NETWORK)
    answer = netsharp("diff", "a.cntk", "a.cntk", cwd=tmp_path)
    assert answer.code == 2
    assert "error[BS020]" in answer.err
    (tmp_path / "a.nn").write_text("input a [1];\noutput b [1] from a all;\n")
    mixed = netsharp("diff", "a.nn", "a.cntk", cwd=tmp_path)
    assert (mixed.code, "are of different kinds" in mixed.err) == (2, True)
    assert netsharp("diff", "lost.cntk", "a.cntk", cwd=tmp_path).code == 2
    macros = str(FOLDER / "ndl" / "macros.ndl")
    alone = netsharp("diff", macros, macros, cwd=tmp_path)
    assert (alone.code, "contains no network" in alone.err) == (2, True)
