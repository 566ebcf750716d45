/** The table of a model's nodes, with a histogram for each parameter once it is known. */

import type { Graph, ModelNode, Weights } from "../../protocol";
import { html, svg } from "../elements";
import { measured, whole } from "../figures";

/** More rows than these nobody reads, and a page does not lay out at once. */
const MOST_ROWS = 5000;
const HEADS = ["node", "operation", "inputs", "shape", "axis", "groups", "parameters", "numbers"];
/** A histogram's size, in pixels. */
const WIDTH = 128;
const HEIGHT = 24;

export class NodeTable {
  readonly element = html("section", { class: "model", "aria-label": "Nodes", tabindex: 0 });
  private rows = new Map<string, HTMLTableRowElement>();
  private cells = new Map<string, HTMLTableCellElement>();
  /** What is known of numbers: opening a group draws the table anew. */
  private readonly known = new Map<string, Weights>();

  constructor(private readonly chosen: (name: string) => void) {}

  /** Shows the nodes of a model file; nothing for a text, which has them itself. */
  show(graph: Graph): void {
    this.rows = new Map();
    this.cells = new Map();
    this.element.hidden = graph.lines === undefined;
    if (graph.lines === undefined) {
      this.element.replaceChildren();
      return;
    }
    const nodes = graph.nodes ?? [];
    const body = html("tbody", {}, ...nodes.slice(0, MOST_ROWS).map((node) => this.row(node)));
    const heads = HEADS.map((head) => html("th", { scope: "col" }, head));
    const more = nodes.length - MOST_ROWS;
    this.element.replaceChildren(
      ...graph.lines.map((line) => html("p", { class: classOf(line) }, line)),
      ...(nodes.length === 0
        ? []
        : [html("table", {}, html("thead", {}, html("tr", {}, ...heads)), body)]),
      ...(more > 0 ? [html("p", {}, `${whole(more)} more nodes are in the picture alone.`)] : []),
    );
    this.fill([...this.known.values()]);
  }

  /** Puts histograms into their rows. */
  fill(several: readonly Weights[]): void {
    for (const weights of several) {
      this.known.set(weights.name, weights);
      this.cells.get(weights.name)?.replaceChildren(histogram(weights), figures(weights));
    }
  }

  /** Marks the row of a node. */
  mark(name: string | undefined): void {
    for (const [other, row] of this.rows) {
      row.classList.toggle("selected", other === name);
    }
    if (name !== undefined && !this.element.contains(document.activeElement)) {
      this.rows.get(name)?.scrollIntoView({ block: "nearest" });
    }
  }

  private row(node: ModelNode): HTMLTableRowElement {
    const numbers = html("td", { class: "numbers" });
    const name = html("th", { scope: "row" }, node.name);
    const row = html(
      "tr",
      {},
      name,
      html("td", {}, node.operation),
      html("td", {}, node.inputs.join(", ")),
      html("td", {}, node.shape === null ? "?" : node.shape.join(" x ")),
      html("td", {}, node.axis ?? ""),
      html("td", {}, node.groups.join(", ")),
      html("td", { class: "count" }, node.parameters ? whole(node.parameters) : ""),
      numbers,
    );
    row.addEventListener("click", () => this.chosen(node.name));
    this.rows.set(node.name, row);
    this.cells.set(node.name, numbers);
    return row;
  }
}

function classOf(line: string): string {
  return line.startsWith("not read: ") ? "line fault" : "line";
}

/** The bars of a parameter, the highest as high as there is room. */
export function histogram(weights: Weights): SVGSVGElement {
  const { bars } = weights;
  const top = Math.max(1, ...bars);
  const width = WIDTH / Math.max(1, bars.length);
  const drawn = bars.map((count, index) => {
    const height = count === 0 ? 0 : Math.max(1, (count / top) * HEIGHT);
    return svg("rect", { x: index * width, y: HEIGHT - height, width, height });
  });
  const size = { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}` };
  const words = `histogram of ${weights.name}: ${spoken(weights)}`;
  return svg("svg", { class: "bars", role: "img", "aria-label": words, ...size }, ...drawn);
}

function figures(weights: Weights): HTMLElement {
  const { least, greatest, mean, deviation } = weights;
  const span = least === null ? "" : `${shown(least)} .. ${shown(greatest)}`;
  const element = html("span", {}, span, brokenWords(weights));
  element.title = `mean ${shown(mean)}, deviation ${shown(deviation)}, norm ${shown(weights.norm)}, ${whole(weights.zeros)} zeros`;
  return element;
}

function brokenWords(weights: Weights): string {
  return weights.not_finite === 0 ? "" : ` ${whole(weights.not_finite)} not finite`;
}

function spoken(weights: Weights): string {
  const { least, greatest, mean } = weights;
  const span =
    least === null
      ? "none is finite"
      : `from ${shown(least)} to ${shown(greatest)}, mean ${shown(mean)}`;
  return `${whole(weights.size)} numbers, ${span}${brokenWords(weights)}`;
}

function shown(value: number | null): string {
  return value === null ? "?" : measured(value);
}
