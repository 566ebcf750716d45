/** One curve of a run: all its points in the order of x, and few enough of them to be drawn. */

export interface Point {
  /** In epochs: 1.5 is in the middle of the second one. */
  readonly x: number;
  readonly y: number;
}

/** As many groups as a chart has columns of pixels, or so; each is drawn by its extremes. */
const MOST_GROUPS = 512;

/** The points of a group that are drawn, by their index, the earlier first. */
interface Group {
  readonly low: number;
  readonly high: number;
}

export class Track {
  private readonly xs: number[] = [];
  private readonly ys: number[] = [];
  /** All full but the last; every group but that stands for `share` points. */
  private groups: Group[] = [];
  private share = 1;
  private least = Infinity;
  private most = -Infinity;

  get length(): number {
    return this.xs.length;
  }

  get last(): Point | undefined {
    return this.length === 0 ? undefined : this.at(this.length - 1);
  }

  get first(): Point | undefined {
    return this.length === 0 ? undefined : this.at(0);
  }

  /** The lowest and the highest y; an empty range where there is no point. */
  get range(): readonly [number, number] {
    return [this.least, this.most];
  }

  /** Puts a point behind all others; its x is no smaller than theirs. */
  append(x: number, y: number): void {
    this.xs.push(x);
    this.ys.push(y);
    this.group(this.length - 1);
  }

  /** Takes away all points from an x on. */
  cut(x: number): void {
    const kept = this.lowerBound(x);
    if (kept === this.length) {
      return;
    }
    this.xs.length = kept;
    this.ys.length = kept;
    this.groups = [];
    this.share = 1;
    [this.least, this.most] = [Infinity, -Infinity];
    for (let index = 0; index < kept; index += 1) {
      this.group(index);
    }
  }

  /**
   * The points that show how the curve runs: all of a short one; of a long one the lowest and the
   * highest of each group, so that no peak is lost, and the last.
   */
  drawn(): Point[] {
    const indices = new Set<number>();
    for (const { low, high } of this.groups) {
      indices.add(Math.min(low, high)).add(Math.max(low, high));
    }
    if (this.length > 0) {
      indices.add(this.length - 1);
    }
    return [...indices].map((index) => this.at(index));
  }

  /** The point whose x is nearest to one. */
  nearest(x: number): Point | undefined {
    const after = this.lowerBound(x);
    const [before, behind] = [after - 1, after].map((index) =>
      index >= 0 && index < this.length ? this.at(index) : undefined,
    );
    if (before === undefined || behind === undefined) {
      return before ?? behind;
    }
    return x - before.x <= behind.x - x ? before : behind;
  }

  private at(index: number): Point {
    return { x: this.xs[index] as number, y: this.ys[index] as number };
  }

  /** The first index whose x is not below one. */
  private lowerBound(x: number): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.xs[middle] as number) < x) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private group(index: number): void {
    const y = this.ys[index] as number;
    this.least = Math.min(this.least, y);
    this.most = Math.max(this.most, y);
    const alone = { low: index, high: index };
    const open = this.groups.at(-1);
    if (open === undefined || index % this.share === 0) {
      this.groups.push(alone);
    } else {
      this.groups[this.groups.length - 1] = this.joined(open, alone);
    }
    if (this.groups.length > MOST_GROUPS) {
      this.halve();
    }
  }

  /** Makes one group of two neighbours, everywhere. */
  private halve(): void {
    this.share *= 2;
    const halves: Group[] = [];
    for (let index = 0; index < this.groups.length; index += 2) {
      const [one, other] = [this.groups[index] as Group, this.groups[index + 1]];
      halves.push(other === undefined ? one : this.joined(one, other));
    }
    this.groups = halves;
  }

  private joined(one: Group, other: Group): Group {
    const y = (index: number) => this.ys[index] as number;
    return {
      low: y(other.low) < y(one.low) ? other.low : one.low,
      high: y(other.high) > y(one.high) ? other.high : one.high,
    };
  }
}
