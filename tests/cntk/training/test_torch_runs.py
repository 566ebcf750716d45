"""Configurations of CNTK on torch take the course of the processor, also begun on the other."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from netsharp_lsp.cntk.training.networks.models import ModelFiles
from netsharp_lsp.project.roots import ANYWHERE
from tests.cli.command_line import clean_environment
from tests.cntk.training.experiments import Follower, made, run

pytest.importorskip("torch", reason="PyTorch is in the dependency group 'peers'")

EXAMPLES = Path(__file__).parents[3] / "examples" / "cntk"
DEVICES = ("cpu", "torch:cpu")
DOUBLE = "precision=double"
#: Epochs that are compared of examples whose loops take long step by step.
FEW = {"sentences": ("tagging=[SGD=[maxEpochs=2]]", "sorting=[SGD=[maxEpochs=2]]")}


def losses(follower: Follower) -> list[float]:
    """The losses of epochs, and of the tests after them."""
    reported = [one for one in follower.events if one["event"] in ("epoch", "end")]
    return [one["loss"] for one in reported if "loss" in one]


def trained(folder: Path, device: str, *items: str) -> list[float]:
    answer, follower = run(folder, *items, device=device)
    assert (answer.code, answer.complaints) == (0, ())
    return losses(follower)


@pytest.mark.parametrize(("precision", "near"), [("double", 1e-9), ("float", 1e-4)])
def test_a_run_takes_the_same_course(precision: str, near: float, tmp_path: Path) -> None:
    found = []
    for device in DEVICES:
        folder = made(tmp_path / device.replace(":", ""))
        found.append(trained(folder, device, f"precision={precision}"))
    assert len(found[0]) == 5
    assert found[1] == pytest.approx(found[0], rel=near)


@pytest.mark.costly
@pytest.mark.parametrize("name", ["plane", "wave", "words", "sentences", "numerals"])
def test_examples_take_the_same_course(name: str, tmp_path: Path) -> None:
    found = []
    for device in DEVICES:
        folder = tmp_path / device.replace(":", "")
        shutil.copytree(EXAMPLES / name, folder, ignore=shutil.ignore_patterns("out"))
        found.append(trained(folder, device, DOUBLE, *FEW.get(name, ())))
    assert len(found[0]) >= 4
    assert found[1] == pytest.approx(found[0], rel=1e-9)


@pytest.mark.costly
@pytest.mark.parametrize("first", DEVICES)
def test_killed_on_one_device_continues_on_the_other(first: str, tmp_path: Path) -> None:
    items = ("command=learn", "learn=[SGD=[maxEpochs=12]]", DOUBLE)
    whole, folder = made(tmp_path / "whole"), made(tmp_path / "run")
    trained(whole, "cpu", *items)
    words = ("run", "net.cntk", "--events", "--device", first, *items)
    with subprocess.Popen(
        [sys.executable, "-m", "netsharp_lsp", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        env=clean_environment(),
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "epoch" and event["epoch"] == 4:
                process.kill()
                break
    (second,) = (one for one in DEVICES if one != first)
    assert len(trained(folder, second, *items)) < 12
    models = [ModelFiles(ANYWHERE).load(str(one / "out/net.dnn")) for one in (whole, folder)]
    for name, values in models[0].values.items():
        other = models[1].values[name]
        np.testing.assert_allclose(other, values, rtol=1e-9, atol=1e-12, err_msg=name)


def test_the_log_says_what_computes_and_why(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    for device, precision, name, words in (
        ("torch:cpu", "", "torch:cpu", "requested"),
        ("torch:cpu", "bf16", "torch:cpu", "requested"),
        ("cpu", "", "cpu", "requested"),
    ):
        answer, follower = run(
            folder, "command=learn", "makeMode=false", device=device, precision=precision
        )
        assert (answer.code, answer.complaints) == (0, ())
        (start,) = (one for one in follower.events if one["event"] == "start")
        assert start["device"]["name"] == name
        assert ("products of bf16" in start["device"]["title"]) == bool(precision)
        assert words in start["device"]["why"]
    _, follower = run(folder, "command=learn", "makeMode=false", device="auto")
    (start,) = (one for one in follower.events if one["event"] == "start")
    assert start["device"]["why"].endswith(("so cpu is used", " is there"))
    _, follower = run(folder, "command=learn", "makeMode=false")
    assert not any("device" in event for event in follower.events)


@pytest.mark.parametrize(
    ("device", "precision", "message"),
    [
        ("rocm", "", "--device rocm: There is no device 'rocm'. Name auto, cpu, torch"),
        ("", "bf16", "--device cpu: cpu has no products of bf16. Choose --device torch"),
    ],
)
def test_a_device_that_is_not_there_is_refused_before_the_run(
    device: str, precision: str, message: str, tmp_path: Path
) -> None:
    folder = made(tmp_path / "run")
    answer, follower = run(folder, device=device, precision=precision)
    assert answer.code == 2
    assert answer.complaints[0].startswith(message)
    assert not follower.events
    assert not (folder / "out").exists()
