"""Every sound network of the collection can be drawn and tabled; pictures keep their own laws."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.description.dot import render_dot
from netsharp_lsp.description.picture import lay_out
from netsharp_lsp.description.svg import render_svg
from netsharp_lsp.description.tables import render_markdown, render_text, size
from netsharp_lsp.netsharp import LANGUAGE
from tests.collection import SAMPLES, Sample

SVG = "{http://www.w3.org/2000/svg}"
COMPLETE = [sample for sample in SAMPLES if sample.complete]


def described(sample: Sample) -> dict[str, Any]:
    return LANGUAGE.describe(sample.text, sample.context)


@pytest.mark.parametrize("sample", COMPLETE, ids=lambda sample: sample.name)
def test_picture(sample: Sample) -> None:
    description = described(sample)
    picture = lay_out(description)
    boxes = {box.name: box for box in picture.boxes}
    assert list(boxes) == [layer["name"] for layer in description["layers"]]
    placed = sorted(picture.boxes, key=lambda box: (box.y, box.x))
    for left, right in pairwise(placed):
        assert left.y != right.y or left.x + left.width < right.x
    for box in picture.boxes:
        assert box.x >= 0
        assert box.x + box.width <= picture.width
        assert box.y + box.height <= picture.height
    for arrow in picture.arrows:
        source, destination = boxes[arrow.source], boxes[arrow.destination]
        assert source.y + source.height == arrow.points[0][1]
        assert arrow.points[-1][1] == destination.y
        assert source.y < destination.y
    bundles = sum(len(layer["bundles"]) for layer in description["layers"])
    assert len(picture.arrows) == bundles
    drawn = ElementTree.fromstring(render_svg(description))
    assert len(drawn.findall(f"{SVG}g[@data-name]")) == len(boxes)
    assert len(drawn.findall(f"{SVG}g[@data-source]")) == bundles
    assert render_svg(described(sample)) == render_svg(description)


@pytest.mark.parametrize("sample", COMPLETE, ids=lambda sample: sample.name)
def test_tables_and_dot(sample: Sample) -> None:
    description = described(sample)
    names = [layer["name"] for layer in description["layers"]]
    bundles = sum(len(layer["bundles"]) for layer in description["layers"])
    text, markdown, dot = (
        render(description) for render in (render_text, render_markdown, render_dot)
    )
    assert [line.split()[0] for line in text.splitlines()[2 : 2 + len(names)]] == names
    rows = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert len(rows) == len(names) + bundles + 4
    assert {row.replace("\\|", "").count("|") for row in rows} <= {8, 9}
    assert len(re.findall(r'^  "\w+" \[', dot, re.MULTILINE)) == len(names)
    assert dot.count(" -> ") == bundles


def test_a_long_chain_that_keeps_reading_its_input_stays_narrow() -> None:
    """As many passages as pairs of layers would take seconds, and a screen's width a dozen."""
    chain = "".join(
        f"hidden H{number} [3] {{ from H{number - 1} all; from A all; }}\n"
        for number in range(1, 1000)
    )
    text = f"input A [3];\nhidden H0 [3] from A all;\n{chain}output R [1] from H999 all;\n"
    picture = lay_out(LANGUAGE.describe(text.encode(), Context()))
    assert picture.width < 200
    assert len(picture.arrows) == 2000
    boxes = {box.name: box for box in picture.boxes}
    for arrow in picture.arrows:
        source, destination = boxes[arrow.source], boxes[arrow.destination]
        assert arrow.points[0][1] == source.y + source.height
        assert arrow.points[-1][1] == destination.y
        assert all(0 < x < picture.width for x, _ in arrow.points)
        steps = [y for _, y in arrow.points]
        assert steps == sorted(steps)


def node(name: str, operation: str, *inputs: str, loop: int | None = 0) -> dict[str, Any]:
    found = {"name": name, "operation": operation, "inputs": list(inputs), "loop": loop}
    return {**found, "shape": [3], "groups": [], "parameters": 0, "multiply_adds": 0}


def test_what_closes_a_loop_leads_back_at_the_right() -> None:
    nodes = [
        node("x", "InputValue", loop=None),
        *(node(f"before{number}", "PastValue", "state") for number in range(3)),
        node("sum", "Plus", "x", "before0", "before1", "before2"),
        node("state", "Tanh", "sum"),
        # Delayed, and in no loop.
        node("late", "PastValue", "x", loop=None),
        node("out", "Plus", "state", "late", loop=None),
    ]
    description = {"layers": [], "nodes": nodes, "multiply_adds": 0}
    picture = lay_out(description)
    boxes = {box.name: box for box in picture.boxes}
    back = [one for one in picture.arrows if one.source == "state" and one.kind == "delay"]
    assert [one.destination for one in back] == ["before0", "before1", "before2"]
    lanes = {one.points[1][0] for one in back}
    assert len(lanes) == 3
    passed = [boxes[name] for name in ("x", "before0", "before1", "before2", "sum", "state")]
    assert min(lanes) > max(box.x + box.width for box in passed)
    assert max(lanes) < picture.width
    for arrow in picture.arrows:
        source, destination = boxes[arrow.source], boxes[arrow.destination]
        assert arrow.points[0][1] == source.y + source.height
        assert arrow.points[-1][1] == destination.y
        assert (source.y < destination.y) == (arrow not in back)
    labels = re.findall(r'class="label"[^>]*>([^<]+)<', render_svg(description))
    assert labels == ["delay"] * 4


def test_sizes_as_people_read_them() -> None:
    assert [size(count) for count in (0, 1023, 1024, 522344, 5 * 2**30)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "510.1 KiB",
        "5.0 GiB",
    ]
