/** The training view: joins the log of a run, its curves, its table and the extension. */

import type { FromView, Status, ToView } from "../../training/messages";
import { button, html } from "../elements";
import { duration, measured, whole } from "../figures";
import { connect } from "../host";
import { Chart } from "./curve";
import { Log, type Series } from "./log";
import { EpochTable, title as words } from "./table";

const WORDS: Readonly<Record<Status, string>> = {
  starting: "starting",
  running: "training",
  stopping: "stopping",
  finished: "finished",
  stopped: "stopped",
  failed: "failed",
};

const view = document.getElementById("view") as HTMLElement;
const name = html("button", {
  type: "button",
  class: "link name",
  title: "Show the specification",
});
const status = html("span", { class: "status", role: "status" });
const facts = html("p", { class: "facts" });
const bar = html("progress", { max: 1, value: 0, "aria-label": "Epochs done" });
const failure = html("p", { class: "failure", role: "alert" });
const result = html("p", { class: "result" });
const charts = html("section", { class: "charts", "aria-label": "Curves" });
const judged = html("span", {}, html("span", { class: "sample validation" }), "validation");
const key = html(
  "p",
  { class: "key", "aria-hidden": "true" },
  html("span", {}, html("span", { class: "sample training" }), "training"),
  judged,
);
const drawnCharts = new Map<Series, Chart>();

let epochs = new EpochTable();
let log = new Log();
let waiting = false;
/** Whether this view has asked the run to stop; what comes meanwhile does not take that back. */
let asked = false;

const send = connect<ToView, FromView>(hear);
const stop = button("Stop", "Stop and keep the model", () => {
  asked = true;
  stand("stopping", "", "");
  send({ type: "stop" });
});
const resume = button("Resume", "Go on from the model that is there", () =>
  send({ type: "resume" }),
);
const again = button("Train again", "Start from the beginning", () => send({ type: "again" }));
const model = button("", "Show the model file", () => send({ type: "model" }));
model.classList.add("link");
result.append("Model: ", model);
name.addEventListener("click", () => send({ type: "specification" }));

view.append(
  html(
    "header",
    {},
    html("h1", {}, name),
    status,
    html("div", { class: "tools", role: "toolbar", "aria-label": "Run" }, stop, resume, again),
  ),
  bar,
  facts,
  failure,
  result,
  key,
  charts,
  epochs.element,
);
send({ type: "ready" });

function hear(message: ToView): void {
  switch (message.type) {
    case "replay":
      begin(message.title);
      asked = false;
      message.events.forEach((event) => log.take(event));
      stand(message.status, message.error, message.model);
      break;
    case "events":
      message.events.forEach((event) => log.take(event));
      break;
    case "status":
      stand(message.status, message.error, message.model);
      break;
  }
  drawSoon();
}

/** Clears the page for a run that is told from its start. */
function begin(title: string): void {
  name.textContent = title;
  log = new Log();
  drawnCharts.clear();
  const fresh = new EpochTable();
  epochs.element.replaceWith(fresh.element);
  epochs = fresh;
}

/** Shows how the run stands, and offers what can be done with it. */
function stand(told: Status, error: string, file: string): void {
  const now = asked && (told === "starting" || told === "running") ? "stopping" : told;
  status.textContent = WORDS[now];
  status.className = `status ${now}`;
  failure.textContent = error;
  result.hidden = file === "";
  model.textContent = file;
  const active = now === "starting" || now === "running" || now === "stopping";
  stop.hidden = !active;
  stop.disabled = now === "stopping";
  resume.hidden = active || (file === "" && now === "failed");
  again.hidden = active;
}

/** Draws once for all that comes between two frames. */
function drawSoon(): void {
  if (!waiting) {
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      // What is not said to be drawn keeps all that comes behind it.
      try {
        draw();
      } finally {
        send({ type: "drawn" });
      }
    });
  }
}

function draw(): void {
  const done = log.epochs.at(-1)?.epoch ?? 0;
  bar.max = Math.max(log.ordered, done, 1);
  bar.value = done;
  bar.hidden = log.ordered === 0 && failure.textContent !== "";
  facts.textContent = factsOf(done);
  key.hidden = log.epochs.length === 0;
  judged.hidden = ![...log.series.values()].some(({ validation }) => validation.length > 0);
  drawCharts();
  epochs.draw(log);
}

/** Draws each curve that has points, in the order of the measures. */
function drawCharts(): void {
  const told = [...log.series].filter(
    ([, { training, validation }]) => training.length + validation.length > 0,
  );
  const shown = told.map(([measure, series]) => {
    const chart = drawnCharts.get(series) ?? new Chart(words(measure), series);
    drawnCharts.set(series, chart);
    chart.draw(log.ordered);
    return chart.element;
  });
  if (shown.length !== charts.childElementCount || shown.some((each) => each.parentNode !== charts)) {
    charts.replaceChildren(...shown);
  }
}

function factsOf(done: number): string {
  const { start } = log;
  const newest = log.epochs.at(-1);
  const parts = [
    ...(log.ordered > 0 ? [`epoch ${done} of ${log.ordered}`] : []),
    ...(newest?.loss === undefined ? [] : [`loss ${measured(newest.loss)}`]),
    ...(start["rows"] === undefined ? [] : [`${whole(start["rows"])} rows`]),
    ...(start["parameters"] === undefined ? [] : [`${whole(start["parameters"])} parameters`]),
    ...(log.last?.seconds === undefined ? [] : [duration(log.last.seconds)]),
  ];
  return parts.join("  ·  ");
}
