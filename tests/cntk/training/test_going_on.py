"""Training on from what was made of other models: by an edit, by a script, by a text of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netsharp_lsp.cntk.training.networks.models import LearntNetwork, ModelFiles
from netsharp_lsp.project.roots import ANYWHERE
from tests.cntk.training.experiments import Follower, made, run

READER = """reader = { file = "data.ctf" ; input = {
        features = { dim = 2 ; format = "dense" } ; labels = { dim = 3 ; format = "dense" } } }"""
#: A layer is put between, as deep networks were trained layer by layer.
SCRIPT = """\
m = LoadModel("out/net.dnn", format="cntk")
SetDefaultModel(m)
B9 = Parameter(8, 1, init="fixedValue", value=0)
W9 = Parameter(8, 8, init="uniform", initValueScale=8)
T9 = Times(W9, H1)
P9 = Plus(T9, B9)
H9 = Sigmoid(P9)
SetInput(W1*H0, 1, H9)
SaveModel(m, "out/deep.dnn.0", format="cntk")
"""
SGD = "SGD = { maxEpochs = 3 ; minibatchSize = 10 ; learningRatesPerSample = 0.05 }"
DEEP = f"""
change = {{ action = "edit" ; editPath = "change.mel" }}
deep = {{
    action = "train" ; modelPath = "out/deep.dnn"
    SimpleNetworkBuilder = {{ layerSizes = 2:8:3 ; layerTypes = "Tanh"
        trainingCriterion = "CrossEntropyWithSoftmax" ; evalCriterion = "ClassificationError" }}
    {SGD}
    {READER}
}}
judge = {{ action = "test" ; modelPath = "out/deep.dnn" ; {READER} }}
"""
TEXT = f"""
more = {{
    action = "train" ; modelPath = "out/more.dnn"
    BrainScriptNetworkBuilder = {{
        m = BS.Network.Load ("out/net.dnn")
        f = BS.Network.CloneFunction (m.features, m.H1, parameters="KIND")
        features = Input {{2}}
        labels = Input {{3}}
        y = MeanVarNorm (features)
        z = LinearLayer {{3}} (Splice (f (features) : y))
        ce = CrossEntropyWithSoftmax (labels, z) ; errs = ClassificationError (labels, z)
        featureNodes = (features) ; labelNodes = (labels) ; criterionNodes = (ce)
        evaluationNodes = (errs) ; outputNodes = (z)
    }}
    {SGD}
    {READER}
}}
judge = {{ action = "test" ; modelPath = "out/more.dnn" ; {READER} }}
"""


def folder_of(tmp_path: Path, more: str) -> Path:
    folder = made(tmp_path)
    (folder / "change.mel").write_text(SCRIPT)
    with (folder / "net.cntk").open("a") as stream:
        stream.write(more)
    return folder


def model_of(folder: Path, name: str) -> LearntNetwork:
    return ModelFiles(ANYWHERE).load(str(folder / "out" / name))


def done(folder: Path, *items: str, ends: int | None = None, code: int = 0) -> Follower:
    answer, follower = run(folder, *items, follower=Follower(ends))
    assert answer.code == code, (answer.complaints, answer.printed, answer.reports)
    return follower


def test_training_continues_with_the_network_of_a_script(tmp_path: Path) -> None:
    """The network of the configuration is not read then, as CNTK loads the model that is there."""
    folder = folder_of(tmp_path, DEEP)
    follower = done(folder, "command=learn:change:deep:judge")
    start, end = model_of(folder, "deep.dnn.0"), model_of(folder, "deep.dnn")
    assert {"W9", "B9"} <= end.network.nodes.keys()
    assert start.values["W0"].tobytes() == model_of(folder, "net.dnn").values["W0"].tobytes()
    assert not np.array_equal(end.values["W9"], start.values["W9"])
    losses = [one["loss"] for one in follower.epochs if one["command"] == "deep"]
    assert losses[-1] < losses[0]
    assert any("continues after epoch 0" in one for one in follower.notices)
    # Statistics are those of the first training, not computed again.
    for name in ("MeanOfFeatures", "InvStdOfFeatures"):
        assert start.values[name].tobytes() == end.values[name].tobytes(), name
    (checked,) = (one for one in follower.events if one["event"] == "end")
    assert checked["loss"] < losses[0]


def test_an_edited_model_is_gone_on_with_in_runs_of_their_own(tmp_path: Path) -> None:
    """One command at a time, stopped in the midst, is what all together are, bit for bit."""
    whole = folder_of(tmp_path / "a", DEEP)
    done(whole, "command=learn:change:deep")
    parts = folder_of(tmp_path / "b", DEEP)
    for name in ("learn", "change"):
        done(parts, f"command={name}")
    done(parts, "command=deep", ends=1, code=130)
    done(parts, "command=deep")
    for name in ("deep.dnn", "deep.dnn.ckp"):
        assert (parts / "out" / name).read_bytes() == (whole / "out" / name).read_bytes(), name


def test_training_again_has_the_network_of_the_configuration(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, DEEP)
    done(folder, "command=learn:change")
    done(folder, "command=deep", "makeMode=false")
    assert "W9" not in model_of(folder, "deep.dnn").network.nodes


def test_a_model_that_an_edit_should_have_made_is_missed_in_a_sentence(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, DEEP)
    done(folder, "command=learn")
    script = (folder / "change.mel").read_text()
    (folder / "change.mel").write_text(script.replace("deep.dnn.0", "other.dnn.0"))
    follower = done(folder, "command=change:deep:judge")
    assert "W9" not in model_of(folder, "deep.dnn").network.nodes
    assert not any("goes on" in one for one in follower.notices)


@pytest.mark.parametrize("kind", ["learnable", "constant"])
def test_a_network_takes_layers_of_another_and_is_trained(kind: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, TEXT.replace("KIND", kind))
    follower = done(folder, "command=learn:more:judge")
    before = model_of(folder, "net.dnn")
    start, end = model_of(folder, "more.dnn.0"), model_of(folder, "more.dnn")

    def of(model: LearntNetwork, values: np.ndarray) -> list[str]:
        return [name for name, one in model.values.items() if one.tobytes() == values.tobytes()]

    for name in ("W0", "B0"):
        (taken,) = of(start, before.values[name])
        assert bool(of(end, before.values[name])) == (kind == "constant"), taken
    # The statistics of new nodes are computed here; cloned ones keep their values.
    means = [node.name for node in end.network.nodes.values() if node.operation == "Mean"]
    assert len(means) == 2
    losses = [one["loss"] for one in follower.epochs if one["command"] == "more"]
    assert losses[-1] < losses[0]


def test_a_network_that_took_layers_is_resumed_without_the_other_model(tmp_path: Path) -> None:
    text = TEXT.replace("KIND", "learnable")
    whole, parts = (folder_of(tmp_path / name, text) for name in "ab")
    done(whole, "command=learn:more")
    done(parts, "command=learn")
    done(parts, "command=more", ends=2, code=130)
    done(parts, "command=more")
    for name in ("more.dnn", "more.dnn.ckp"):
        assert (parts / "out" / name).read_bytes() == (whole / "out" / name).read_bytes(), name


def test_a_text_makes_the_model_that_training_begins_with(tmp_path: Path) -> None:
    """An edit by BrainScript, written as the epoch 0 of a training."""
    edit = TEXT.replace("KIND", "learnable").replace('action = "train"', 'action = "edit"')
    edit = edit.replace(
        'modelPath = "out/more.dnn"\n    Brain', 'outputModelPath = "out/deep.dnn.0"\n    Brain'
    )
    edit = edit.replace("        y = MeanVarNorm (features)\n", "        y = Tanh (features)\n")
    folder = folder_of(tmp_path, edit + DEEP.replace("judge =", "last ="))
    follower = done(folder, "command=learn:more:deep:last")
    assert any("continues after epoch 0" in one for one in follower.notices)
    start, end = model_of(folder, "deep.dnn.0"), model_of(folder, "deep.dnn")
    assert start.network.nodes.keys() == end.network.nodes.keys()
    assert "z" in end.network.nodes


LOOKED_AT = f"""
plain = {{ action = "write" ; outputPath = "out/plain" ; outputNodeNames = HLast ; {READER} }}
other = {{ action = "write" ; outputPath = "out/other" ; outputNodeNames = double
    modelPath = "out/none.dnn"
    BrainScriptNetworkBuilder = {{
        m = BS.Network.Load ("out/net.dnn")
        f = BS.Network.CloneFunction (m.features, m.HLast, parameters="constant")
        features = Input {{2}} ; labels = Input {{3}}
        z = f (features)
        double = Constant (2) .* z
        ce = CrossEntropyWithSoftmax (labels, z) ; errs = ClassificationError (labels, z)
        featureNodes = (features) ; labelNodes = (labels) ; criterionNodes = (ce)
        evaluationNodes = (errs) ; outputNodes = (double)
    }}
    {READER}
}}
"""


def test_values_are_written_of_a_network_made_of_another_model(tmp_path: Path) -> None:
    """The builder of the command counts, as decoders are made so, and not its modelPath."""
    checked = LOOKED_AT[LOOKED_AT.index("other =") :].replace("other =", "again =")
    checked = checked.replace(
        '"write" ; outputPath = "out/other" ; outputNodeNames = double', '"test"'
    )
    folder = folder_of(tmp_path, LOOKED_AT + checked)
    follower = done(folder, "command=learn:score:plain:other:again")
    plain, double = (np.loadtxt(folder / "out" / name) for name in ("plain.HLast", "other.double"))
    np.testing.assert_allclose(double, 2 * plain, atol=3e-6)
    score, again = (one for one in follower.events if one["event"] == "end")
    assert again["loss"] == pytest.approx(score["loss"], rel=1e-6)


SPLIT = f"""
small = {{ action = "SVD" ; outputmodelPath = "out/small.dnn" ; AlignedSize = 1
    NodeNameRegex = "W.*" ; KeepRatio = 0.3 }}
tuned = {{
    action = "train" ; modelPath = "out/tuned.dnn"
    SimpleNetworkBuilder = {{ layerSizes = 2:8:3 ; layerTypes = "Tanh"
        trainingCriterion = "CrossEntropyWithSoftmax" ; evalCriterion = "ClassificationError" }}
    {SGD}
    {READER}
}}
cut = {{
    action = "edit" ; outputModelPath = "out/cut.dnn"
    BrainScriptNetworkBuilder = {{
        m = BS.Network.Load ("out/small.dnn")
        f = BS.Network.CloneFunction (m.features, m.H1, parameters="constant")
        features = Input {{2}}
        z = f (features)
        featureNodes = (features) ; outputNodes = (z)
    }}
}}
"""


@pytest.mark.parametrize("stale", [False, True])
@pytest.mark.parametrize("way", ["tuned", "more", "cut"])
def test_what_svd_leaves_is_gone_on_with_in_the_same_run(
    way: str, stale: bool, tmp_path: Path
) -> None:
    """All commands at once are what each alone is, bit for bit: by the epoch 0 of a training, by a
    text that loads the model and is trained, by one that is an edit.  An older model in its place,
    of other shapes, changes nothing.
    """
    text = TEXT.replace("KIND", "learnable").replace("out/net.dnn", "out/small.dnn")
    target = "tuned.dnn.0" if way == "tuned" else "small.dnn"
    folders = [folder_of(tmp_path / name, SPLIT + text) for name in "ab"]
    items = (f'small=[outputmodelPath="out/{target}"]', "makeMode=true")
    if stale:
        done(folders[0], "command=learn:small", *items, "small=[NodeNameRegex=W0]")
        done(folders[0], "command=small", *items, "small=[KeepRatio=1]")
    done(folders[0], f"command=learn:small:{way}", *items)
    for name in ("learn", "small", way):
        done(folders[1], f"command={name}", *items)
    for name in (target, f"{way}.dnn"):
        whole, parts = (one / "out" / name for one in folders)
        assert whole.read_bytes() == parts.read_bytes(), name
    begin = model_of(folders[0], target)
    end = model_of(folders[0], f"{way}.dnn")
    assert begin.network.nodes["W0_U"].shape == (8, 1)
    kept = [name for name in end.values if name.endswith(("W0_U", "W0_V"))]
    assert len(kept) == 2
    for name in kept:
        taken = begin.values[name[-4:]]
        assert np.array_equal(end.values[name].ravel(), taken.ravel()) == (way == "cut")


def test_faults_after_a_split_are_met_before_the_first_command(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, SPLIT + TEXT.replace("out/net.dnn", "out/small.dnn"))
    lost = "more=[SGD=[trainCriterionNodeName=lost]]"
    answer, follower = run(folder, "command=learn:small:more", lost)
    assert answer.code == 2
    assert any("no node 'lost'" in one for one in [*answer.printed, *answer.complaints]), answer
    assert not any(one.get("command") == "more" for one in follower.events)
