"""QDQ exports of compiled networks: the simulator's codes in onnxruntime, and what the file says of
the quantisation.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.compiled import CompiledNetwork, compile_model
from netsharp_compile.exporting.agreement import Agreement
from netsharp_compile.exporting.model import QuantizedModel, quantized_model
from netsharp_compile.exporting.rounding import rounding_offset, scale_of_table, single
from netsharp_compile.operators import chain_of
from netsharp_compile.simulating import answers_of
from netsharp_compile.widths import (
    ACTIVATIONS,
    LOGITS,
    REQUANTISATIONS,
    WEIGHTS,
    CompileSettings,
)
from netsharp_engine.data.stream import RowQuery
from tests.compiling.networks import DEEP, MAPS, ONE, trained
from tests.compiling.test_kinds_of_layers import drawn
from tests.exporting.tables import rows_of_texts
from tests.peers import needs_runtime

pytestmark = [
    pytest.mark.filterwarnings("ignore:On training rows"),
    needs_runtime,
]
#: Kinds and bits of every width, with those that fill no type.
WIDTHS = (*ACTIVATIONS, "uint4", "int6", "uint7", "uint10", "symmetric12", "int16/12")


CNN = (
    "input X [8, 8]; hidden C [8, 6, 6] rlinear from X convolve { InputShape = [8, 8];"
    " KernelShape = [3, 3]; MapCount = 8; } hidden P [8, 3, 3] from C max pool {"
    " InputShape = [8, 6, 6]; KernelShape = [1, 2, 2]; Stride = [1, 2, 2]; }"
    "output Y auto softmax from P all;"
)


def agreement(made: CompiledNetwork, x: np.ndarray) -> Agreement:
    """What onnxruntime makes of a network; `to_onnx` itself refuses codes that are two away."""
    found = made.to_onnx([x.astype(made._model.settings.dtype)]).agreement
    assert found is not None
    return found


def require_near(made: CompiledNetwork, x: np.ndarray) -> None:
    """All codes are at most one away, and few of each layer are: more of many bits, and of sums
    that float32 does not hold.
    """
    features, *layers = agreement(made, x).layers
    assert features.differing == 0
    wide = {
        name
        for one in made.network.layers
        for name in (one.name, f"{one.name}, sums")
        if max(one.target.bits, one.result.bits) >= 12 or one.bound > 2**24
    }
    for one in layers:
        assert one.most <= 1, one
        share = 0.03 if one.name in wide else 0.005
        assert one.differing <= max(3, share * one.codes), one


@pytest.mark.costly
@pytest.mark.drawn
@pytest.mark.parametrize("round_", range(80))
def test_networks_drawn_by_chance_have_the_codes_of_the_simulator(round_: int, seed: int) -> None:
    chance = random.Random(f"qdq {seed} {round_}")
    model, x = drawn(chance, chance.randrange(1, 6))
    settings: dict[str, Any] = {
        "activations": chance.choice(WIDTHS),
        "weights": chance.choice(WEIGHTS),
        "logits": chance.choice(LOGITS),
        "share_tables": chance.random() < 0.5,
        "requant": chance.choice(REQUANTISATIONS),
    }
    made = netsharp.compile(model, x[: chance.choice([2, 200])], **settings)
    require_near(made, x * chance.choice([1, 1, 10]))


@pytest.mark.parametrize("activations", ["uint8", "int8", "symmetric8", "uint10"])
def test_maps_pools_and_several_bundles(activations: str) -> None:
    model, x = trained(MAPS, features=36)
    require_near(netsharp.compile(model, x, activations=activations), x)


@pytest.mark.parametrize(
    "settings",
    [
        {"task": "regression"},
        {"task": "binary", "dtype": "float64"},
        {"normalizer": "binning"},
        {"normalizer": "none", "dtype": "float64"},
    ],
)
def test_answers_are_those_of_the_simulator(settings: dict[str, Any], tmp_path: Path) -> None:
    model, x = trained(ONE.format("tanh", "sigmoid"), **settings)
    made = netsharp.compile(model, x)
    path = tmp_path / "made.onnx"
    assert "0 of" in made.write_onnx(path, x)[-1]
    inputs = {"features": x.astype(model.settings.dtype)}
    label, *shares = answered(path, inputs)
    ours = made.simulate(x)
    if ours.probabilities is None:
        np.testing.assert_allclose(label, ours.predicted, rtol=1e-5)
    else:
        assert list(label) == list(ours.predicted)
        np.testing.assert_allclose(shares[0], ours.probabilities, atol=1e-6)


def answered(path: Path, inputs: dict[str, np.ndarray]) -> list[Any]:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return list(session.run(None, inputs))


def test_a_row_that_lacks_a_number_has_no_answer(tmp_path: Path) -> None:
    """As in the simulator of a manifest."""
    model, x = trained(ONE.format("tanh", "sigmoid"), task="regression")
    made = netsharp.compile(model, x)
    made.write_onnx(tmp_path / "made.onnx")
    rows = x[:4].astype(np.float32)
    rows[1, 2], rows[2, 0] = np.nan, np.inf
    (found,) = answered(tmp_path / "made.onnx", {"features": rows})
    assert np.isnan(found).tolist() == [False, True, False, False]
    rows[2, 0] = 1e30  # What is beyond all codes takes the last one.
    for place in (0, 2, 3):
        (ours,) = made.simulate(rows[[place]]).predicted
        assert found[place] == pytest.approx(ours, rel=1e-5)


@pytest.mark.parametrize("normalizer", ["minmax", "robust", "binning"])
def test_texts_and_gaps_are_encoded_in_the_file(normalizer: str, tmp_path: Path) -> None:
    lines, names = rows_of_texts(np.random.default_rng(7), 120)
    text = "\n".join(",".join(map(str, line)) for line in [names, *lines])
    (tmp_path / "rows.csv").write_text(text + "\n")
    model = netsharp.train(
        "input X auto; hidden H [5] tanh from X all; output Y auto softmax from H all;",
        train=str(tmp_path / "rows.csv"),
        label="label",
        categorical=["colour"],
        missing="mean",
        normalizer=normalizer,
        epochs=3,
    )
    query = RowQuery([str(tmp_path / "rows.csv")], model.read_options())
    (features,) = (part.features for part in model.rows(query))
    made = compile_model(model, lambda: iter([features]), CompileSettings())
    data = made.to_onnx([features]).data
    (tmp_path / "made.onnx").write_bytes(data)
    cells = {
        "size": np.array([[float(str(line[0]))] for line in lines], np.float32),
        "colour": np.array([[line[1]] for line in lines], object),
        "more": np.array([[float(str(line[2] or "nan"))] for line in lines], np.float32),
    }
    label, shares = answered(tmp_path / "made.onnx", cells)
    answers = answers_of(made.network, features.astype(np.float64))
    np.testing.assert_allclose(shares, answers, atol=1e-6)
    assert list(label) == [model.classes[one] for one in answers.argmax(axis=1)]


@pytest.mark.costly
def test_edges_that_no_matrix_is_written_for() -> None:
    text = (
        "input X [2000]; hidden H [1500] tanh from X where (s, d) => s[0] == d[0];"
        " output Y auto softmax from H all;"
    )
    model, x = trained(text, features=2000, epochs=1)
    made = netsharp.compile(model, x)
    kinds = [one.op_type for one in quantized_model(model, made.network).proto.graph.node]
    assert "ScatterElements" in kinds
    require_near(made, x)
    narrow = netsharp.compile(model, x, logits="int8")
    with pytest.raises(netsharp.CompileError, match="'H' has no form in ONNX: its edges need oper"):
        quantized_model(model, narrow.network, 15)


@pytest.mark.costly
@pytest.mark.parametrize("text", [ONE.replace("[5]", "[32]").format("tanh", "softmax"), CNN])
def test_digits_have_the_classes_of_the_simulator(text: str) -> None:
    digits = pytest.importorskip("sklearn.datasets").load_digits()
    x, y = digits.data, digits.target
    made = netsharp.compile(netsharp.train(text, x[:1200], y[:1200], epochs=8, seed=1), x[:400])
    seen = agreement(made, x[1200:])
    assert seen.same == seen.rows == len(x) - 1200
    assert seen.answers.differing <= 0.01 * seen.answers.codes
    require_near(made, x[1200:])


def test_tables_that_training_had_in_its_loop() -> None:
    model, x = trained(DEEP, quantize="uint4")
    require_near(netsharp.compile(model, x), x)


def test_another_implementation_finds_the_same_codes() -> None:
    """That of the package onnx, in numpy: it knows no kernel for bytes."""
    from onnx.reference import ReferenceEvaluator

    model, x = trained(MAPS, features=36)
    made = netsharp.compile(model, x, logits="int8")
    written = quantized_model(model, made.network)
    last = written.layers[-1].values
    proto = type(written.proto)()
    proto.CopyFrom(written.proto)
    proto.graph.output.add().name = last
    (theirs,) = ReferenceEvaluator(proto).run([last], {"features": x[:20].astype(np.float32)})
    codes = made.network.features.of(x[:20].astype(np.float32).astype(np.float64))
    ours = made.network.simulate(codes)[-1]
    assert np.abs(theirs.astype(int) - ours.astype(int)).max() <= 1


def operators(written: QuantizedModel) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """The operator that makes each tensor, and those that read it."""
    makers, readers = {}, {}
    for node in written.proto.graph.node:
        makers.update(dict.fromkeys(node.output, node))
        for name in node.input:
            readers.setdefault(name, []).append(node)
    return makers, readers


def test_operators_stand_between_codes_as_runtimes_look_for_them() -> None:
    """DequantizeLinear on all sides, QuantizeLinear after it or after what clips its numbers:
    kernels for bytes compute such an operator.
    """
    text = (
        "input X [8, 8]; hidden C [4, 8, 8] rlinear from X convolve { InputShape = [8, 8];"
        " KernelShape = [3, 3]; Padding = true; MapCount = 4; }"
        "hidden P [4, 4, 4] from C max pool { InputShape = [4, 8, 8]; KernelShape = [1, 2, 2];"
        " Stride = [1, 2, 2]; } hidden D [6, 3, 3] tanh from P convolve { InputShape = [4, 4, 4];"
        " KernelShape = [4, 2, 2]; MapCount = 6; }"
        "output Y auto softmax from D all;"
    )
    model, x = trained(text, features=64)
    made = netsharp.compile(model, x, logits="int8")
    written = quantized_model(model, made.network)
    assert written.proto.opset_import[0].version == 17
    makers, readers = operators(written)
    seen = [one for one in written.proto.graph.node if one.op_type in ("Conv", "Gemm", "MaxPool")]
    assert [one.op_type for one in seen] == ["Conv", "MaxPool", "Conv", "Gemm"]
    for node in seen:
        assert {makers[name].op_type for name in node.input} == {"DequantizeLinear"}
        (reader,) = readers[node.output[0]]
        assert reader.op_type in ("QuantizeLinear", "Clip")
    names = {one.name for one in written.proto.graph.initializer}
    assert {"C/weights", "C/biases", "D/weights", "Y/weights", "Y/biases"} <= names


def test_weights_and_scales_are_those_of_the_compiled_network() -> None:
    from onnx import numpy_helper

    model, x = trained(ONE.format("tanh", "softmax"))
    made = netsharp.compile(model, x)
    written = quantized_model(model, made.network)
    held = {one.name: numpy_helper.to_array(one) for one in written.proto.graph.initializer}
    makers, _ = operators(written)
    hidden, last = made.network.layers
    np.testing.assert_array_equal(held["H/weights"], hidden.parts[0].weights)
    np.testing.assert_array_equal(held["Y/weights"], last.parts[0].weights)
    gemm = next(one for one in written.proto.graph.node if one.name.startswith("Y/Gemm"))
    each, bias = (makers[name] for name in gemm.input[1:])
    units = np.ldexp(last.multipliers.astype(float), -last.shifts) * last.result.scale
    np.testing.assert_allclose(held[each.input[1]], units / hidden.target.scale, rtol=1e-6)
    np.testing.assert_allclose(held[bias.input[1]], units, rtol=1e-6)
    # The zero point is in the compiler's biases, and in ONNX's codes.
    folded = hidden.target.zero_point * last.parts[0].weights.astype(int).sum(axis=1)
    np.testing.assert_array_equal(held["Y/biases"], last.biases + folded)
    assert held["Y/biases"].dtype == np.int32


@pytest.mark.parametrize("hidden", ["H", "label", "probabilities", "features"])
def test_borders_are_those_of_the_float_export(hidden: str) -> None:
    """Whatever layers are called."""
    from netsharp_engine.exporting.onnx.exported import OnnxForm
    from netsharp_engine.exporting.onnx.trained import exported_model

    text = ONE.format("tanh", "softmax").replace("hidden H", f"hidden {hidden}")
    model, x = trained(text.replace("from H", f"from {hidden}"))
    ours = quantized_model(model, netsharp.compile(model, x).network).proto
    assert [one.name for one in ours.graph.output] == ["label", "probabilities"]
    plain = exported_model(model, OnnxForm())
    assert list(ours.graph.input) == list(plain.graph.input)
    assert list(ours.graph.output) == list(plain.graph.output)
    assert list(ours.metadata_props) == list(plain.metadata_props)


@pytest.mark.parametrize("function", ["sigmoid", "tanh", "sqrt", "srlinear", "abs"])
def test_halves_fall_as_in_the_tables(function: str) -> None:
    """Sigmoid of 0 is half of a code where codes go from 0 to 255."""
    model, x = trained(ONE.format(function, "softmax"))
    made = netsharp.compile(model, x)
    layer, _ = made.network.layers
    assert layer.table is not None
    table = made.network.tables[layer.table]
    scale = np.float32(scale_of_table(layer, table))
    assert abs(float(scale) / layer.target.scale - 1) < 2.0**-22
    codes = layer.result.codes() - layer.result.zero_point
    (operator,) = chain_of(function)
    given = codes.astype(np.float32) * single(np.array(layer.result.scale))
    steps = np.rint(operator.values(given.astype(float)).astype(np.float32) / scale)
    found = np.clip(steps + layer.target.zero_point, layer.target.least, layer.target.most)
    assert (found != table).sum() == 0


def test_sums_are_moved_where_halves_are_met() -> None:
    """Half of the means of four are half way between two codes, whose steps are twice as fine."""
    text = (
        "input X [6, 6]; hidden H [6, 6] tanh from X all; hidden P [3, 3] from H mean pool {"
        " InputShape = [6, 6]; KernelShape = [2, 2]; Stride = [2, 2]; }"
        "output Y auto softmax from P all;"
    )
    model, x = trained(text, features=36)
    made = netsharp.compile(model, x, activations="qmn8", requant="shift")
    _, pool, last = made.network.layers
    assert rounding_offset(pool) == pool.result.scale / 4
    assert rounding_offset(last) == 0
    codes = made.network.features.of(x.astype(np.float32).astype(np.float64))
    hidden = made.network.simulate(codes)[0].astype(int)
    sums = hidden.reshape(-1, 3, 2, 3, 2).sum(axis=(2, 4))
    assert (sums % 2 == 1).mean() > 0.3
    seen = {one.name: one for one in agreement(made, x).layers}
    assert seen["P"].differing == 0


def test_what_onnx_cannot_hold_is_a_sentence(tmp_path: Path) -> None:
    model, x = trained(ONE.format("tanh", "softmax"))
    path = tmp_path / "made.onnx"
    path.write_bytes(b"before")
    made = netsharp.compile(model, x)
    with pytest.raises(netsharp.CompileError, match="operator set 21 or later, and 18 was asked"):
        made.write_onnx(path, opset=18)
    with pytest.raises(netsharp.CompileError, match="operator set 9 is not written: 13 to 22"):
        made.write_onnx(path, opset=9)
    assert path.read_bytes() == b"before"
    assert netsharp.compile(model, x, logits="int8").write_onnx(path, opset=13)
    assert path.read_bytes() != b"before"


@pytest.mark.parametrize("function", ["sigmoid", "tanh", "sqrt", "srlinear", "abs", "square"])
def test_formulas_in_fixed_point_are_their_operators(function: str) -> None:
    """From which they are one code away at most."""
    model, x = trained(ONE.format(function, "softmax"))
    seen = agreement(netsharp.compile(model, x, transfer="arith"), x)
    assert [one.name for one in seen.layers] == ["features", "H, sums", "H", "Y"]
    assert all(one.most <= 1 for one in seen.layers)
    assert seen.layers[1].differing == 0


def test_scales_are_refused_that_float32_does_not_hold() -> None:
    for scale in (1e-40, 1e39):
        with pytest.raises(ValueError, match="those of ONNX are float32"):
            single(np.array([1.0, scale]))


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_sums_beyond_what_an_operator_moves_for_warn_of_nothing() -> None:
    """Sigmoid of -1e5 has a power in it that no number is."""
    model, x = trained(ONE.format("rlinear", "sigmoid"))
    for name, values in model.tensors.items():
        np.copyto(model.tensors[name], 1e4 * values)
    require_near(netsharp.compile(model, x), x)


def test_codes_that_are_further_away_are_not_written(tmp_path: Path) -> None:
    """Here with a table that belongs to no operator."""
    model, x = trained(ONE.format("tanh", "softmax"))
    made = netsharp.compile(model, x)
    table = made.network.tables[0].copy()
    table[:] = table[::-1]
    made.network = replace(made.network, tables=(table,))
    with pytest.raises(netsharp.CompileError, match="codes of H differ from the simulator's, by"):
        made.write_onnx(tmp_path / "made.onnx", x)
    assert not list(tmp_path.iterdir())
