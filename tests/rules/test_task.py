"""Features, hidden nodes, outputs, task and host, beyond the examples on the rules' pages."""

from __future__ import annotations

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.reading.parser import parse
from tests.rules.verdicts import check_network, codes, diagnostics, fixed, one, pointed

AUTO = "input I auto; hidden H auto sigmoid from I all; output O auto sigmoid from H all;"
SIZED = "input I [4]; hidden H [3] tanh from I all; output O [{}] {} from H all;"


def test_auto_without_context_is_unknown_and_sets_off_nothing() -> None:
    assert codes(AUTO) == []
    assert [layer.shape for layer in check_network(AUTO).all_layers] == [None, None, None]


@pytest.mark.parametrize(
    ("context", "shapes"),
    [
        ({"features": 9, "hidden_nodes": 100, "outputs": 3}, [(9,), (100,), (3,)]),
        ({"features": 9}, [(9,), None, None]),
        ({"task": "regression"}, [None, None, (1,)]),
        ({"task": "binary"}, [None, None, (2,)]),
        ({"task": "binary", "host": "studio"}, [None, (100,), (2,)]),
        ({"task": "binary", "host": "tlc"}, [None, (100,), (2,)]),
        ({"task": "binary", "host": "rx"}, [None, (100,), (1,)]),
        ({"task": "multiclass"}, [None, None, None]),
        ({"task": "multiclass", "outputs": 10}, [None, None, (10,)]),
    ],
)
def test_auto_in_context(context: dict[str, object], shapes: list[object]) -> None:
    network = check_network(AUTO, **context)
    assert [layer.shape for layer in network.all_layers] == shapes
    assert codes(AUTO, severe=True, **context) in ([], ["NS089"])


def test_one_auto_input_takes_what_the_others_leave() -> None:
    text = "input A [3]; input B auto; input C [2]; output O [2] softmax { from A all; from B all;"
    text += " from C all; }"
    assert check_network(text, features=9).layers["B"].shape == (4,)
    assert codes(text, severe=True, features=9) == []
    found = one(text, "NS081", features=5)
    assert found.message == "The data has 5 features; the sized input layers already take 5."
    assert text[found.start : found.end] == "auto"


def test_features_of_several_inputs() -> None:
    text = "input A [3]; input B [2]; output O [2] softmax { from A all; from B all; }"
    assert codes(text, severe=True, features=5) == []
    found = one(text, "NS081", features=6)
    assert found.message == "The data has 6 features; the input layers take 5."
    assert [text[r.start : r.end] for r in found.related] == ["[3]", "[2]"]


def test_where_a_number_comes_from_is_reported() -> None:
    origin = {"features": "--features", "outputs": "digits.toml"}
    text = SIZED.format(2, "softmax")
    found = diagnostics(text, features=5, outputs=3, origin=origin)
    assert [d.message for d in found if d.severity == "error"] == [
        "The data has 5 features (--features); the input layer takes 4.",
        "The task needs 3 outputs (digits.toml); layer 'O' has 2.",
    ]


def test_size_of_a_broken_input_is_not_compared() -> None:
    assert codes("input I [N]; output O [2] softmax from I all;", features=5) == ["NS030"]


def test_shape_that_a_bundle_relies_on_is_not_made_auto() -> None:
    text = """input I [2, 2]; hidden H [2, 2] tanh from I convolve {
      InputShape = [2, 2]; KernelShape = [1, 1]; } output O [2] softmax from H all;"""
    assert one(text, "NS081", features=5).fix is None


@pytest.mark.parametrize(
    ("nodes", "context", "sound"),
    [
        (1, {"task": "binary"}, True),
        (2, {"task": "binary"}, True),
        (2, {"task": "binary", "host": "rx"}, True),
        (1, {"task": "binary", "outputs": 2}, True),
        (3, {"task": "binary"}, False),
        (1, {"task": "regression"}, True),
        (2, {"task": "regression"}, False),
        (10, {"task": "multiclass"}, True),
        (10, {"task": "multiclass", "outputs": 10}, True),
        (9, {"task": "multiclass", "outputs": 10}, False),
        (9, {"outputs": 10}, False),
        (9, {}, True),
    ],
)
def test_outputs_of_a_task(nodes: int, context: dict[str, object], sound: bool) -> None:
    text = SIZED.format(nodes, "linear" if context.get("task") == "regression" else "sigmoid")
    found = codes(text, **context)
    assert ("NS083" not in found) == sound
    if not sound:
        assert "NS083" not in codes(fixed(text, **context), **context)


def test_three_auto_inputs_are_two_faults() -> None:
    text = "input { A auto; B auto; C auto; } output O [2] softmax "
    text += "{ from A all; from B all; from C all; }"
    assert codes(text, features=5) == ["NS084", "NS084"]


@pytest.mark.parametrize(
    ("activation", "nodes", "context", "severity", "better"),
    [
        # Without a task only what suits none.
        ("softmax", 1, {}, "warning", "sigmoid"),
        ("sigmoid", 10, {}, "hint", "softmax"),
        ("sigmoid", 2, {}, None, ""),
        ("linear", 1, {}, None, ""),
        ("tanh", 10, {}, None, ""),
        ("softmax", 10, {}, None, ""),
        # Classes.
        ("softmax", 1, {"task": "binary"}, "warning", "sigmoid"),
        ("sigmoid", 1, {"task": "binary"}, None, ""),
        ("sigmoid", 2, {"task": "binary"}, None, ""),
        ("softmax", 2, {"task": "binary"}, None, ""),
        ("linear", 1, {"task": "binary"}, "warning", "sigmoid"),
        ("linear", 10, {"task": "multiclass"}, "warning", "softmax"),
        ("tanh", 10, {"task": "multiclass"}, "warning", "softmax"),
        ("rlinear", 10, {"task": "multiclass"}, "warning", "softmax"),
        ("sigmoid", 10, {"task": "multiclass"}, "hint", "softmax"),
        ("", 10, {"task": "multiclass"}, "hint", "softmax"),
        ("", 2, {"task": "binary"}, None, ""),
        ("", 10, {}, None, ""),
        # Regression.
        ("softmax", 1, {"task": "regression"}, "warning", "linear"),
        ("sigmoid", 1, {"task": "regression"}, "warning", "linear"),
        ("tanh", 1, {"task": "regression"}, "warning", "linear"),
        ("brlinear", 1, {"task": "regression"}, "warning", "linear"),
        ("rlinear", 1, {"task": "regression"}, None, ""),
        ("linear", 1, {"task": "regression"}, None, ""),
        ("", 1, {"task": "regression"}, None, ""),
    ],
)
def test_activation_of_the_output(
    activation: str, nodes: int, context: dict[str, object], severity: str | None, better: str
) -> None:
    text = SIZED.format(nodes, activation)
    found = [d for d in diagnostics(text, **context) if d.code == "NS089"]
    assert [d.severity for d in found] == ([severity] if severity else [])
    if severity:
        assert f"[{nodes}] {better} " in fixed(text, **context)


def test_unknown_activation_is_not_checked() -> None:
    text = SIZED.format(10, "softmx")
    assert codes(text, task="regression", severe=True) == ["NS083", "NS017"]


def test_missing_activation_is_reported_once_and_written_down() -> None:
    text = "input I [4]; hidden H [3] from I all; hidden G [3] from H all; "
    text += "output O [1] from G all;"
    assert codes(text) == ["NS124"]
    unknown = one(text, "NS124").fix
    assert unknown is not None
    assert not unknown.safe
    for task, name in (("regression", "linear"), ("binary", "sigmoid")):
        found = one(text, "NS124", task=task).fix
        assert found is not None
        assert found.safe
        assert f"output O [1] {name} from G all;" in fixed(text, task=task)


@pytest.mark.parametrize("activation", ["rlinear", "square", "sqrt", "srlinear", "abs"])
def test_regression_that_is_never_negative(activation: str) -> None:
    text = SIZED.format(1, activation)
    assert pointed(text, "NS125", task="regression") == [activation]
    assert pointed(text, "NS125") == []


@pytest.mark.parametrize(("host", "count"), [("studio", 3), ("rx", 0), ("tlc", 0), (None, 0)])
def test_initial_values_by_host(host: str | None, count: int) -> None:
    text = """const W = [1, 2]; input I [2];
    hidden H [1] tanh { Biases = [0]; from I all { Weights = W; } }
    output O [2] softmax from H all { Weights = W; }"""
    assert codes(text, host=host).count("NS114") == count


@pytest.mark.parametrize(
    ("context", "reported"),
    [
        ({"task": "binary"}, True),
        ({"task": "binary", "host": "rx"}, False),
        ({"task": "binary", "outputs": 1}, False),
        ({"task": "multiclass"}, False),
        ({}, False),
    ],
)
def test_two_class_auto_output(context: dict[str, object], reported: bool) -> None:
    assert ("NS115" in codes(AUTO, **context)) == reported
    assert "NS115" not in codes(SIZED.format(2, "sigmoid"), **context)


def test_a_named_host_gives_hidden_layers_their_size() -> None:
    text = b"input A [3]; hidden H auto tanh from A all; output B [2] softmax from H all;"
    for known, nodes in (({}, None), ({"host": "studio"}, 100), ({"host": "rx"}, 100)):
        (_, hidden, _) = resolve(parse(text), Context(**known)).all_layers
        assert hidden.nodes == nodes
    both = Context(host="tlc", hidden_nodes=7)
    assert resolve(parse(text), both).layers["H"].nodes == 7
