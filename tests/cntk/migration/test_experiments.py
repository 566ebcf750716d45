"""A folder of old experiments is listed, checked, formatted, migrated and proven, by the command
line as people use it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from netsharp_lsp.cntk.commands.runs import layered_run
from netsharp_lsp.cntk.networks.same import compare
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.workspace import NO_PREMISES
from tests.cntk.migration.moving import files_below

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = Path(__file__).parents[2] / "corpus" / "experiments"
#: The configurations, with how many networks of NDL are proven in each.
NETWORKS = {
    "01_one_hidden.cntk": 1,
    "02_convolutions.cntk": 1,
    "03_inline.cntk": 1,
    "04_selected.cntk": 3,
    "05_speech.cntk": 2,
    "06_base.cntk": 2,
    "07_recurrent.cntk": 1,
    "08_windows.cntk": 1,
    "09_normalized.cntk": 1,
    "10_similarity.cntk": 1,
}


def netsharp(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder."""
    command = [sys.executable, "-m", "netsharp_lsp", *arguments]
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False
    )


def migrated(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """What `migrate` reports, with its exit code."""
    done = netsharp(folder, "migrate", ".", "--format", "json", *arguments)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("experiments") / "old"
    shutil.copytree(FOLDER, place)
    return place


@pytest.fixture(scope="module")
def report(folder: Path) -> dict[str, Any]:
    """What is reported before anything is written."""
    code, data = migrated(folder)
    assert code == 1, "some of it needs a person"
    return data


def test_a_script_that_leads_out_of_the_folder_stops_no_other(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "old"
    shutil.copytree(folder, place)
    _, alone = migrated(place)
    (place / "far.sh").write_text("cntk configFile=/far/away/other.cntk\n")
    done = netsharp(place, "migrate", ".", "--format", "json")
    assert "'/far/away/other.cntk' lies outside the folders that are read here" in done.stderr
    assert json.loads(done.stdout) == alone


def test_there_are_enough() -> None:
    assert len(list(FOLDER.glob("*.cntk"))) >= 10
    assert {path.suffix for path in FOLDER.rglob("*.*")} >= {
        ".cntk",
        ".ndl",
        ".mel",
        ".toml",
        ".sh",
    }


def test_they_are_listed(folder: Path) -> None:
    done = netsharp(folder, "config", "--list", ".", "--format", "json")
    assert done.returncode == 0, done.stderr
    listed = {one["file"]: one for one in json.loads(done.stdout)["configurations"]}
    assert set(NETWORKS) <= set(listed)
    (train, test) = listed["01_one_hidden.cntk"]["commands"]
    assert train["network"]["files"] == ["networks/macros.ndl", "networks/one_hidden.ndl"]
    assert test["network"] is None


def test_they_are_checked(folder: Path) -> None:
    done = netsharp(folder, "check", ".", "--format", "json")
    found = json.loads(done.stdout)["diagnostics"]
    assert [one for one in found if one["severity"] == "error"] == []
    assert "ND001" in {one["code"] for one in found}


def test_all_networks_are_proven(report: dict[str, Any]) -> None:
    statuses = {(one["file"], one["status"]) for one in report["networks"]}
    assert {status for _, status in statuses} == {"equal", "none"}
    for file, count in NETWORKS.items():
        equal = [
            one for one in report["networks"] if (one["file"], one["status"]) == (file, "equal")
        ]
        assert len(equal) == count, file
    selected = [one for one in report["networks"] if one["file"] == "04_selected.cntk"]
    assert [one["section"] for one in selected] == ["shallow", "deep", "recurrent"]
    assert report["written"] == []


def test_what_needs_a_person_is_listed(report: dict[str, Any]) -> None:
    todo = {(one["rule"], one["file"]) for one in report["todo"]}
    assert todo == {
        ("MG04b", "05_speech.cntk"),
        ("MG04b", "networks/lstm.ndl"),
        ("MG32", "10_similarity.cntk"),
        ("MG44", "02_convolutions.cntk"),
        ("MG45", "edits/add_layer.mel"),
    }


def test_nothing_is_written_without_being_asked(folder: Path, report: dict[str, Any]) -> None:
    before = files_below(folder)
    assert before == files_below(FOLDER)
    done = netsharp(folder, "migrate", ".", "--diff")
    assert "+++ networks/lstm.bs" in done.stdout
    assert "-    NDLNetworkBuilder = [" in done.stdout
    assert files_below(folder) == before


@pytest.mark.parametrize("formats", [False, True])
def test_they_are_written_once_and_are_equal(tmp_path: Path, formats: bool) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    shutil.copytree(FOLDER, old)
    shutil.copytree(FOLDER, new)
    if formats:
        assert netsharp(new, "fmt", ".").returncode == 0
        assert netsharp(new, "fmt", "--check", ".").returncode == 0
    _, data = migrated(new, "--write")
    assert {*NETWORKS, "networks/lstm.bs", "networks/windows.bs"} <= set(data["written"])
    written = files_below(new)
    assert all(b"NDLNetworkBuilder" not in written[file] for file in NETWORKS)
    for name in files_below(FOLDER):
        if name.endswith((".ndl", ".mel")) and not formats:
            assert written[name] == (FOLDER / name).read_bytes(), "these stay"
    code, again = migrated(new, "--write")
    assert (code, again["networks"], again["written"]) == (0, [], [])
    assert files_below(new) == written
    _compare_all(old, new)


def _compare_all(old: Path, new: Path) -> None:
    """Both folders once more, each read by itself."""
    for name in (*NETWORKS, "06_base.cntk+06_large.cntk"):
        before, after = (_networks(place, name) for place in (old, new))
        for command, network in after.items():
            assert compare(before[command], network).differences == (), (name, command)
        assert after.keys() <= before.keys()
        assert after, name


def _networks(folder: Path, name: str) -> dict[str, Any]:
    files = DiskFiles()
    run = layered_run(name, NO_PREMISES, files, str(folder)).run
    experiment = Experiment(run.assigning(("imageLayout=cudnn",)), files)
    return {one.command: one.network for one in experiment.networks if one.network is not None}


def test_encodings_and_line_ends_stay(tmp_path: Path) -> None:
    new = tmp_path / "new"
    shutil.copytree(FOLDER, new)
    migrated(new, "--write")
    for name in ("08_windows.cntk", "networks/windows.bs"):
        data = (new / name).read_bytes()
        assert b"\xe9" in data
        assert data.count(b"\n") == data.count(b"\r\n") > 4
        with pytest.raises(UnicodeDecodeError):
            data.decode("utf-8")


def test_the_result_is_checked_without_new_faults(tmp_path: Path) -> None:
    new = tmp_path / "new"
    shutil.copytree(FOLDER, new)
    migrated(new, "--write")
    found = json.loads(netsharp(new, "check", ".", "--format", "json").stdout)["diagnostics"]
    errors = [(one["file"], one["code"]) for one in found if one["severity"] == "error"]
    assert errors == [("edits/add_layer.mel", "ME010")], "what only a person can change"
