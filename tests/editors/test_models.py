"""Model files in VS Code itself: opened as pictures, where the folder is trusted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cntk.training.model_writing import First
from tests.editors.conftest import WORKBENCH
from tests.editors.test_vscode import play

pytestmark = WORKBENCH


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A folder with a small model, another, and one of 104 MB."""
    for name, output in (("net", "z"), ("other", "other")):
        model = First(27)
        model.input("x", (4,))
        model.parameter("W", np.linspace(-1, 1, 12).reshape(4, 3))
        model.add("Times", output, b"\x01\0\0\0\0\0\0\0" + b"\xff\xff\xff\xff", "W", "x")
        groups = [("FeatureNodes", ["x"]), ("OutputNodes", [output])]
        (tmp_path / f"{name}.dnn").write_bytes(model.data(groups))
    model = First(27)
    model.input("x", (4,))
    values = np.random.default_rng(1).standard_normal((1000, 1000)).astype(np.float32)
    for number in range(26):
        model.parameter(f"W{number}", values)
    (tmp_path / "large.dnn").write_bytes(model.data([("FeatureNodes", ["x"])]))
    return tmp_path


def test_model_files_open_as_pictures(models: Path) -> None:
    said = play("models", "models", 360, MODELS=str(models), TRUSTED="yes")
    print(next(line for line in said.splitlines() if "104 MB" in line))


def test_no_model_is_read_in_a_folder_that_is_not_trusted(models: Path) -> None:
    play("models", "models-untrusted", 360, MODELS=str(models), TRUSTED="no")
