"""One furnished folder with a trained model for all tests of a process; none may change it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.e2e.workshop import furnish, train


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `net.nn`, `digits.csv`, `digits.safetensors`, a log and a curve."""
    folder = tmp_path_factory.mktemp("trained")
    furnish(folder)
    answer = train(folder, "--log", "run.jsonl", "--plot", "curve.svg", "--validation", "0.25")
    assert answer.code == 0, answer.err
    (folder / "report.txt").write_text(answer.out, encoding="utf-8")
    (folder / "progress.txt").write_text(answer.err, encoding="utf-8")
    return folder


@pytest.fixture
def folder(trained: Path, tmp_path: Path) -> Path:
    """A copy of that folder to work in."""
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    return tmp_path
