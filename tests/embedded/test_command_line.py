"""Commands on host files, as processes: which files are taken, what is said, what is written."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from types import FrameType

import pytest

from netsharp_lsp.__main__ import main
from netsharp_lsp.embedded.finding import find_regions
from tests.cli.command_line import netsharp
from tests.house.test_import_budget import HEAVY, imported_by
from tests.integrations.checkout import git

CORPUS = Path(__file__).parent.parent / "corpus" / "embedded"

SCRIPT = '''\
"""A script."""
NET = """
input Data auto;
hidden H auto sigmoid from   Data all;
output Out auto softmax from H all;
"""
fit = rx_neural_network("y ~ .", method="multiClass", num_hidden_nodes=6, net_definition=NET)
OTHER = 'input X [3];\\noutput Y [1]   linear from Z all;'
rx_neural_network("y ~ x", net_definition=OTHER)
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "plain.py").write_text("x = 1\n")
    (tmp_path / "notes.md").write_text("```netsharp\ninput X[3];\noutput Y [1] from X all;\n```\n")
    return tmp_path


@pytest.mark.parametrize("fixing", [(), ("--fix", "--diff")])
def test_a_host_that_stays_as_it_is_is_read_once(
    fixing: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readings = 0

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal readings
        readings += event == "call" and frame.f_code is find_regions.__code__

    sys.setprofile(count)
    try:
        main(["check", *fixing, str(folder / "script.py")])
    finally:
        sys.setprofile(None)
    assert readings == 1, capsys.readouterr()


def test_named_hosts_are_checked_where_they_are(folder: Path) -> None:
    answer = netsharp("check", "script.py", "--format", "json", cwd=folder)
    assert answer.code == 1
    (error,) = [d for d in json.loads(answer.out)["diagnostics"] if d["severity"] == "error"]
    assert (error["code"], error["file"]) == ("NS035", "script.py")
    column = SCRIPT.splitlines()[7].index("Z all") + 1
    assert error["start"] == {"line": 8, "column": column}
    assert error["end"] == {"line": 8, "column": column + 1}


def test_a_name_or_a_line_chooses_one(folder: Path) -> None:
    assert netsharp("check", "script.py::NET", cwd=folder).code == 0
    assert netsharp("check", "script.py::OTHER", cwd=folder).code == 1
    assert netsharp("check", "script.py::4", cwd=folder).code == 0
    assert netsharp("check", "script.py::8", cwd=folder).code == 1
    answer = netsharp("check", "script.py::NTE", cwd=folder)
    assert answer.code == 2
    assert answer.err.endswith("holds no specification 'NTE'. Did you mean 'NET'?\n")
    answer = netsharp("check", "script.py::7", cwd=folder)
    assert answer.err.endswith("'7'. There is script.py::NET, script.py::OTHER.\n")


def test_folders_mean_hosts_only_when_asked(folder: Path) -> None:
    (folder / "net.nn").write_text("input X [3];\noutput Y [1] sigmoid from X all;\n")
    (folder / "script.py").unlink()
    assert "1 file checked" in netsharp("check", ".", cwd=folder).out
    answer = netsharp("check", ".", "--embedded", "--format", "concise", cwd=folder)
    assert answer.out.startswith("notes.md:3:8: info NS124")
    assert answer.err == ""
    assert netsharp("fmt", "--check", ".", cwd=folder).code == 0
    answer = netsharp("fmt", "--check", ".", "--embedded", cwd=folder)
    assert (answer.code, answer.out) == (1, "would reformat notes.md\n")


def test_a_host_without_a_specification(folder: Path) -> None:
    for command in ("check", "fmt"):
        answer = netsharp(command, "plain.py", cwd=folder)
        assert answer.code == 0
        assert "plain.py: holds no Net# specification.\n" in answer.err
        answer = netsharp(command, "plain.py", "--embedded", cwd=folder)
        assert answer.code == 0
        assert "holds" not in answer.err
    for command in ("describe", "run"):
        answer = netsharp(command, "plain.py", cwd=folder)
        assert answer.code == 2
        assert answer.err == "netsharp: plain.py: holds no Net# specification.\n"


def test_what_lies_beside_a_host_without_one_is_no_ones_run_file(folder: Path) -> None:
    (folder / "plain.toml").write_text("no TOML")
    assert netsharp("check", "--embedded", "plain.py", cwd=folder).code == 0
    (folder / "script.toml").write_text("no TOML")
    assert netsharp("check", "--embedded", "script.py", cwd=folder).code == 2


def test_a_notebook_that_is_none(folder: Path) -> None:
    (folder / "bad.ipynb").write_text('{"cells": [')
    assert "bad.ipynb: is not a notebook: " in netsharp("check", "bad.ipynb", cwd=folder).err


def test_formatting_writes_the_host(folder: Path) -> None:
    answer = netsharp("fmt", "script.py", cwd=folder)
    assert answer.code == 0
    wanted = SCRIPT.replace("from   Data", "from Data").replace("[1]   linear", "[1] linear")
    assert (folder / "script.py").read_text() == wanted
    assert netsharp("fmt", "--check", "script.py", cwd=folder).code == 0


def test_formatting_one_or_some_lines(folder: Path) -> None:
    answer = netsharp("fmt", "--diff", "script.py::OTHER", cwd=folder)
    assert "-OTHER" in answer.out
    assert "Data" not in answer.out
    answer = netsharp("fmt", "--diff", "script.py", "--lines", "3-4", cwd=folder)
    assert "-hidden H auto sigmoid from   Data all;" in answer.out
    assert "OTHER" not in answer.out
    assert netsharp("fmt", "--diff", "script.py", "--lines", "1", cwd=folder).out == ""


def test_stdin_by_its_name(folder: Path) -> None:
    answer = netsharp("fmt", "-", "--stdin-filename", "a.py", cwd=folder, stdin=SCRIPT.encode())
    assert "from Data all" in answer.out
    assert answer.out.count("\n") == SCRIPT.count("\n")
    answer = netsharp("check", "-", "--stdin-filename", "a.py", cwd=folder, stdin=SCRIPT.encode())
    assert "a.py:8:" in answer.out


def test_fixes_in_a_host(folder: Path) -> None:
    broken = SCRIPT.replace("auto;\nhidden", "auto\nhidden").replace("from Z", "from X")
    (folder / "script.py").write_text(broken)
    answer = netsharp("check", "script.py", "--fix", "--diff", cwd=folder)
    assert answer.code == 1
    assert "-input Data auto\n+input Data auto;\n" in answer.out
    answer = netsharp("check", "script.py", "--fix", cwd=folder)
    assert answer.code == 0
    assert (folder / "script.py").read_text() == SCRIPT.replace("from Z", "from X")
    assert "script.py: fixed NS011 1x.\n" in answer.err


def test_the_call_and_the_run_file_make_the_context(folder: Path) -> None:
    answer = netsharp("describe", "script.py::NET", "--format", "json", cwd=folder)
    layers = json.loads(answer.out)["layers"]
    assert [layer["nodes"] for layer in layers] == [None, 6, None]
    (folder / "script.toml").write_text('[data]\ntrain = "t.csv"\nlabel = "y"\n')
    (folder / "t.csv").write_text("a,b,y\n1,2,u\n3,4,v\n5,6,w\n")
    answer = netsharp("describe", "script.py::NET", "--format", "json", cwd=folder)
    assert [layer["nodes"] for layer in json.loads(answer.out)["layers"]] == [2, 6, 3]
    answer = netsharp(
        "describe", "script.py::NET", "--hidden-nodes", "9", "--format", "json", cwd=folder
    )
    assert [layer["nodes"] for layer in json.loads(answer.out)["layers"]] == [2, 9, 3]


def test_describe_asks_which(folder: Path) -> None:
    answer = netsharp("describe", "script.py", cwd=folder)
    assert answer.code == 2
    assert answer.err == (
        "netsharp: script.py: 2 specifications are meant. Choose one. "
        "There is script.py::NET, script.py::OTHER.\n"
    )
    answer = netsharp("describe", "script.py::OTHER", cwd=folder)
    assert answer.code == 1
    assert "--> script.py:8:" in answer.err


def test_diff_of_two_specifications_in_one_host(folder: Path) -> None:
    other = SCRIPT.replace("from Z", "from X")
    (folder / "script.py").write_text(other)
    answer = netsharp("diff", "script.py::NET", "script.py::OTHER", cwd=folder)
    assert answer.code == 1
    assert "layer H" in answer.out


def test_a_specification_of_a_revision(folder: Path) -> None:
    git(folder, "init", "--quiet")
    git(folder, "add", "script.py")
    git(folder, "commit", "--quiet", "--message", "all")
    (folder / "script.py").write_text(SCRIPT.replace("auto sigmoid", "[9] sigmoid"))
    answer = netsharp("diff", "HEAD:script.py::NET", "script.py::NET", cwd=folder)
    assert answer.code == 1
    assert "layer H: shape" in answer.out
    answer = netsharp("describe", "HEAD:script.py", cwd=folder)
    assert answer.err.endswith("There is HEAD:script.py::NET, HEAD:script.py::OTHER.\n")


def test_training_what_a_script_holds(folder: Path) -> None:
    rows = "\n".join(f"{n % 7},{n % 5},{'uvw'[n % 3]}" for n in range(30))
    (folder / "t.csv").write_text(f"a,b,y\n{rows}\n")
    arguments = ("--train", "t.csv", "--label", "y", "--epochs", "2")
    answer = netsharp("run", "script.py::NET", *arguments, "--show-settings", cwd=folder)
    assert "hidden_nodes" in answer.out
    answer = netsharp("run", "script.py::NET", *arguments, cwd=folder)
    assert answer.code == 0, answer.err
    assert answer.out.endswith("model: script.safetensors\n")
    described = netsharp("describe", "script.safetensors", "--format", "json", cwd=folder)
    assert [layer["nodes"] for layer in json.loads(described.out)["layers"]] == [2, 6, 3]


def test_a_host_in_utf16_stays_so(folder: Path) -> None:
    (folder / "wide.py").write_bytes(b"\xff\xfe" + SCRIPT.encode("utf-16-le"))
    assert netsharp("fmt", "wide.py", cwd=folder).code == 0
    text = (folder / "wide.py").read_bytes()[2:].decode("utf-16-le")
    assert "from Data all" in text


def test_every_host_of_the_corpus_is_written_once(tmp_path: Path) -> None:
    shutil.copytree(CORPUS, tmp_path / "hosts")
    answer = netsharp("fmt", "--embedded", "hosts", cwd=tmp_path)
    assert answer.code == 0
    answer = netsharp("fmt", "--embedded", "--check", "hosts", cwd=tmp_path)
    assert (answer.code, answer.out) == (0, "")


@pytest.mark.parametrize("command", ["check", "fmt"])
def test_only_python_with_a_hint_costs_the_parser(command: str, folder: Path) -> None:
    def heavy(*names: str) -> set[str]:
        arguments = [command, *names]
        code = f"from netsharp_lsp.__main__ import main\nmain({arguments!r})"
        return imported_by(code, folder) & set(HEAVY)

    assert heavy("notes.md", "plain.py") == set()
    assert heavy("script.py") == {"parso"}
