"""Both views in a real browser, under the policy that the editor gives them.

A page stands for the editor: it has the messages ready, and keeps what the view says. A script
then acts as a person would, and what it finds is read from the page.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import shutil
import signal
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.description.folding import folded
from netsharp_lsp.description.nodes import as_layers
from netsharp_lsp.description.picture import lay_out
from netsharp_lsp.language import language_by_id
from tests.extension.conftest import EXTENSION, ROOT

DIGITS = (ROOT / "examples" / "digits" / "digits.nn").read_bytes()
INCEPTION = (ROOT / "tests" / "corpus" / "valid" / "inception.nn").read_bytes()
#: What the editor's own page allows (see src/page.ts), and that the page may tell the result.
POLICY = "default-src 'none'; style-src file:; script-src 'nonce-x'; img-src data:"
TELLING = "; connect-src http://127.0.0.1:*"
PAGE = """<!DOCTYPE html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="stylesheet" href="{style}"></head>
<body class="vscode-dark"><main id="view"></main>
<script nonce="x">
const sent = [], faults = [];
addEventListener("error", (event) => faults.push(String(event.message)));
addEventListener("securitypolicyviolation", (event) => faults.push(event.violatedDirective));
function acquireVsCodeApi() {{ return {{ postMessage: (message) => sent.push(message) }}; }}
</script>
<script nonce="x" src="{script}"></script>
<script nonce="x">
const $ = (selector) => document.querySelector(selector);
const $$ = (selector) => [...document.querySelectorAll(selector)];
const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));
const press = (key) => (document.activeElement ?? document.body).dispatchEvent(
  new KeyboardEvent("keydown", {{ key, bubbles: true, cancelable: true }}));
const frame = () => new Promise(requestAnimationFrame);
const say = async (message) => {{
  postMessage(message, "*");
  await pause(60);
  await frame();
  await frame();
}};
(async () => {{
  let found;
  try {{
    await pause(50);
    for (const message of {messages}) await say(message);
    found = await (async () => {{ {act} }})();
  }} catch (error) {{ faults.push(String(error.stack)); }}
  const body = JSON.stringify({{ found, sent, faults }});
  await fetch("{address}", {{ method: "POST", mode: "no-cors", body }});
}})();
</script></body></html>"""

Act = Callable[..., tuple[Any, list[dict[str, Any]]]]


@pytest.fixture(scope="session")
def dist(node: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The views as they are packed."""
    folder = tmp_path_factory.mktemp("dist")
    command = [node, "scripts/build.mjs", f"--into={folder}"]
    subprocess.run(command, cwd=EXTENSION, check=True)
    return folder


class Listener:
    """Waits on this machine for what a page tells."""

    def __init__(self) -> None:
        self.told: queue.Queue[str] = queue.Queue()
        told = self.told

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                told.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(scope="session")
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.server.shutdown()


@pytest.fixture
def act(dist: Path, listener: Listener, tmp_path: Path) -> Act:
    """Open a view, tell it messages, run a script in it; what that returns, and what was said."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("Chromium is not installed")

    def run(view: str, messages: list[Any], script: str) -> tuple[Any, list[dict[str, Any]]]:
        page = tmp_path / f"{view}.html"
        parts = {
            "policy": POLICY + TELLING,
            "address": listener.address,
            "style": (EXTENSION / "media" / f"{view}.css").as_uri(),
            "script": (dist / f"{view}.js").as_uri(),
            "messages": json.dumps(messages),
            "act": script,
        }
        page.write_text(PAGE.format(**parts), encoding="utf-8")
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        command += ["--allow-file-access-from-files", "--window-size=800,700"]
        command += [f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        browser = subprocess.Popen(command, start_new_session=True, **quiet)
        try:
            result = json.loads(listener.told.get(timeout=60))
        finally:
            os.killpg(browser.pid, signal.SIGKILL)
            browser.wait()
        assert result["faults"] == []
        return result.get("found"), result["sent"]

    return run


def graph(text: bytes, version: int = 1, language: str = "netsharp") -> dict[str, Any]:
    """What `netsharp/graph` answers, but for the places in the text."""
    description = language_by_id(language).open(text, Context()).graph().description
    return {**placed(description), "version": version, "uri": "file:///digits.nn"}


def placed(description: dict[str, Any]) -> dict[str, Any]:
    """A description with where everything is drawn, as the server says it."""
    picture = lay_out(description)
    arrows = iter(picture.arrows)
    sides = ("x", "y", "width", "height")
    names = {layer["name"] for layer in description["layers"]}
    for layer, box in zip(description["layers"], picture.boxes, strict=True):
        layer["position"] = {key: getattr(box, key) for key in sides}
        layer["range"] = layer["selectionRange"] = None
        for bundle in layer["bundles"]:
            known = bundle["source"] in names
            bundle |= {"points": next(arrows).points if known else [], "range": None}
    for frame, box in zip(description.get("frames", ()), picture.frames, strict=True):
        frame["position"] = {key: getattr(box, key) for key in sides}
    return {**description, "width": picture.width, "height": picture.height}


def shown(text: bytes, language: str = "netsharp") -> list[dict[str, Any]]:
    return [{"type": "graph", "title": "digits.nn", "graph": graph(text, language=language)}]


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


def test_the_picture_follows_the_text_and_says_when_it_cannot(act: Act) -> None:
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


@pytest.mark.parametrize("view", ["network", "training"])
def test_a_button_is_called_by_its_words(act: Act, view: str) -> None:
    script = """return $$("button").map((each) =>
      [each.textContent, each.getAttribute("aria-label") ?? each.textContent]);"""
    found, _ = act(view, shown(DIGITS) if view == "network" else [replay("running", START)], script)
    assert len(found) >= 5
    for words, name in found:
        assert words in name if words.isalpha() else name.isascii(), (words, name)


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


def event(name: str, **values: Any) -> dict[str, Any]:
    return {"id": "run-1", "event": name, **values}


def epoch(number: int) -> dict[str, Any]:
    measures = {"accuracy": 1 - 1 / (number + 1)}
    validation = {"loss": 2 / number, "accuracy": 0.5}
    return event("epoch", epoch=number, loss=1 / number, metrics=measures, validation=validation)


START = event("start", metrics={"epochs": 10, "steps": 5, "rows": 100, "parameters": 42})


def replay(status: str, *events: dict[str, Any], **more: str) -> dict[str, Any]:
    ends = {"error": "", "model": "", **more}
    return {"type": "replay", "title": "digits.nn", "status": status, "events": [*events], **ends}


FACE = """
  const seen = (element) => element.offsetParent !== null;
  const face = () => ({
    status: $(".status").textContent,
    facts: $(".facts").textContent,
    buttons: $$(".tools button").filter(seen).map((each) => each.textContent),
    curves: $$("figure").map((figure) => [
      figure.querySelector("figcaption").textContent,
      ...[...figure.querySelectorAll("polyline")].map((each) =>
        each.getAttribute("points").split(" ").length),
    ]),
    rows: $$("tbody tr:not(.gap)").map((row) => [...row.children].map((cell) => cell.textContent)),
    failure: $(".failure").textContent,
    model: seen($(".result")) ? $(".result .link").textContent : null,
  });"""


def test_curves_grow_while_the_network_learns(act: Act) -> None:
    script = f"""{FACE}
      const before = face();
      await say({{ type: "events", events: [{json.dumps(epoch(3))}] }});
      $$(".tools button").find((each) => each.textContent === "Stop").click();
      return [before, face()];"""
    messages = [replay("running", START, epoch(1), epoch(2))]
    (before, after), sent = act("training", messages, script)
    assert before["curves"] == [["loss", 2, 2], ["accuracy", 2, 2]]
    assert after["curves"] == [["loss", 3, 3], ["accuracy", 3, 3]]
    assert after["rows"][0] == ["3", "0.3333", "0.6667", "0.75", "0.5"]
    assert [row[0] for row in after["rows"]] == ["3", "2", "1"]
    assert "epoch 3 of 10" in after["facts"]
    assert (before["status"], after["status"]) == ("training", "stopping")
    assert after["buttons"] == ["Stop"]
    assert sent == [{"type": "ready"}, {"type": "stop"}]


#: How many epochs a page is to hold, and how many milliseconds a frame may take then.
MANY, FRAME = 100_000, 1000 / 30


def test_very_many_epochs_are_drawn_at_the_rate_of_a_screen(act: Act) -> None:
    """The figure is the least of some medians: what else runs here only makes it larger."""
    script = f"""{FACE}
      const told = (number) => ({{ id: 1, event: "epoch", epoch: number, loss: 1 / number,
        metrics: {{ accuracy: 0.9 }}, validation: {{ loss: 2 / number, accuracy: 0.8 }} }});
      const all = Array.from({{ length: {MANY} }}, (_, index) => told(index + 1));
      await say({{ type: "replay", title: "n.nn", status: "running", error: "", model: "",
        events: [{json.dumps(START)}, ...all] }});
      let next = {MANY};
      const frames = async () => {{
        const gaps = [];
        for (let turn = 0; turn < 40; turn++) {{
          const began = performance.now();
          postMessage({{ type: "events", events: [told(++next), told(++next)] }}, "*");
          await frame();
          gaps.push(performance.now() - began);
        }}
        return gaps.sort((one, other) => one - other)[20];
      }};
      const medians = [await frames(), await frames(), await frames(), await frames()];
      await pause(60);
      const top = face();
      const table = $(".epochs");
      table.scrollTop = table.scrollHeight;
      await frame();
      await frame();
      return [Math.min(...medians), top, face().rows];"""
    (gap, face, oldest), _ = act("training", [], script)
    assert gap <= FRAME
    newest = MANY + 4 * 40 * 2
    assert [row[0] for row in face["rows"][:2]] == [str(newest), str(newest - 1)]
    assert len(face["rows"]) < 100
    assert oldest[-1][0] == "1"
    assert all(200 < points <= 1025 for _, *lines in face["curves"] for points in lines)


def test_a_finished_run_leads_to_its_model(act: Act) -> None:
    end = event("end", epoch=2, loss=0.5, status="finished", model="/home/me/digits.safetensors")
    messages = [
        replay("running", START, epoch(1), epoch(2)),
        {"type": "events", "events": [end]},
        {"type": "status", "status": "finished", "error": "", "model": end["model"]},
    ]
    script = f"""{FACE}
      $(".result .link").click();
      for (const words of ["Resume", "Train again"])
        $$("button").find((each) => each.textContent === words).click();
      return face();"""
    found, sent = act("training", messages, script)
    assert found["status"] == "finished"
    assert found["model"] == "/home/me/digits.safetensors"
    assert found["buttons"] == ["Resume", "Train again"]
    assert [each["type"] for each in sent] == ["ready", "model", "resume", "again"]


def test_without_validation_nothing_is_said_of_it(act: Act) -> None:
    events = [{**epoch(number), "validation": {}} for number in (1, 2)]
    script = """
      const charts = $$(".chart").map((each) => each.getAttribute("aria-label"));
      return [$(".key").innerText, charts];"""
    found, _ = act("training", [replay("running", START, *events)], script)
    assert found == ["training", ["loss: training 0.5", "accuracy: training 0.6667"]]


def test_a_failure_is_said(act: Act) -> None:
    sentence = "digits.toml:4: there is no column 'digitt'; did you mean 'digit'?"
    found, _ = act("training", [replay("failed", error=sentence)], f"{FACE} return face();")
    assert found["failure"] == sentence
    assert found["curves"] == found["rows"] == []
    assert found["buttons"] == ["Train again"]
