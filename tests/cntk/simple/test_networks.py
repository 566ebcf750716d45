"""SimpleNetworkBuilder: every kind of network, with the names that the program gives its nodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.cntk.brainscript.evaluation.program import (
    Surroundings,
)
from netsharp_lsp.cntk.brainscript.evaluation.program import (
    evaluate_builder as evaluate_brainscript,
)
from netsharp_lsp.cntk.configuration.meaning.configuration import resolve
from netsharp_lsp.cntk.library import own_library
from netsharp_lsp.cntk.networks.faults import Outcome
from netsharp_lsp.cntk.networks.node import Network
from netsharp_lsp.cntk.networks.same import compare
from netsharp_lsp.cntk.simple.networks import NETWORKS
from netsharp_lsp.cntk.simple.program import evaluate_builder
from netsharp_lsp.cntk.simple.settings import KINDS
from tests.cntk.brainscript.test_networks import lines
from tests.cntk.ndl.building import Folder

FOLDER = Path(__file__).parent / "networks"
CRITERIA = "trainingCriterion = CrossEntropyWithSoftmax ; evalCriterion = ErrorPrediction"
#: A network of each kind by the name of the file that says what is expected.
OPTIONS = {
    "feed_forward": (
        f"layerSizes = 20:30*2:5 ; {CRITERIA} ; layerTypes = Sigmoid:RectifiedLinear"
        " ; applyMeanVarNorm = true ; needPrior = true ; addDropoutNodes = true"
    ),
    "linear": (
        "layerSizes = 20:5 ; trainingCriterion = squareError ; evalCriterion = SquareError"
        " ; uniformInit = false ; initValueScale = 2"
    ),
    "recurrent": (
        f"rnnType = SIMPLERNN ; layerSizes = 20:10:5 ; recurrentLayer = 1 ; {CRITERIA}"
        " ; applyMeanVarNorm = true ; needPrior = true ; defaultHiddenActivity = 0.2"
    ),
    "long_memory": (
        f"rnnType = LSTM ; layerSizes = 20:10:8:6:5 ; recurrentLayer = 2 ; {CRITERIA}"
        " ; lookupTableOrder = 2 ; addDropoutNodes = true ; forgetGateInitVal = 1"
    ),
    "constant_gates": (
        f"rnnType = LSTM ; layerSizes = 20:10:5 ; {CRITERIA} ; constInputGateValue = true"
        " ; constForgetGateValue = true ; constOutputGateValue = true ; needPrior = true"
        " ; sparseinput = true"
    ),
    "classes": (
        "rnnType = CLASSLM ; layerSizes = 20:10:50 ; recurrentLayer = 1 ; vocabSize = 50"
        " ; nbrClass = 7 ; trainingCriterion = classCrossEntropyWithSoftmax"
        " ; evalCriterion = classCrossEntropyWithSoftmax ; needPrior = true"
    ),
    "log_bilinear": (
        f"rnnType = LBLM ; layerSizes = 20:10:20 ; recurrentLayer = 1 ; maOrder = 2 ; {CRITERIA}"
    ),
    "windowed": (
        f"rnnType = NPLM ; layerSizes = 20:10:8:20 ; recurrentLayer = 1:2 ; {CRITERIA}"
        " ; layerTypes = Tanh"
    ),
    "class_long_memory": (
        "rnnType = CLASSLSTM ; layerSizes = 50:6:8:50 ; lookupTableOrder = 1 ; nbrClass = 7"
        " ; trainingCriterion = classCrossEntropyWithSoftmax"
        " ; evalCriterion = classCrossEntropyWithSoftmax"
    ),
    "noise": (
        "rnnType = NCELSTM ; layerSizes = 50:6:6:50 ; lookupTableOrder = 1 ; noise_number = 10"
        " ; directConnect = 1 ; trainingCriterion = noiseContrastiveEstimation"
        " ; evalCriterion = noiseContrastiveEstimation"
    ),
    "conditional": (
        "rnnType = CLSTM ; layerSizes = 50:6:8:50 ; lookupTableOrder = 1 ; nbrClass = 7"
        " ; auxfeatdim = 4 ; trainingCriterion = classCrossEntropyWithSoftmax"
        " ; evalCriterion = classCrossEntropyWithSoftmax"
    ),
}


def outcome(options: str, outside: str = "") -> Outcome:
    """The network of options; the place of a fault is in the file `a.cntk`."""
    text = f"train = {{ SimpleNetworkBuilder = [ {options} ] }}\n{outside}"
    scope = resolve(("a.cntk",), Folder({"a.cntk": text})).root.block(b"train")
    assert scope is not None
    found = scope.look_up(b"SimpleNetworkBuilder")
    assert found is not None
    return evaluate_builder(found, scope)


#: What the program refuses of its own network: the biases there are no data.
TROUBLES = {"noise": ["TrainNodeNCEBasedCrossEntropy"]}


def network(options: str, troubles: list[str] | None = None) -> Network:
    """A network in which everything is right, except for the known troubles."""
    found = outcome(options)
    assert found.faults == ()
    assert found.network is not None
    assert [one.node.name for one in found.network.troubles] == (troubles or [])
    return found.network


@pytest.mark.parametrize("name", OPTIONS)
def test_network(name: str, update: bool) -> None:
    found = "".join(lines(network(OPTIONS[name], TROUBLES.get(name))))
    expected = FOLDER / f"{name}.txt"
    if update:
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")


def test_every_kind_is_built() -> None:
    kinds = {text.partition("rnnType = ")[2].partition(" ")[0] for text in OPTIONS.values()}
    assert kinds - {""} | {"SIMPLENET"} == set(NETWORKS)


def test_the_same_network_in_brainscript() -> None:
    script = """{
features = Input {20}
W0 = Parameter {30, 20, init = 'uniform', initValueScale = 0.5}
B0 = Parameter {30, 1, initValue = 0}
H1 = Sigmoid (W0 * features + B0)
W1 = Parameter {5, 30, init = 'uniform', initValueScale = 0.5}
B1 = Parameter {5, 1, initValue = 0}
HLast = W1 * H1 + B1
labels = Input {5, tag = 'label'}
CrossEntropyWithSoftmax1 = CrossEntropyWithSoftmax (labels, HLast, tag = 'criterion')
EvalClassificationError = ClassificationError (labels, HLast, tag = 'evaluation')
PosteriorProb = Softmax (HLast)
outputNodes = HLast
}"""
    ours = network(f"layerSizes = 20:30:5 ; initValueScale = 0.5 ; {CRITERIA}")
    around = Surroundings(lambda path: None, own_library())
    theirs = evaluate_brainscript(script.encode(), "pair.bs", around)
    assert theirs.network is not None
    assert theirs.faults == ()
    comparison = compare(ours, theirs.network)
    assert [one.message for one in comparison.differences] == []


WRONG = [
    ("layerSizes = 2:3 ; evalCriterion = SquareError", ["missing-criterion"]),
    ("layerSizes = 2:3", ["missing-criterion", "missing-criterion"]),
    (f"layerSizes = 2 ; {CRITERIA}", ["layer-sizes"]),
    (f"{CRITERIA}", ["layer-sizes"]),
    (f"layerSizes = 2:x ; {CRITERIA}", ["option-value"]),
    (f"layerSizes = 2:-3 ; {CRITERIA}", ["layer-sizes"]),
    (
        "layerSizes = 2:3 ; trainingCriterion = mse ; evalCriterion = ErrorPrediction",
        ["unknown-criterion"],
    ),
    (
        "layerSizes = 2:3 ; trainingCriterion = sequenceWithSoftmax ; evalCriterion = logistic",
        ["unsupported-criterion"],
    ),
    (f"layerSizes = 2:3 ; rnnType = GRU ; {CRITERIA}", ["unknown-kind"]),
    (f"layerSizes = 2:3 ; rnnType = CRF ; {CRITERIA}", ["unsupported-kind"]),
    (f"layerSizes = 2:3 ; layerTypes = sigmoid ; {CRITERIA}", ["unknown-layer"]),
    (f"layerSizes = 2:3 ; needPrior = maybe ; {CRITERIA}", ["option-value"]),
    (f"layerSizes = 2:3 ; initValueScale = big ; {CRITERIA}", ["option-value"]),
    (f"layerSizes = 2:3:4 ; rnnType = SIMPLERNN ; {CRITERIA}", ["unbuildable"]),
    (f"layerSizes = 2:3:4 ; rnnType = CLASSLSTM ; {CRITERIA}", ["unbuildable"]),
    (f"layerSizes = 2:3:4 ; rnnType = CLASSLM ; vocabSize = 9 ; {CRITERIA}", ["unbuildable"]),
    (
        "layerSizes = 2:3 ; trainingCriterion = classCrossEntropyWithSoftmax"
        " ; evalCriterion = SquareError",
        ["unbuildable"],
    ),
]


@pytest.mark.parametrize(("options", "kinds"), WRONG, ids=[text for text, _ in WRONG])
def test_what_goes_wrong(options: str, kinds: list[str]) -> None:
    found = outcome(options)
    assert [one.kind for one in found.faults] == kinds
    for fault in found.faults:
        assert fault.message.endswith(".")
        assert fault.place.source == "a.cntk"


def test_sizes_that_are_not_known_leave_shapes_open() -> None:
    found = outcome(f"layerSizes = $dim$:3:4 ; {CRITERIA}")
    assert found.faults == ()
    assert found.network is not None
    assert found.network.troubles == ()
    assert found.network.nodes["features"].shape is None
    assert found.network.nodes["B0"].shape == (3, 1)


WORDS = ("layerSizes", "rnnType", "=", "2:3:4", "2*3", "LSTM", ";", "{", "[", ":", "x", "-1", '"')


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from((*WORDS, *KINDS)), max_size=12))
def test_options_of_any_kind(words: list[str]) -> None:
    text = " ".join(words)
    configuration = f"train = {{ SimpleNetworkBuilder = [ {CRITERIA} ; {text} ] }}"
    scope = resolve(("a.cntk",), Folder({"a.cntk": configuration})).root.block(b"train")
    found = None if scope is None else scope.look_up(b"SimpleNetworkBuilder")
    if scope is not None and found is not None:
        assert isinstance(evaluate_builder(found, scope).faults, tuple)


def test_options_are_found_further_out() -> None:
    found = outcome(f"{CRITERIA}", "layerSizes = 2:3")
    assert found.network is not None
    assert found.network.nodes["W0"].shape == (3, 2)


def test_a_function_in_another_case_is_meant() -> None:
    found = outcome(f"layerSizes = 2:3:4 ; layerTypes = tanh ; {CRITERIA}")
    assert [one.kind for one in found.faults] == ["unknown-layer"]
    assert found.network is not None
    assert found.network.nodes["H1"].operation == "Tanh"
    assert outcome(f"layerSizes = 2:3:4 ; layerTypes = gelu ; {CRITERIA}").network is None


def test_what_is_not_known_at_all_gives_no_network() -> None:
    assert outcome(f"layerSizes = 2:3 ; rnnType = $kind$ ; {CRITERIA}") == Outcome(None, ())
