"""`make models FOLDER=…`: every model below a folder is tried, and no file stops the others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cntk.training.model_writing import BATCH, Second
from tests.cntk.training.random_models import Grown, first
from tests.conftest import SEED
from tests.peers import peer

ROOT = Path(__file__).parents[3]


def models_below(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "bench" / "strangers_models.py"), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


def test_a_folder_of_models(tmp_path: Path) -> None:
    peer("onnxruntime")
    (tmp_path / "deep").mkdir()
    data = first(Grown(SEED, "v1"))
    (tmp_path / "deep" / "whole.anything").write_bytes(data)
    (tmp_path / "cut.dnn").write_bytes(data[:-40])
    out = Second()
    out.variable("x", 0, (4,), axes=[BATCH])
    out.function(79, "Unpack1", ["x"])
    (tmp_path / "unpacked.dnn").write_bytes(out.data("Unpack1"))
    (tmp_path / "notes.dnn").write_text("no model")
    done = models_below(tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3 + 1 + 3 + 2
    assert lines[0].startswith("cut.dnn: a model, not opened in ")
    assert "unpacked.dnn: v2 version 3, 2 nodes, opened in" in lines[1]
    assert "UnpackBatch, which makes an axis of all samples of a batch" in lines[1]
    assert "deep/whole.anything: v1 version 27" in lines[2]
    assert "largest value apart in onnxruntime" in lines[2]
    assert lines[4:7] == ["opened: 2 of 3", "answered: 1 of 3", "exported: 1 of 3"]
    assert all(line.startswith("1 x ") for line in lines[7:])


def test_a_folder_without_models(tmp_path: Path) -> None:
    done = models_below(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "No file below" in done.stderr
