"""The examples of the guide about networks: what the guide leaves open, and nothing else."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.checking.check import diagnostics_by_file
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.workspace import GivenFiles, Run

#: An unknown function, variables without a value, square brackets, NDL, what `...` leaves out.
ALLOWED = {"BS021", "CK019", "CK032", "CK034", "ND001", "BS078"}
NETWORK = b"""\
x = Input {3}
y = Input {2, tag = "label"}
z = LinearLayer {2} (x)
ce = CrossEntropyWithSoftmax (y, z)
criterionNodes = (ce)
outputNodes = (z)
"""
NDL = b"""\
x = Input(3, tag=feature)
y = Input(2, tag=label)
z = Times(Parameter(2, 3), x)
ce = CrossEntropyWithSoftmax(y, z, tag=criterion)
"""
#: What the guide's files hold, so that none of them is missing.
FILES = {
    "yourNetwork.bs": NETWORK,
    "shared.bs": b"",
    "myNetworks.bs": b"CreateMyNetworkOfType42 () = new ComputationNetwork {\n" + NETWORK + b"}\n",
    "yourNetwork.ndl": b"W = Parameter(2, 3)\n" + NDL.replace(b"Parameter(2, 3), x", b"W, x"),
    "shared.ndl": b"",
}
EXAMPLES = {
    "file": """\
BrainScriptNetworkBuilder = (new ComputationNetwork {
include "yourNetwork.bs"
})
""",
    "empty": """\
BrainScriptNetworkBuilder = {
# insert network description here
}
""",
    "expr": """\
BrainScriptNetworkBuilder = ({
include "myNetworks.bs"
network = CreateMyNetworkOfType42()
}.network)
""",
    "ndlfile": """\
NDLNetworkBuilder = [
ndlMacros = "shared.ndl" # (if any)
networkDescription = "yourNetwork.ndl"
]
""",
    "bsfile": """\
BrainScriptNetworkBuilder = (new ComputationNetwork {
include "shared.bs" # (if any)
include "yourNetwork.bs"
})
""",
    "inline": """\
NDLNetworkBuilder = [
# macros
load = [
SigmoidNetwork (x, W, b) = Sigmoid (Plus (Times (W, x), b))
]
# network description
run = [
feat = Input (13)
...
ce = CrossEntropyWithSoftmax (labels, z, tag="criterion")
]
]
""",
    "inlinebs": """\
BrainScriptNetworkBuilder = {
# macros are just defined inline
SigmoidNetwork (x, W, b) = Sigmoid (Plus (Times (W, x), b)) # or: Sigmoid (W * x + b)
# network description
feat = Input {13}
...
ce = CrossEntropyWithSoftmax (labels, z, tag="criterion")
}
""",
    "loadrun": """\
load = ndlMnistMacros
run = DNN
ndlMnistMacros = [
featDim = 784
...
labels = InputValue(labelDim)
]
DNN = [
hiddenDim = 200
...
outputNodes = (ol)
]
""",
    "which": """\
NDLNetworkBuilder = [
run = $whichModel$ # outside parameter selects model, must be either "model1" or "model2"
model1 = [ ... (MODEL 1 DEFINITION) ]
model2 = [ ... (MODEL 1 DEFINITION) ]
]
""",
    "if": """\
BrainScriptNetworkBuilder = (new ComputationNetwork
if "$whichModel$" == "model1" then { ... (MODEL 1 DEFINITION) }
else if "$whichModel$" == "model2" then { ... (MODEL 2 DEFINITION) }
else Fail ("Invalid model selector value '$whichModel$'")
)
""",
    "lstm": """\
BrainScriptNetworkBuilder = {
encoderFunction =
if useBidirectionalEncoder
then BS.RNNs.RecurrentBirectionalLSTMPStack
else BS.RNNs.RecurrentLSTMPStack
encoder = encoderFunction (encoderDims, inputEmbedded, inputDim=inputEmbeddingDim)
...
}
""",
}


def found(text: str) -> set[tuple[str, str]]:
    files = GivenFiles({**FILES, "guide.cntk": text.encode()})
    run = Run(("configFile=guide.cntk",), declared=False)
    reported = diagnostics_by_file(Experiment(run, files)).get("guide.cntk", [])
    return {(one.code, one.severity) for one in reported}


@pytest.mark.parametrize("within", [False, True], ids=["alone", "in a command"])
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_gives_only_what_the_guide_leaves_open(name: str, within: bool) -> None:
    text = EXAMPLES[name]
    if within:
        text = f"command = T\nT = {{\naction = train\n{text}}}\n"
    reported = found(text)
    assert {code for code, _ in reported} <= ALLOWED
    assert not {code for code, severity in reported if severity == "error"}
