"""What would run on a device, printed without data and without the device."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.numpy_backend.build import build_plan
from netsharp_engine.planned import planned
from netsharp_engine.program import Job, UpdateRule, drafted
from netsharp_lsp.__main__ import main
from netsharp_lsp.netsharp.lower import build_graph
from tests.cli.command_line import netsharp
from tests.cli.test_schemas import schema
from tests.peers import needs_torch

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
VISION = (EXAMPLES / "vision" / "vision.nn").read_text()
DEVICES = (
    "cpu",
    "wgpu",
    pytest.param("torch:cuda", marks=needs_torch),
    pytest.param("torch:mps", marks=needs_torch),
)
#: 207 features and a code for each of 16 rows cross to a device, and in torch the loss and a square
#: of the gradient back.
CROSSING = {
    "cpu": (0, 0),
    "wgpu": (16 * (207 * 4 + 4), 0),
    **dict.fromkeys(("torch:cuda", "torch:mps"), (16 * (207 * 4 + 8), 16)),
}
FLAGS = ("--momentum", "0.9", "--optimizer", "sgd", "--batch-size", "16")


def answer(folder, device, *flags):
    (folder / "vision.nn").write_text(VISION)
    return netsharp("plan", "vision.nn", "--device", device, *FLAGS, *flags, cwd=folder)


@pytest.mark.parametrize("device", DEVICES)
def test_a_plan_has_calls_buffers_and_what_crosses(device, tmp_path):
    reported = answer(tmp_path, device, "--format", "json")
    assert reported.code == 0, reported.err
    document = json.loads(reported.out)
    schema("plan.json").validate(document)
    assert (document["device"], document["rows"]) == (device, 16)
    assert [call["stage"] for call in document["calls"]] == sorted(
        (call["stage"] for call in document["calls"]),
        key=("forward", "loss", "backward", "update").index,
    )
    assert (document["sent_bytes"], document["received_bytes"]) == CROSSING[device]
    assert document["calls"][0]["layer"] == "ByRow"
    assert document["calls"][0]["origin"].split("; ")[0] == "layer 'ByRow', line 8"
    if device == "wgpu":
        assert {call["trips"] > 0 for call in document["calls"]} == {True}
    text = answer(tmp_path, device).out
    assert f"A step of 16 rows in float32 on {device}: {len(document['calls'])} calls" in text


#: The sizes of examples that leave them open.
SIZES = {
    "diabetes": {"features": 10, "outputs": 1},
    "iris": {"features": 4, "outputs": 3, "hidden_nodes": 10},
}


@pytest.mark.costly
@pytest.mark.parametrize("name", ["diabetes", "digits", "digits29", "iris", "puri", "siamese"])
@pytest.mark.parametrize("device", DEVICES)
def test_every_example_is_planned_with_its_layers_and_parameters(device, name, monkeypatch, capsys):
    monkeypatch.chdir(EXAMPLES / name)
    sizes = SIZES.get(name, {})
    flags = [f"--{key.replace('_', '-')}={size}" for key, size in sizes.items()]
    assert main(["plan", f"{name}.nn", "--device", device, "--format", "json", *flags]) == 0
    document = json.loads(capsys.readouterr().out)
    schema("plan.json").validate(document)
    graph = build_graph(Path(f"{name}.nn").read_text(), sizes)
    spans = defaultdict(list)
    for buffer in document["buffers"]:
        if buffer["offset"] is not None and buffer["bytes"]:
            spans[buffer["space"]].append((buffer["offset"], buffer["offset"] + buffer["bytes"]))
    if device == "wgpu":
        assert all(a[1] <= b[0] for each in spans.values() for a, b in pairwise(sorted(each)))
    # What torch keeps in another form says so after the name.
    names = {buffer["name"].partition(" (")[0] for buffer in document["buffers"]}
    assert {parameter.name for parameter in graph.parameters} <= names
    layers = {str(n.origin).partition(",")[0] for n in graph.nodes if n.origin and n.op != "input"}
    placed = {one for call in document["calls"] for one in call["origin"].split("; ") if one}
    assert {one.partition(",")[0] for one in placed} == layers


@needs_torch
def test_torch_merges_bundles_with_their_biases_and_keeps_every_weight(tmp_path):
    document = json.loads(answer(tmp_path, "torch:cuda", "--format", "json").out)
    gather = next(call for call in document["calls"] if call["layer"] == "Gather")
    assert gather["kernel"] == "linear"
    assert gather["formulas"] == ["full", "full", "add", "bias"]
    ends = 0
    for buffer in document["buffers"]:
        if buffer["space"] == "trained":
            assert buffer["offset"] == ends
            ends += buffer["bytes"]
    (delta,) = (buffer for buffer in document["buffers"] if buffer["name"] == "delta")
    assert delta["bytes"] == ends


def test_the_buffers_of_numpy_are_those_that_are_made():
    graph = build_graph(VISION, {}).with_criteria("cross entropy")
    draft = drafted(NumpyDraft, Job(graph, 8, "float32", UpdateRule("momentum", 0.1)))
    made, reported = build_plan(draft.design), planned(draft)
    places = {b.name: (b.offset, b.size) for b in reported.buffers if b.space == "weights"}
    assert places == {
        name: (4 * place.slice.start, 4 * (place.slice.stop - place.slice.start))
        for name, place in made.vectors.places.items()
    }
    values = sum(b.size for b in reported.buffers if b.space == "values")
    assert values <= draft.design.needs().total()


def test_buffers_are_in_columns_however_long_their_names(tmp_path):
    name = "AHiddenLayerWithALongNameThatSaysWhatItLooksFor"
    text = f"input A [3];\nhidden {name} [4] from A all;\noutput B [2] softmax from {name} all;"
    (tmp_path / "long.nn").write_text(text)
    for device in ("cpu", "wgpu"):
        asked = ("plan", "long.nn", "--device", device)
        buffers = json.loads(netsharp(*asked, "--format", "json", cwd=tmp_path).out)["buffers"]
        lines = netsharp(*asked, cwd=tmp_path).out.partition("\nbuffers\n")[2].splitlines()
        width = max(len(buffer["name"]) for buffer in buffers)
        for buffer, line in zip(buffers, lines, strict=False):
            assert line.startswith(f"  {buffer['name']:<{width}} {buffer['space']}"), line


def test_what_cannot_be_planned_is_reported_in_a_sentence(tmp_path):
    (tmp_path / "auto.nn").write_text("input A auto;\noutput B [2] softmax from A all;")
    output = netsharp("plan", "auto.nn", cwd=tmp_path)
    assert output.code == 2
    assert output.err.startswith("netsharp: auto.nn: ")
    assert "Traceback" not in output.err
    (tmp_path / "odd.nn").write_text("output B [2] from A all;")
    assert netsharp("plan", "odd.nn", cwd=tmp_path).code == 1
    output = netsharp("plan", "auto.nn", "--features", "3", "--device", "gpu", cwd=tmp_path)
    assert output.code == 2
    assert "'gpu' is not a device: auto, cpu" in output.err


#: A command that trains nothing.
NAMES = """
names = {
    action = "writeWordAndClass" ; inputFile = "train.ctf" ; outputVocabFile = "words.txt"
    vocabSize = 10 ; nbrClass = 2 ; outputWord2Cls = "classes" ; outputCls2Index = "places"
    beginSequence = "<s>" ; endSequence = "</s>"
}
"""
CNTK = EXAMPLES / "cntk"


@needs_torch
@pytest.mark.parametrize("device", ["torch:cuda", "torch:cpu"])
def test_a_training_of_cntk_is_planned(device, tmp_path):
    shutil.copytree(CNTK / "words", tmp_path, dirs_exist_ok=True)
    output = netsharp(
        "plan",
        "words.cntk",
        "precision=double",
        "--device",
        device,
        "--format",
        "json",
        cwd=tmp_path,
    )
    assert output.code == 0, output.err
    document = json.loads(output.out)
    schema("plan.json").validate(document)
    assert (document["device"], document["dtype"]) == (device, "float64")
    kernels = [call["kernel"] for call in document["calls"]]
    assert "loop" in kernels
    assert [call["stage"] for call in document["calls"]] == sorted(
        (call["stage"] for call in document["calls"]),
        key=("forward", "loss", "backward", "update").index,
    )
    names = {buffer["name"] for buffer in document["buffers"]}
    for call in document["calls"]:
        assert call["stage"] != "update" or set(call["writes"]) <= names
    words = len((CNTK / "words" / "words.txt").read_text().splitlines())
    crossing = document["sent_bytes"], document["received_bytes"]
    # Numbers of a word and of its label, and back the loss and whether all is finite.
    sent = document["rows"] * (words + 4) * 8
    assert crossing == ((0, 0) if device == "torch:cpu" else (sent, 9))
    assert not (tmp_path / "out").exists()


def test_the_processor_plans_a_configuration_as_it_computes_it(tmp_path):
    """Cells of recurrent layers, products with their biases and chosen rows are one call each."""
    items = ("plan", "sentences.cntk", "command=tagging")
    where = CNTK / "sentences"
    text, same = (netsharp(*items, *more, cwd=where).out for more in ((), ("--device", "cpu")))
    assert text == same
    plan = json.loads(netsharp(*items, "--format", "json", cwd=where).out)
    stages = {stage: [] for stage in ("forward", "loss", "backward", "update")}
    for call in plan["calls"]:
        stages[call["stage"]].append(call["kernel"])
    assert stages["forward"] == [
        *("chosen", "affine", "recurrent cell", "affine", "recurrent cell", "RowStack", "affine")
    ]
    assert stages["loss"] == ["entropy", "ClassificationError"]
    assert stages["backward"] == ["entropy", *reversed(stages["forward"])]
    written = {
        stage: {name for call in plan["calls"] if call["stage"] == stage for name in call["writes"]}
        for stage in stages
    }
    trained = {one["name"] for one in plan["buffers"] if one["space"] == "trained"}
    assert {f"gradient of {name}" for name in trained} <= written["backward"]
    assert trained <= written["update"]
    assert (plan["sent_bytes"], plan["received_bytes"]) == (0, 0)


def test_what_cannot_be_planned_of_cntk_is_reported(tmp_path):
    shutil.copytree(CNTK / "sentences", tmp_path, dirs_exist_ok=True)
    with (tmp_path / "sentences.cntk").open("a") as stream:
        stream.write(NAMES)
    for items, reported in (
        (("--device", "torch:cpu", "--batch-size", "3"), "Write minibatchSize=N"),
        (("--device", "torch:cpu", "--format", "json"), "tagging, sorting train, and a document"),
        (("command=names", "--device", "torch:cpu"), "no command trains"),
    ):
        output = netsharp("plan", "sentences.cntk", *items, cwd=tmp_path)
        assert output.code == 2, output.out
        assert reported in output.err
    output = netsharp("plan", "x.nn", "command=tagged", cwd=tmp_path)
    assert "'command=tagged' goes with a configuration" in output.err
