"""The picture of a network in a real browser: what is drawn, and how it is moved through."""

from __future__ import annotations

import base64
import json
import struct
from xml.etree import ElementTree

import pytest

from netsharp_lsp.description.folding import folded
from netsharp_lsp.description.nodes import as_layers
from tests.extension.browser import Act, assert_buttons_are_called_by_their_words
from tests.extension.conftest import ROOT
from tests.extension.pictures import DIGITS, INCEPTION, graph, placed, shown

SELECTED = 'document.querySelector(".layer.selected .name")?.textContent ?? null'


def test_layers_stand_where_the_server_has_put_them(act: Act) -> None:
    found, sent = act(
        "network",
        shown(DIGITS),
        """return $$(".layer").map((layer) => {
          const frame = layer.querySelector(".frame");
          const place = ["x", "y", "width", "height"].map((name) => +frame.getAttribute(name));
          return [[...layer.querySelectorAll("text")].map((each) => each.textContent), place];
        });""",
    )
    assert sent[0] == {"type": "ready"}
    expected = graph(DIGITS)
    assert [place for _, place in found] == [
        list(layer["position"].values()) for layer in expected["layers"]
    ]
    texts = [words for words, _ in found]
    assert texts[0] == ["Image", "[8, 8]"]
    assert texts[1] == ["Conv", "[16, 8, 8] rlinear", "160 parameters"]


def test_texts_stay_in_their_boxes(act: Act) -> None:
    name = "TheWholeOfWhatBOTHTowersHaveSeen"
    text = f"input A [9]; hidden {name} [3] from A all; hidden Two [3] from A all; "
    text += f"share {{ {name}, Two }} output B [2] from Two all;"
    script = """return $$(".layer").map((layer) => {
      const width = layer.querySelector(".frame").getBBox().width;
      const lines = [...layer.querySelectorAll("text")];
      const widest = Math.max(...lines.map((line) => line.getBBox().width));
      return [width - widest, lines.at(-1).textContent];
    });"""
    found, _ = act("network", shown(text.encode()), script)
    assert min(room for room, _ in found) > 8
    assert found[2][1] == f"shares with {name}"


def test_the_nodes_of_a_configuration_are_drawn_and_spoken(act: Act) -> None:
    text = b"""Train = {
      action = "train"
      BrainScriptNetworkBuilder = {
        features = Input {9}
        labels = Input {2, tag = "label"}
        z = LinearLayer {2} (features)
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = (features) ; labelNodes = (labels) ; criterionNodes = (ce)
      }
    }
    """
    script = """return [
      $$(".layer .name").map((each) => each.textContent),
      $$(".layer").map((each) => each.getAttribute("aria-label")),
      $$(".edge title").map((each) => each.textContent)];"""
    (names, labels, edges), _ = act("network", shown(text, "cntk"), script)
    assert set(names) == {"features", "labels", "z", "Times", "ce"}
    assert "hidden z, shape 2, 2 nodes, Plus, from z.PlusArgs[0], 2 parameters" in labels
    assert "z to ce: value, 0 parameters" in edges
    assert "undefined" not in str([labels, edges])


def test_groups_open_and_close_by_mouse_and_keys(act: Act) -> None:
    text = (ROOT / "tests" / "corpus" / "cntk" / "networks" / "resnet20.cntk").read_bytes()
    made = graph(text, language="cntk")
    flat = {**made, "layers": as_layers(made)}
    changed = {"LayerStack 2/": True}
    opened = placed(folded(flat, None, changed))
    messages = [{"type": "graph", "title": "resnet20.cntk", "graph": made}]
    script = f"""
      const names = () => $$(".layer .name").map((each) => each.textContent);
      const box = (label) => $$(".layer").find((each) =>
        each.querySelector(".name").textContent === label);
      const first = [names(), box("\u25b8 LayerStack 2").getAttribute("aria-expanded"),
        $(".totals").textContent];
      box("\u25b8 LayerStack 2").dispatchEvent(
        new MouseEvent("click", {{ bubbles: true, detail: 1 }}));
      await say({json.dumps({"type": "graph", "title": "resnet20.cntk", "graph": opened})});
      const inside = [names(), $$(".group .heading").map((each) => each.textContent), {SELECTED}];
      press("Enter");
      press("Backspace");
      await say({json.dumps(messages[0])});
      const closed = {SELECTED};
      await say({json.dumps({"type": "graph", "title": "resnet20.cntk", "graph": opened})});
      $(".group .grip").dispatchEvent(new MouseEvent("click", {{ bubbles: true }}));
      $(".group").focus();
      press("Enter");
      return [first, inside, closed];"""
    ((names, expanded, totals), (within, headings, first), closed), sent = act(
        "network", messages, script
    )
    assert "\u25b8 LayerStack 2" in names
    assert not [name for name in names if ".x" in name]
    assert (expanded, f"{len(made['nodes'])} nodes" in totals) == ("false", True)
    assert headings == ["\u25be LayerStack 2"]
    assert {"\u25b8 plain 1", "\u25b8 plain 2"} <= set(within)
    assert first == "\u25b8 plain 1"
    assert closed == "\u25b8 LayerStack 2"
    folds = [(each["key"], each["open"]) for each in sent if each["type"] == "fold"]
    assert folds == [
        ("LayerStack 2/", True),
        ("LayerStack 2/plain 1/", True),
        ("LayerStack 2/", False),
        ("LayerStack 2/", False),
        ("LayerStack 2/", False),
    ]


def test_what_closes_a_loop_is_drawn_back_to_the_delay(act: Act) -> None:
    text = b"""Train = { action = "train" ; BrainScriptNetworkBuilder = {
        x = Input {9}
        before = PastValue (9, state)
        state = Tanh (x + before)
        outputNodes = (state)
    } }
    """
    script = """
      const edge = $$(".edge").find((each) => each.textContent.startsWith("state to before"));
      const [way, box, home] = [edge.querySelector(".way"), ...["before", "state"].map((name) =>
        $$(".layer").find((each) => each.querySelector(".name").textContent === name))];
      const end = way.getPointAtLength(way.getTotalLength());
      const [high, low] = [box, home].map((each) => each.querySelector(".frame").getBBox());
      return [end.y - high.y, low.y - high.y, way.getBBox().x + way.getBBox().width,
        high.x + high.width, edge.querySelector(".label").textContent];"""
    (into, below, lane, side, label), _ = act("network", shown(text, "cntk"), script)
    assert abs(into) < 1
    assert below > 0
    assert lane > side
    assert label == "delay"


def test_the_legend_names_the_kinds_that_occur(act: Act) -> None:
    found, _ = act("network", shown(DIGITS), "return $$('.legend li').map((e) => e.textContent);")
    assert found == ["all", "convolve", "max pool", "part of the multiply-adds"]


def test_nothing_is_drawn_from_what_is_no_layer(act: Act) -> None:
    text = b"input A [9]; hidden B [3] { from Missing all; from A all; } output C [2] from B all;"
    script = """
      $$(".edge")[0].dispatchEvent(new MouseEvent("click", { bubbles: true }));
      const words = $$(".edge title").map((each) => each.textContent.split(":")[0]);
      return [$$(".head").length, words];"""
    found, sent = act("network", shown(text), script)
    assert found == [2, ["A to B", "B to C"]]
    assert sent[-1] == {"type": "revealBundle", "layer": "B", "index": 1}


def test_cost_is_a_shade(act: Act) -> None:
    found, _ = act(
        "network",
        shown(DIGITS),
        "return $$('.cost').map((each) => +getComputedStyle(each).fillOpacity);",
    )
    costs = [sum(b["multiply_adds"] for b in layer["bundles"]) for layer in graph(DIGITS)["layers"]]
    assert sorted(range(5), key=lambda i: found[i]) == sorted(range(5), key=lambda i: costs[i])


def test_the_keyboard_follows_the_connections(act: Act) -> None:
    script = f"""
      $(".surface").focus();
      const way = [];
      for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown", "ArrowUp"]) {{
        press(key);
        way.push({SELECTED});
      }}
      press("Enter");
      way.push(document.activeElement.getAttribute("aria-label").split(",")[0]);
      press("Escape");
      way.push({SELECTED});
      return way;"""
    found, sent = act("network", shown(INCEPTION), script)
    assert found[:2] == ["Image", "Middle"]
    assert found[2] == "Broad"
    assert found[3] == "Class"
    assert found[4] in ("Middle", "Broad")
    assert found[5] == f"hidden {found[4]}"
    assert found[6] is None
    reveals = [(each["layer"], each["focus"]) for each in sent if each["type"] == "reveal"]
    assert reveals == [*((name, False) for name in found[:5]), (found[4], True)]


def test_the_cursor_in_the_text_marks_a_layer(act: Act) -> None:
    messages = [*shown(DIGITS), {"type": "cursor", "layer": "Pool"}]
    script = f"""
      const first = [{SELECTED}, $$(".edge.joined").length, $(".heard").textContent];
      await say({{ type: "cursor", layer: null }});
      return [...first, {SELECTED}];"""
    found, sent = act("network", messages, script)
    assert found[:2] == ["Pool", 2]
    assert found[2].startswith("hidden Pool, shape 16 by 4 by 4, 256 nodes")
    assert found[3] is None
    assert not [each for each in sent if each["type"] == "reveal"]


def test_a_click_leads_to_the_text(act: Act) -> None:
    script = """
      $$(".layer")[1].dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
      $$(".layer")[1].dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 2 }));
      $$(".edge")[1].dispatchEvent(new MouseEvent("click", { bubbles: true }));"""
    _, sent = act("network", shown(DIGITS), script)
    assert sent[1:] == [
        {"type": "reveal", "layer": "Conv", "focus": False},
        {"type": "reveal", "layer": "Conv", "focus": True},
        {"type": "revealBundle", "layer": "Pool", "index": 0},
    ]


def test_the_picture_follows_the_text_and_reports_when_it_cannot(act: Act) -> None:
    later = DIGITS.replace(b"[64] rlinear", b"[32] rlinear")
    assert later != DIGITS
    messages = [*shown(DIGITS), {"type": "cursor", "layer": "Full"}, *shown(later)]
    script = """
      const first = [$(".layer.selected").textContent, $(".totals").textContent];
      await say({ type: "stale", message: "There is no specification here." });
      return [...first, $(".notice").textContent, $("#view").className, $$(".layer").length];"""
    found, _ = act("network", messages, script)
    assert "[32] rlinear" in found[0]
    assert f"{graph(later)['parameters']:,} parameters" in found[1]
    assert found[2] == "There is no specification here."
    assert "stale" in found[3]
    assert found[4] == 5


def test_a_deep_network_opens_where_it_can_be_read(act: Act) -> None:
    layers = [f"hidden L{n} [9] from L{n - 1} all;\n" for n in range(1, 60)]
    deep = "".join(["input L0 [9];\n", *layers, "output Last [2] from L59 all;\n"]).encode()
    script = f"""
      const size = () => Math.round($(".layer").getBoundingClientRect().width);
      const top = () => $(".layer").getBoundingClientRect().top;
      const header = $("header").getBoundingClientRect().bottom;
      const sizes = [size(), top() > header];
      await say({json.dumps({"type": "cursor", "layer": "L30"})});
      await pause(400);
      const middle = $(".layer.selected").getBoundingClientRect();
      sizes.push(middle.top > header && middle.bottom < innerHeight);
      await say({json.dumps(shown(deep + b"hidden New [3] from L0 all;")[0])});
      sizes.push(size());
      $(".surface").focus();
      press("0");
      sizes.push(size());
      return sizes;"""
    (opened, starts, follows, later, fitted), _ = act("network", shown(deep), script)
    assert opened > 60
    assert starts
    assert follows
    assert later == opened
    assert fitted < opened / 3


def test_a_button_is_called_by_its_words(act: Act) -> None:
    assert_buttons_are_called_by_their_words(act, "network", shown(DIGITS))


def test_zoom_and_fit(act: Act) -> None:
    script = """
      const size = () => $(".layer").getBoundingClientRect().width;
      const sizes = [size()];
      $(".surface").focus();
      for (const key of ["+", "+", "-", "0"]) { press(key); sizes.push(size()); }
      return sizes;"""
    (first, one, two, back, fitted), _ = act("network", shown(DIGITS), script)
    assert two > one > first
    assert back == pytest.approx(one)
    assert fitted == pytest.approx(first)


def test_the_picture_can_be_saved(act: Act) -> None:
    script = """
      for (const words of ["SVG", "PNG"]) {
        $$("button").find((each) => each.textContent === words).click();
        await pause(500);
      }"""
    _, sent = act("network", shown(DIGITS), script)
    saved = {each["format"]: base64.b64decode(each["base64"]) for each in sent[1:]}
    assert set(saved) == {"svg", "png"}
    root = ElementTree.fromstring(saved["svg"])
    size = (root.get("width"), root.get("height"))
    expected = graph(DIGITS)
    assert [float(each or 0) for each in size] == [expected["width"], expected["height"]]
    text = saved["svg"].decode()
    assert "Conv" in text
    assert "var(" not in text
    assert "class=" not in text
    assert saved["png"].startswith(b"\x89PNG")
    width, height = struct.unpack(">II", saved["png"][16:24])
    assert (width, height) == (-(-expected["width"] * 2 // 1), -(-expected["height"] * 2 // 1))
