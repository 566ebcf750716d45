"""What does not fit in a network is said at its node, once, with both shapes."""

from __future__ import annotations

import pytest

from tests.cntk.brainscript.building import network, outcome

MISFITS = (
    ("Times", "Parameter {3, 4} * v", "[3 x 4], 'v' is [6]"),
    ("Plus", "v + Input (5)", "'v' is [6]"),
    ("Clip", "Clip (v, Input (5), 1)", "do not match"),
    ("CrossEntropyWithSoftmax", "CrossEntropyWithSoftmax (v, Input (5))", "do not match"),
    ("SquareError", "SquareError (v, ParameterTensor {6})", "dynamic axis"),
    ("Slice", "Slice (0, 9, v)", "the range 0 to 9"),
    ("Slice", "Slice (0, 1, v, axis=2)", "no axis 2"),
    ("ReduceElements", "ReduceSum (v, axis=2)", "no axis 2"),
    ("Reshape", "NewReshape (v, (4:0:0))", "one dimension"),
    ("Reshape", "NewReshape (v, 5)", "6 elements"),
    ("RowStack", "RowStack (v : Input (2:3) : Input (2:4))", "do not match"),
    ("TransposeDimensions", "TransposeDimensions (v, 0, 1)", "from 1"),
    ("TransposeDimensions", "TransposeDimensions (v, 2, 3)", "neither"),
    ("Convolution", "ConvolutionalLayer {4, (9:9)} (image)", "does not fit into [8 x 8 x 3]"),
    ("Convolution", "Convolution (Parameter {4, 5}, image, (3:3), mapDims=4)", "[4 x 5]"),
    ("Pooling", "Pooling (image, 'max', (9:9), autoPadding=false)", "does not fit"),
    ("Pooling", "Pooling (image, 'max', (2:2), imageLayout='HWC')", "CHW"),
    ("MaxPooling", "MaxPooling (v, 2, 2, 2, 2)", "width, height"),
    ("MaxPooling", "MaxPooling (image, 9, 2, 2, 2)", "9 x 2"),
    (
        "BatchNormalization",
        "BatchNormalization (v, p, p, p, ParameterTensor {1}, false)",
        "one shape",
    ),
    ("PastValue", "PastValue (0, p)", "dynamic axis"),
    ("PastValue", "PastValue (0, v, initialState=v)", "initial state"),
    ("Where", "Where (v)", "one number per step"),
    ("RandomSample", "CNTK2.GetRandomSample (Parameter {3, 1}, 3, false)", "3 different classes"),
    (
        "OptimizedRNNStack",
        "OptimizedRNNStack (ParameterTensor {(0:0)}, image, 4)",
        "recurrent stack",
    ),
    ("ReconcileDynamicAxis", "ReconcileDynamicAxis (v, p)", "dynamic axis"),
    ("Exp", "Exp (DynamicAxis ())", "cannot be an input of a node"),
    ("TransposeTimes", "TransposeTimes (ParameterTensor {(2:3:4)}, v)", "matrix"),
    ("InputValue", "Input (3, dynamicAxis='nowhere')", "no dynamic axis"),
    (
        "DummyCriterion",
        "new ComputationNode { operation='DummyCriterion' ; inputs=p:v:v ; tag='' }",
        "inputs",
    ),
)


@pytest.mark.parametrize(("operation", "text", "message"), MISFITS)
def test_misfit(operation: str, text: str, message: str) -> None:
    prelude = "v = Input (6) image = ImageInput (8, 8, 3) p = ParameterTensor {6}"
    found = outcome(f"{{ {prelude} n = {text} further = n + 1 ; beside = v + p }}")
    assert found.faults == ()
    assert found.network is not None
    assert len(found.network.troubles) == 1
    trouble = found.network.troubles[0]
    assert trouble.node.operation == operation
    assert message in trouble.message
    assert found.network.nodes["beside"].shape == (6,)
    assert found.network.nodes["further"].shape is None or operation == "InputValue"


def test_one_member_that_fails_leaves_the_others() -> None:
    found = outcome("{ a = Input (3) b = nowhere c = a + 1 d = nothing outputNodes = b : c }")
    assert found.network is not None
    assert sorted(found.network.nodes) == ["_c", "a", "c"]
    assert [one.message for one in found.faults] == [
        "'nowhere' is not defined.",
        "'nothing' is not defined.",
    ]


def test_groups_and_tags() -> None:
    # `evalNodes` is not a special member: it only gives the node another name.
    found = network(
        "{ x = Input (3) y = Input (3, tag='label') e = SquareError (x, y, tag='criteria')"
        " o = Pass (x, tag='eval') outputNodes = (x : (o : e)) evalNodes = e }"
    )
    groups = {group: [one.name for one in nodes] for group, nodes in found.groups.items()}
    assert groups == {
        "feature": ["x"],
        "label": ["y"],
        "criterion": ["evalNodes"],
        "evaluation": ["o"],
        "output": ["x", "o", "evalNodes"],
    }


def test_a_parameter_that_nothing_uses_has_no_size() -> None:
    found = outcome("{ p = ParameterTensor {(0:3)} }").network
    assert found is not None
    assert "no size" in found.troubles[0].message


def test_special_members_hold_nodes() -> None:
    found = outcome("{ x = Input (3) outputNodes = (x : 3) }")
    assert [one.kind for one in found.faults] == ["kind"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "builder"),
        ("a = Input (3)", "builder"),
        ("(3)", "kind"),
        ("({ network = { a = 1 } }.network)", "kind"),
        ("({ a = 1 }.network)", "unknown-member"),
    ],
)
def test_values_that_are_no_network(text: str, kind: str) -> None:
    found = outcome(text)
    assert found.network is None
    assert [one.kind for one in found.faults] == [kind]


def test_axes_are_kept_apart() -> None:
    found = network(
        "{ t = DynamicAxis () x = Input (3, dynamicAxis=t) y = Input (3) z = Pass (x) }"
    )
    axes = {name: node.axis for name, node in found.nodes.items()}
    assert axes["x"] is axes["z"] is axes["t"] is not axes["y"]
    assert axes["y"] is not None
    assert axes["y"].name == "*"


def test_delays_make_loops_and_nothing_else_may() -> None:
    good = network("{ x = Input (3) h = Sigmoid (x + PastValue (3, h)) }")
    assert len(good.loops) == 1
    assert {one.operation for one in good.loops[0]} == {"Sigmoid", "Plus", "PastValue"}
    bad = outcome("{ x = Input (3) h = Sigmoid (x + h) }")
    assert [one.kind for one in bad.faults] == ["circular"]


def test_bad_input_never_fails_outside() -> None:
    for text in (
        "{",
        "[",
        "(",
        "({a",
        "{ x = Input (",
        "{ a = $b$ }",
        "\x00",
        "{ x = ['\u20ac'] }",
        "new",
    ):
        assert outcome(text) is not None
