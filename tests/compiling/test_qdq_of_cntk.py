"""QDQ exports of CNTK's models: the tensors of their float exports, the simulator's codes in
onnxruntime, and what such a file leaves out.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.bundles import ConvolvedBundle, ReadValues, WindowAxis
from netsharp_compile.exporting.model import quantized_model
from netsharp_compile.exporting.walking import grouped_walk
from netsharp_compile.widths import ACTIVATIONS, LOGITS, REQUANTISATIONS, TRANSFERS, WEIGHTS
from netsharp_engine.exporting.onnx.writing import OnnxWriting
from tests.cli.command_line import netsharp as command
from tests.cntk.training.model_writing import First, dictionary
from tests.cntk.training.random_models import first, second
from tests.compiling.qdq_files import answered, require_the_same_border
from tests.compiling.test_images_of_cntk import ROWS, images, trained
from tests.compiling.test_networks_of_cntk import PRODUCT, Compilable
from tests.conftest import SEED
from tests.peers import needs_runtime

pytestmark = needs_runtime
#: Every width of hidden operands, those that fill no type among them.
WIDTHS = (*ACTIVATIONS, "uint4", "int6", "uint7", "uint10", "symmetric12", "int16/12")


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(160))
@pytest.mark.parametrize("form", ["v1", "v2"])
def test_networks_drawn_by_chance_have_the_codes_of_the_simulator(
    form: str, number: int, tmp_path: Path
) -> None:
    """`to_onnx` refuses a code of a layer that is two away; here few are one away."""
    chance = random.Random(f"cntk {SEED} {number}")
    grown = Compilable(SEED + 2000 + number, form)
    path = tmp_path / "net.dnn"
    path.write_bytes(first(grown) if form == "v1" else dictionary(second(grown)))
    model = netsharp.load(path)
    size = sum(one.size for one in model.graph.inputs)
    rows = np.random.default_rng(SEED + number).normal(size=(60, size))
    settings: dict[str, Any] = {
        "activations": chance.choice(WIDTHS),
        "weights": chance.choice(WEIGHTS),
        "logits": chance.choice(LOGITS),
        "share_tables": chance.random() < 0.5,
        "requant": chance.choice(REQUANTISATIONS),
        "transfer": chance.choice(TRANSFERS),
    }
    try:
        made = netsharp.compile(model, rows, **settings)
    except netsharp.CompileError:
        return  # Which may be said of them is tested elsewhere.
    written = quantized_model(model, made.network)
    require_the_same_border(path, written)
    seen = made.to_onnx([rows.astype(model.settings.dtype)]).agreement
    assert seen is not None
    features, *_ = seen.layers
    assert features.differing == 0
    if settings["transfer"] == TRANSFERS[0] and settings["requant"] != "shift":
        differing = sum(one.differing for one in seen.layers)
        assert differing <= 0.02 * sum(one.codes for one in seen.layers) + 3


@pytest.mark.parametrize("network", ["", "ReLU (convolved {4} (normal (features)))"])
def test_images_come_as_tensors(network: str, tmp_path: Path) -> None:
    """Normalised on their way, by a run's own means and deviations or by a layer of the network."""
    builder = f"""BrainScriptNetworkBuilder = {{
        features = Input {{(6:5:2)}} ; labels = Input {{3}}
        normal = BatchNormalizationLayer {{spatialRank=2, normalizationTimeConstant=50}}
        convolved {{maps}} = ConvolutionalLayer {{maps, (3:3), pad=true, bias=false}}
        normed = PerDimMeanVarNormalization (features, Mean (features), InvStdDev (features))
        last = {network or "Tanh (convolved {3} (normed))"}
        z = LinearLayer {{3}} (last)
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = (features) ; labelNodes = (labels)
        criterionNodes = (ce) ; outputNodes = (z)
    }}"""
    shown = images()
    model = trained(tmp_path, builder, shown)
    made = netsharp.compile(model, shown.reshape(ROWS, -1))
    path = tmp_path / "out" / "net.dnn"
    require_the_same_border(path, quantized_model(model, made.network))
    lines = made.write_onnx(tmp_path / "net.onnx", shown.reshape(ROWS, -1))
    assert lines[:2] == ["inputs: features [batch, 2, 5, 6]", "outputs: z [batch, 3]"]
    (found,) = answered(tmp_path / "net.onnx", {"features": shown.astype(np.float32)}).values()
    ours = made.simulate(shown.reshape(ROWS, -1)).probabilities
    assert ours is not None
    assert found.argmax(axis=1).tolist() == ours.argmax(axis=1).tolist()


def written(folder: Path, outputs: list[str], dtype: str = "float32") -> Path:
    """A model with two inputs and these outputs."""
    chance = np.random.default_rng(SEED)
    stored = First(27, dtype)
    stored.input("x", (4,))
    stored.input("image", (3, 2))
    stored.parameter("V", chance.normal(size=(4, 5)))
    stored.parameter("U", chance.normal(size=(2, 3, 5)))
    stored.add("Times", "v", PRODUCT, "V", "x")
    stored.add("Times", "u", PRODUCT, "U", "image")
    stored.add("Plus", "s", b"", "v", "u")
    stored.add("Tanh", "h", b"", "s")
    stored.parameter("W", chance.normal(size=(5, 3)))
    stored.add("Times", "z", PRODUCT, "W", "h")
    stored.add("Softmax", "p", b"", "z")
    stored.add("LogSoftmax", "l", b"", "z")
    stored.add("Sigmoid", "other", b"", "h")
    stored.parameter("Y", chance.normal(size=(5, 1)))
    stored.add("Times", "one", PRODUCT, "Y", "h")
    path = folder / "net.dnn"
    path.write_bytes(stored.data([("FeatureNodes", ["x", "image"]), ("OutputNodes", outputs)]))
    return path


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("outputs", "left_out"),
    [
        (["z"], []),
        (["p"], []),
        (["z", "p", "l"], []),
        (["p", "other", "z"], ["other"]),
        (["other"], []),
        (["one"], []),
    ],
)
def test_outputs_are_those_that_the_last_layer_answers(
    outputs: list[str], left_out: list[str], dtype: str, tmp_path: Path
) -> None:
    """A softmax of its values is one, before or after which another output may lie."""
    path = written(tmp_path, outputs, dtype)
    model = netsharp.load(path)
    rows = np.random.default_rng(SEED).normal(size=(80, 10))
    made = netsharp.compile(model, {"image": rows[:, 4:].reshape(-1, 2, 3), "x": rows[:, :4]})
    file = quantized_model(model, made.network)
    if not left_out:
        require_the_same_border(path, file)
    lines = made.write_onnx(tmp_path / "net.onnx", rows)
    reported = [line for line in lines if line.startswith("left out: ")]
    assert reported == [
        f"left out: {one}; a network in integers has its answer alone" for one in left_out
    ]
    places = {"x": slice(0, 4), "image": slice(4, 10)}
    assert [one.name for one in model.graph.inputs] == list(places)
    given = {name: rows[:, at].astype(dtype) for name, at in places.items()}
    given["image"] = given["image"].reshape(-1, 2, 3)
    # Arrays by the names of inputs are the same rows.
    np.testing.assert_array_equal(
        made.simulate(given).predicted, made.simulate(rows.astype(dtype)).predicted
    )
    assert made.write_onnx(tmp_path / "net.onnx", given)[:2] == lines[:2]
    with pytest.raises(ValueError, match=r"shape \(80, 5\); rows of 10 numbers are needed"):
        made.simulate(rows[:, :5])
    found = answered(tmp_path / "net.onnx", given)
    assert list(found) == [one for one in outputs if one not in left_out]
    exact = model.predict(given, outputs=list(found)).values
    for name, values in found.items():
        assert values.dtype == dtype
        spread = np.ptp(exact[name])
        assert np.abs(values - exact[name]).max() < 0.05 * spread, name


def test_a_row_that_lacks_a_number_has_no_answer(tmp_path: Path) -> None:
    """As in the simulator of a manifest, and as in floating point."""
    path = written(tmp_path, ["z", "p"])
    model = netsharp.load(path)
    rows = np.random.default_rng(SEED).normal(size=(80, 10))
    netsharp.compile(model, rows).write_onnx(tmp_path / "net.onnx")
    given = {"image": rows[:4, 4:].astype(np.float32).reshape(-1, 2, 3)}
    given["x"] = rows[:4, :4].astype(np.float32)
    given["x"][1, 2], given["image"][2, 0, 0] = np.nan, 1e30
    for values in answered(tmp_path / "net.onnx", given).values():
        assert np.isnan(values).all(axis=1).tolist() == [False, True, False, False]


def test_damaged_settings_beside_a_model_are_a_sentence(tmp_path: Path) -> None:
    """They are read to find the run that trained it."""
    written(tmp_path, ["z"])
    (tmp_path / "netsharp.toml").write_text("nonsense = [")
    answer = command("export", "net.dnn", "--to", "onnx-qdq", cwd=tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert "netsharp.toml: is not valid TOML" in answer.err
    assert "internal error" not in answer.err


def drawn_bundle(chance: random.Random) -> ConvolvedBundle:
    """A convolution of one to four axes, any of them a group, all channels, or walked along."""
    axes, sharing, maps = [], [], []
    for _ in range(chance.randrange(1, 5)):
        kind = chance.choice(["group", "whole", "walked", "walked", "steady"])
        kernel = chance.randrange(1, 4)
        count = chance.randrange(1, 4)
        if kind == "group":
            axis = WindowAxis(count * kernel, kernel, kernel, 0, count)
        elif kind == "whole":
            axis = WindowAxis(kernel, kernel, 1, 0, 1)
        elif kind == "steady":
            axis = WindowAxis(count, 1, 1, 0, count)
        else:
            stride, first = chance.randrange(1, 3), -chance.randrange(kernel)
            covered = first + (count - 1) * stride + kernel
            axis = WindowAxis(max(covered - chance.randrange(2), 1), kernel, stride, first, count)
        axes.append(axis)
        sharing.append(kind != "group" if chance.random() < 0.9 else chance.random() < 0.5)
        maps.append(chance.choice([1, 1, 2, 3]))
    values = int(np.prod([axis.size for axis in axes]))
    return ConvolvedBundle(ReadValues(0, 0, values), tuple(axes), tuple(sharing), tuple(maps))


@pytest.mark.parametrize("number", range(8))
def test_a_conv_adds_what_the_bundle_does(number: int) -> None:
    """Groups, channels and images in whatever order the axes have, by the evaluator of `onnx`."""
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    chance, walked = random.Random(f"walk {SEED} {number}"), 0
    while walked < 12:
        bundle = drawn_bundle(chance)
        walk = grouped_walk(bundle)
        if walk is None:
            continue
        walked += 1
        numbers = np.random.default_rng(chance.randrange(1 << 30))
        values = numbers.integers(-9, 9, (3, bundle.source.size)).astype(np.float64)
        weights = numbers.integers(-9, 9, (bundle.kernels, bundle.taps)).astype(np.float64)
        out = OnnxWriting.begun("float64", 17, {})
        given = walk.image(out, out.fresh("x")), out.numbers(walk.kernels(weights), "w")
        name = walk.nodes(out, out.add("Conv", *given, **walk.attributes))
        kinds = [
            helper.make_tensor_value_info(one, TensorProto.DOUBLE, None) for one in ("x", name)
        ]
        graph = helper.make_graph(
            out.nodes, "one", kinds[:1], kinds[1:], out.tensors(out_names(out))
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        (found,) = ReferenceEvaluator(model).run([name], {"x": values})
        np.testing.assert_array_equal(found, bundle.sums(values, weights))
        # The kernel of each map, whose scale it has.
        assert sorted(walk.order().tolist()) == list(range(bundle.kernels))


def out_names(out: OnnxWriting) -> set[str]:
    return {name for node in out.nodes for name in node.input}


def test_a_shortcut_is_one_group_for_each_channel(tmp_path: Path) -> None:
    """And neither a window for each value nor a kernel for each place."""
    stored = First(27)
    stored.input("x", (4, 4, 3))
    stored.add("RectifiedLinear", "h", b"", "x")
    stored.parameter("half", np.full((3, 1, 1), [[[0.5]], [[0.25]], [[2.0]]]))
    stored.add("ElementTimes", "g", b"", "h", "half")
    stored.add("Tanh", "t", b"", "g")
    stored.parameter("W", np.random.default_rng(SEED).normal(size=(3, 4, 4, 5)))
    stored.add("Times", "z", PRODUCT, "W", "t")
    (tmp_path / "net.dnn").write_bytes(
        stored.data([("FeatureNodes", ["x"]), ("OutputNodes", ["z"])])
    )
    model = netsharp.load(tmp_path / "net.dnn")
    rows = np.random.default_rng(SEED).normal(size=(60, 48))
    made = netsharp.compile(model, rows)
    graph = quantized_model(model, made.network).proto.graph
    convs = [one for one in graph.node if one.op_type == "Conv"]
    groups = [a.i for one in convs for a in one.attribute if a.name == "group"]
    assert groups == [3]
    assert "Gather" not in {one.op_type for one in graph.node}


@pytest.mark.parametrize("name", ["features/codes", "h/sums", "h/codes", "answer/Cast"])
def test_outputs_have_their_names_whatever_codes_are_called(name: str, tmp_path: Path) -> None:
    stored = First(27)
    stored.input("x", (4,))
    stored.parameter("V", np.random.default_rng(SEED).normal(size=(4, 5)))
    stored.add("Times", "v", PRODUCT, "V", "x")
    stored.add("Tanh", "h", b"", "v")
    stored.parameter("W", np.random.default_rng(SEED).normal(size=(5, 3)))
    stored.add("Times", name, PRODUCT, "W", "h")
    stored.add("Softmax", "p", b"", name)
    path = tmp_path / "net.dnn"
    path.write_bytes(stored.data([("FeatureNodes", ["x"]), ("OutputNodes", [name, "p"])]))
    rows = np.random.default_rng(SEED).normal(size=(40, 4))
    model = netsharp.load(path)
    made = netsharp.compile(model, rows)
    require_the_same_border(path, quantized_model(model, made.network))
    # The codes are compared by their names.
    assert (
        made.write_onnx(tmp_path / "net.onnx", rows)[1]
        == f"outputs: {name} [batch, 3], p [batch, 3]"
    )
