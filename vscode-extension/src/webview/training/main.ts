/** The training view: joins the log of a run, its curves, its table and the extension. */

import type { RunEvent } from "../../protocol";
import type { FromView, Status, ToView } from "../../training/messages";
import { button, html } from "../elements";
import { duration, measured, whole } from "../figures";
import { connect } from "../host";
import { chart } from "./curve";
import { type Log, read } from "./log";
import { table, title as words } from "./table";

const WORDS: Readonly<Record<Status, string>> = {
  starting: "starting",
  running: "training",
  stopping: "stopping after this step",
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
const epochs = html("section", { class: "epochs" });

let events: RunEvent[] = [];
let waiting = false;

const send = connect<ToView, FromView>(hear);
const stop = button("Stop", "Stop and keep the model", () => send({ type: "stop" }));
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
  epochs,
);
send({ type: "ready" });

function hear(message: ToView): void {
  switch (message.type) {
    case "replay":
      name.textContent = message.title;
      events = [...message.events];
      stand(message.status, message.error, message.model);
      break;
    case "event":
      events.push(message.event);
      break;
    case "status":
      stand(message.status, message.error, message.model);
      break;
  }
  drawSoon();
}

/** Shows how the run stands, and offers what can be done with it. */
function stand(now: Status, error: string, file: string): void {
  status.textContent = WORDS[now];
  status.className = `status ${now}`;
  failure.textContent = error;
  result.hidden = file === "";
  model.textContent = file;
  const active = now === "starting" || now === "running" || now === "stopping";
  stop.hidden = !active;
  stop.disabled = now !== "running";
  resume.hidden = active || (file === "" && now === "failed");
  again.hidden = active;
}

/** Draws once for all that comes between two frames. */
function drawSoon(): void {
  if (!waiting) {
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw(read(events));
    });
  }
}

function draw(log: Log): void {
  const done = log.epochs.at(-1)?.epoch ?? 0;
  bar.max = Math.max(log.ordered, done, 1);
  bar.value = done;
  bar.hidden = log.ordered === 0 && failure.textContent !== "";
  facts.textContent = factsOf(log, done);
  key.hidden = log.epochs.length === 0;
  judged.hidden = !hasValidation(log);
  const told = [...log.series].filter(
    ([, { training, validation }]) => training.length + validation.length > 0,
  );
  const figures = told.map(([measure, series]) =>
    html(
      "figure",
      {},
      html("figcaption", {}, words(measure)),
      chart(words(measure), series, log.ordered),
    ),
  );
  charts.replaceChildren(...figures);
  epochs.replaceChildren(...(log.epochs.length === 0 ? [] : [table(log)]));
}

function hasValidation(log: Log): boolean {
  return [...log.series.values()].some((each) => each.validation.length > 0);
}

function factsOf(log: Log, done: number): string {
  const start = events.findLast((event) => event.event === "start")?.metrics ?? {};
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
