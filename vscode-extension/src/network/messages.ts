/** What the extension and its network view say to each other. */

import type { Graph, Weights } from "../protocol";

export type ToView =
  | { readonly type: "graph"; readonly title: string; readonly graph: Graph }
  | { readonly type: "cursor"; readonly layer: string | null }
  | { readonly type: "weights"; readonly weights: readonly Weights[] }
  | { readonly type: "stale"; readonly message: string };

export type FromView =
  | { readonly type: "ready" }
  | { readonly type: "reveal"; readonly layer: string; readonly focus: boolean }
  | { readonly type: "revealBundle"; readonly layer: string; readonly index: number }
  | { readonly type: "fold"; readonly key: string; readonly open: boolean }
  | { readonly type: "save"; readonly format: "svg" | "png"; readonly base64: string };
