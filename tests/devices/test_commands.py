"""Devices on the command line: a run, its log, a kill, a run that is resumed elsewhere, answers."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from netsharp_engine.model import load_model
from tests.cli.command_line import netsharp
from tests.cli.test_schemas import schema
from tests.peers import peer

peer("torch")

IRIS = Path(__file__).resolve().parents[2] / "examples" / "iris"
FLAGS = ("--model", "m.safetensors", "--log", "run.jsonl")
CHOICE = "torch:cpu computes (PyTorch "


@pytest.mark.costly
def test_a_run_on_torch_is_reported_and_continues_on_the_processor_and_answers(tmp_path):
    for name in ("iris.nn", "iris.toml", "iris.csv"):
        shutil.copy(IRIS / name, tmp_path)
    output = netsharp(
        "run", "iris.nn", "--epochs", "3", "--device", "torch:cpu", *FLAGS, cwd=tmp_path
    )
    assert output.code == 0, output.err
    assert CHOICE in output.err
    first = json.loads((tmp_path / "run.jsonl").read_text().splitlines()[0])
    schema("run-log.json").validate(first)
    assert first["device"]["name"] == "torch:cpu"
    assert first["device"]["why"] == "requested"
    model = load_model(str(tmp_path / "m.safetensors"))
    assert model.settings.device == "torch:cpu"
    assert model.trained_on == f"torch:cpu: {first['device']['title']}"
    more = ("--resume", "--epochs", "6", "--device", "cpu", *FLAGS)
    output = netsharp("run", "iris.nn", *more, cwd=tmp_path)
    assert output.code == 0, output.err
    model = load_model(str(tmp_path / "m.safetensors"))
    assert (model.settings.device, model.trained_on) == ("cpu", "")
    whole = ("--epochs", "6", "--model", "w.safetensors", "--log", "whole.jsonl")
    assert netsharp("run", "iris.nn", *whole, cwd=tmp_path).code == 0
    ends = [
        json.loads((tmp_path / log).read_text().splitlines()[-1])["loss"]
        for log in ("run.jsonl", "whole.jsonl")
    ]
    assert ends[0] == pytest.approx(ends[1], rel=1e-4)
    data = ("--data", "iris.csv")
    answers = [
        netsharp("predict", "m.safetensors", *data, "--device", device, cwd=tmp_path)
        for device in ("cpu", "torch")
    ]
    assert [answer.code for answer in answers] == [0, 0]
    assert CHOICE in answers[1].err
    classes = [[line.split(",")[0] for line in one.out.splitlines()] for one in answers]
    assert classes[0] == classes[1]
    figures = [
        netsharp(
            "evaluate", "m.safetensors", *data, "--format", "json", "--device", device, cwd=tmp_path
        )
        for device in ("cpu", "torch")
    ]
    losses = [json.loads(one.out)["loss"] for one in figures]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


@pytest.mark.costly
def test_a_device_that_is_not_here_is_reported_in_a_sentence(tmp_path):
    kind = "xpu" if sys.platform == "darwin" else "mps"
    for name in ("iris.nn", "iris.toml", "iris.csv"):
        shutil.copy(IRIS / name, tmp_path)
    output = netsharp("run", "iris.nn", "--device", f"torch:{kind}", cwd=tmp_path)
    assert output.code == 2
    assert output.err.startswith(f"netsharp: device = torch:{kind}: PyTorch ")
    assert f"finds no {kind} here. " in output.err
    assert not (tmp_path / "iris.safetensors").exists()
