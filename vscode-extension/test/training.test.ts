/** What a run's events add up to, and how numbers are shown. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEvent } from "../src/protocol";
import { duration, measured, ticks } from "../src/webview/figures";
import { Log } from "../src/webview/training/log";
import { Track } from "../src/webview/training/track";

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
  const log = new Log([START, epoch(1, 2), epoch(2, 1)]);
  assert.equal(log.ordered, 4);
  assert.deepEqual([...log.series.keys()], ["loss", "accuracy"]);
  assert.deepEqual(log.series.get("loss")?.training.drawn(), [
    { x: 1, y: 2 },
    { x: 2, y: 1 },
  ]);
  assert.deepEqual(
    log.series
      .get("loss")
      ?.validation.drawn()
      .map((point) => point.y),
    [3, 2],
  );
});

test("steps within an epoch stand between epochs", () => {
  const step: RunEvent = { id: 1, event: "step", step: 15, loss: 1.5 };
  const log = new Log([START, epoch(1, 2), step, epoch(2, 1)]);
  assert.deepEqual(
    log.series
      .get("loss")
      ?.training.drawn()
      .map((point) => point.x),
    [1, 1.5, 2],
  );
});

test("a resumed run goes on where it was, and an epoch told twice counts once", () => {
  const log = new Log([START, epoch(1, 2), START, epoch(1, 1.9), epoch(2, 1)]);
  assert.deepEqual(
    log.epochs.map((each) => each.loss),
    [1.9, 1],
  );
  assert.deepEqual(log.series.get("loss")?.training.drawn(), [
    { x: 1, y: 1.9 },
    { x: 2, y: 1 },
  ]);
});

test("what a run had told beyond its last save goes when it is told again", () => {
  const step: RunEvent = { id: 1, event: "step", step: 15, loss: 1.5 };
  const log = new Log([START, epoch(1, 2), epoch(2, 1), epoch(3, 0.5), START, step]);
  assert.deepEqual(
    log.epochs.map((each) => each.epoch),
    [1],
  );
  log.take(epoch(2, 0.9));
  for (const [kind, points] of [
    [
      "training",
      [
        [1, 2],
        [1.5, 1.5],
        [2, 0.9],
      ],
    ],
    [
      "validation",
      [
        [1, 3],
        [2, 1.9],
      ],
    ],
  ] as const) {
    assert.deepEqual(
      log.series
        .get("loss")
        ?.[kind].drawn()
        .map(({ x, y }) => [x, y]),
      points,
    );
  }
});

/** Numbers that look random and are the same each time. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

test("a long curve is drawn by few points, and keeps its peaks, its ends and its order", () => {
  const next = numbers(7);
  for (const length of [1, 2, 511, 512, 513, 1025, 20_000, 100_000]) {
    const track = new Track();
    const ys: number[] = [];
    for (let index = 0; index < length; index += 1) {
      ys.push(index === (length * 2) / 5 ? 9 : next());
      track.append(index, ys.at(-1) as number);
    }
    const drawn = track.drawn();
    assert.ok(drawn.length <= Math.min(length, 2 * 512 + 1), `${length}: ${drawn.length}`);
    assert.ok(drawn.length >= Math.min(length, 256), `${length}: ${drawn.length}`);
    assert.ok(drawn.every(({ x, y }) => ys[x] === y));
    assert.ok(drawn.every(({ x }, at) => at === 0 || x > (drawn[at - 1]?.x ?? 0)));
    const drawnYs = drawn.map(({ y }) => y);
    const extremes = [Math.min(...drawnYs), Math.max(...drawnYs)];
    assert.deepEqual(extremes, [ys.reduce((a, b) => Math.min(a, b)), ys.reduce((a, b) => Math.max(a, b))]);
    assert.deepEqual(track.range, extremes);
    assert.equal(drawn.at(-1)?.x, length - 1);
  }
});

test("a curve that was cut is the curve that never had the rest", () => {
  const next = numbers(11);
  for (const [length, kept] of [
    [10, 0],
    [10, 3],
    [5000, 700],
    [5000, 4999],
    [5000, 5000],
  ] as const) {
    const [cut, short] = [new Track(), new Track()];
    for (let index = 0; index < length; index += 1) {
      const y = next();
      cut.append(index, y);
      if (index < kept) {
        short.append(index, y);
      }
    }
    cut.cut(kept);
    assert.deepEqual([cut.drawn(), cut.range], [short.drawn(), short.range]);
    assert.equal(cut.length, kept);
  }
});

test("the nearest point is found among many", () => {
  const track = new Track();
  assert.equal(track.nearest(3), undefined);
  [1, 2, 4, 8].forEach((x) => track.append(x, 10 * x));
  for (const [x, found] of [
    [-5, 1],
    [1.4, 1],
    [3, 2],
    [3.1, 4],
    [99, 8],
  ] as const) {
    assert.equal(track.nearest(x)?.x, found);
  }
});

test("what is not a number is left out of a curve", () => {
  const log = new Log([START, epoch(1, Number.NaN), epoch(2, 1)]);
  assert.deepEqual(log.series.get("loss")?.training.drawn(), [{ x: 2, y: 1 }]);
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
