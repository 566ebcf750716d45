/** What the extension and its training view say to each other. */

import type { RunEvent } from "../protocol";

export type Status = "starting" | "running" | "stopping" | "finished" | "stopped" | "failed";

/** Everything that a view needs to draw a run from nothing. */
export interface Replay {
  readonly title: string;
  readonly status: Status;
  readonly error: string;
  readonly model: string;
  readonly events: readonly RunEvent[];
}

export type ToView =
  | ({ readonly type: "replay" } & Replay)
  | { readonly type: "event"; readonly event: RunEvent }
  | {
      readonly type: "status";
      readonly status: Status;
      readonly error: string;
      readonly model: string;
    };

export type FromView = {
  readonly type: "ready" | "stop" | "resume" | "again" | "model" | "specification";
};
