/** What a run's events add up to: epochs and series of points. Knows no page. */

import type { RunEvent } from "../../protocol";

export interface Point {
  /** In epochs: 1.5 is in the middle of the second one. */
  readonly x: number;
  readonly y: number;
}

export interface Series {
  readonly training: readonly Point[];
  readonly validation: readonly Point[];
}

export interface Epoch {
  readonly epoch: number;
  readonly loss: number | undefined;
  readonly metrics: Readonly<Record<string, number>>;
  readonly validation: Readonly<Record<string, number>>;
  readonly rate: number | undefined;
  readonly seconds: number | undefined;
}

export interface Log {
  /** How many epochs were ordered; 0 where nobody said. */
  readonly ordered: number;
  readonly epochs: readonly Epoch[];
  /** By name, `loss` first. */
  readonly series: ReadonlyMap<string, Series>;
  readonly last: RunEvent | undefined;
}

/** Measures that say the same as the loss, or are of no use as a curve. */
const LEFT_OUT = new Set(["log_loss", "epochs", "steps", "rows", "parameters"]);

export function read(events: readonly RunEvent[]): Log {
  const start = events.findLast((event) => event.event === "start");
  const byNumber = new Map<number, Epoch>();
  for (const event of events) {
    if (event.event === "epoch") {
      byNumber.set(event.epoch ?? byNumber.size + 1, epochOf(event));
    }
  }
  const epochs = [...byNumber.values()].sort((one, other) => one.epoch - other.epoch);
  return {
    ordered: start?.metrics?.["epochs"] ?? 0,
    epochs,
    series: seriesOf(epochs, events, start?.metrics?.["steps"]),
    last: events.at(-1),
  };
}

function epochOf(event: RunEvent): Epoch {
  return {
    epoch: event.epoch ?? 0,
    loss: event.loss,
    metrics: event.metrics ?? {},
    validation: event.validation ?? {},
    rate: event.rate,
    seconds: event.seconds,
  };
}

function seriesOf(
  epochs: readonly Epoch[],
  events: readonly RunEvent[],
  stepsAnEpoch: number | undefined,
): Map<string, Series> {
  const names = new Set<string>(["loss"]);
  for (const epoch of epochs) {
    [...Object.keys(epoch.metrics), ...Object.keys(epoch.validation)].forEach((name) =>
      names.add(name),
    );
  }
  const made = new Map<string, Series>();
  for (const name of [...names].filter((each) => !LEFT_OUT.has(each))) {
    const inner = name === "loss" ? stepsOf(events, stepsAnEpoch) : [];
    const training = [...inner, ...points(epochs, (each) => measure(each, name))];
    training.sort((one, other) => one.x - other.x);
    const validation = points(epochs, (each) => each.validation[name]);
    made.set(name, { training, validation });
  }
  return made;
}

function measure(epoch: Epoch, name: string): number | undefined {
  return name === "loss" ? epoch.loss : epoch.metrics[name];
}

function points(epochs: readonly Epoch[], value: (epoch: Epoch) => number | undefined): Point[] {
  return epochs.flatMap((epoch) => {
    const y = value(epoch);
    return y === undefined || !Number.isFinite(y) ? [] : [{ x: epoch.epoch, y }];
  });
}

/** Losses told within epochs, as long runs have them. */
function stepsOf(events: readonly RunEvent[], stepsAnEpoch: number | undefined): Point[] {
  if (stepsAnEpoch === undefined || stepsAnEpoch <= 0) {
    return [];
  }
  return events.flatMap((event) =>
    event.event === "step" && event.step !== undefined && Number.isFinite(event.loss)
      ? [{ x: event.step / stepsAnEpoch, y: event.loss as number }]
      : [],
  );
}
