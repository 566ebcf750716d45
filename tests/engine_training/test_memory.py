"""A numeric CSV costs little more memory than its numbers, measured in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROWS, COLUMNS = 160_000, 50

MEASURED = """
import resource, sys
sys.path.insert(0, sys.argv[2])
from tests.engine_training.small_networks import layered
from netsharp_engine.train import load_data, read_settings, train
flags = {"train": [sys.argv[1]], "label": "y", "epochs": 1, "batch_size": 256, "validation": 0.1}
settings = read_settings({}, flags)
layered(3, 3)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
data = load_data(settings)
result = train(layered(data.features, 3), data, settings)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(data.train.rows + data.validation.rows, (after - before) * 1024)
"""


@pytest.mark.costly
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux only")
def test_training_on_a_60_mb_csv_stays_within_three_times_its_float32_size(tmp_path):
    path = tmp_path / "big.csv"
    random = np.random.default_rng(0)
    block = random.normal(size=(ROWS // 20, COLUMNS))
    text = "\n".join(
        ",".join(f"{value:.5g}" for value in row) + f",{number % 3}"
        for number, row in enumerate(block)
    )
    with path.open("w") as stream:
        stream.write(",".join(f"f{column}" for column in range(COLUMNS)) + ",y\n")
        for _ in range(20):
            stream.write(text + "\n")
    assert path.stat().st_size > 60e6
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path), here],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    rows, used = map(int, done.stdout.split())
    assert rows == ROWS
    assert used < 3 * ROWS * COLUMNS * 4
