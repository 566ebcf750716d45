/** Draws the curves of one measure as SVG, and tells the values under the mouse. */

import { html, svg } from "../elements";
import { measured, ticks } from "../figures";
import type { Series } from "./log";
import type { Track } from "./track";

const WIDTH = 460;
const HEIGHT = 220;
const LEFT = 52;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 30;

/** How many epochs there is room for at least, and how much more when there are more. */
const LEAST_ROOM = 10;
const ROOM = 1.3;

interface Scales {
  x(value: number): number;
  y(value: number): number;
  /** The epoch at a place. */
  epoch(x: number): number;
  readonly across: readonly number[];
  readonly up: readonly number[];
}

/** A track's line and the dot at its end. */
class Curve {
  private readonly line: SVGElement;
  private readonly dot: SVGElement;
  readonly elements: readonly SVGElement[];

  constructor(kind: string) {
    this.line = svg("polyline", { class: `curve ${kind}` });
    this.dot = svg("circle", { class: `dot ${kind}`, r: 3, visibility: "hidden" });
    this.elements = [this.line, this.dot];
  }

  draw(track: Track, scales: Scales): void {
    const way = track
      .drawn()
      .map((each) => `${scales.x(each.x).toFixed(1)},${scales.y(each.y).toFixed(1)}`);
    this.line.setAttribute("points", way.join(" "));
    const last = track.last;
    this.dot.setAttribute("visibility", last === undefined ? "hidden" : "visible");
    if (last !== undefined) {
      this.dot.setAttribute("cx", String(scales.x(last.x)));
      this.dot.setAttribute("cy", String(scales.y(last.y)));
    }
  }
}

/** The chart of a measure. It is made once and drawn anew as its tracks grow. */
export class Chart {
  readonly element: HTMLElement;
  private readonly surface: SVGSVGElement;
  private readonly grid = svg("g", {});
  private readonly training = new Curve("training");
  private readonly validation = new Curve("validation");
  private readonly marker = svg("g", { class: "marker" });
  private scales: Scales;
  /** What the grid shows; it is drawn again only when that changes. */
  private shown = "";
  /** Where the mouse is, as a part of the width. */
  private under: number | undefined;

  constructor(
    private readonly name: string,
    private readonly series: Series,
  ) {
    this.scales = scalesOf(series, 0);
    this.surface = svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img" },
      this.grid,
      ...this.training.elements,
      ...this.validation.elements,
      this.marker,
    );
    this.element = html("figure", {}, html("figcaption", {}, name), this.surface);
    this.surface.addEventListener("pointermove", (event) => {
      this.under = (event.offsetX / (this.surface.clientWidth || 1)) * WIDTH;
      this.mark();
    });
    this.surface.addEventListener("pointerleave", () => {
      this.under = undefined;
      this.mark();
    });
  }

  /** Draws what there is now, with room for some of the `ordered` epochs that are still to come. */
  draw(ordered: number): void {
    this.scales = scalesOf(this.series, ordered);
    const { across, up } = this.scales;
    const shown = JSON.stringify([across, up, this.scales.x(0)]);
    if (shown !== this.shown) {
      this.shown = shown;
      this.grid.replaceChildren(...grid(this.scales));
    }
    this.training.draw(this.series.training, this.scales);
    this.validation.draw(this.series.validation, this.scales);
    this.surface.setAttribute("aria-label", spoken(this.name, this.series));
    this.mark();
  }

  private mark(): void {
    const drawn = this.under === undefined ? [] : cross(this.series, this.scales, this.under);
    this.marker.replaceChildren(...drawn);
  }
}

function scalesOf({ training, validation }: Series, ordered: number): Scales {
  const tracks = [training, validation];
  const first = Math.min(1, ...tracks.map((track) => track.first?.x ?? 1));
  const done = Math.max(first + 1, ...tracks.map((track) => track.last?.x ?? 0));
  const last = Math.max(done, Math.min(ordered, roomFor(done)));
  const low = Math.min(...tracks.map((track) => track.range[0]));
  const high = Math.max(...tracks.map((track) => track.range[1]));
  const up = low > high ? ticks(0, 1, 4) : ticks(low, high === low ? low + 1 : high, 4);
  const [bottom, top] = [up[0] ?? 0, up.at(-1) ?? 1];
  const [across, along] = [WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM];
  return {
    x: (value) => LEFT + ((value - first) / (last - first)) * across,
    y: (value) => HEIGHT - BOTTOM - ((value - bottom) / (top - bottom)) * along,
    epoch: (x) => first + ((x - LEFT) / across) * (last - first),
    across: ticks(first, last, 6).filter((each) => each >= first && each <= last && each % 1 === 0),
    up,
  };
}

/** A number of epochs with some to spare, which stays the same for a while as they are done. */
function roomFor(done: number): number {
  let room = LEAST_ROOM;
  while (room < done) {
    room = Math.ceil(room * ROOM);
  }
  return room;
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

/** A line at the epoch nearest to a place, with both values. */
function cross({ training, validation }: Series, scales: Scales, under: number): SVGElement[] {
  const epoch = scales.epoch(under);
  const distance = (x: number) => Math.abs(x - epoch);
  const [nearest] = [training.nearest(epoch), validation.nearest(epoch)]
    .flatMap((each) => each ?? [])
    .sort((one, other) => distance(one.x) - distance(other.x));
  if (nearest === undefined) {
    return [];
  }
  const told = (kind: string, track: Track) => {
    const there = track.nearest(nearest.x);
    return there?.x === nearest.x ? [`${kind} ${measured(there.y)}`] : [];
  };
  const words = [
    `epoch ${measured(nearest.x)}`,
    ...told("training", training),
    ...told("validation", validation),
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

function spoken(name: string, { training, validation }: Series): string {
  const last = [
    ["training", training],
    ["validation", validation],
  ] as const;
  const words = last.flatMap(([kind, track]) =>
    track.last === undefined ? [] : [`${kind} ${measured(track.last.y)}`],
  );
  return `${name}: ${words.join(", ")}`;
}
