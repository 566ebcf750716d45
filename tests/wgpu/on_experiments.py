"""Experiments of CNTK whose networks a device trains: its course is that of the processor."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest

import netsharp as public
from netsharp_engine.data.answers import SampleQuery
from netsharp_engine.model import ModelError
from tests.cli.command_line import netsharp
from tests.cntk.training.experiments import made
from tests.cntk.training.experiments import run as trained
from tests.distributed.threads import together
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

#: A network of nodes that multiply, and of functions that are not activations of Net#.
NODES = """
image = Input {841} ; digit = Input {10}
x = PerDimMeanVarNormalization (image, Mean (image), InvStdDev (image))
h = Tanh (LinearLayer {20} (x .* Constant (0.1)))
scale = ParameterTensor {20, initValue = 0.7} ; factor = ParameterTensor {1, initValue = 1.5}
a = (h .* scale) .* factor
b = Exp (Negate (Abs (a))) .* Reciprocal (a .* a + Exp (h))
z = LinearLayer {10} (Log (b .* b) .* Sigmoid (h))
loss = CrossEntropyWithSoftmax (digit, z) ; errors = ClassificationError (digit, z)
featureNodes = (image) ; labelNodes = (digit) ; criterionNodes = (loss) ; evaluationNodes = (errors)
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
    (tmp_path / "nodes.bs").write_text(NODES)
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


@pytest.mark.parametrize("network", ["puri.bs", "nodes.bs"])
def test_an_experiment_is_trained_alike(folder, network):
    reported = []
    for device in ("cpu", f"wgpu:{NAME}"):
        more = "L2RegWeight = 0.001 ; useNAG = true"
        done = run(folder, device, MORE=more, NETWORK=network)
        assert done.code == 0, done.err
        reported.append(re.findall(r"loss +([\d.]+)", done.out + done.err))
        assert (folder / "puri.dnn").exists()
    assert reported[0] == reported[1] != []


def test_an_example_that_normalises_by_statistics_is_trained_alike(tmp_path):
    lines = []
    for device in ("cpu", f"wgpu:{NAME}"):
        copy = shutil.copytree(EXAMPLES / "cntk" / "plane", tmp_path / device.replace(":", "-"))
        done = netsharp("run", "plane.cntk", "--device", device, cwd=copy)
        assert done.code == 0, done.err
        lines.append(re.findall(r"(?:loss|Softmax) +([\d.]{6})", done.out + done.err))
    assert lines[0] == lines[1] != []
    lacking = r"cpu \(numpy\): wgpu:.* cannot do it: features: .*; so cpu is used"
    assert re.search(f"requested; statistics by {lacking}", done.err)
    for command, node in (("score", "EvalClassificationError"), ("decide", "labels")):
        said = f"^{command}: cpu computes .*cannot do it: {node}: a graphics device"
        assert re.search(said, done.err, re.MULTILINE)


def test_epochs_are_validated_on_the_device(folder):
    """By a program that is made once, though minibatches of later epochs are smaller."""
    more = "} ; cvReader = { readerType = CNTKTextFormatReader ; file = digits.ctf ; input = { "
    more += "image = { dim = 841 ; format = dense } ; digit = { dim = 10 ; format = sparse } }"
    lines = []
    for device in ("cpu", f"wgpu:{NAME}"):
        done = run(folder, device, MORE=f"minibatchSize = 32:16 {more}")
        assert done.code == 0, done.err
        lines.append(re.findall(r"loss +([\d.]{5}).* validation +([\d.]{5})", done.err))
    assert lines[0] == lines[1]
    assert len(lines[0]) == 2
    assert "computes" in done.err
    assert " by cpu" not in done.err


def test_a_model_answers_on_the_device_and_reads_its_last_node(folder):
    assert run(folder, "cpu", NETWORK="nodes.bs").code == 0
    model, pictures = public.load(folder / "puri.dnn"), digits()[0][:70]
    ours = model.predict(pictures).probabilities
    assert " computes (" in model.compute_on(f"wgpu:{NAME}")
    np.testing.assert_allclose(model.predict(pictures).probabilities, ours, rtol=1e-4, atol=1e-6)
    query = SampleQuery([str(folder / "digits.ctf")], model.read_options(), outputs=("z", "h"))
    with pytest.raises(ModelError, match=r"h: a graphics device keeps .* only, 'z'\. Or cho"):
        list(model.network.rows(query, model.answered))
    with pytest.raises(ModelError, match="does not compute the criterion 'ClassificationError'"):
        model.network.criteria_on(query._replace(outputs=()))


def test_what_it_cannot_train_is_named(folder):
    for chosen, reported in (
        ({"NETWORK": "sequences.bs"}, "a graphics device does not compute"),
        ({"PRECISION": "double"}, "computes float32 alone"),
        ({"MORE": "L1RegWeight = 0.1"}, "does not compute L1"),
    ):
        done = run(folder, f"wgpu:{NAME}", **chosen)
        assert done.code != 0
        assert reported in done.err
    assert "There is no device 'rocm'. Name auto, cpu, torch" in run(folder, "rocm").err


def test_of_several_processes_none_exchanges_gradients_here(tmp_path):
    """Each ends with a sentence, before anything is trained; by itself one of them trains."""
    path, device = made(tmp_path / "one"), f"wgpu:{NAME}"

    def both(*items):
        return together(2, lambda ranks: trained(path, *items, ranks=ranks, device=device))

    for answer, follower in both("parallelTrain=true", "command=learn"):
        assert answer.code == 2
        assert "A graphics device trains in one process alone." in " ".join(answer.complaints)
        assert not follower.epochs
    assert [answer.code for answer, _ in both("command=learn")] == [0, 0]
