/** The table of epochs, the newest on top. */

import { html } from "../elements";
import { duration, measured } from "../figures";
import type { Epoch, Log } from "./log";

/** How many rows are shown; the curves hold the rest. */
const MOST_ROWS = 200;

export function table(log: Log): HTMLTableElement {
  const names = [...log.series.keys()].filter((name) => name !== "loss");
  const heads = [
    "epoch",
    "loss",
    "validation loss",
    ...names.flatMap((name) => [name, `validation ${name}`]),
    "rate",
    "time",
  ].map(title);
  const rows = log.epochs.slice(-MOST_ROWS).reverse().map((epoch) => row(epoch, names));
  return html(
    "table",
    {},
    html("caption", {}, "Epochs"),
    html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
    html("tbody", {}, ...rows),
  );
}

function row(epoch: Epoch, names: readonly string[]): HTMLTableRowElement {
  const values = [
    measured(epoch.loss),
    measured(epoch.validation["loss"]),
    ...names.flatMap((name) => [measured(epoch.metrics[name]), measured(epoch.validation[name])]),
    measured(epoch.rate),
    duration(epoch.seconds),
  ];
  return html(
    "tr",
    {},
    html("th", { scope: "row" }, String(epoch.epoch)),
    ...values.map((value) => html("td", {}, value)),
  );
}

/** `mean_error` as people write it. */
export function title(name: string): string {
  return name.replaceAll("_", " ");
}
