"""Networks that a command takes from models which others of its run write."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsharp_lsp.cntk.networks.node import OPAQUE, Network
from netsharp_lsp.cntk.run.elsewhere import network_of
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.workspace import Run
from tests.cntk.rules.experiments import DIGITS, Reported, adapting, changed, reported
from tests.cntk.texts import Memory
from tests.cntk.training.experiments import made, run

START = DIGITS.index("Test = {")
#: Trains, adapts a part of the trained model, and writes outputs of the result.
ADAPTS = (
    DIGITS[:START].replace("Train:Test:Write", "Train:Adapt:Test")
    + """\
Adapt = {
    action = train
    modelPath = "out/adapted"
"""
    + adapting(5)
    + """\
Test = {
    action = write
    modelPath = "out/adapted"
    outputNodeNames = z
    outputPath = "out/values"
    reader = {
        readerType = CNTKTextFormatReader
        file = "test.txt"
        input = { features = { dim = 16 ; format = dense ; alias = x } }
    }
}
"""
)


def about(text: str, *others: str) -> list[Reported]:
    quiet = ("CK117", "BS060", *others)
    return [one for one in reported(text) if one.code not in quiet]


def of(text: str, command: str, files: dict[str, bytes] | None = None) -> Network | None:
    memory = Memory({"a.cntk": text.encode(), **(files or {})})
    experiment = Experiment(Run(("configFile=a.cntk",), declared=False), memory)
    found = next(one for one in experiment.commands if one.name == command)
    return network_of(found, experiment)[0]


def test_a_chain_of_models_is_known_and_right() -> None:
    assert about(ADAPTS) == []
    net = of(ADAPTS, "Test")
    assert net is not None
    assert net.nodes["z"].shape == (5,)
    assert [one.name for one in net.nodes.values() if one.operation == OPAQUE] == []
    assert {
        one.trainable for one in net.nodes.values() if ".h." in one.name and one.inputs == ()
    } == {False}


@pytest.mark.parametrize(
    ("before", "after", "code", "marked"),
    [
        ("old.h,", "old.hh,", "BS021", "hh"),
        ('Load ("out/digits")', 'Load ("out/digit")', "CK091", '"out/digit"'),
        ('Load ("out/digits")', 'Load ("out/adapted")', "CK091", '"out/adapted"'),
        ('Load ("out/digits")', "Load (old)", "BS025", "BS.Network.Load (old)"),
        ("old.features, old.h", "old.labels, old.h", "BS082", "old.labels"),
        ("(lower (features))", "(old.z)", "BS081", "LinearLayer {5} (old.z)"),
        (
            "features = Input {16}\n        labels = Input {5}",
            "features = Input {17}\n        labels = Input {5}",
            "BS051",
            "lower (features)",
        ),
        ("outputNodeNames = z", "outputNodeNames = h", "CK114", "h"),
    ],
)
def test_mistakes_with_a_model(before: str, after: str, code: str, marked: str) -> None:
    found = [(one.code, one.marked) for one in about(changed(before, after, ADAPTS), "CK107")]
    assert (code, marked) in found, found


def test_a_folder_is_no_model() -> None:
    text = changed('Load ("out/digits")', 'Load ("out")', ADAPTS)
    found = reported(text, files={"out/x": ""})
    assert ("CK091", "info") in [(one.code, one.severity) for one in found]
    assert "'out' is not a model: it is a folder." in [one.message for one in found]


def test_a_model_that_is_there_and_that_no_one_here_writes_is_not_known() -> None:
    text = changed('Load ("out/digits")', 'Load ("out/base")', ADAPTS)
    found = reported(text, files={"out/base": "not a model"})
    assert [one for one in found if one.code in ("CK091", "BS021")] == []


def test_edits_in_mel_are_followed_before_and_after() -> None:
    edit = """Change = { action = edit ; editPath = "e.mel" }\n"""
    mel = 'm = LoadModel("out/digits")\nRename(h, low)\nSaveModel(m, "out/named")\n'
    text = ADAPTS.replace("Train:Adapt", "Train:Change:Adapt") + edit
    text = text.replace('Load ("out/digits")', 'Load ("out/named")').replace("old.h,", "old.low,")
    files = {"e.mel": mel.encode()}
    net = of(text, "Test", files)
    assert net is not None
    assert net.nodes["z"].shape == (5,)
    found = reported(text.replace("old.low,", "old.h,"), files={"e.mel": mel})
    assert ("BS021", "h") in [(one.code, one.marked) for one in found]
    # And the other way: an edit of what a text of BrainScript makes of a model.
    again = mel.replace("digits", "adapted").replace("Rename(h, low)", "Rename(z, y)")
    text = (
        ADAPTS.replace("Adapt:Test", "Adapt:Change:Test").replace(
            'modelPath = "out/adapted"\n    outputNodeNames = z',
            'modelPath = "out/named"\n    outputNodeNames = y',
        )
        + edit
    )
    net = of(text, "Test", {"e.mel": again.encode()})
    assert net is not None
    assert net.nodes["y"].shape == (5,)


def test_what_an_edit_in_brainscript_writes_is_read_by_others() -> None:
    edit = """Change = {
    action = edit
    outputModelPath = "out/other"
    BrainScriptNetworkBuilder = ({
        old = BS.Network.Load ("out/adapted")
        top = BS.Network.Editing.ReplaceLinksToNode (old.ce, SquareError (old.labels, old.z))
        made = BS.Network.Edit (old, top, {})
    }.made)
}
"""
    text = ADAPTS.replace("Adapt:Test", "Adapt:Change:Test").replace(
        'modelPath = "out/adapted"\n    outputNode', 'modelPath = "out/other"\n    outputNode'
    )
    net = of(text + edit, "Test")
    assert net is not None
    operations = {one.operation for one in net.nodes.values()}
    assert "SquareError" in operations
    assert "CrossEntropyWithSoftmax" not in operations


def test_commands_that_share_a_builder_each_find_their_own_model() -> None:
    head, _, tail = ADAPTS.partition("    BrainScriptNetworkBuilder = {\n        old")
    body, _, rest = ("        old" + tail).partition("    SGD = { maxEpochs = 1 ")
    text = head + "    SGD = { maxEpochs = 1 " + rest
    shared = "BrainScriptNetworkBuilder = {\n" + body
    twin = text[text.index("Adapt = {") : text.index("Test = {")].replace("Adapt =", "First =")
    text = text.replace("Train:Adapt", "First:Train:Adapt") + twin.replace("adapted", "first")
    text = shared + text.replace('modelPath = "out/digits"\n', 'modelPath = "out/digits"\n', 1)
    first, later = of(text, "First"), of(text, "Adapt")
    assert first is not None
    assert later is not None
    assert OPAQUE in {one.operation for one in first.nodes.values()}
    assert OPAQUE not in {one.operation for one in later.nodes.values()}


def test_training_begins_with_the_numbers_of_another_network(tmp_path: Path) -> None:
    folder = made(tmp_path)
    path = folder / "net.cntk"
    reader = """reader = { file = "data.ctf" ; input = {
        features = { dim = 2 ; format = "dense" } ; labels = { dim = 3 ; format = "dense" } } }"""
    more = f"""
more = {{
    action = train
    modelPath = "out/more"
    BrainScriptNetworkBuilder = (BS.Network.Load ("out/net.dnn"))
    SGD = {{ maxEpochs = 1 ; learningRatesPerMB = 0.1 }}
    {reader}
}}
"""
    path.write_text(path.read_text() + more)
    answer, follower = run(folder, "command=learn:more")
    assert answer.code == 0, (answer.complaints, answer.reports)
    first, later = follower.epochs[-2:]
    assert later["command"] == "more"
    assert later["loss"] < 1.1 * first["loss"]
    folder_out = folder / "out"
    assert (folder_out / "more.0").read_bytes() == (folder_out / "net.dnn").read_bytes()


def test_a_model_that_is_there_is_read(tmp_path: Path) -> None:
    folder = made(tmp_path)
    assert run(folder, "command=learn")[0].code == 0
    held = (folder / "out" / "net.dnn").read_bytes()
    text = changed("old.features, old.h", "old.features, old.L1", ADAPTS)
    text = text.replace('Load ("out/digits")', 'Load ("kept.dnn")').replace("{16}", "{2}")
    names = of(text, "Adapt", {"kept.dnn": held})
    assert names is not None
    found = reported(text, files={})
    assert "CK091" in [one.code for one in found]
    memory = Memory({"a.cntk": text.encode(), "kept.dnn": held})
    experiment = Experiment(Run(("configFile=a.cntk",), declared=False), memory)
    (fault,) = (it for one in experiment.networks for it in one.faults)
    assert fault.message.startswith("the model 'kept.dnn' has no node 'L1'.")
    right = of(text.replace("old.L1", "old.H1"), "Adapt", {"kept.dnn": held})
    assert right is not None
    assert right.nodes["z"].shape == (5,)
    for damaged in (b"", held[:200], held[: len(held) // 2], held.replace(b"T\0a\0", b"Q\0a\0")):
        again = of(text, "Adapt", {"kept.dnn": damaged})
        assert again is not None
        assert OPAQUE in {one.operation for one in again.nodes.values()}
