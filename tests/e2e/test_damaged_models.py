"""No damage to a model file makes a command say anything but an answer or one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import netsharp
from netsharp_engine.model import ModelError
from tests.cli.command_line import clean_environment
from tests.e2e.damaged_models import MODEL, parts

#: Flips, and which of the other spoilt files are tried: all with FULL=1.
FLIPS, SHARE = (500, 1) if os.environ.get("FULL") else (40, 47)
SEED = 20


@pytest.mark.costly
@pytest.mark.skipif(os.name != "posix", reason="memory is bounded by a limit of POSIX")
def test_every_damage_gives_an_answer_or_a_sentence(folder: Path) -> None:
    print("seed", SEED)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.e2e.damaged_models", str(folder)),
            *map(str, (FLIPS, SEED, SHARE)),
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
        env={**clean_environment(), "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    *faults, tries = map(json.loads, done.stdout.splitlines())
    assert not faults
    assert tries["tries"] > 7 * FLIPS


def test_half_a_character_is_no_specification_and_no_harm_elsewhere(folder: Path) -> None:
    from safetensors.numpy import save

    metadata, tensors = parts((folder / MODEL).read_bytes())
    settings = json.loads(metadata["settings"])
    settings["origins"]["momentum"] = "\ud800"
    metadata["settings"] = json.dumps(settings)
    (folder / MODEL).write_bytes(save(tensors, metadata))
    netsharp.save(netsharp.load(folder / MODEL), folder / MODEL)
    assert netsharp.load(folder / MODEL).settings.origins["momentum"] == "\ud800"
    metadata["specification"] = '"\\ud800"'
    (folder / MODEL).write_bytes(save(tensors, metadata))
    with pytest.raises(ModelError, match=r"'specification' is \\ud800, not text"):
        netsharp.load(folder / MODEL)


def test_a_number_that_is_none_is_named(folder: Path) -> None:
    from safetensors.numpy import save

    metadata, tensors = parts((folder / MODEL).read_bytes())
    tensors["Full/biases"][3] = np.nan
    (folder / MODEL).write_bytes(save(tensors, metadata))
    with pytest.raises(ModelError, match=r"weights 'Full/biases' hold a number that is not finite"):
        netsharp.load(folder / MODEL)
