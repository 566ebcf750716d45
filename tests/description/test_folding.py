"""Groups of boxes: by calls, named as people name them, folded to what can be read, and framed."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.description.dot import render_dot
from netsharp_lsp.description.folding import MOST_BOXES, folded
from netsharp_lsp.description.nodes import as_layers
from netsharp_lsp.description.picture import lay_out
from netsharp_lsp.description.svg import render_svg
from netsharp_lsp.language import language_by_id
from tests.cli.command_line import netsharp
from tests.cntk.collection import FOLDER
from tests.costs import assert_measured, spent

RESNET = (FOLDER / "networks" / "resnet20.cntk").read_bytes()
MACROS = b"""
features = InputValue (4)
labels = InputValue (2, tag = label)
Affine (x, r, c) = [
    W = Parameter (r, c) ; t = Times (W, x) ; b = Parameter (r, 1) ; s = Plus (t, b)
]
Layer (x, r, c) = [ a = Affine (x, r, c) ; y = Sigmoid (a.s) ]
h1 = Layer (features, 5, 4)
h2 = Layer (h1.y, 5, 5)
z = Affine (h2.y, 2, 5)
ce = CrossEntropyWithSoftmax (labels, z.s, tag = criterion)
"""


def described(text: bytes, language: str = "cntk") -> dict[str, Any]:
    found = language_by_id(language).describe(text, Context())
    return {**found, "layers": as_layers(found)}


def labels(found: dict[str, Any]) -> list[str]:
    return [layer["label"] for layer in sorted_layers(found)]


def sorted_layers(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The boxes from top to bottom, from left to right."""
    places = {box.name: (box.y, box.x) for box in lay_out(found).boxes}
    return sorted(found["layers"], key=lambda layer: places[layer["name"]])


def by_label(found: dict[str, Any], label: str) -> dict[str, Any]:
    (one,) = [layer for layer in found["layers"] if layer["label"] == label]
    return one


def test_calls_of_functions_are_groups_with_the_names_of_people() -> None:
    found = folded(described(RESNET), 0)
    assert labels(found) == [
        "features",
        "conv",
        "RectifiedLinear",
        "LayerStack 1",
        "strided 1",
        "LayerStack 2",
        "strided 2",
        "LayerStack 3",
        "AveragePoolingLayer",
        "labels",
        "LinearLayer",
        "ce",
        "errs",
    ]
    stack = by_label(found, "LayerStack 2")
    assert (stack["group"]["key"], stack["group"]["boxes"]) == ("LayerStack 2/", 14)
    assert stack["shape"] == [16, 16, 32]
    assert [one["source"] for one in stack["bundles"]] == ["strided 1/"]
    opened = folded(described(RESNET), 0, {"LayerStack 2/": True, "strided 2/": True})
    assert [frame["label"] for frame in opened["frames"]] == ["LayerStack 2", "strided 2"]
    expected = {"plain 1", "plain 2", "inner", "shortcut: conv", "sum", "y"}
    assert expected <= set(labels(opened))
    parameters = sum(layer["parameters"] for layer in found["layers"])
    assert parameters == described(RESNET)["parameters"]


def test_calls_of_macros_are_groups_with_their_variables() -> None:
    found = folded(described(MACROS, "ndl"), 0)
    assert labels(found) == ["features", "h1: Layer", "h2: Layer", "labels", "z: Affine", "ce"]
    opened = folded(described(MACROS, "ndl"), 2)
    assert [(one["key"], one["within"]) for one in opened["frames"]] == [
        ("h1: Layer/", ""),
        ("h1: Layer/a: Affine/", "h1: Layer/"),
        ("h2: Layer/", ""),
        ("h2: Layer/a: Affine/", "h2: Layer/"),
        ("z: Affine/", ""),
    ]
    assert {"t", "s", "y"} <= set(labels(opened))


def test_a_layer_has_the_name_of_its_variable_and_of_what_made_it() -> None:
    text = b"""
    features = Input {(8:8:3)}
    labels = Input {2, tag = "label"}
    model (x) = {
        conv1 = ConvolutionalLayer {4, (3:3), activation = ReLU} (x)
        pool1 = MaxPoolingLayer {(2:2)} (conv1)
        block (y) = { h = DenseLayer {5} (y) ; r = ReLU (h) }.r
        one = block (pool1)
        two = block (one)
        z = LinearLayer {2} (two)
    }.z
    z = model (features)
    ce = CrossEntropyWithSoftmax (labels, z)
    featureNodes = (features) ; criterionNodes = (ce)
    """
    found = folded(described(text, "brainscript"), 0)
    expected = {"conv1: ConvolutionalLayer", "pool1", "one: block", "two: block", "z: LinearLayer"}
    assert expected <= set(labels(found))
    assert by_label(found, "one: block")["group"]["key"] == "one: block/"
    assert folded(described(text, "brainscript"), 1)["frames"][1]["key"] == "one: block/"


def test_a_function_that_is_applied_twice_is_two_groups() -> None:
    text = b"""
    tower = Sequential (DenseLayer {5} : Sigmoid : DenseLayer {3})
    a = Input {4} ; b = Input {4}
    left = tower (a) ; right = tower (b)
    deep = DenseLayer {3, activation = Tanh}
    z = deep (left) + deep (right)
    outputNodes = (z)
    """
    found = folded(described(text, "brainscript"), 0)
    assert labels(found)[2:4] == ["left: tower", "right: tower"]
    assert {"deep: DenseLayer 1", "deep: DenseLayer 2"} <= set(labels(found))
    groups = [layer for layer in found["layers"] if "group" in layer]
    assert all(len(layer["bundles"]) == 1 for layer in groups)
    inside = folded(described(text, "brainscript"), 2)
    keys = {frame["key"] for frame in inside["frames"]}
    assert {"left: tower/DenseLayer 1/", "right: tower/DenseLayer 2/"} <= keys


def test_without_a_depth_as_much_is_open_as_can_be_read() -> None:
    shown = folded(described(RESNET))
    assert shown == folded(described(RESNET), 0)
    assert len(shown["layers"]) <= MOST_BOXES
    assert len(folded(described(RESNET), 1)["layers"]) > MOST_BOXES
    small = folded(described(MACROS, "ndl"))
    assert small == folded(described(MACROS, "ndl"), 9)


def test_what_was_opened_is_found_again_after_an_edit() -> None:
    text = RESNET.replace(b"    n = 3", b"    n = 4").replace(b"# A residual", b"# Another")
    assert text != RESNET
    changed = {"LayerStack 2/": True, "LayerStack 2/plain 1/": True}
    before, after = (folded(described(each), 0, changed) for each in (RESNET, text))
    assert [one["key"] for one in before["frames"]] == [one["key"] for one in after["frames"]]
    assert len(after["layers"]) == len(before["layers"]) + 1


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("text", [(RESNET, "cntk"), (MACROS, "ndl")], ids=["resnet", "macros"])
def test_frames_hold_their_boxes_and_wires_end_at_boxes(
    depth: int, text: tuple[bytes, str]
) -> None:
    found = folded(described(*text), depth)
    picture = lay_out(found)
    boxes = {box.name: box for box in picture.boxes}
    frames = {frame.key: frame for frame in picture.frames}
    homes = {layer["name"]: layer["within"] for layer in found["layers"]}
    homes |= {frame["key"]: frame["within"] for frame in found["frames"]}
    for key, item in {**boxes, **frames}.items():
        around = frames.get(homes[key])
        left, top = (around.x, around.y) if around else (0, 0)
        right = left + (around.width if around else picture.width)
        bottom = top + (around.height if around else picture.height)
        assert left <= item.x
        assert top < item.y
        assert item.x + item.width <= right
        assert item.y + item.height <= bottom
    for one, other in combinations({**boxes, **frames}.items(), 2):
        if homes[one[0]] == homes[other[0]]:
            assert apart(one[1], other[1])
    for arrow in picture.arrows:
        source, destination = boxes[arrow.source], boxes[arrow.destination]
        assert arrow.points[0][1] == source.y + source.height
        assert arrow.points[-1][1] == destination.y
        assert len(arrow.points) % 2 == 0
        steps = [y for _, y in arrow.points]
        assert steps == sorted(steps)
    drawn = ElementTree.fromstring(render_svg(found))
    assert len([one for one in drawn.iter() if one.get("data-key")]) == len(frames)
    assert render_dot(found).count("subgraph") == len(frames)
    assert render_dot(found).count("{") == render_dot(found).count("}")


def apart(one: Any, other: Any) -> bool:
    return bool(
        one.x + one.width <= other.x
        or other.x + other.width <= one.x
        or one.y + one.height <= other.y
        or other.y + other.height <= one.y
    )


def test_wires_to_criteria_begin_near_them() -> None:
    for depth in (0, 3):
        picture = lay_out(folded(described(RESNET), depth))
        for arrow in picture.arrows:
            if arrow.source == "labels":
                assert arrow.points[-1][1] - arrow.points[0][1] < 120
        boxes = {box.name: box for box in picture.boxes}
        assert boxes["labels"].y > picture.height - 250


def test_the_command_draws_the_depth_that_is_asked_for() -> None:
    for depth in (0, 1):
        arguments = ("resnet20.cntk", "--format", "svg", "--depth", str(depth))
        out = netsharp("describe", *arguments, cwd=FOLDER / "networks").out
        expected = render_svg(folded(described(RESNET), depth))
        assert out == expected, netsharp("describe", *arguments, cwd=FOLDER / "networks").err
        assert len(re.findall("data-name", out)) == len(folded(described(RESNET), depth)["layers"])


@pytest.mark.parametrize("depth", ["-1", "1.5", "x", ""])
def test_a_depth_that_is_none_is_reported(depth: str) -> None:
    done = netsharp(
        "describe", "resnet20.cntk", "--format", "svg", "--depth", depth, cwd=FOLDER / "networks"
    )
    assert (done.code, done.out) == (2, "")
    assert f"--depth: must be a whole number of at least 0, found '{depth}'." in done.err


def test_a_depth_beyond_all_calls_opens_all() -> None:
    pictures = {
        netsharp(
            *("describe", "resnet20.cntk", "--format", "svg", "--depth", depth),
            cwd=FOLDER / "networks",
        ).out
        for depth in ("50", "9" * 5000)
    }
    assert len(pictures) == 1
    assert pictures.pop().startswith("<svg")


@pytest.mark.costly
def test_a_deep_network_is_folded_and_drawn_in_time() -> None:
    """Four times as many blocks, 40 in each stack, cost less than sixteen times as much."""

    def seconds(count: int) -> float:
        text = RESNET.replace(b"    n = 3", b"    n = %d" % count)
        found = described(text)
        return spent(lambda: [lay_out(folded(found, depth)) for depth in (0, None, 4)])

    assert_measured(lambda: (seconds(10), seconds(40)), lambda costs: costs[1] < 16 * costs[0] + 1)
