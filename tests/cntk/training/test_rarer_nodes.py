"""Nodes that few networks have, trained from a configuration, written, read again and tested."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.cntk.stored.model_file import read_model
from tests.cntk.training.experiments import run
from tests.conftest import SEED

#: What a network makes of `x` (3 numbers) and `w` (two words of four), with labels of two numbers.
NETWORKS = {
    "log plus": "z = LogPlus (h, Tanh (h)) ; ce = SquareError (y, z)",
    "logistic": "p = Sigmoid (h) ; ce = Logistic (y, p)",
    "weighted logistic": """
        first = RowSlice (0, 1, y) ; p = Sigmoid (RowSlice (0, 1, h))
        ce = WeightedLogistic (first, p, Exp (RowSlice (0, 1, x)))""",
    "cross entropy": "ce = CrossEntropy (y, Softmax (h))",
    "norms": """
        ce = SquareError (y, h) + Constant (0.01) .* MatrixL2Reg (W)
           + Constant (0.02) .* MatrixL1Reg (W)""",
    "diagonal": """
        d = new ComputationNode { operation = 'Diagonal' ; inputs = Q ; tag = '' }
        ce = SquareError (y, h + d * Constant (0.5, rows=2))""",
    "rows": "ce = SquareError (RowRepeat (y, 3), RowRepeat (h, 3))",
    "pairs": "ce = SquareError (KhatriRaoProduct (y, h), KhatriRaoProduct (h, h))",
    "cosine": "ce = SumElements (CosDistance (y, h))",
    "negatives": """
        c = CosDistanceWithNegativeSamples (y, h, Constant (1), Constant (2))
        ce = SumElements (c)""",
    "unpooling": """
        K = Parameter (16, 3) ; image = NewReshape (K * x, (4:4:1))
        pooled = Pooling (image, 'max', (2:2), stride=2, autoPadding=false)
        back = MaxUnpooling (pooled, image, (2:2), stride=2, autoPadding=false)
        ce = SquareError (y, h) + Constant (0.1) .* SumElements (back .* back)""",
    "regions": """
        K = Parameter (16, 3) ; image = NewReshape (K * x, (4:4:1))
        pooled = ROIPooling (image, ConstantTensor (0.4, (4:2)), (2:2))
        ce = SquareError (y, h) + Constant (0.1) .* SumElements (pooled .* pooled)""",
    "the best two": "ce = CrossEntropyWithSoftmax (y, h) ; best = ErrorPrediction (y, h, topN=2)",
}
TEXT = """\
command = learn:score
modelPath = "out/net.dnn"
learn = {
    action = "train"
    BrainScriptNetworkBuilder = {
        x = Input (3) ; y = Input (2)
        W = Parameter (2, 3, initValueScale=10) ; Q = Parameter (2, 2) ; b = ParameterTensor {2}
        h = W * x + b
        %s
        featureNodes = (x) ; labelNodes = (y) ; criterionNodes = (ce) ; evaluationNodes = (%s)
        outputNodes = (h)
    }
    SGD = { maxEpochs = 3 ; minibatchSize = 10 ; learningRatesPerSample = 0.02 }
    reader = { file = "data.ctf" ; input = {
        x = { dim = 3 ; format = "dense" } ; y = { dim = 2 ; format = "dense" } } }
}
score = { action = "test" ; reader = { file = "data.ctf" ; input = {
    x = { dim = 3 ; format = "dense" } ; y = { dim = 2 ; format = "dense" } } } }
"""


def experiment(folder: Path, network: str) -> None:
    """A configuration with its data: labels are 0 and 1."""
    random = np.random.default_rng(SEED)
    lines = []
    for a, b, c in random.normal(size=(60, 3)).round(4).tolist():
        first = int(a + b > c)
        lines.append(f"|x {a} {b} {c} |y {first} {1 - first}")
    (folder / "data.ctf").write_text("\n".join(lines) + "\n")
    (folder / "net.cntk").write_text(TEXT % (network, "best" if "best" in network else "ce"))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_trained_and_read_again(name: str, tmp_path: Path) -> None:
    experiment(tmp_path, NETWORKS[name])
    answer, follower = run(tmp_path)
    assert answer.code == 0, (answer.complaints, answer.reports)
    losses = [epoch["loss"] for epoch in follower.epochs]
    assert len(losses) == 3
    assert losses[2] < losses[0]
    assert follower.events[-1]["event"] == "end"


def test_parameters_that_the_criterion_does_not_depend_on_stay(tmp_path: Path) -> None:
    """`Q` is read by nothing, `E` only by what is reported beside the criterion."""
    network = "E = ParameterTensor {2} ; ce = SquareError (y, h) ; best = SquareError (E + y, h)"
    experiment(tmp_path, network)
    path = tmp_path / "net.cntk"
    path.write_text(path.read_text().replace("maxEpochs = 3", "maxEpochs = 3 ; L2RegWeight = 0.1"))
    answer, _ = run(tmp_path)
    assert answer.code == 0, (answer.complaints, answer.reports)
    models = [read_model((tmp_path / "out" / f"net.dnn{end}").read_bytes()) for end in (".0", "")]
    before, after = ({one.name: one.values for one in model.nodes} for model in models)
    same = {name for name, values in before.items() if np.array_equal(values, after[name])}
    assert {"Q", "E"} <= same
    assert not {"W", "b"} & same
