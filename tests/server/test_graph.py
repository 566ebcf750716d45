"""netsharp/graph: describe's JSON with the picture and the places, in the version that is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import netsharp
from tests.cntk.collection import FOLDER
from tests.collection import SAMPLES
from tests.server.places import AUTO, EXAMPLES, becomes, execute, furnish, opened
from tests.server.wire import Message, Wire, serving

#: What the graph has beside the JSON of `netsharp describe`.
BESIDE = {"width", "height", "version", "uri"}
OF_LAYERS = {"position", "range", "selectionRange"}
OF_BUNDLES = {"points", "range"}


def graph(wire: Wire, uri: str, **more: Any) -> Message:
    answer: Message = wire.request("netsharp/graph", {"textDocument": {"uri": uri}, **more})
    return answer


def described(made: Message) -> Message:
    """A graph without what `describe` does not say."""
    layers = []
    for layer in made["layers"]:
        bundles = [
            {key: value for key, value in bundle.items() if key not in OF_BUNDLES}
            for bundle in layer["bundles"]
        ]
        kept = {key: value for key, value in layer.items() if key not in OF_LAYERS}
        layers.append({**kept, "bundles": bundles})
    return {key: value for key, value in made.items() if key not in BESIDE} | {"layers": layers}


def cut(text: str, place: Message) -> str:
    """The text of a range; ASCII."""
    lines = text.splitlines(keepends=True)
    (first, start), (last, end) = (
        (place[side]["line"], place[side]["character"]) for side in ("start", "end")
    )
    starts = [sum(map(len, lines[:number])) for number in (first, last)]
    return text[starts[0] + start : starts[1] + end]


@pytest.mark.parametrize("name", ["digits", "iris", "siamese", "vision"])
def test_it_is_what_describe_says_with_places(tmp_path: Path, name: str) -> None:
    path = EXAMPLES / name / f"{name}.nn"
    output = netsharp("describe", str(path), "--format", "json", cwd=tmp_path)
    with serving(rootUri=EXAMPLES.as_uri()) as wire:
        uri, text = opened(wire, path), path.read_text()
        made = graph(wire, uri)
        # `version` is the document's here, and that of the form in the file.
        assert described(made) | {"version": 1} == json.loads(output.out)
        assert (made["uri"], made["version"]) == (uri, 1)
        for layer in made["layers"]:
            assert cut(text, layer["selectionRange"]) == layer["name"]
            assert layer["name"] in cut(text, layer["range"])
            box = layer["position"]
            assert 0 <= box["x"] <= box["x"] + box["width"] <= made["width"]
            assert 0 <= box["y"] <= box["y"] + box["height"] <= made["height"]
            for bundle in layer["bundles"]:
                assert bundle["source"] in cut(text, bundle["range"])
                assert len(bundle["points"]) >= 2


def test_it_follows_the_text_and_what_lies_around(tmp_path: Path) -> None:
    path = furnish(tmp_path, AUTO)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        assert graph(wire, uri)["parameters"] is None
        assert graph(wire, uri) == graph(wire, uri)
        wire.send(wire.change(uri, 2, {"text": AUTO.replace("Hidden auto", "Hidden [5]")}))
        assert graph(wire, uri)["version"] == 2
        execute(wire, "bindData", uri)
        becomes(wire, uri, (0, 8), "net.toml")
        made = graph(wire, uri)
        assert (made["version"], made["parameters"]) == (2, (2 + 1) * 5 + (5 + 1) * 3)


def test_of_several_specifications_one_is_chosen(tmp_path: Path) -> None:
    script = tmp_path / "nets.py"
    script.write_text(
        'small = """\ninput A [2];\noutput B [2] from A all;\n"""\n'
        'large = """\ninput C [9];\noutput D [9] from C all;\n"""\n'
        "NeuralNetwork(net_definition=small)\nNeuralNetwork(net_definition=large)\n"
    )
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri, text = opened(wire, script, "python"), script.read_text()
        names = [layer["name"] for layer in graph(wire, uri)["layers"]]
        assert names == ["A", "B"]
        for chosen in ({"name": "large"}, {"position": {"line": 6, "character": 3}}):
            made = graph(wire, uri, **chosen)
            assert [layer["name"] for layer in made["layers"]] == ["C", "D"]
            assert cut(text, made["layers"][1]["selectionRange"]) == "D"
        missing = {"textDocument": {"uri": uri}, "name": "middle"}
        refused = wire.exchange("netsharp/graph", missing)["error"]
        assert refused["message"] == "There is no specification here."


def test_a_broken_text_gives_what_is_known(tmp_path: Path) -> None:
    path = furnish(tmp_path, "input A [3];\nhidden H [2] from A all\noutput O [2] from Gone all;\n")
    with serving(rootUri=tmp_path.as_uri()) as wire:
        made = graph(wire, opened(wire, path))
        assert "A" in [layer["name"] for layer in made["layers"]]


@pytest.mark.costly
def test_every_text_has_a_graph_whose_places_lie_in_it(tmp_path: Path) -> None:
    with serving(rootUri=tmp_path.as_uri()) as wire:
        for number, sample in enumerate(SAMPLES):
            uri, text = f"file:///nowhere/{number}.nn", sample.text.decode(errors="replace")
            wire.open(uri, text)
            made = graph(wire, uri)
            lines = len(text.splitlines()) + 1
            places = [layer["range"] for layer in made["layers"]]
            places += [bundle["range"] for layer in made["layers"] for bundle in layer["bundles"]]
            assert all(place["end"]["line"] <= lines for place in places if place), sample.name
            wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


@pytest.mark.costly
def test_groups_open_as_asked_and_are_drawn_as_describe_draws_them(tmp_path: Path) -> None:
    path = FOLDER / "networks" / "resnet20.cntk"
    with serving(rootUri=path.parent.as_uri()) as wire:
        uri, text = opened(wire, path, "cntk"), path.read_text()
        plain = graph(wire, uri)
        assert "LayerStack 2/" in {layer["name"] for layer in plain["layers"]}
        asked = graph(wire, uri, folds={"LayerStack 2/": True, "no such group/": True})
        (frame,) = asked["frames"]
        assert (frame["key"], frame["boxes"]) == ("LayerStack 2/", 14)
        assert len(asked["layers"]) == len(plain["layers"]) + 1
        deep = graph(wire, uri, depth=1)
        assert graph(wire, uri) == plain
        (stack,) = [layer for layer in plain["layers"] if layer["name"] == "strided 1/"]
        assert cut(text, stack["selectionRange"]) == "strided {cMap[1]}"
    for made, arguments in ((plain, ()), (deep, ("--depth", "1"))):
        svg = netsharp("describe", path.name, "--format", "svg", *arguments, cwd=path.parent).out
        assert svg.count("data-name=") == len(made["layers"])
        assert svg.count("data-key=") == len(made["frames"])
        for each in (*made["layers"], *made["frames"]):
            numbers = {
                side: f"{value:.1f}".removesuffix(".0") for side, value in each["position"].items()
            }
            assert " ".join(f'{side}="{value}"' for side, value in numbers.items()) in svg
