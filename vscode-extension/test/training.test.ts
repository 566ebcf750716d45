/** What a run's events add up to, and how numbers are shown. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEvent } from "../src/protocol";
import { duration, measured, ticks } from "../src/webview/figures";
import { read } from "../src/webview/training/log";

const START: RunEvent = { id: 1, event: "start", metrics: { epochs: 4, steps: 10, rows: 100 } };
const epoch = (number: number, loss: number): RunEvent => ({
  id: 1,
  event: "epoch",
  epoch: number,
  loss,
  metrics: { accuracy: 0.5 },
  validation: { loss: loss + 1, accuracy: 0.4, log_loss: 3 },
});

test("epochs become curves, loss first, without what says the same", () => {
  const log = read([START, epoch(1, 2), epoch(2, 1)]);
  assert.equal(log.ordered, 4);
  assert.deepEqual([...log.series.keys()], ["loss", "accuracy"]);
  assert.deepEqual(log.series.get("loss")?.training, [
    { x: 1, y: 2 },
    { x: 2, y: 1 },
  ]);
  assert.deepEqual(
    log.series.get("loss")?.validation.map((point) => point.y),
    [3, 2],
  );
});

test("steps within an epoch stand between epochs", () => {
  const step: RunEvent = { id: 1, event: "step", step: 15, loss: 1.5 };
  const points = read([START, epoch(1, 2), step, epoch(2, 1)]).series.get("loss")?.training;
  assert.deepEqual(
    points?.map((point) => point.x),
    [1, 1.5, 2],
  );
});

test("a resumed run goes on where it was, and an epoch told twice counts once", () => {
  const log = read([START, epoch(1, 2), START, epoch(1, 1.9), epoch(2, 1)]);
  assert.deepEqual(
    log.epochs.map((each) => each.loss),
    [1.9, 1],
  );
});

test("what is not a number is left out of a curve", () => {
  const log = read([START, epoch(1, Number.NaN), epoch(2, 1)]);
  assert.deepEqual(log.series.get("loss")?.training, [{ x: 2, y: 1 }]);
});

test("figures are short and exact enough", () => {
  assert.equal(measured(0), "0");
  assert.equal(measured(0.123456), "0.1235");
  assert.equal(measured(0.0000123), "1.23e-5");
  assert.equal(duration(0.042), "0.04 s");
  assert.equal(duration(59.7), "1 min 0 s");
  assert.equal(duration(185), "3 min 5 s");
});

test("axes have round values around all points", () => {
  assert.deepEqual(ticks(0, 1, 4), [0, 0.5, 1]);
  for (const [low, high] of [
    [0.1, 0.11],
    [-3, 7],
    [1e-6, 3e-6],
    [0, 1e9],
  ] as const) {
    const values = ticks(low, high, 4);
    assert.ok((values[0] ?? 1) <= low && (values.at(-1) ?? 0) >= high, `${low} ${high}: ${values}`);
    assert.ok(values.length <= 7);
  }
});
