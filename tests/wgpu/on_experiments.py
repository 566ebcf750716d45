"""Experiments of CNTK whose networks a device trains: its course is that of the processor."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.cli.command_line import netsharp
from tests.wgpu.pairs import NAME
from tests.wgpu.puri import EXAMPLES, digits

CONFIGURATION = """
command = Train
precision = "PRECISION"
modelPath = "puri.dnn"
Train = {
    action = train
    BrainScriptNetworkBuilder = { include "NETWORK" }
    SGD = {
        epochSize = 0 ; minibatchSize = 32 ; maxEpochs = 2
        learningRatesPerSample = 0.002:0.001 ; momentumPerMB = 0.5
        MORE
    }
    reader = {
        readerType = CNTKTextFormatReader ; file = "digits.ctf"
        input = {
            image = { dim = 841 ; format = dense } ; digit = { dim = 10 ; format = FORMAT }
        }
    }
}
"""
#: Words of a network that reads sequences.
SEQUENCES = """
image = Input {841} ; digit = Input {10}
z = LinearLayer {10} (RecurrentLSTMLayer {4} (image))
loss = CrossEntropyWithSoftmax (digit, z)
featureNodes = (image) ; labelNodes = (digit) ; criterionNodes = (loss)
"""


@pytest.fixture
def folder(tmp_path):
    pictures, shown = digits()
    sparse = [
        f"|image {' '.join(f'{value:.4g}' for value in picture)} |digit {digit}:1\n"
        for picture, digit in zip(pictures[:64], shown[:64], strict=True)
    ]
    (tmp_path / "digits.ctf").write_text("".join(sparse))
    (tmp_path / "sequences.bs").write_text(SEQUENCES)
    shutil.copy(EXAMPLES / "puri" / "puri.bs", tmp_path)
    return tmp_path


def run(folder, device, **chosen):
    words = {"PRECISION": "float", "NETWORK": "puri.bs", "MORE": "", "FORMAT": "sparse", **chosen}
    text = CONFIGURATION
    for word, value in words.items():
        text = text.replace(word, value)
    (folder / "puri.cntk").write_text(text)
    for path in folder.glob("puri.dnn*"):
        path.unlink()
    return netsharp("run", "puri.cntk", "--device", device, cwd=folder)


def test_the_patents_experiment_is_trained_alike(folder):
    told = []
    for device in ("cpu", f"wgpu:{NAME}"):
        done = run(folder, device, MORE="L2RegWeight = 0.001 ; useNAG = true")
        assert done.code == 0, done.err
        told.append(re.findall(r"loss +([\d.]+)", done.out + done.err))
        assert (folder / "puri.dnn").exists()
    assert told[0] == told[1] != []


def test_what_it_cannot_train_is_named(folder):
    for chosen, said in (
        ({"NETWORK": "sequences.bs"}, "a graphics device does not compute"),
        ({"PRECISION": "double"}, "computes float32 alone"),
        ({"MORE": "L1RegWeight = 0.1"}, "does not compute L1"),
    ):
        done = run(folder, f"wgpu:{NAME}", **chosen)
        assert done.code != 0
        assert said in done.err
    assert "trained by --device cpu, torch, wgpu, and 'rocm' is asked" in run(folder, "rocm").err
