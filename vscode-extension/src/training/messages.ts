/** What the extension and its training view say to each other. */

import type { RunEvent } from "../protocol";

export type Status = "starting" | "running" | "stopping" | "finished" | "stopped" | "failed";

/** How a run stands, and what came of it. */
export interface Standing {
  readonly status: Status;
  readonly error: string;
  readonly model: string;
}

/** Everything that a view needs to draw a run from nothing. */
export interface Replay extends Standing {
  readonly title: string;
  readonly events: readonly RunEvent[];
}

export type ToView =
  | ({ readonly type: "replay" } & Replay)
  | { readonly type: "events"; readonly events: readonly RunEvent[] }
  | ({ readonly type: "status" } & Standing);

export type FromView = {
  readonly type: "ready" | "drawn" | "stop" | "resume" | "again" | "model" | "specification";
};
