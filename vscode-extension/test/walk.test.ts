/** Where the arrow keys lead in a network with a branch. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Graph, GraphBundle, GraphLayer } from "../src/protocol";
import { next } from "../src/webview/network/walk";

function layer(name: string, x: number, y: number, ...sources: string[]): GraphLayer {
  const bundles = sources.map((source) => ({ source, kind: "all" }) as unknown as GraphBundle);
  return { name, position: { x, y, width: 100, height: 50 }, bundles } as unknown as GraphLayer;
}

const GRAPH = {
  layers: [
    layer("Data", 100, 0),
    layer("Left", 0, 100, "Data"),
    layer("Right", 190, 100, "Data"),
    layer("Out", 100, 200, "Left", "Right"),
  ],
} as unknown as Graph;

test("up and down follow the connections, by the straightest", () => {
  assert.equal(next(GRAPH, "Data", "down"), "Right");
  assert.equal(next(GRAPH, "Left", "down"), "Out");
  assert.equal(next(GRAPH, "Out", "up"), "Right");
  assert.equal(next(GRAPH, "Out", "down"), undefined);
});

test("left and right stay in the row", () => {
  assert.equal(next(GRAPH, "Left", "right"), "Right");
  assert.equal(next(GRAPH, "Right", "left"), "Left");
  assert.equal(next(GRAPH, "Right", "right"), undefined);
});

test("a layer that is gone leads to the first", () => {
  assert.equal(next(GRAPH, "Gone", "up"), "Data");
});
