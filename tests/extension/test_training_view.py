"""The view of a training in a real browser: curves, table, Stop and what came of a run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.extension.browser import Act, assert_buttons_are_called_by_their_words


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


def wishes(sent: list[dict[str, Any]]) -> list[str]:
    """What a page has asked for, without what it says of its own drawing."""
    return [each["type"] for each in sent if each["type"] != "drawn"]


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
    # The page confirms that it has drawn, which the extension waits for before it sends more.
    assert [each["type"] for each in sent[-2:]] == ["drawn", "stop"]
    assert wishes(sent) == ["ready", "stop"]


#: How many epochs a page is to hold, and how many milliseconds a frame may take then.
MANY, FRAME = 100_000, 1000 / 30


@pytest.mark.costly
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
    assert wishes(sent) == ["ready", "model", "resume", "again"]


def test_a_command_of_a_configuration_has_curves_of_training_and_validation(act: Act) -> None:
    def progress_event(number: int) -> dict[str, Any]:
        checked = {"loss": 2 / number, "evaluation": {"errs": 0.5}}
        beside = {"command": "learn", "action": "train", "criterion": "ce"}
        figures = {"loss": 1 / number, "evaluation": {"errs": 0.25}, "validation": checked}
        return event("epoch", epoch=number, **figures, **beside)

    messages = [replay("running", START, progress_event(1), progress_event(2), progress_event(3))]
    found, _ = act("training", messages, f"{FACE} return face();")
    assert found["curves"] == [["loss", 3, 3], ["errs", 3, 3]]
    assert found["rows"][0] == ["3", "0.3333", "0.6667", "0.25", "0.5"]


def test_without_validation_nothing_is_reported_of_it(act: Act) -> None:
    events = [{**epoch(number), "validation": {}} for number in (1, 2)]
    script = """
      const charts = $$(".chart").map((each) => each.getAttribute("aria-label"));
      return [$(".key").innerText, charts];"""
    found, _ = act("training", [replay("running", START, *events)], script)
    assert found == ["training", ["loss: training 0.5", "accuracy: training 0.6667"]]


def test_a_failure_is_reported(act: Act) -> None:
    sentence = "digits.toml:4: there is no column 'digitt'; did you mean 'digit'?"
    found, _ = act("training", [replay("failed", error=sentence)], f"{FACE} return face();")
    assert found["failure"] == sentence
    assert found["curves"] == found["rows"] == []
    assert found["buttons"] == ["Train again"]


def test_a_button_is_called_by_its_words(act: Act) -> None:
    assert_buttons_are_called_by_their_words(act, "training", [replay("running", START)])
