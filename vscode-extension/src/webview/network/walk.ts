/** Where the arrow keys lead: along edges up and down, along a rank to the sides. Knows no page. */

import type { Graph, GraphLayer } from "../../protocol";

export type Direction = "up" | "down" | "left" | "right";

/** The layer next to one in a direction; undefined where there is none. */
export function next(graph: Graph, from: string, direction: Direction): string | undefined {
  const layer = graph.layers.find((each) => each.name === from);
  if (layer === undefined) {
    return graph.layers[0]?.name;
  }
  const found =
    direction === "up" || direction === "down"
      ? along(graph, layer, direction)
      : beside(graph, layer, direction === "left" ? -1 : 1);
  return found?.name;
}

/** Of the sources or the destinations the one that lies straightest. */
function along(graph: Graph, layer: GraphLayer, direction: "up" | "down"): GraphLayer | undefined {
  const joined =
    direction === "up"
      ? graph.layers.filter((each) => layer.bundles.some((bundle) => bundle.source === each.name))
      : graph.layers.filter((each) => each.bundles.some((bundle) => bundle.source === layer.name));
  return nearest(joined, (each) => Math.abs(middle(each) - middle(layer)));
}

function beside(graph: Graph, layer: GraphLayer, side: -1 | 1): GraphLayer | undefined {
  const row = layer.position.y;
  const aside = graph.layers.filter(
    (each) => each.position.y === row && (middle(each) - middle(layer)) * side > 0,
  );
  return nearest(aside, (each) => Math.abs(middle(each) - middle(layer)));
}

function nearest(
  layers: readonly GraphLayer[],
  distance: (layer: GraphLayer) => number,
): GraphLayer | undefined {
  return [...layers].sort((one, other) => distance(one) - distance(other))[0];
}

function middle(layer: GraphLayer): number {
  return layer.position.x + layer.position.width / 2;
}
