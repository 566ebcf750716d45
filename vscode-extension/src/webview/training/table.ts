/** The table of epochs, the newest on top. */

import { html } from "../elements";
import { duration, measured } from "../figures";
import type { Epoch, Log } from "./log";

/** How many rows are shown; the curves hold the rest. */
const MOST_ROWS = 200;

export function table(log: Log): HTMLTableElement {
  const shown = columns(log);
  const heads = ["epoch", ...shown.map((column) => column.head)];
  const newest = log.epochs.slice(-MOST_ROWS).reverse();
  return html(
    "table",
    {},
    html("caption", {}, "Epochs"),
    html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
    html("tbody", {}, ...newest.map((epoch) => row(epoch, shown))),
  );
}

interface Column {
  readonly head: string;
  cell(epoch: Epoch): string;
}

/** The columns in which any epoch has something to say. */
function columns(log: Log): Column[] {
  const measures = [...log.series.keys()].filter((name) => name !== "loss");
  const all: Column[] = [
    { head: "loss", cell: (epoch) => measured(epoch.loss) },
    { head: "validation loss", cell: (epoch) => measured(epoch.validation["loss"]) },
    ...measures.flatMap((name) => [
      { head: title(name), cell: (epoch: Epoch) => measured(epoch.metrics[name]) },
      {
        head: `validation ${title(name)}`,
        cell: (epoch: Epoch) => measured(epoch.validation[name]),
      },
    ]),
    { head: "rate", cell: (epoch) => measured(epoch.rate) },
    { head: "time", cell: (epoch) => duration(epoch.seconds) },
  ];
  return all.filter((column) => log.epochs.some((epoch) => column.cell(epoch) !== ""));
}

function row(epoch: Epoch, shown: readonly Column[]): HTMLTableRowElement {
  return html(
    "tr",
    {},
    html("th", { scope: "row" }, String(epoch.epoch)),
    ...shown.map((column) => html("td", {}, column.cell(epoch))),
  );
}

/** `mean_error` as people write it. */
export function title(name: string): string {
  return name.replaceAll("_", " ");
}
