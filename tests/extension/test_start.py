"""Every way a start can end, with real programs on this machine: within five seconds each.

The extension's own search, unpacking and launch run in Node; what they need of an editor is given
as a table. PATH holds only what a test puts there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.extension.conftest import EXTENSION, ROOT

#: Seconds that a start may take, and that the first one of the bundled server may.
LIMIT, FIRST_LIMIT = 5, 30
#: How often a start is timed on a machine that is busy with much else.
TRIES = 4
RUN = ["-m", "netsharp_lsp", "lsp"]

Start = Callable[..., dict[str, Any]]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs here are shell scripts")


def script(path: Path, text: str) -> str:
    """A program made of a few lines of shell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def start(node: str, built: Path, tmp_path: Path) -> Start:
    """Carry a start out with these settings; PATH has the folders given, and HOME is empty."""

    def run(*folders: Path, limit: float = LIMIT, env: dict[str, str] | None = None, **wishes: Any):
        order = {
            "bundled": str(EXTENSION / "absent"),
            "storage": str(tmp_path / "storage"),
            **wishes,
        }
        environment = {"PATH": os.pathsep.join(map(str, folders)), "HOME": str(tmp_path)}
        for _ in range(TRIES):
            began = time.monotonic()
            done = subprocess.run(
                [node, str(built / "drive.cjs"), json.dumps(order)],
                env=environment | (env or {}),
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=2 * FIRST_LIMIT,
            )
            took = time.monotonic() - began
            assert done.returncode == 0, done.stderr
            if took < limit or os.getloadavg()[0] < 2 * (os.cpu_count() or 1):
                break
        assert took < limit
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment whose Python finds this checkout and what it needs."""
    home = tmp_path_factory.mktemp("own") / "venv"
    venv.create(home, with_pip=False, symlinks=True)
    (site,) = (home / "lib").glob("python3*/site-packages")
    import pygls

    others = Path(pygls.__file__).parents[1]
    paths = [ROOT, ROOT / "engine", ROOT / "grammar", others]
    (site / "checkout.pth").write_text("\n".join(map(str, paths)) + "\n")
    return home


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a Python that has no packages at all, not even pip."""
    home = tmp_path_factory.mktemp("bare") / "venv"
    venv.create(home, with_pip=False, symlinks=True)
    return home / "bin"


@pytest.fixture(scope="session")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `bundled` of the packed extension."""
    packed = sorted((ROOT / "out" / "vsix").glob("netsharp-linux-x64-*.vsix"))
    if not packed or sys.platform != "linux":
        pytest.skip("no package to take the server from: run `make vsix TARGETS=linux-x64`")
    folder = tmp_path_factory.mktemp("vsix")
    with zipfile.ZipFile(packed[-1]) as archive:
        names = [name for name in archive.namelist() if name.startswith("extension/bundled/")]
        archive.extractall(folder, names)
    return folder / "extension" / "bundled"


def test_a_server_that_is_set(start: Start, own: Path, tmp_path: Path) -> None:
    python = own / "bin" / "python"
    program = script(tmp_path / "tools" / "netsharp", f'exec {python} -m netsharp_lsp "$@"')
    ended = start(serverPath=program)
    assert (ended["state"], ended["origin"]) == ("running", "setting")
    assert ended["command"] == [program, "lsp"]
    assert ended["server"]["name"]


def test_a_server_that_is_set_and_not_there(start: Start, own: Path) -> None:
    ended = start(own / "bin", serverPath="/nowhere/netsharp")
    assert ended["state"] == "bad-setting"
    assert "netsharp.server.path names /nowhere/netsharp" in ended["message"]


def test_the_chosen_interpreters_own_server(start: Start, own: Path) -> None:
    python = str(own / "bin" / "python")
    ended = start(active=python)
    assert (ended["state"], ended["origin"]) == ("running", "interpreter")
    assert ended["command"] == [python, *RUN]
    assert start(env={"VIRTUAL_ENV": str(own)})["command"] == [python, *RUN]


def test_the_environment_of_a_trusted_folder(start: Start, own: Path, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".venv").symlink_to(own)
    folder = str(tmp_path / "project")
    assert start(folders=[folder])["origin"] == "interpreter"
    assert start(folders=[folder], trusted=False)["state"] == "no-python"


def test_no_python_at_all(start: Start, tmp_path: Path) -> None:
    ended = start(tmp_path / "empty")
    assert ended["state"] == "no-python"
    assert "sudo apt install python3" in ended["message"]
    assert "Net#: Restart Server" in ended["message"]


def test_pythons_of_no_use(start: Start, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    script(tools / "python3.12", "sleep 60")
    script(
        tools / "python3.11", "echo 'Python was not found; run without arguments' >&2; exit 9009"
    )
    script(tools / "python3", "echo '{\"version\": [3, 8, 1]}'")
    script(tools / "python", "exit 3")
    ended = start(tools, "/bin")
    assert ended["state"] == "no-python"
    reasons = {Path(each["command"][0]).name: each["reason"] for each in ended["rejections"]}
    assert "no answer" in reasons["python3.12"]
    assert "3.8.1" in reasons["python3"]
    assert "exit status 3" in reasons["python"]


def test_an_interpreter_that_is_set_and_not_there(start: Start, own: Path) -> None:
    ended = start(python="/nowhere/python", env={"VIRTUAL_ENV": str(own)})
    assert ended["state"] == "running"
    assert "netsharp.python names /nowhere/python" in ended["warnings"][0]


@pytest.mark.costly
def test_the_bundled_server(start: Start, bare: Path, bundled: Path, tmp_path: Path) -> None:
    first = start(bare, bundled=str(bundled), limit=FIRST_LIMIT)
    assert (first["state"], first["origin"], first["training"]) == ("running", "bundled", True)
    assert first["progress"] > 10
    assert list((tmp_path / "storage").rglob("netsharp_lsp/__pycache__/*.pyc"))
    again = start(bare, bundled=str(bundled))
    assert (again["state"], again["progress"]) == ("running", 0)
    server, training = sorted((tmp_path / "storage").iterdir())
    for folder in (server, training):
        assert folder.name.endswith(f"-cp3{sys.version_info[1]}")
    assert {"netsharp_lsp", "pygls", "tree_sitter", "parso"} <= set(os.listdir(server))
    assert {"numpy", "safetensors"} <= set(os.listdir(training))
    print(f"first start of the bundled server: {first['ready']} s after its Python was found")


@pytest.mark.costly
def test_the_bundled_server_trains(start: Start, bare: Path, bundled: Path, tmp_path: Path) -> None:
    start(bare, bundled=str(bundled), limit=FIRST_LIMIT)
    example = tmp_path / "digits"
    example.mkdir()
    for path in (ROOT / "examples" / "digits").iterdir():
        (example / path.name).write_bytes(path.read_bytes())
    folders = map(str, (tmp_path / "storage").iterdir())
    environment = {"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(folders)}
    command = [str(bare / "python"), "-P", "-m", "netsharp_lsp", "run", "digits.nn", "--events"]
    done = subprocess.run(
        [*command, "--epochs", "1"], env=environment, cwd=example, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["event"] == "end"
    assert (example / "digits.safetensors").is_file()


@pytest.mark.costly
def test_another_installations_variables_do_not_mislead(
    start: Start, bare: Path, bundled: Path, tmp_path: Path
) -> None:
    trap = tmp_path / "trap" / "pygls"
    trap.mkdir(parents=True)
    (trap / "__init__.py").write_text("raise RuntimeError('the wrong one')")
    misleading = {"PYTHONHOME": "/nowhere", "PYTHONPATH": str(trap.parent)}
    ended = start(bare, bundled=str(bundled), limit=FIRST_LIMIT, env=misleading)
    assert (ended["state"], ended["origin"]) == ("running", "bundled")


@pytest.mark.costly
def test_older_servers_are_forgotten(
    start: Start, bare: Path, bundled: Path, tmp_path: Path
) -> None:
    tag = f"cp3{sys.version_info[1]}"
    older = tmp_path / "storage" / f"server-0.0.1-aaaa-{tag}"
    other = tmp_path / "storage" / "server-0.0.1-aaaa-cp399"
    for folder in (older, other):
        folder.mkdir(parents=True)
    start(bare, bundled=str(bundled), limit=FIRST_LIMIT)
    assert not older.exists()
    assert other.exists()


def test_a_storage_that_cannot_be_written(
    start: Start, bare: Path, bundled: Path, tmp_path: Path
) -> None:
    (tmp_path / "storage").write_text("a file where a folder has to be")
    ended = start(bare, bundled=str(bundled), limit=FIRST_LIMIT)
    assert ended["state"] == "failed"
    assert "could not be unpacked into" in ended["message"]
    assert "Traceback" not in ended["message"]


def test_modules_of_the_working_folder_are_never_run(
    start: Start, own: Path, tmp_path: Path
) -> None:
    trap = "import pathlib; pathlib.Path('trapped').touch()"
    for name in ("json", "sysconfig", "pygls", "netsharp_lsp"):
        (tmp_path / f"{name}.py").write_text(trap)
    ended = start(active=str(own / "bin" / "python"))
    assert ended["state"] == "running"
    assert not (tmp_path / "trapped").exists()
