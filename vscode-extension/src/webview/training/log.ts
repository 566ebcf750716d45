/** What a run's events add up to: epochs and curves. Each event is looked at once. Knows no page. */

import type { RunEvent } from "../../protocol";
import { Track } from "./track";

export interface Series {
  readonly training: Track;
  readonly validation: Track;
}

export interface Epoch {
  readonly epoch: number;
  readonly loss: number | undefined;
  readonly metrics: Readonly<Record<string, number>>;
  readonly validation: Readonly<Record<string, number>>;
  readonly rate: number | undefined;
  readonly seconds: number | undefined;
}

/** Measures that say the same as the loss, or are of no use as a curve. */
const LEFT_OUT = new Set(["log_loss", "epochs", "steps", "rows", "parameters"]);

export class Log {
  readonly epochs: Epoch[] = [];
  /** By name, `loss` first. */
  readonly series = new Map<string, Series>([["loss", empty()]]);
  /** What the newest start said: epochs, steps an epoch, rows, parameters. */
  start: Readonly<Record<string, number>> = {};
  last: RunEvent | undefined;

  constructor(events: readonly RunEvent[] = []) {
    events.forEach((event) => this.take(event));
  }

  /** How many epochs were ordered; 0 where nobody said. */
  get ordered(): number {
    return this.start["epochs"] ?? 0;
  }

  take(event: RunEvent): void {
    this.last = event;
    switch (event.event) {
      case "start":
        this.start = event.metrics ?? {};
        break;
      case "step":
        this.takeStep(event);
        break;
      case "epoch":
        this.takeEpoch(epochOf(event, this.epochs.length + 1));
        break;
    }
  }

  /** A loss told within an epoch, as long runs have them. */
  private takeStep({ step, loss }: RunEvent): void {
    const steps = this.start["steps"] ?? 0;
    if (step === undefined || steps <= 0) {
      return;
    }
    const x = step / steps;
    if (x < this.reached) {
      this.rewind(x);
    }
    append(this.of("loss").training, x, loss);
  }

  private takeEpoch(epoch: Epoch): void {
    const x = epoch.epoch;
    if (x < this.reached || x === this.epochs.at(-1)?.epoch) {
      this.rewind(x);
    }
    this.epochs.push(epoch);
    for (const [name, value] of curves({ ...epoch.metrics, loss: epoch.loss })) {
      append(this.of(name).training, x, value);
    }
    for (const [name, value] of curves(epoch.validation)) {
      append(this.of(name).validation, x, value);
    }
  }

  /** How far the run has been followed, in epochs. */
  private get reached(): number {
    const told = this.series.get("loss")?.training.last?.x ?? 0;
    return Math.max(told, this.epochs.at(-1)?.epoch ?? 0);
  }

  /** A resumed run does again what was not saved: what was told of that goes. */
  private rewind(x: number): void {
    while ((this.epochs.at(-1)?.epoch ?? -Infinity) >= x) {
      this.epochs.pop();
    }
    for (const { training, validation } of this.series.values()) {
      training.cut(x);
      validation.cut(x);
    }
  }

  private of(name: string): Series {
    const found = this.series.get(name) ?? empty();
    this.series.set(name, found);
    return found;
  }
}

function empty(): Series {
  return { training: new Track(), validation: new Track() };
}

function curves(measures: Readonly<Record<string, number | undefined>>) {
  return Object.entries(measures).filter(([name]) => !LEFT_OUT.has(name));
}

/** Measures in a row, those that stand in a table of their own beside the others. */
function flat(measures: NonNullable<RunEvent["validation"]>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(measures).flatMap(([name, value]) =>
      typeof value === "number" ? [[name, value]] : Object.entries(value),
    ),
  );
}

function append(track: Track, x: number, y: number | undefined): void {
  if (y !== undefined && Number.isFinite(y)) {
    track.append(x, y);
  }
}

function epochOf(event: RunEvent, next: number): Epoch {
  return {
    epoch: event.epoch ?? next,
    loss: event.loss,
    metrics: event.metrics ?? event.evaluation ?? {},
    validation: flat(event.validation ?? {}),
    rate: event.rate,
    seconds: event.seconds,
  };
}
