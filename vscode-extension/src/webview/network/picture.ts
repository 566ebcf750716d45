/** Draws a graph as SVG at the server's coordinates; knows nothing of zoom, keys or messages. */

import type { Graph, GraphBundle, GraphLayer } from "../../protocol";
import { svg } from "../elements";
import { whole } from "../figures";
import { kindOf } from "./kinds";

export interface Picture {
  readonly root: SVGGElement;
  readonly boxes: ReadonlyMap<string, SVGGElement>;
  /** The edges into each layer, in the order of its bundles. */
  readonly edges: ReadonlyMap<string, readonly SVGGElement[]>;
}

const ROUNDING = { input: 22, hidden: 6, output: 6 } as const;
/** How far below a box's edge its name stands, and each further line below that. */
const NAME_LINE = 18;
const FURTHER_LINE = 14;
const HEAD = 7;

export function draw(graph: Graph): Picture {
  const boxes = new Map(graph.layers.map((layer) => [layer.name, box(graph, layer)]));
  const edges = new Map(graph.layers.map((layer) => [layer.name, layer.bundles.map(
    (bundle) => edge(layer, bundle),
  )]));
  const root = svg("g", {}, ...[...edges.values()].flat(), ...boxes.values());
  return { root, boxes, edges };
}

/** The part of all multiply-adds that a layer costs, from 0 to 1. */
export function costOf(graph: Graph, layer: GraphLayer): number {
  const own = layer.bundles.reduce((sum, bundle) => sum + (bundle.multiply_adds ?? 0), 0);
  return graph.multiply_adds ? own / graph.multiply_adds : 0;
}

function box(graph: Graph, layer: GraphLayer): SVGGElement {
  const { x, y, width, height } = layer.position ?? { x: 0, y: 0, width: 0, height: 0 };
  const shape = { x, y, width, height, rx: ROUNDING[layer.kind] };
  const cost = svg("rect", { ...shape, class: "cost" });
  cost.style.setProperty("--cost", costOf(graph, layer).toFixed(3));
  const lines = linesOf(layer).map((line, index) =>
    svg("text", { class: "line", x: x + width / 2, y: y + NAME_LINE + FURTHER_LINE * (index + 1) }, line),
  );
  return svg(
    "g",
    { class: `layer ${layer.kind}`, tabindex: -1, role: "button", "aria-label": spoken(graph, layer) },
    svg("title", {}, spoken(graph, layer)),
    svg("rect", { ...shape, class: "paper" }),
    cost,
    svg("rect", { ...shape, class: "frame" }),
    svg("text", { class: "name", x: x + width / 2, y: y + NAME_LINE }, layer.name),
    ...lines,
  );
}

function linesOf(layer: GraphLayer): string[] {
  const shape = layer.shape === null ? "auto" : `[${layer.shape.join(", ")}]`;
  const first = layer.activation === null ? shape : `${shape} ${layer.activation}`;
  return layer.parameters ? [first, `${whole(layer.parameters)} parameters`] : [first];
}

/** A layer in words, for those who hear the picture and for the mouse at rest. */
export function spoken(graph: Graph, layer: GraphLayer): string {
  const nodes = layer.shape === null ? "size auto" : `shape ${layer.shape.join(" by ")}`;
  const sources = layer.bundles.map((bundle) => `from ${bundle.source} ${bundle.kind}`);
  const percent = Math.round(costOf(graph, layer) * 100);
  const parts = [
    `${layer.kind} ${layer.name}`,
    nodes,
    `${whole(layer.nodes)} nodes`,
    ...(layer.activation === null ? [] : [layer.activation]),
    ...sources,
    ...(layer.parameters ? [`${whole(layer.parameters)} parameters`] : []),
    ...(percent > 0 ? [`${percent} percent of the multiply-adds`] : []),
    ...(layer.shared_with === null ? [] : [`shares with ${layer.shared_with}`]),
  ];
  return parts.join(", ");
}

function edge(layer: GraphLayer, bundle: GraphBundle): SVGGElement {
  const kind = kindOf(bundle.kind);
  const points = bundle.points ?? [];
  const words = `${bundle.source} to ${layer.name}: ${bundleWords(bundle)}`;
  const path = curve(points);
  const [x, y] = labelPlace(points);
  return svg(
    "g",
    { class: `edge ${kind.style}` },
    svg("title", {}, words),
    svg("path", { class: "reach", d: path }),
    svg("path", { class: "way", d: path, "stroke-dasharray": kind.dash }),
    svg("path", { class: "head", d: head(points) }),
    svg("text", { class: "label", x, y }, label(bundle)),
  );
}

function label(bundle: GraphBundle): string {
  return bundle.kernels ? `${bundle.kind}, ${whole(bundle.kernels)} kernels` : bundle.kind;
}

function bundleWords(bundle: GraphBundle): string {
  const parts = [
    bundle.kind,
    ...(bundle.kernels === null ? [] : [`${whole(bundle.kernels)} kernels`]),
    ...(bundle.weights_per_kernel === null
      ? []
      : [`${whole(bundle.weights_per_kernel)} weights per kernel`]),
    ...(bundle.output === null ? [] : [`output [${bundle.output.join(", ")}]`]),
    `${whole(bundle.parameters)} parameters`,
    `${whole(bundle.connections)} connections`,
    ...(bundle.shared_with === null ? [] : [`shares with ${bundle.shared_with}`]),
  ];
  return parts.join(", ");
}

type Point = readonly [number, number];

/** A way through points that leaves and arrives upright. */
export function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) {
    return "";
  }
  let [x, y] = first;
  const parts = [`M ${x} ${y}`];
  for (const [toX, toY] of rest) {
    const half = (y + toY) / 2;
    parts.push(x === toX ? `L ${toX} ${toY}` : `C ${x} ${half} ${toX} ${half} ${toX} ${toY}`);
    [x, y] = [toX, toY];
  }
  return parts.join(" ");
}

function head(points: readonly Point[]): string {
  const [x, y] = points.at(-1) ?? [0, 0];
  return `M ${x} ${y} l ${-HEAD / 2} ${-HEAD} h ${HEAD} z`;
}

/** Beside the middle of the last stretch. */
function labelPlace(points: readonly Point[]): Point {
  const [fromX, fromY] = points.at(-2) ?? [0, 0];
  const [toX, toY] = points.at(-1) ?? [0, 0];
  return [(fromX + toX) / 2 + 6, (fromY + toY) / 2 + 3];
}
