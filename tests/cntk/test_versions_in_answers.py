"""Where people meet the releases of CNTK: lists, hovers, commands and settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.cntk.versions import VERSIONS, rank
from netsharp_lsp.context import Context
from netsharp_lsp.language import language_by_id
from netsharp_lsp.workspace import Premises, Run, Workspace
from tests.cli.command_line import netsharp
from tests.cli.test_schemas import schema
from tests.cntk.test_versions import NETWORK, reported
from tests.cntk.texts import Memory


def proposed(marked: str, version: str) -> dict[str, str]:
    """What is proposed at a cursor in a configuration, with its details."""
    text = marked.replace("|", "", 1).encode()
    files = Memory({"a.cntk": text})
    run = (Run(("configFile=a.cntk",)),)
    workspace = Workspace("a.cntk", files, run, given=Premises(version=version))
    snapshot = language_by_id("cntk").open(text, Context(workspace=workspace))
    return {one.label: one.detail for one in snapshot.complete(marked.index("|")).items}


BEFORE = "command = T\nT = { action = train ; BrainScriptNetworkBuilder = {\nx = Input (3)\n"
#: A text with a cursor, what is proposed there, and since when.
PROPOSED = (
    (f"{BEFORE}y = Co|\n}} }}\n", "Cosh", "2.1"),
    (f"{BEFORE}y = CNTK2.St|\n}} }}\n", "StraightThrough", "2.6"),
    (f"{BEFORE}y = ConvolutionalLayer {{4, (3:3), |}} (x)\n}} }}\n", "dilation=", "2.2"),
    (f"{BEFORE}y = DenseLayer {{4, init='|'}} (x)\n}} }}\n", "normal", "2.0"),
    ("command = T\nT = { action = train\nSGD = {\n|\n}\n}\n", "tensorBoardLogDir", "2.0"),
    ("command = T\nT = { action = train\nSGD = {\ngradUpdateType = |\n}\n}\n", "adam", "2.7"),
)


@pytest.mark.parametrize(("marked", "label", "since"), PROPOSED, ids=[row[1] for row in PROPOSED])
def test_completion_says_since_when_and_offers_no_later_words(
    marked: str, label: str, since: str
) -> None:
    assert f"CNTK knows it from {since} on." in proposed(marked, "")[label]
    assert label in proposed(marked, since)
    earlier = proposed(marked, VERSIONS[rank(since) - 1])
    assert earlier
    assert label not in earlier


def test_hover_says_since_when() -> None:
    text = "command = T\nT = { action = train\nSGD = {\ntensorBoardLogDir = a\n"
    text += "gradUpdateType = adam\n} }\n"
    workspace = Workspace("a.cntk", Memory({"a.cntk": text.encode()}))
    snapshot = language_by_id("cntk").open(text.encode(), Context(workspace=workspace))
    found = snapshot.hover(text.index("tensor"))
    assert found is not None
    assert "CNTK reads it from 2.0 on." in found.markdown
    found = snapshot.hover(text.index("gradUp"))
    assert found is not None
    assert "`adam` (from 2.7 on)" in found.markdown


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = NETWORK.format(layer="Cosh (image)", sgd="", reader="")
    (tmp_path / "a.cntk").write_text(text, encoding="utf-8")
    return tmp_path


def test_config_and_describe_say_which_release_is_meant(folder: Path) -> None:
    lines = netsharp("config", "a.cntk", cwd=folder).out.splitlines()
    assert lines[-1].startswith("[cntk] version is not set  (the lowest release that knows every")
    output = json.loads(netsharp("config", "a.cntk", "--format", "json", cwd=folder).out)
    assert output["release"] == {"name": None, "origin": None}
    output = json.loads(netsharp("describe", "a.cntk", "--format", "json", cwd=folder).out)
    schema("describe.json").validate(output)
    assert output["release"] == {
        "name": "2.1",
        "known": "derived",
        "because": "the lowest that knows 'Cosh'",
    }
    (folder / "netsharp.toml").write_text('[cntk]\nversion = "2.0"\n', encoding="utf-8")
    assert netsharp("config", "a.cntk", cwd=folder).out.splitlines()[-1] == (
        f"[cntk] version = 2.0  ({folder / 'netsharp.toml'})"
    )
    output = json.loads(netsharp("config", "a.cntk", "--format", "json", cwd=folder).out)
    schema("config.json").validate(output)
    assert output["release"] == {"name": "2.0", "origin": str(folder / "netsharp.toml")}
    answer = netsharp("check", "a.cntk", cwd=folder)
    assert answer.code == 1
    assert "CNTK knows 'Cosh' from 2.1 on, and the settings say that 2.0 runs this" in answer.out


def test_check_tells_programs_the_release_that_each_file_was_checked_by(folder: Path) -> None:
    def releases(*arguments: str) -> list[tuple[str, ...]]:
        output = json.loads(netsharp("check", *arguments, "--format", "json", cwd=folder).out)
        schema("check.json").validate(output)
        return [(one["file"], one["name"], one["known"]) for one in output.get("releases", ())]

    (folder / "b.bs").write_text("x = Input (3)\ny = Sinh (x)\n", encoding="utf-8")
    (folder / "c.nn").write_text("input X [3];\noutput Y [1] from X all;\n", encoding="utf-8")
    (folder / "m.mel").write_text('m1 = LoadModel ("x")\n', encoding="utf-8")
    assert releases("c.nn") == []
    assert releases("a.cntk", "b.bs", "c.nn", "m.mel") == [
        ("a.cntk", "2.1", "derived"),
        ("b.bs", "2.1", "derived"),
        ("m.mel", "2016-11", "supposed"),
    ]
    # A file of two runs that are for different releases has both.
    included = "[SGD]\nmaxEpochs = 1\n"
    (folder / "sgd.cntk").write_text(included, encoding="utf-8")
    for name, layer in ("d", "RectifiedLinear (image)"), ("e", "Cosh (image)"):
        text = NETWORK.format(layer=layer, sgd="", reader="") + "include=sgd.cntk\n"
        (folder / f"{name}.cntk").write_text(text, encoding="utf-8")
    output = releases("sgd.cntk", "d.cntk", "e.cntk")
    assert [one for one in output if one[0] == "sgd.cntk"] == [
        ("sgd.cntk", "2016-11", "supposed"),
        ("sgd.cntk", "2.1", "derived"),
    ]
    (folder / "netsharp.toml").write_text('[cntk]\nversion = "2.0"\n', encoding="utf-8")
    assert releases("a.cntk", "b.bs") == [("a.cntk", "2.0", "set"), ("b.bs", "2.0", "set")]


def test_settings_count_for_files_of_networks_and_scripts(folder: Path) -> None:
    (folder / "a.cntk").unlink()
    (folder / "netsharp.toml").write_text('[cntk]\nversion = "2.0"\n', encoding="utf-8")
    (folder / "b.bs").write_text("x = Input (3)\ny = Sinh (x)\n", encoding="utf-8")
    answer = netsharp("check", "b.bs", cwd=folder)
    assert "error[CK121]" in answer.out or "CK121" in answer.out
    text = NETWORK.format(layer="Cosh (image)", sgd="", reader="")
    (folder / "c.cntk").write_text(text, encoding="utf-8")
    (folder / "run.sh").write_text("cntk configFile=c.cntk\n", encoding="utf-8")
    assert "'Cosh' from 2.1 on" in netsharp("check", ".", cwd=folder).out


def test_a_deserializer_of_lattices_names_its_files_by_stream() -> None:
    text = """command = T
modelPath = "m"
T = {
    action = "test"
    reader = {
        deserializers = ({
            type = "LatticeDeserializer" ; module = "HTKDeserializers" ; definesMBSize = true
            input = { lattice = { latticeIndexFile = "index.txt" } }
        })
    }
}
"""
    files = Memory({"a.cntk": text.encode(), "m": b"", "index.txt": b""})
    run = Experiment(Run(("configFile=a.cntk",)), files)
    assert run.version.name == "2.4"
    assert reported(run) == []
    set_before = Experiment(Run(("configFile=a.cntk",)), files, given=Premises(version="2.1"))
    assert sorted(reported(set_before)) == [
        "CK121 error LatticeDeserializer",
        "CK121 warning latticeIndexFile",
    ]
