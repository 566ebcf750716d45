/** The table of epochs, the newest on top; only the rows that are looked at are on the page. */

import { html } from "../elements";
import { duration, measured } from "../figures";
import type { Epoch, Log } from "./log";

/** Pixels of a row; the style sheet says the same. */
const ROW = 22;
/** Rows beyond each edge, so that a quick scroll shows no gap. */
const SPARE = 10;

interface Column {
  readonly head: string;
  cell(epoch: Epoch): string;
}

export class EpochTable {
  readonly element: HTMLElement;
  private readonly head = html("tr", {});
  private readonly body = html("tbody", {});
  private readonly table: HTMLTableElement;
  private log: Log | undefined;
  private columns: readonly Column[] = [];
  /** The heads of the columns that some epoch has filled, among the epochs looked at so far. */
  private readonly filled = new Set<string>();
  private looked = 0;
  private drawn = "";

  constructor() {
    const head = html("thead", {}, this.head);
    this.table = html("table", {}, html("caption", {}, "Epochs"), head, this.body);
    this.element = html("section", { class: "epochs", tabindex: 0, "aria-label": "Epochs" });
    this.element.append(this.table);
    this.element.hidden = true;
    this.element.addEventListener("scroll", () => this.drawWindow());
  }

  draw(log: Log): void {
    const before = this.log === log ? this.looked : log.epochs.length;
    this.log = log;
    this.element.hidden = log.epochs.length === 0;
    this.look(log);
    // Who has scrolled down goes on reading the same rows while new ones come above.
    if (this.element.scrollTop > 0) {
      this.element.scrollTop += Math.max(0, log.epochs.length - before) * ROW;
    }
    this.drawWindow();
  }

  /** Finds the columns in which any epoch has something to say. */
  private look(log: Log): void {
    const all = columnsOf(log);
    for (const epoch of log.epochs.slice(this.looked)) {
      for (const { head, cell } of all) {
        if (!this.filled.has(head) && cell(epoch) !== "") {
          this.filled.add(head);
        }
      }
    }
    this.looked = log.epochs.length;
    this.columns = all.filter(({ head }) => this.filled.has(head));
    if (this.head.childElementCount !== this.columns.length + 1) {
      const heads = ["epoch", ...this.columns.map(({ head }) => head)];
      this.head.replaceChildren(...heads.map((head) => html("th", { scope: "col" }, head)));
    }
  }

  private drawWindow(): void {
    const epochs = this.log?.epochs ?? [];
    const top = Math.floor(this.element.scrollTop / ROW) - SPARE;
    const first = Math.max(0, Math.min(top, epochs.length - 1));
    const room = Math.ceil(this.element.clientHeight / ROW) + 2 * SPARE;
    const past = Math.min(epochs.length, first + room);
    const newest = epochs.at(-1);
    const drawn = `${first} ${past} ${epochs.length} ${newest?.epoch} ${newest?.loss}`;
    if (drawn === this.drawn) {
      return;
    }
    this.drawn = drawn;
    this.table.setAttribute("aria-rowcount", String(epochs.length + 1));
    const rows: HTMLTableRowElement[] = [];
    for (let place = first; place < past; place += 1) {
      rows.push(row(epochs[epochs.length - 1 - place] as Epoch, this.columns, place + 2));
    }
    this.body.replaceChildren(gap(first), ...rows, gap(epochs.length - past));
  }
}

/** Room for rows that are not on the page. */
function gap(rows: number): HTMLTableRowElement {
  const made = html("tr", { class: "gap", "aria-hidden": "true" });
  made.style.height = `${rows * ROW}px`;
  return made;
}

function columnsOf(log: Log): Column[] {
  const measures = [...log.series.keys()].filter((name) => name !== "loss");
  return [
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
}

function row(epoch: Epoch, shown: readonly Column[], index: number): HTMLTableRowElement {
  return html(
    "tr",
    { "aria-rowindex": index },
    html("th", { scope: "row" }, String(epoch.epoch)),
    ...shown.map((column) => html("td", {}, column.cell(epoch))),
  );
}

/** `mean_error` as people write it. */
export function title(name: string): string {
  return name.replaceAll("_", " ");
}
