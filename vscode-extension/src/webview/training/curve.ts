/** Draws the curves of one measure as SVG, and tells the values under the mouse. */

import { svg } from "../elements";
import { measured, ticks } from "../figures";
import type { Point, Series } from "./log";

const WIDTH = 460;
const HEIGHT = 220;
const LEFT = 52;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 30;

interface Scales {
  x(value: number): number;
  y(value: number): number;
  readonly across: readonly number[];
  readonly up: readonly number[];
}

/** How many epochs there is room for at least, and how much more than there are so far. */
const LEAST_ROOM = 10;
const ROOM = 1.3;

/** The chart of a measure, with room for some of the `ordered` epochs that are still to come. */
export function chart(name: string, series: Series, ordered: number): SVGSVGElement {
  const scales = scalesOf(series, ordered);
  const marker = svg("g", { class: "marker" });
  const surface = svg(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      class: "chart",
      role: "img",
      "aria-label": spoken(name, series),
    },
    ...grid(scales),
    ...line(series.training, scales, "training"),
    ...line(series.validation, scales, "validation"),
    marker,
  );
  surface.addEventListener("pointermove", (event) => {
    const inside =
      ((event.offsetX / (surface.clientWidth || 1)) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
    marker.replaceChildren(...point(series, scales, inside));
  });
  surface.addEventListener("pointerleave", () => marker.replaceChildren());
  return surface;
}

function scalesOf(series: Series, ordered: number): Scales {
  const all = [...series.training, ...series.validation];
  const xs = all.map((each) => each.x);
  const ys = all.map((each) => each.y);
  const first = Math.min(1, ...xs);
  const done = Math.max(first + 1, ...xs);
  const last = Math.max(done, Math.min(ordered, Math.max(LEAST_ROOM, Math.ceil(done * ROOM))));
  const [low, high] = ys.length === 0 ? [0, 1] : [Math.min(...ys), Math.max(...ys)];
  const up = ticks(low, high === low ? low + 1 : high, 4);
  const [bottom, top] = [up[0] ?? 0, up.at(-1) ?? 1];
  return {
    x: (value) => LEFT + ((value - first) / (last - first)) * (WIDTH - LEFT - RIGHT),
    y: (value) => HEIGHT - BOTTOM - ((value - bottom) / (top - bottom)) * (HEIGHT - TOP - BOTTOM),
    across: ticks(first, last, 6).filter((each) => each >= first && each <= last && each % 1 === 0),
    up,
  };
}

function grid(scales: Scales): SVGElement[] {
  const rows = scales.up.flatMap((value) => [
    svg("line", {
      class: "grid",
      x1: LEFT,
      x2: WIDTH - RIGHT,
      y1: scales.y(value),
      y2: scales.y(value),
    }),
    svg("text", { class: "tick up", x: LEFT - 8, y: scales.y(value) + 4 }, measured(value)),
  ]);
  const columns = scales.across.map((value) =>
    svg("text", { class: "tick across", x: scales.x(value), y: HEIGHT - 12 }, String(value)),
  );
  return [...rows, ...columns];
}

function line(points: readonly Point[], scales: Scales, kind: string): SVGElement[] {
  const last = points.at(-1);
  if (last === undefined) {
    return [];
  }
  const way = points.map((each) => `${scales.x(each.x).toFixed(1)},${scales.y(each.y).toFixed(1)}`);
  return [
    svg("polyline", { class: `curve ${kind}`, points: way.join(" ") }),
    svg("circle", { class: `dot ${kind}`, cx: scales.x(last.x), cy: scales.y(last.y), r: 3 }),
  ];
}

/** A line at the epoch nearest to the mouse, with both values. */
function point(series: Series, scales: Scales, part: number): SVGElement[] {
  const x = LEFT + part * (WIDTH - LEFT - RIGHT);
  const distance = (each: Point) => Math.abs(scales.x(each.x) - x);
  const [nearest] = [...series.training, ...series.validation].sort(
    (one, other) => distance(one) - distance(other),
  );
  if (nearest === undefined) {
    return [];
  }
  const at = (points: readonly Point[]) => points.find((each) => each.x === nearest.x)?.y;
  const [training, validation] = [at(series.training), at(series.validation)];
  const words = [
    `epoch ${measured(nearest.x)}`,
    ...(training === undefined ? [] : [`training ${measured(training)}`]),
    ...(validation === undefined ? [] : [`validation ${measured(validation)}`]),
  ];
  const place = scales.x(nearest.x);
  const right = place > WIDTH / 2;
  return [
    svg("line", { class: "cross", x1: place, x2: place, y1: TOP, y2: HEIGHT - BOTTOM }),
    ...words.map((word, index) =>
      svg(
        "text",
        {
          class: `word ${right ? "end" : "start"}`,
          x: place + (right ? -6 : 6),
          y: TOP + 12 + 14 * index,
        },
        word,
      ),
    ),
  ];
}

function spoken(name: string, series: Series): string {
  const kinds = [
    ["training", series.training],
    ["validation", series.validation],
  ] as const;
  const last = kinds.flatMap(([kind, points]) =>
    points.length === 0 ? [] : [`${kind} ${measured(points.at(-1)?.y)}`],
  );
  return `${name}: ${last.join(", ")}`;
}
