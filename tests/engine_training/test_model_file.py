"""Model files: every bit comes back; what is damaged, foreign or newer is refused in a sentence."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import stat
import struct
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from netsharp_engine.graph import GraphError
from netsharp_engine.model import ModelError, load_model, save_model
from netsharp_engine.model.trained import summary
from netsharp_engine.train import prepare, read_settings, resume, train
from tests.engine_training.small_networks import build, layered
from tests.engine_training.tables import blobs, line

NET = "8,4|sigmoid|softmax|3"


def trained(table=None, net=NET, **flags):
    settings = read_settings({}, {"epochs": 3, "batch_size": 16, "optimizer": "adam", **flags})
    data = prepare(table or blobs(), settings)
    return train(build(net, data.context()), data, settings, specification=net).model


@pytest.fixture(scope="module")
def model():
    return trained()


@pytest.fixture
def path(model, tmp_path):
    found = tmp_path / "m.safetensors"
    save_model(model, str(found))
    return found


@pytest.mark.parametrize("flags", [{}, {"dtype": "float64"}, {"normalizer": "binning"}])
def test_a_round_trip_keeps_every_bit(tmp_path, flags):
    model = trained(**flags)
    path = str(tmp_path / "m.safetensors")
    save_model(model, path)
    again = load_model(path, build)
    assert again.specification == NET
    assert again.settings == model.settings
    assert again.encoding == model.encoding
    assert again.classes == ("blue", "green", "red")
    assert again.context == model.context
    assert again.answer == model.answer
    assert again.history == model.history
    for name, values in model.tensors.items():
        assert values.dtype == again.tensors[name].dtype
        np.testing.assert_array_equal(values, again.tensors[name])
    table = blobs(seed=9)
    np.testing.assert_array_equal(model.compute(table.numbers), again.compute(table.numbers))


def test_names_and_metadata_follow_the_contract(path):
    tensors = load_file(path)
    weights = {name for name in tensors if not name.startswith("state/")}
    assert weights == {
        "H1/In/weights",
        "H1/biases",
        "H2/H1/weights",
        "H2/biases",
        "Out/H2/weights",
        "Out/biases",
    }
    vectors = {name.split("/")[1] for name in tensors if name.startswith("state/")}
    assert vectors == {"first_moment", "second_moment"}
    assert tensors["H1/In/weights"].shape == (8, 3)
    assert tensors["H1/In/weights"].dtype == np.float32
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    assert metadata["version"] == "3"
    assert json.loads(metadata["specification"]) == NET
    assert json.loads(metadata["classes"]) == ["blue", "green", "red"]
    assert {"settings", "normalizer", "encoding"} <= set(metadata)


def test_a_model_without_state_is_smaller_and_predicts_alike(model, path, tmp_path):
    lean = tmp_path / "lean.safetensors"
    save_model(model, str(lean), state=False)
    assert not [name for name in load_file(lean) if name.startswith("state/")]
    rows = blobs().numbers
    np.testing.assert_array_equal(load_model(str(lean), build).compute(rows), model.compute(rows))


def test_a_layer_may_be_called_state(tmp_path):
    graph = layered(3, 3, hidden=())
    weights, biases = graph.parameters
    weights.name, biases.name = "state/In/weights", "state/biases"
    settings = read_settings({}, {"epochs": 1, "optimizer": "adam"})
    model = train(graph, prepare(blobs(), settings), settings).model
    path = str(tmp_path / "m.safetensors")
    save_model(model, path)
    again = load_model(path)
    assert set(again.tensors) == {"state/In/weights", "state/biases"}
    assert set(again.state.vectors["first_moment"]) == set(again.tensors)


def test_a_model_goes_through_a_link_and_keeps_permissions(model, tmp_path):
    real, link = tmp_path / "real.safetensors", tmp_path / "link.safetensors"
    mask = os.umask(0o027)
    try:
        save_model(model, str(real))
    finally:
        os.umask(mask)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    real.chmod(0o604)
    link.symlink_to(real.name)
    save_model(model, str(link))
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o604
    assert load_model(str(real)).specification == model.specification


def test_a_pipe_is_not_replaced_by_a_model(model, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelError, match="pipe cannot be written: it is not a file"):
        save_model(model, str(tmp_path / "pipe"))
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_writing_is_atomic_and_leaves_nothing(model, path, tmp_path):
    before = path.read_bytes()
    save_model(model, str(path))
    assert load_model(str(path), build).tensors.keys() == model.tensors.keys()
    assert [each.name for each in tmp_path.iterdir()] == ["m.safetensors"]
    assert stat.S_IMODE(path.stat().st_mode) & 0o400
    with pytest.raises(ModelError, match=r"cannot be written"):
        save_model(model, str(tmp_path / "nowhere" / "m.safetensors"))
    blocked = tmp_path / "folder"
    blocked.mkdir()
    with pytest.raises(ModelError, match=r"cannot be written"):
        save_model(model, str(blocked))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "m.safetensors"]
    assert len(before) == path.stat().st_size


class Explosive:
    def __reduce__(self):
        return (pytest.fail, ("a model file was executed",))


FOREIGN = {
    "pickle": (pickle.dumps(Explosive()), "archive or a pickle, which is never loaded"),
    "zip": (b"PK\x03\x04" + bytes(40), "archive or a pickle, which is never loaded"),
    "text": (b"input In [3];\noutput Out [3] from In all;\n", "is damaged, or no model file"),
    "short": (b"\0\0", "it has only 2 bytes"),
    "empty": (b"", "it has only 0 bytes"),
    "huge header": (struct.pack("<Q", 2**62) + b"{}", "is damaged, or no model file"),
    "no JSON": (struct.pack("<Q", 4) + b"{{{{", "is damaged, or no model file"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_files(tmp_path, kind):
    content, reported = FOREIGN[kind]
    path = tmp_path / "m.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=reported):
        load_model(str(path), build)


def test_other_safetensors_files_directories_and_missing_files(tmp_path):
    path = tmp_path / "m.safetensors"
    save_file({"w": np.zeros(3, np.float32)}, path)
    with pytest.raises(ModelError, match="but not one that netsharp wrote"):
        load_model(str(path))
    with pytest.raises(ModelError, match="is a directory"):
        load_model(str(tmp_path))
    with pytest.raises(ModelError, match="There is no model file"):
        load_model(str(tmp_path / "none"))


def rewritten(path, **changes):
    """The file with other metadata."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    tensors = load_file(path)
    metadata.update(changes)
    save_file(tensors, path, {name: text for name, text in metadata.items() if text is not None})


def test_a_newer_version_is_refused(path):
    rewritten(path, version="4")
    with pytest.raises(ModelError, match="has format version 4; this netsharp reads up to 3"):
        load_model(str(path), build)


def test_a_file_of_version_2_answers_and_continues_as_before(tmp_path):
    """Neither new settings nor a scale are in it: its numbers were learned as they are."""
    net, table = "8|sigmoid|linear|1", line()
    model = trained(table, net, host="studio", task="regression")
    old, new = tmp_path / "old.safetensors", tmp_path / "new.safetensors"
    for path in (old, new):
        save_model(model, str(path))
    settings = model.settings.to_json()
    for name in ("scale_label", "init"):
        del settings["values"][name], settings["origins"][name]
    del settings["origins"]["host"]
    rewritten(old, version="2", scale=None, settings=json.dumps(settings))
    again = load_model(str(old), build)
    assert again.scale is None
    assert (again.settings.scale_label, again.settings.init) == (False, "uniform")
    expected = model.predict(table.numbers).predicted
    np.testing.assert_array_equal(again.predict(table.numbers).predicted, expected)
    longer = [replace(each.settings, epochs=5) for each in (model, again)]
    further = [
        resume(each, prepare(table, chosen), chosen).model.predict(table.numbers).predicted
        for each, chosen in zip((model, again), longer, strict=True)
    ]
    np.testing.assert_array_equal(*further)


WRONG_ENTRIES = {
    "no version": {"version": None},
    "no specification": {"specification": None},
    "specification of a number": {"specification": "3"},
    "no JSON": {"encoding": "{"},
    "encoding of another kind": {"encoding": "[]"},
    "unknown normaliser": {"normalizer": '{"name": "x", "offset": [], "scale": [], "edges": []}'},
    "normaliser of another size": {
        "normalizer": '{"name": "none", "offset": [0], "scale": [1], "edges": []}'
    },
    "bounds of robust that are one": {
        "normalizer": '{"name": "robust", "offset": [0, 0, 0], "scale": [1, 1, 1], '
        '"edges": [[0], [0, 1], [0, 1]]}'
    },
    "wrong setting": {"settings": '{"values": {"epochs": "many"}, "origins": {}}'},
    "state without numbers": {"state": "{}"},
}


@pytest.mark.parametrize(
    "scale", ['{"mean": [1], "spread": [0]}', '{"mean": [1, 2], "spread": [1, 1]}', "[]", "{}"]
)
def test_units_of_a_label_that_make_no_sense(tmp_path, scale):
    path = tmp_path / "m.safetensors"
    save_model(trained(line(), "8|sigmoid|linear|1", task="regression"), str(path))
    load_model(str(path), build)
    rewritten(path, scale=scale)
    with pytest.raises(ModelError):
        load_model(str(path), build)


@pytest.mark.parametrize("case", WRONG_ENTRIES)
def test_entries_that_make_no_sense(path, case):
    rewritten(path, **WRONG_ENTRIES[case])
    with pytest.raises(ModelError, match=r"is damaged"):
        load_model(str(path), build)


def test_every_cut_and_many_flips_are_refused_or_harmless(path):
    """No damage to a file raises anything but a ModelError."""
    content = path.read_bytes()
    random = np.random.default_rng(0)
    for cut in random.integers(0, len(content), 40):
        path.write_bytes(content[:cut])
        with pytest.raises(ModelError):
            load_model(str(path), build)
    (length,) = struct.unpack("<Q", content[:8])
    for place in random.integers(0, 8 + length, 150):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(random.integers(0, 8))
        path.write_bytes(bytes(damaged))
        with contextlib.suppress(ModelError):
            load_model(str(path), build)


def test_a_network_that_does_not_fit_the_weights(path):
    with pytest.raises(ModelError, match=r"'H1/In/weights' have the shape \[8, 3\]; .* \[9, 3\]"):
        load_model(str(path), lambda text, context: layered(3, 3, hidden=(9, 4)))
    with pytest.raises(ModelError, match="has weights 'H2/H1/weights' that its network does not"):
        load_model(str(path), lambda text, context: layered_without_second())
    with pytest.raises(ModelError, match="has no weights 'H3/H2/weights'"):
        load_model(str(path), lambda text, context: layered(3, 3, hidden=(8, 4, 4)))

    def broken(text, context):
        raise GraphError("line 1: nothing is right")

    with pytest.raises(ModelError, match="line 1: nothing is right"):
        load_model(str(path), broken)
    with pytest.raises(ModelError, match="bind a graph to it first"):
        load_model(str(path)).compute(np.zeros((1, 3)))


def layered_without_second():
    graph = layered(3, 3, hidden=(8,))
    for parameter in graph.parameters:
        parameter.name = parameter.name.replace("Out/H1/", "Out/H2/")
    graph.parameters[2].shape = (3, 4)
    return graph


def test_regression_models(tmp_path):
    model = trained(line(), "4|tanh|linear|1", task="regression")
    path = str(tmp_path / "m.safetensors")
    save_model(model, path)
    again = load_model(path, build)
    assert again.classes is None
    assert again.answer == pytest.approx((float(np.mean(line().targets)),))
    found = again.predict(line().numbers)
    assert found.probabilities is None
    assert found.predicted.dtype == np.float64


def test_the_device_of_a_training_is_kept_and_shown(tmp_path):
    settings = read_settings({}, {"epochs": 1, "batch_size": 8})
    data = prepare(blobs(), settings)
    net = "4|tanh|softmax|3"
    model = train(build(net, data.context()), data, settings, specification=net).model
    assert model.trained_on == ""
    assert "1 epoch of" in summary(model)[1]
    assert " on " not in summary(model)[1]
    model.trained_on = "wgpu:Card: Card (Vulkan, driver 1.2), DiscreteGPU"
    path = str(tmp_path / "m.safetensors")
    save_model(model, path)
    kept = load_model(path, build)
    assert kept.trained_on == model.trained_on
    assert summary(kept)[1].endswith(f" on {model.trained_on}")
