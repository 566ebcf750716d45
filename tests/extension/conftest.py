"""The extension's programs as the tests use them: built once for a run, skipped without Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.extension.browser import Act, Listener, acting

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "vscode-extension"
PACKAGING = ROOT / "packaging"
#: How long one worker waits for another to compile, in seconds.
PATIENCE = 600

#: Runs one of the built test programs with text on its input; returns what it prints, as JSON.
Program = Callable[..., Any]


@pytest.fixture(scope="session")
def node() -> str:
    """The Node that runs the extension's programs."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("Node is not installed")
    if not (EXTENSION / "node_modules").is_dir():
        pytest.skip("the extension's packages are not installed: run `make extension`")
    return found


@pytest.fixture(scope="session")
def built(node: str) -> Iterator[Path]:
    """The folder with the built test programs, this run's own."""
    with tempfile.TemporaryDirectory(dir=EXTENSION, prefix="dist-test-") as folder:
        command = [node, "scripts/build.mjs", "--tests", f"--into={Path(folder).name}"]
        subprocess.run(command, cwd=EXTENSION, check=True)
        yield Path(folder)


@pytest.fixture(scope="session")
def dist(node: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The views as they are packed."""
    folder = tmp_path_factory.mktemp("dist")
    command = [node, "scripts/build.mjs", f"--into={folder}"]
    subprocess.run(command, cwd=EXTENSION, check=True)
    return folder


@pytest.fixture(scope="session")
def listener() -> Iterator[Listener]:
    """What pages send, for all tests of a run."""
    made = Listener()
    yield made
    made.server.shutdown()


@pytest.fixture
def act(dist: Path, listener: Listener, tmp_path: Path) -> Act:
    """Open a view, send it messages, run a script in it; what that returns, and what was said."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    return acting(chromium, dist, EXTENSION / "media", listener, tmp_path)


@pytest.fixture(scope="session")
def tokenize(node: str, built: Path) -> Program:
    """Tokens of texts as VS Code's own engine makes them: (line, start, end, scopes)."""

    def run(scope: str, texts: list[str]) -> list[list[tuple[int, int, int, list[str]]]]:
        order = json.dumps({"scope": scope, "texts": texts})
        command = [node, str(built / "tokenize.cjs")]
        done = subprocess.run(command, input=order, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The six wheels, cross-compiled from these sources by the first worker that asks."""
    pytest.importorskip("ziglang", reason="no cross-compiler: `pip install --group wheels`")
    base = tmp_path_factory.getbasetemp()
    out = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "wheels"
    done = out / "done"
    try:
        out.mkdir()
    except FileExistsError:
        began = time.monotonic()
        while not done.exists():
            assert time.monotonic() - began < PATIENCE, "the other worker has built no wheels"
            time.sleep(0.5)
        return out
    subprocess.run([sys.executable, str(PACKAGING / "wheels.py"), str(out)], check=True)
    done.touch()
    return out
