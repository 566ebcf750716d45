"""Every native type of node builds, takes the number of inputs that it says, and has its shape."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.library import documentation
from netsharp_lsp.cntk.networks.node_types import ALIASES, ANY, NODE_TYPES
from netsharp_lsp.cntk.networks.rules.unknown import leave_open
from tests.cntk.brainscript.building import network, outcome

#: What the nodes below are made of: vectors, an image, a scalar sequence, a matrix.
PRELUDE = """
v = Input (6)  w = Input (6)  u = Input (4)  s = Input (1)  s2 = Input (1)
image = ImageInput (12, 10, 3)
old = ImageInput (12, 10, 3, imageLayout='HWC')
p = ParameterTensor {6}
m = ParameterTensor {(5:6)}
square = ParameterTensor {(4:4)}
flags = BS.Loop.IsFirst (v)
where = Where (flags)
index = PackedIndex (v, where)
picked = GatherPacked (index, v)
"""


def native(operation: str, inputs: str, more: str = "") -> str:
    """A node that no function of the library builds."""
    return f"new ComputationNode {{ operation='{operation}' ; inputs={inputs} ; tag='' {more} }}"


#: Type, what builds it, its shape, whether it runs along a dynamic axis.
SHAPES: tuple[tuple[str, str, tuple[int, ...], bool], ...] = (
    ("LearnableParameter", "Parameter {3, 4}", (3, 4), False),
    ("InputValue", "Input (2:3)", (2, 3), True),
    ("SparseInputValue", "SparseInput (9)", (9,), True),
    ("DynamicAxis", "DynamicAxis ()", (), True),
    ("EnvironmentInput", "EnvironmentInput ('step')", (1,), False),
    ("Abs", "Abs (v)", (6,), True),
    ("Cosine", "Cosine (v)", (6,), True),
    ("Acos", "Acos (v)", (6,), True),
    ("Asin", "Asin (v)", (6,), True),
    ("Asinh", "Asinh (v)", (6,), True),
    ("Atanh", "Atanh (v)", (6,), True),
    ("Cosh", "Cosh (image)", (12, 10, 3), True),
    ("Sinh", "Sinh (v)", (6,), True),
    ("StopGradient", "StopGradient (v)", (6,), True),
    ("StraightThrough", "StraightThrough (v)", (6,), True),
    ("Cast", "Cast (v, precision='float16')", (6,), True),
    ("Exp", "Exp (image)", (12, 10, 3), True),
    ("Floor", "Floor (p)", (6,), False),
    ("Log", "Log (v)", (6,), True),
    ("Negate", "-v", (6,), True),
    ("Pass", "Pass (v)", (6,), True),
    ("Reciprocal", "1 / v", (6,), True),
    ("RectifiedLinear", "ReLU (v)", (6,), True),
    ("Sigmoid", "Sigmoid (v)", (6,), True),
    ("Sin", "Sin (v)", (6,), True),
    ("Sqrt", "Sqrt (v)", (6,), True),
    ("Tanh", "Tanh (v)", (6,), True),
    ("Softmax", "Softmax (v)", (6,), True),
    ("LogSoftmax", "LogSoftmax (v)", (6,), True),
    ("Hardmax", "Hardmax (v)", (6,), True),
    ("Dropout", "Dropout (v)", (6,), True),
    ("Trace", "Trace (v, say='v')", (6,), True),
    ("Plus", "v + 1", (6,), True),
    ("Minus", "image - ParameterTensor {(1:1:3)}", (12, 10, 3), True),
    ("ElementTimes", "v .* p", (6,), True),
    ("LogPlus", "LogPlus (v, w)", (6,), True),
    ("Less", "v < w", (6,), True),
    ("Equal", "v == w", (6,), True),
    ("Greater", "v > 0", (6,), True),
    ("GreaterEqual", "v >= w", (6,), True),
    ("NotEqual", "v != w", (6,), True),
    ("LessEqual", "v <= w", (6,), True),
    ("If", "if s then v else w", (6,), True),
    ("Clip", "Clip (0, 1, v)", (6, 1), True),
    (
        "PerDimMeanVarNormalization",
        native("PerDimMeanVarNormalization", "v : Mean (v) : InvStdDev (v)"),
        (6,),
        True,
    ),
    (
        "PerDimMeanVarDeNormalization",
        "PerDimMeanVarDeNormalization (v, Mean (v), InvStdDev (v))",
        (6,),
        True,
    ),
    ("Times", "Times (ParameterTensor {(2:3:0:0:0)}, image, outputRank=2)", (2, 3), True),
    ("QuantizedTimes", "QuantizedTimes (ParameterTensor {(7:6)}, v)", (7,), True),
    ("TransposeTimes", "TransposeTimes (ParameterTensor {(6:7)}, v)", (7,), True),
    ("DiagTimes", "DiagTimes (p, v)", (6,), True),
    ("KhatriRaoProduct", "KhatriRaoProduct (v, u)", (24,), True),
    ("Reshape", "NewReshape (image, (0:2), beginAxis=2, endAxis=4)", (12, 15, 2), True),
    ("LegacyReshape", "Reshape (v, 6)", (6,), True),
    ("ReduceElements", "ReduceSum (image, axis=2)", (12, 1, 3), True),
    ("Slice", "Slice (1, -1, image, axis=2)", (12, 8, 3), True),
    ("RowStack", "RowStack (v : u : p)", (16,), True),
    ("RowRepeat", "RowRepeat (image, 2)", (12, 10, 6), True),
    ("TransposeDimensions", "TransposeDimensions (v, 1, 3)", (1, 1, 6), True),
    (
        "Convolution",
        "Convolution (ParameterTensor {(3:3:0:8)}, image, (3:3), mapDims=8, stride=2)",
        (6, 5, 8),
        True,
    ),
    ("Pooling", "Pooling (image, 'max', (3:3), stride=2, autoPadding=false)", (5, 4, 3), True),
    (
        "MaxUnpooling",
        "MaxUnpooling (image, image, (2:2), stride=2, autoPadding=false)",
        (24, 20, 3),
        True,
    ),
    ("MaxPooling", "MaxPooling (image, 3, 2, 3, 2)", (4, 5, 3), True),
    ("AveragePooling", "AveragePooling (old, 3, 2, 3, 2, imageLayout='HWC')", (3, 4, 5), True),
    ("ROIPooling", "ROIPooling (image, Input (4:7), (3:2))", (3, 2, 3, 7), True),
    ("BatchNormalization", "BatchNormalizationLayer {spatialRank=2} (image)", (12, 10, 3), True),
    (
        "OptimizedRNNStack",
        "OptimizedRNNStack (ParameterTensor {(0:0)}, v, 5, numLayers=2, bidirectional=true)",
        (10,),
        True,
    ),
    ("PastValue", "PastValue (0, v)", (6,), True),
    ("FutureValue", "FutureValue (6, v, timeStep=2, initialState=p)", (6,), True),
    ("Where", "Where (s)", (1,), True),
    ("PackedIndex", "PackedIndex (v, Where (s))", (1,), True),
    ("GatherPacked", "GatherPacked (index, image)", (12, 10, 3), True),
    ("ScatterPacked", "ScatterPacked (flags, index, picked)", (6,), True),
    ("ReconcileDynamicAxis", "ReconcileDynamicAxis (v, where)", (6,), True),
    ("SumColumnElements", "SumColumnElements (v)", (1,), True),
    ("Mean", "Mean (image)", (12, 10, 3), False),
    ("InvStdDev", "InvStdDev (v)", (6,), False),
    ("SumElements", "SumElements (v)", (1,), False),
    ("MatrixL1Reg", "MatrixL1Reg (m)", (1,), False),
    ("MatrixL2Reg", "MatrixL2Reg (m)", (1,), False),
    ("SquareError", "SquareError (v, w)", (1,), False),
    ("CrossEntropy", "CrossEntropy (v, w)", (1,), False),
    ("CrossEntropyWithSoftmax", "CrossEntropyWithSoftmax (v, w)", (1,), False),
    ("ClassificationError", "ClassificationError (v, w, topN=5)", (1,), False),
    ("Logistic", "WeightedLogistic (s, s2, s)", (1,), False),
    ("NDCG1Eval", "NDCG1Eval (s, s2, s)", (1,), False),
    ("LambdaRank", "LambdaRank (s, s2, s)", (1,), False),
    ("EditDistanceError", "EditDistanceError (v, w, squashInputs=true)", (1,), False),
    ("LabelsToGraph", "LabelsToGraph (v)", (6,), True),
    ("ForwardBackward", "ForwardBackward (LabelsToGraph (v), w, 5)", (1,), False),
    (
        "LatticeSequenceWithSoftmax",
        "LatticeSequenceWithSoftmax (v, w, v, s, 'a', 'b', 'c', 'd')",
        (1,),
        False,
    ),
    (
        "ClassBasedCrossEntropyWithSoftmax",
        "ClassBasedCrossEntropyWithSoftmax (u, v, ParameterTensor {(6:50)}, LinearLayer {9} (v))",
        (1,),
        False,
    ),
    ("CosDistance", "CosDistance (v, w)", (1,), True),
    (
        "CosDistanceWithNegativeSamples",
        "CosDistanceWithNegativeSamples (v, w, Constant (1), Constant (4))",
        (5,),
        True,
    ),
    ("RandomSample", "CNTK2.GetRandomSample (m, 3, true)", (5, 3), False),
    ("RandomSampleInclusionFrequency", "CNTK2.GetInclusionFrequency (m, 3, false)", (5, 1), False),
)


#: Types whose pages show an expression and its shape.
SHOWN = sorted(
    name for name in NODE_TYPES if (found := documentation.of_node(name)) and found.example[0]
)


def test_every_type_has_a_row_above_or_an_example_on_its_page() -> None:
    rows = [row[0] for row in SHAPES]
    assert len(rows) == len(set(rows))
    assert {*rows, *SHOWN} == set(NODE_TYPES)
    # The types of CNTK 2.7 and before, all of which are here.
    assert len(NODE_TYPES) >= 102


@pytest.mark.parametrize("operation", SHOWN)
def test_the_example_of_a_page_has_its_shape(operation: str) -> None:
    found = documentation.of_node(operation)
    assert found is not None
    text, shape = found.example
    node = network(f"{{ n = {text} }}").nodes["n"]
    assert node.operation == operation
    assert node.shape is not None
    dimensions = [*map(str, node.shape), *(["*"] if node.axis is not None else [])]
    assert f"[{' x '.join(dimensions)}]" == shape
    assert f"`{shape}`: `{text}`" in found.markdown


@pytest.mark.parametrize(
    ("operation", "text", "shape", "along"), SHAPES, ids=lambda one: str(one)[:30]
)
def test_shape(operation: str, text: str, shape: tuple[int, ...], along: bool) -> None:
    node = network(f"{{ {PRELUDE} n = {text} }}").nodes["n"]
    assert node.operation == operation
    assert node.shape == shape
    assert (node.axis is not None) == along
    # The same, or nothing, where its inputs are not known.
    if node.inputs:
        leave_open(node)
        assert node.shape in (None, shape)
        assert (node.axis is not None) == along


def test_a_criterion_is_one_number_whatever_it_compares() -> None:
    found = outcome(
        """{ e = ParameterTensor {(0:3), initFromFilePath='gone'} ; x = Input (3) ; y = Input (3)
        ce = CrossEntropyWithSoftmax (y, Sigmoid (e * x)) ; m = Mean (e * x) }"""
    )
    assert found.network is not None
    nodes = found.network.nodes
    assert nodes["ce"].inputs[1].shape is None
    assert (nodes["ce"].shape, nodes["ce"].axis) == ((1,), None)
    assert (nodes["m"].shape, nodes["m"].axis) == (None, None)


@pytest.mark.parametrize("operation", sorted(set(NODE_TYPES) - {"RowStack"}))
def test_too_many_inputs(operation: str) -> None:
    node_type = NODE_TYPES[operation]
    assert node_type.most < ANY
    inputs = " ; ".join(["Input (1)"] * (node_type.most + 1))
    attributes = LEAF | {name: EXAMPLES[kind] for name, kind in node_type.attributes.items()}
    members = "".join(f" ; {name} = {text}" for name, text in attributes.items())
    text = native(operation, f"[|{inputs}|]", members)
    found = outcome(f"{{ n = {text} }}")
    assert [one.kind for one in found.faults] == ["inputs"]
    given = node_type.most + 1
    assert f"{given} {'is' if given == 1 else 'are'} given" in found.faults[0].message


EXAMPLES = {
    "shape": "new TensorShape { dims = 1 }",
    "truths": "new BoolVector { items = true }",
    "whole": "1",
    "whole?": "1",
    "shape?": "new TensorShape { dims = 1 }",
    "truth?": "true",
    "real?": "0",
    "real": "0",
    "text": "'CHW'",
    "truth": "true",
}
#: What leaves need to be built.
LEAF = {
    "isImage": "false",
    "init": "'zero'",
    "initValue": "''",
    "initFromFilePath": "''",
    "shape": "new TensorShape { dims = 1 }",
}


@pytest.mark.parametrize(("old", "new"), sorted(ALIASES.items()))
def test_older_names(old: str, new: str) -> None:
    more = (
        "; outputRank=1; bidirectional=false; numLayers=1; hiddenDims=3; recurrentOp='lstm'; axis=1"
    )
    more += "; beginIndex=0; endIndex=1; axis1=1; axis2=2; defaultHiddenActivation=0; timeStep=1"
    more += "; shape = new TensorShape { dims = 0 }"
    more = more.replace("axis=1", "axis=-1", 1) if new == "OptimizedRNNStack" else more
    count = NODE_TYPES[new].fewest
    inputs = {
        "OptimizedRNNStack": "ParameterTensor {(0:0)} : v",
        "PerDimMeanVarNormalization": "v : Mean (v) : InvStdDev (v)",
        "PerDimMeanVarDeNormalization": "v : Mean (v) : InvStdDev (v)",
    }.get(new, " : ".join(["v", "w", "v"][:count]))
    node = network(f"{{ {PRELUDE} n = {native(old, inputs, more)} }}").nodes["n"]
    assert node.operation == new
