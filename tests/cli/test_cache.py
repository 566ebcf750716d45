"""`netsharp cache` lists and clears what runs keep; neither kills nor other runs leave it wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.data.array_files import read_arrays
from netsharp_engine.data.storage.files import MARK
from netsharp_engine.data.storage.places import BESIDE
from tests.cli.command_line import netsharp

NETWORK = """\
input Data auto;
hidden H [4] from Data all;
output Out auto softmax from H all;
"""
RUN = ("run", "net.nn", "--train", "t.csv", "--label", "label", "--epochs", "1", "--quiet")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A network with a table, and a user's folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    (tmp_path / "net.nn").write_text(NETWORK)
    chance = np.random.default_rng(3)
    values = chance.normal(size=(3_000, 4)).round(4).tolist()
    rows = [",".join(map(str, row)) + f",{'yes' if row[0] > 0 else 'no'}" for row in values]
    (tmp_path / "t.csv").write_text("\n".join(("a,b,c,d,label", *rows)) + "\n")
    return tmp_path


def trained(folder: Path, model: str, cache: str) -> dict[str, bytes]:
    """The weights of a model that a run makes."""
    done = netsharp(*RUN, "--model", model, "--cache", cache, cwd=folder)
    assert (done.code, done.err) == (0, "")
    assert netsharp("weights", model, "--to", "w.npz", cwd=folder).code == 0
    return {name: array.tobytes() for name, array in read_arrays(str(folder / "w.npz")).items()}


def kept(folder: Path) -> list[Path]:
    """What is in the folder of tables, except the file for git."""
    return sorted(path for path in (folder / BESIDE).iterdir() if path.name != ".gitignore")


@pytest.mark.costly
def test_tables_are_listed_and_cleared(folder: Path) -> None:
    assert netsharp("cache", cwd=folder).out == "0 tables, 0.0 kB.\n"
    wanted = trained(folder, "never.model", "never")
    assert trained(folder, "a.model", "always") == wanted
    assert trained(folder, "a.model", "always") == wanted
    (table,) = kept(folder)
    first, second, last = netsharp("cache", cwd=folder).out.splitlines()
    assert first.startswith("t.csv: ")
    assert first.endswith(" old, usable")
    assert second == f"  {table.relative_to(folder)}"
    assert last.startswith("1 table, ")
    (found,) = json.loads(netsharp("cache", "list", "--format", "json", cwd=folder).out)
    assert found["sources"] == [str(folder / "t.csv")]
    assert (found["bytes"], found["state"]) == (table.stat().st_size, "usable")
    os.utime(folder / "t.csv", ns=(1, 1))
    for words in (("list", "."), ("list", "a.model"), ("list", BESIDE), (".",), ("a.model",)):
        answer = netsharp("cache", *words, "--stale", cwd=folder)
        assert answer.out.splitlines()[0].endswith(" old, stale")
    (folder / BESIDE / "other.table").write_bytes(b"not ours")
    assert "other.table" in netsharp("cache", "--stale", cwd=folder).out
    assert netsharp("cache", "clear", cwd=folder).out.startswith("2 tables removed, ")
    assert not (folder / BESIDE).exists()
    assert trained(folder, "a.model", "always") == wanted


def test_a_place_that_is_not_there_is_reported(folder: Path) -> None:
    answer = netsharp("cache", "clear", "nowhere", cwd=folder)
    assert (answer.code, answer.out) == (2, "")
    expected = "There is no folder nowhere. Name one that holds a model, or none."
    assert answer.err == f"netsharp: {expected}\n"


@pytest.mark.costly
def test_links_lead_nowhere(folder: Path) -> None:
    """Another user's folder must not cause writing, listing or clearing elsewhere."""
    trained(folder, "a.model", "always")
    (table,) = kept(folder)
    precious = folder / "precious.txt"
    precious.write_text("mine")
    table.unlink()
    table.symlink_to(precious)
    trained(folder, "a.model", "always")
    assert precious.read_text() == "mine"
    assert table.read_bytes().startswith(MARK)
    other = folder / "elsewhere"
    (folder / BESIDE).rename(other)
    (folder / BESIDE).symlink_to(other, target_is_directory=True)
    before = sorted(other.iterdir())
    done = netsharp(*RUN, "--model", "a.model", "--cache", "always", "--seed", "7", cwd=folder)
    assert done.code == 0
    assert netsharp("cache", cwd=folder).out == "0 tables, 0.0 kB.\n"
    assert netsharp("cache", "clear", cwd=folder).out.startswith("0 tables")
    assert sorted(other.iterdir()) == before


#: A run that is killed where a table is half written, or whole and not yet in its place.
KILLED = """
import os, signal, sys
from netsharp_engine import atomic_files
from netsharp_engine.data.storage import files
moment, *arguments = sys.argv[1:]
def die(*given, **named):
    os.kill(os.getpid(), signal.SIGKILL)
if moment == "array":
    files.KeptStore.keep = die
elif moment == "table":
    files.TAIL = type("Tail", (), {"size": files.TAIL.size, "pack": staticmethod(die)})
else:
    atomic_files.AtomicFile.commit = die
from netsharp_lsp.__main__ import main
main(arguments)
"""


@pytest.mark.costly
@pytest.mark.skipif(sys.platform == "win32", reason="there are other signals")
@pytest.mark.parametrize("moment", ["array", "table", "commit"])
def test_a_killed_run_leaves_nothing_wrong(moment: str, folder: Path) -> None:
    arguments = (*RUN, "--model", "a.model", "--cache", "always")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, moment, *arguments], cwd=folder, check=False
    )
    assert killed.returncode == -9
    assert [path.suffix for path in kept(folder)] == [".part"]
    assert netsharp("cache", cwd=folder).out == "0 tables, 0.0 kB.\n"
    if moment == "table":
        assert netsharp("cache", "clear", cwd=folder).code == 0
        assert not (folder / BESIDE).exists()
    assert trained(folder, "a.model", "always") == trained(folder, "never.model", "never")
    assert [path.suffix for path in kept(folder)] == [".table"]


@pytest.mark.costly
def test_two_runs_at_once_leave_one_whole_table(folder: Path) -> None:
    command = [sys.executable, "-m", "netsharp_lsp", *RUN, "--cache", "always"]
    running = [
        subprocess.Popen([*command, "--model", f"{name}.model"], cwd=folder) for name in "abc"
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert [path.suffix for path in kept(folder)] == [".table"]
    (found,) = json.loads(netsharp("cache", "--format", "json", cwd=folder).out)
    assert found["state"] == "usable"
    wanted = trained(folder, "never.model", "never")
    for name in "abc":
        assert netsharp("weights", f"{name}.model", "--to", "w.npz", cwd=folder).code == 0
        arrays = read_arrays(str(folder / "w.npz"))
        assert {key: each.tobytes() for key, each in arrays.items()} == wanted
