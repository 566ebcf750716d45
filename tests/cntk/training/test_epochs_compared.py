"""Two epochs of one training, compared by the command: which parameter moved, and by how much."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from netsharp_lsp.cntk.training.networks.models import ModelFiles
from netsharp_lsp.project.roots import ANYWHERE
from tests.cli.command_line import netsharp
from tests.cntk.training.experiments import made, run

FIRST, SECOND = "out/net.dnn.1", "out/net.dnn.2"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = made(tmp_path_factory.mktemp("epochs") / "run")
    # One parameter does not learn, so that what stays is seen to stay.
    (place / "still.mel").write_text(
        'm = LoadModel("out/net.dnn.0")\n'
        'SetProperty(B0, "learningRateMultiplier", 0)\n'
        'SaveModel(m, "out/net.dnn.0")\n'
    )
    with (place / "net.cntk").open("a") as stream:
        stream.write('\nstill = { action = "edit" ; editPath = "still.mel" }\n')
    assert run(place, "command=learn", "learn=[SGD=[maxEpochs=1]]")[0].code == 0
    for path in (place / "out").glob("net.dnn*"):
        if not path.name.endswith(".0"):
            path.unlink()
    assert run(place, "command=still")[0].code == 0
    answer, _ = run(place, "command=learn", "learn=[SGD=[maxEpochs=3]]")
    assert answer.code == 0, answer.complaints
    return place


def test_each_parameter_is_reported_with_its_norms(folder: Path) -> None:
    before, after = (ModelFiles(ANYWHERE).load(str(folder / one)).values for one in (FIRST, SECOND))
    done = netsharp("diff", FIRST, SECOND, "--format", "json", cwd=folder)
    assert done.code == 1, done.err
    found = json.loads(done.out)
    assert not found["same"]
    reported = {one["name"]: one["norms"] for one in found["differences"]}
    assert {one["what"] for one in found["differences"]} == {"parameter"}
    moved = {name for name in before if not np.array_equal(before[name], after[name])}
    assert reported.keys() == moved == {"W0", "W1", "B1"}
    for name, norms in reported.items():
        old, new = (np.float64(one[name]) for one in (before, after))
        expected = {
            "before": np.linalg.norm(old),
            "after": np.linalg.norm(new),
            "difference": np.linalg.norm(new - old),
            "largest": np.abs(new - old).max(),
        }
        assert norms == pytest.approx(expected, rel=1e-6), name
        assert norms["difference"] > 0
    lines = netsharp("diff", FIRST, SECOND, cwd=folder).out.splitlines()
    for name, norms in reported.items():
        (line,) = (one for one in lines if one.startswith(f"~ parameter {name}: norm "))
        assert f"difference: norm {norms['difference']:.6g}" in line
    assert not any("B0" in line or "MeanOfFeatures" in line for line in lines)


def test_an_epoch_is_the_same_as_itself(folder: Path) -> None:
    done = netsharp("diff", SECOND, SECOND, cwd=folder)
    assert done.code == 0, done.out
