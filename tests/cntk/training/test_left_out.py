"""One command that cannot be done keeps no other from being done that needs nothing of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import netsharp as public
from netsharp_engine.geometry import Axis
from netsharp_engine.graph import Graph, GraphError
from netsharp_lsp.cntk.networks.node import Node
from netsharp_lsp.cntk.training.networks.left_out import why_not
from netsharp_lsp.cntk.training.networks.models import ModelFiles
from netsharp_lsp.project.roots import ANYWHERE
from tests.cli.command_line import netsharp
from tests.cntk.training.experiments import made, run

READER = """reader = { file = "data.ctf" ; input = {
    features = { dim = 2 ; format = "dense" } ; labels = { dim = 3 ; format = "dense" } } }"""


def changed(folder: Path, before: str, after: str) -> Path:
    path = folder / "net.cntk"
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))
    return folder


def test_what_cannot_be_done_is_reported_first_and_the_rest_is_done(tmp_path: Path) -> None:
    folder = changed(made(tmp_path), 'action = "write"', 'action = "devtest"')
    done = netsharp("run", "net.cntk", "--cntk-log=2016-11", cwd=folder)
    assert done.code == 2
    first, *rest = done.err.splitlines()
    assert "'devtest'" in first
    assert "net.cntk, line 2" in first
    assert any(line.startswith("Final Results: ") for line in rest)
    assert not any("devtest" in line or "__COMPLETED__" in line for line in rest)
    assert (folder / "out" / "net.dnn").exists()


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ('action = "write"', 'action = "devtest"', "devtest"),
        ('outputPath = "out/told"', 'outputPath = "../told"', "outside"),
        ('outputPath = "out/told"', 'outputPath = "-"', "Name a file"),
        ('action = "write"', 'action = "write" ; nodeUnitTest = true', "nodeUnitTest"),
        ("ScaledLogLikelihood : PosteriorProb", "none", "no node 'none'"),
    ],
)
def test_a_command_that_no_one_needs_is_left_out(
    before: str, after: str, word: str, tmp_path: Path
) -> None:
    answer, follower = run(changed(made(tmp_path / "run"), before, after))
    assert answer.code == 2
    assert word in answer.printed[0]
    assert follower.notices[: len(answer.printed)] == list(answer.printed)
    assert {one["command"] for one in follower.events} == {"learn", "score"}
    assert not any(one.name.startswith("told") for one in (tmp_path / "run" / "out").iterdir())


def test_what_a_command_needs_of_one_left_out_is_named(tmp_path: Path) -> None:
    folder = made(tmp_path)
    assert run(folder, "command=learn")[0].code == 0
    before = (folder / "out" / "net.dnn").read_bytes()
    more = f"""
again = {{ action = "train" ; modelPath = "out/again.dnn"
    SimpleNetworkBuilder = {{ layerSizes = 2:4:3 ; trainingCriterion = "SquareError"
        evalCriterion = "SquareError" }}
    SGD = {{ maxEpochs = 1 ; minibatchSize = 50 ; learningRatesPerSample = 0.01 }} ; {READER} }}
"""
    path = changed(folder, "maxEpochs = 4", "maxEpochs = 4 ; adaptationRegType = KL") / "net.cntk"
    path.write_text(path.read_text() + more)
    done = netsharp("run", "net.cntk", "command=learn:score:again:tell", cwd=folder)
    assert done.code == 2, done.err
    assert [one.partition(" ")[0] for one in done.out.splitlines()] == ["again:"]
    refused, *needing = done.err.splitlines()[:3]
    assert "adaptationRegType" in refused
    for sentence, command in zip(needing, ("score", "tell"), strict=True):
        assert f"'{command}' needs 'out/net.dnn', which 'learn' would write" in sentence
        assert f"command={command} alone uses the existing file" in sentence
    assert (folder / "out" / "net.dnn").read_bytes() == before
    assert netsharp("run", "net.cntk", "command=score", cwd=folder).code == 0


def test_what_reads_values_that_are_not_written_is_left_out(tmp_path: Path) -> None:
    folder = changed(made(tmp_path), 'action = "write"', 'action = "write" ; nodeUnitTest = true')
    more = READER.replace("data.ctf", "out/told.PosteriorProb")
    with (folder / "net.cntk").open("a") as stream:
        stream.write(f'\nread = {{ action = "test" ; {more} }}\n')
    answer, follower = run(folder, "command=learn:tell:read:score")
    assert answer.code == 2
    assert "'read' needs 'out/told.PosteriorProb', which 'tell' would write." in answer.printed[1]
    assert {one["command"] for one in follower.events} == {"learn", "score"}


def test_seeds_continue_after_a_network_that_is_not_trained(tmp_path: Path) -> None:
    """The original draws the parameters of each text in turn, and so does a run without one."""
    network = """BrainScriptNetworkBuilder = [
        features = Input (2) ; labels = Input (3)
        z = Parameter (3, 2, init='uniform') * features
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = (features) ; labelNodes = (labels) ; criterionNodes = (ce) ]"""
    trained = f"""action = "train" ; {network}
    SGD = {{ maxEpochs = 1 ; minibatchSize = 50 ; learningRatesPerSample = 0.01 }} ; {READER}"""
    found = []
    for name, odd in (("whole", ""), ("part", "adaptationRegType = KL ;")):
        folder = made(tmp_path / name)
        one = trained.replace("maxEpochs", f"{odd} maxEpochs")
        text = f"""command = one:two
one = {{ modelPath = "one.dnn" ; {one} }}
two = {{ modelPath = "two.dnn" ; {trained} }}
"""
        (folder / "net.cntk").write_text(text)
        assert run(folder)[0].code == (2 if odd else 0)
        values = ModelFiles(ANYWHERE).load(str(folder / "two.dnn")).values
        found.append(next(iter(values.values())).tolist())
    assert found[0] == found[1]


def test_python_says_what_was_left_out_after_what_was_done(tmp_path: Path) -> None:
    folder = changed(made(tmp_path), 'action = "write"', 'action = "devtest"')
    text = (folder / "net.cntk").read_text().replace("data.ctf", f"{folder.as_posix()}/data.ctf")
    path = folder / "net.cntk"
    path.write_text(text)
    with pytest.raises(public.TrainingError, match="'devtest'"):
        public.run(path, set={"modelPath": f"{folder.as_posix()}/out/net.dnn"})
    assert (folder / "out" / "net.dnn").exists()


@pytest.mark.parametrize("place", ["Argmax", "Argmin"])
def test_a_place_along_several_axes_is_refused(place: str) -> None:
    node = Node("ReduceElements", 0, "z")
    node.shape = (1,)
    node.inputs = (Node("InputValue", 1, "x"),)
    node.attributes.update({"axis": (1, 2), "reductionOp": place})
    assert "several axes" in why_not(node)
    for axis, kind in ((1, place), (0, place), ((1, 2), "Prod")):
        node.attributes.update({"axis": axis, "reductionOp": kind})
        assert why_not(node) == ""


def test_a_convolution_that_leads_to_another_image_is_refused() -> None:
    """[24, 20] with steps of 2 is convolved to [11, 9], and [12, 10] was to come of it."""
    node = Node("Convolution", 0, "z")
    weights, image = Node("LearnableParameter", 1, "W"), Node("InputValue", 2, "x")
    node.inputs, weights.shape, image.shape = (weights, image), (3, 3, 4, 3), (12, 10, 3)
    node.attributes.update(
        kernelShape=(3, 3, 4), mapCount=(3,), strideShape=(2, 2, 4), transpose=True
    )
    for shape, word in (((24, 20, 4), "is to be convolved back"), ((25, 21, 4), "")):
        node.shape = shape
        assert word in why_not(node)
        assert bool(word) == bool(why_not(node))


@pytest.mark.parametrize("attributes", [{"dimDilation": (2, 1, 1)}, {"groups": 2}])
def test_gaps_and_groups_of_the_older_layout_are_refused(attributes: dict[str, Any]) -> None:
    """CNTK's convolutions of that layout look at neither, and weights stand otherwise there."""
    node = Node("Convolution", 0, "z")
    weights, image = Node("LearnableParameter", 1, "W"), Node("InputValue", 2, "x")
    node.inputs, weights.shape, image.shape = (weights, image), (6, 3, 3, 2), (12, 10, 4)
    node.shape = (6, 6, 6)
    node.attributes.update(
        kernelShape=(4, 3, 3), mapCount=(6,), strideShape=(4, 1, 1), **attributes
    )
    node.attributes.update(dimSharing=(True,), imageLayout="HWC")
    assert "in the older layout of images" in why_not(node)
    node.attributes["imageLayout"] = "CHW"
    assert why_not(node) == ""


@pytest.mark.parametrize("fields", [{"gaps": (1, 2, 1)}, {"groups": 2}])
def test_an_operation_with_channels_last_takes_neither(fields: dict[str, Any]) -> None:
    axes = (Axis(4, 4), Axis(5, 3), Axis(6, 3))
    attributes = {"axes": axes, "maps": (6, 1, 1), "sharing": (True,) * 3, "transpose": False}
    graph = Graph()
    image, parameter = graph.input("x", (6, 5, 4)), graph.parameter("W", (6 * 4 * 9,))
    kernels = graph.apply("LearnableParameter", parameters=[parameter], name="W")
    with pytest.raises(GraphError, match="whose channels come first"):
        graph.apply("Convolution", kernels, image, channels_last=True, **attributes, **fields)
    graph.apply("Convolution", kernels, image, channels_last=True, **attributes)
