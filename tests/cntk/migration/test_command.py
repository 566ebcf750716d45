"""`netsharp migrate` as a process: what it says, what it writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from netsharp_lsp import schemas
from tests.cntk.migration import moving
from tests.cntk.migration.moving import files_below
from tests.cntk.migration.test_experiments import netsharp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NETWORK = """x = Input(3, tag = feature)   # what goes in
y = Tanh(x, tag = output)
"""
#: A node in a file of macros does not belong to the network in NDL; included, it would.
STRAY = """Twice(x) = Plus(x, x)
stray = Constant(2)
"""
WITH_MACROS = moving.AROUND.replace(
    "        networkDescription", '        ndlMacros = "macros.ndl"\n        networkDescription'
)
SCHEMA = json.loads((Path(schemas.__path__[0]) / "migrate.json").read_text("utf-8"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path, {"train.cntk": moving.AROUND, "network.ndl": NETWORK})


def written(folder: Path, texts: Mapping[str, str]) -> Path:
    """A folder with some files, and settings of its own, so that none further out count."""
    (folder / "netsharp.toml").touch()
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def test_it_only_reports_without_a_flag(folder: Path) -> None:
    before = files_below(folder)
    done = netsharp(folder, "migrate", "train.cntk")
    assert done.returncode == 0, done.stderr
    assert "train.cntk: Train: equal, 2 nodes" in done.stdout
    assert "network.ndl:1:10: MG12: `(` -> `{`, and 1 more" in done.stdout
    assert files_below(folder) == before


def test_a_second_run_says_that_nothing_is_left(folder: Path) -> None:
    assert netsharp(folder, "migrate", ".", "--write").returncode == 0
    done = netsharp(folder, "migrate", ".")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("netsharp: nothing to migrate")


def test_it_writes_what_is_proven(folder: Path) -> None:
    done = netsharp(folder, "migrate", "--write", "train.cntk")
    assert done.returncode == 0, done.stderr
    assert "written: network.bs\nwritten: train.cntk\n" in done.stdout
    text = (folder / "network.bs").read_text("utf-8")
    assert text == ('x = Input {3, tag="feature"}  # what goes in\ny = Tanh (x, tag="output")\n')
    assert (folder / "network.ndl").read_text("utf-8") == NETWORK
    again = netsharp(folder, "migrate", "--write")
    assert (again.returncode, again.stdout) == (0, "")


def test_the_report_is_as_its_schema_says(folder: Path) -> None:
    done = netsharp(folder, "migrate", "--format", "json", "--write")
    data = json.loads(done.stdout)
    jsonschema.validate(data, SCHEMA)
    assert data["written"] == ["network.bs", "train.cntk"]
    assert [one["status"] for one in data["networks"]] == ["equal"]
    first = next(one for one in data["changes"] if one["rule"] == "MG15")
    assert (first["file"], first["start"]) == ("network.ndl", {"line": 1, "column": 20})
    assert (first["before"], first["after"]) == ("feature", '"feature"')


def test_the_difference_is_shown(folder: Path) -> None:
    done = netsharp(folder, "migrate", "--diff")
    assert done.returncode == 0
    assert "+BrainScriptNetworkBuilder" not in done.stdout
    assert "+    BrainScriptNetworkBuilder = (new ComputationNetwork {" in done.stdout
    assert '+x = Input {3, tag="feature"}  # what goes in' in done.stdout


def test_a_difference_names_the_node_and_nothing_is_written(tmp_path: Path) -> None:
    texts = {"train.cntk": WITH_MACROS, "network.ndl": NETWORK, "macros.ndl": STRAY}
    folder = written(tmp_path, texts)
    before = files_below(folder)
    done = netsharp(folder, "migrate", "--write")
    assert done.returncode == 1
    assert "'stray' (LearnableParameter) has no counterpart before." in done.stdout
    assert files_below(folder) == before


def test_a_unit_is_written_wholly_or_not_at_all(tmp_path: Path) -> None:
    image = "ImageInput(3, 3, 1)"
    texts = {
        "a.cntk": WITH_MACROS,
        "b.cntk": WITH_MACROS.replace("network.ndl", "other.ndl"),
        "c.cntk": moving.AROUND.replace("network.ndl", "alone.ndl"),
        "macros.ndl": "Twice(x) = Plus(x, x)\n",
        "network.ndl": NETWORK.replace("Tanh", "Twice").replace(", tag = output", ""),
        "other.ndl": f"{NETWORK}z = Convolution(Parameter(2, 9), {image}, 3, 3, 2, 1, 1)\n",
        "alone.ndl": NETWORK,
    }
    folder = written(tmp_path, texts)
    done = netsharp(folder, "migrate", "--write", "--format", "json")
    assert done.returncode == 1
    data = json.loads(done.stdout)
    assert data["written"] == ["alone.bs", "c.cntk"]
    statuses = {one["file"]: one["status"] for one in data["networks"]}
    assert statuses == {"a.cntk": "equal", "b.cntk": "different", "c.cntk": "equal"}
    assert (folder / "a.cntk").read_text("utf-8") == texts["a.cntk"]
    assert not (folder / "macros.bs").exists()


def test_a_file_that_is_there_is_kept_unless_forced(folder: Path) -> None:
    (folder / "network.bs").write_text("# mine\n", "utf-8")
    done = netsharp(folder, "migrate", "--write")
    assert done.returncode == 1
    assert "exists and is different" in done.stdout
    assert (folder / "network.bs").read_text("utf-8") == "# mine\n"
    assert netsharp(folder, "migrate", "--write", "--force").returncode == 0
    assert "Input {3" in (folder / "network.bs").read_text("utf-8")


def test_variables_come_from_the_command_line(tmp_path: Path) -> None:
    texts = {"train.cntk": moving.AROUND, "network.ndl": NETWORK.replace("3", "$dim$")}
    folder = written(tmp_path, texts)
    done = netsharp(folder, "migrate", "--write")
    assert done.returncode == 1
    assert "Give it one with --set dim=..." in done.stdout
    done = netsharp(folder, "migrate", "--write", "--set", "dim=3")
    assert done.returncode == 0, done.stdout
    assert "dim = $dim$" in (folder / "train.cntk").read_text("utf-8")
    assert "Input {dim" in (folder / "network.bs").read_text("utf-8")


@pytest.mark.parametrize(
    "arguments",
    [("nothing.cntk",), ("--write", "--diff"), ("--set", "dim"), ("--format", "yaml")],
)
def test_what_cannot_be_done_is_reported(folder: Path, arguments: tuple[str, ...]) -> None:
    done = netsharp(folder, "migrate", *arguments)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_a_builder_of_several_layers_is_for_a_person(folder: Path) -> None:
    (folder / "over.cntk").write_text(
        "Train = [ NDLNetworkBuilder = [ traceLevel = 1 ] ]\n", "utf-8"
    )
    before = files_below(folder)
    done = netsharp(folder, "migrate", "--write", "train.cntk+over.cntk")
    assert done.returncode == 1
    assert "put together from several layers" in done.stdout
    assert files_below(folder) == before


def test_pages_are_explained(tmp_path: Path) -> None:
    done = netsharp(tmp_path, "explain", "mg04b")
    assert done.returncode == 0
    assert "MG04b (warning): A variable inside a macro is used from outside" in done.stdout
