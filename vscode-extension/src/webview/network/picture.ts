/** Draws a graph as SVG at the server's coordinates; knows nothing of zoom, keys or messages. */

import type { Graph, GraphBundle, GraphFrame, GraphLayer } from "../../protocol";
import { svg } from "../elements";
import { whole } from "../figures";
import { kindOf } from "./kinds";

export interface Picture {
  readonly root: SVGGElement;
  readonly boxes: ReadonlyMap<string, SVGGElement>;
  /** The open groups, by their keys. */
  readonly frames: ReadonlyMap<string, SVGGElement>;
  /** The edges into each layer, in the order of its bundles. */
  readonly edges: ReadonlyMap<string, readonly SVGGElement[]>;
}

const ROUNDING = { input: 22, hidden: 6, output: 6 } as const;
/** From one line of text in a box to the next. */
const LINE = 15;
/** How far a line's feet stand below its middle. */
const FEET = 4;
const HEAD = 7;
/** The part of an open group that closes it. */
const HEADER = 22;
/** How far the bend of an edge that turns around reaches. */
const TURN = 20;
/** From an edge to its label. */
const ASIDE = 6;
/** So many bundles between two layers leave room for their labels. */
const MOST_LABELLED = 2;

export function draw(graph: Graph): Picture {
  const boxes = new Map(graph.layers.map((layer) => [layer.name, box(graph, layer)]));
  const edges = new Map(
    graph.layers.map((layer) => [layer.name, layer.bundles.map((bundle) => edge(layer, bundle))]),
  );
  const frames = new Map((graph.frames ?? []).map((each) => [each.key, framed(each)]));
  const parts = [...frames.values(), ...[...edges.values()].flat(), ...boxes.values()];
  return { root: svg("g", {}, ...parts), boxes, frames, edges };
}

/** An open group, whose upper edge is what closes it. */
function framed(frame: GraphFrame): SVGGElement {
  const { x, y, width, height } = frame.position;
  const words = `group ${frame.label}, ${frame.boxes} nodes inside`;
  return svg(
    "g",
    { class: "group", tabindex: 0, role: "button", "aria-expanded": "true", "aria-label": words },
    svg("title", {}, `${words}; click to close it`),
    svg("rect", { x, y, width, height, rx: ROUNDING.hidden, class: "around" }),
    svg("rect", { x, y, width, height: HEADER, rx: ROUNDING.hidden, class: "grip" }),
    svg("text", { class: "heading", x: x + ASIDE, y: y + LINE + 1 }, `\u25be ${frame.label}`),
  );
}

/** What a box is called. */
function called(layer: GraphLayer): string {
  const label = layer.label ?? layer.name;
  return layer.group === undefined ? label : `\u25b8 ${label}`;
}

/** The part of all multiply-adds that a layer costs, from 0 to 1. */
export function costOf(graph: Graph, layer: GraphLayer): number {
  const own = layer.bundles.reduce((sum, bundle) => sum + (bundle.multiply_adds ?? 0), 0);
  return graph.multiply_adds ? own / graph.multiply_adds : 0;
}

function box(graph: Graph, layer: GraphLayer): SVGGElement {
  const { x, y, width, height } = layer.position;
  const shape = { x, y, width, height, rx: ROUNDING[layer.kind] };
  const cost = svg("rect", { ...shape, class: "cost" });
  cost.style.setProperty("--cost", costOf(graph, layer).toFixed(3));
  const lines = [called(layer), ...linesOf(layer)];
  const folds = layer.group === undefined ? {} : { "aria-expanded": "false" };
  const top = y + height / 2 + FEET - ((lines.length - 1) * LINE) / 2;
  const texts = lines.map((line, index) => {
    const place = { x: x + width / 2, y: top + LINE * index };
    return svg("text", { class: index === 0 ? "name" : "line", ...place }, line);
  });
  return svg(
    "g",
    {
      class: `layer ${layer.kind}${layer.group === undefined ? "" : " closed"}`,
      ...folds,
      tabindex: -1,
      role: "button",
      "aria-label": spoken(graph, layer),
    },
    svg("title", {}, spoken(graph, layer)),
    svg("rect", { ...shape, class: "paper" }),
    cost,
    svg("rect", { ...shape, class: "frame" }),
    ...texts,
  );
}

function linesOf(layer: GraphLayer): string[] {
  const shape = layer.shape === null ? "auto" : `[${layer.shape.join(", ")}]`;
  const first = layer.activation === null ? shape : `${shape} ${layer.activation}`;
  const leader = leaderOf(layer);
  if (leader !== undefined) {
    return [first, `shares with ${leader}`];
  }
  return layer.parameters ? [first, `${whole(layer.parameters)} parameters`] : [first];
}

/** The layer from which this one has all that it learns, as in the pictures of the command line. */
function leaderOf(layer: GraphLayer): string | undefined {
  const learnt = layer.bundles.filter((bundle) => bundle.parameters);
  const names = new Set(learnt.map((bundle) => bundle.shared_with?.split(" => ").at(-1)));
  return names.size === 1 ? [...names][0] : undefined;
}

/** A layer in words, for those who hear the picture and for the mouse at rest. */
export function spoken(graph: Graph, layer: GraphLayer): string {
  const nodes = layer.shape === null ? "size auto" : `shape ${layer.shape.join(" by ")}`;
  const sources = layer.bundles.map((bundle) =>
    bundle.kind === "value" ? `from ${bundle.source}` : `from ${bundle.source} ${bundle.kind}`,
  );
  const name = layer.group === undefined ? layer.name : (layer.label ?? layer.name);
  const percent = Math.round(costOf(graph, layer) * 100);
  const parts = [
    `${layer.kind} ${name}`,
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
  const { points } = bundle;
  if (points.length === 0) {
    // What it comes from is no layer; the bundles after it keep their places.
    return svg("g");
  }
  const words = `${bundle.source} to ${layer.name}: ${bundleWords(bundle)}`;
  const path = curve(points);
  return svg(
    "g",
    { class: `edge ${kind.style}` },
    svg("title", {}, words),
    svg("path", { class: "reach", d: path }),
    svg("path", { class: "way", d: path, "stroke-dasharray": kind.dash }),
    svg("path", { class: "head", d: head(points) }),
    ...label(layer, bundle),
  );
}

/** The kind beside an edge; of two parallel ones the first has it on its left. */
function label(layer: GraphLayer, bundle: GraphBundle): SVGTextElement[] {
  const parallel = layer.bundles.filter((each) => each.source === bundle.source);
  if (parallel.length > MOST_LABELLED || bundle.kind === "value") {
    return [];
  }
  const words = bundle.kernels ? `${bundle.kind}, ${whole(bundle.kernels)} kernels` : bundle.kind;
  const first = parallel.length > 1 && parallel[0] === bundle;
  const { x, y, left } = labelPlace(layer, bundle.points, first);
  const place = { x: left ? x - ASIDE : x + ASIDE, y };
  return [svg("text", { class: left ? "label left" : "label", ...place }, words)];
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
    ...(bundle.connections === undefined ? [] : [`${whole(bundle.connections)} connections`]),
    ...(bundle.shared_with === null ? [] : [`shares with ${bundle.shared_with}`]),
  ];
  return parts.join(", ");
}

type Point = readonly [number, number];

/** A way through points that leaves and arrives upright, and turns around where it leads back. */
export function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) {
    return "";
  }
  let [x, y] = first;
  const parts = [`M ${x} ${y}`];
  for (const [index, [toX, toY]] of rest.entries()) {
    const turn = index === 0 ? TURN : -TURN;
    const half = y === toY ? y + turn : (y + toY) / 2;
    parts.push(x === toX ? `L ${toX} ${toY}` : `C ${x} ${half} ${toX} ${half} ${toX} ${toY}`);
    [x, y] = [toX, toY];
  }
  return parts.join(" ");
}

function head(points: readonly Point[]): string {
  const [x, y] = points.at(-1) ?? [0, 0];
  return `M ${x} ${y} l ${-HEAD / 2} ${-HEAD} h ${HEAD} z`;
}

/** Beside a straight arrow's middle; where one is bent, outside its less crowded end. */
function labelPlace(
  layer: GraphLayer,
  points: readonly Point[],
  first: boolean,
): { x: number; y: number; left: boolean } {
  const [fromX, fromY] = points.at(-2) ?? [0, 0];
  const [toX, toY] = points.at(-1) ?? [0, 0];
  if (fromX === toX) {
    return { x: fromX, y: (fromY + toY) / 2 + FEET, left: first };
  }
  const gathers = new Set(layer.bundles.map((each) => each.source)).size > 1;
  return gathers
    ? { x: fromX, y: fromY + 3 * FEET, left: fromX < toX }
    : { x: toX, y: toY - 3 * FEET, left: toX < fromX };
}
