/** What the lines and the shades mean, and the totals of the network. */

import type { Graph } from "../../protocol";
import { html, svg } from "../elements";
import { whole } from "../figures";
import { occurring } from "./kinds";

export function legend(graph: Graph): HTMLElement {
  const names = new Set(graph.layers.flatMap((layer) => layer.bundles.map((each) => each.kind)));
  const kinds = occurring(names).map((kind) =>
    html(
      "li",
      {},
      svg(
        "svg",
        { width: 34, height: 10, class: `edge ${kind.style}`, "aria-hidden": "true" },
        svg("path", { class: "way", d: "M 0 5 H 34", "stroke-dasharray": kind.dash }),
      ),
      kind.name,
    ),
  );
  const items = graph.multiply_adds ? [...kinds, shades()] : kinds;
  return html("ul", { class: "legend", "aria-label": "Legend" }, ...items);
}

function shades(): HTMLElement {
  const scale = [0, 0.25, 0.5, 0.75, 1].map((cost) => {
    const step = html("span", { class: "step" });
    step.style.setProperty("--cost", String(cost));
    return step;
  });
  const strip = html("span", { class: "strip", "aria-hidden": "true" }, ...scale);
  return html("li", {}, strip, "part of the multiply-adds");
}

export function totals(graph: Graph): HTMLElement[] {
  const known = [
    [graph.parameters, "parameters"],
    [graph.multiply_adds, "multiply-adds"],
  ] as const;
  const counts = known.flatMap(([count, name]) =>
    count === null ? [] : [`${whole(count)} ${name}`],
  );
  const missing = counts.length < known.length ? ["more counts need the sizes of auto"] : [];
  const count = graph.nodes?.length || graph.layers.length;
  const boxes = `${count} ${graph.builder === undefined ? "layers" : "nodes"}`;
  return [boxes, ...counts, ...missing].map((words) => html("span", {}, words));
}
