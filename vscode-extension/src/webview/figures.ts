/** Numbers as people read them. */

/** 17258 as `17,258`; unknown as a question mark. */
export function whole(value: number | null | undefined): string {
  return value === null || value === undefined ? "?" : value.toLocaleString("en");
}

/** A measured value with four significant digits, without a row of zeros behind it. */
export function measured(value: number | undefined): string {
  if (value === undefined) {
    return "";
  }
  return value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e6)
    ? String(Number(value.toPrecision(4)))
    : value.toExponential(2);
}

/** Seconds as `0.04 s`, `12 s`, `3 min 5 s`. */
export function duration(seconds: number | undefined): string {
  if (seconds === undefined) {
    return "";
  }
  if (seconds < 10) {
    return `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`;
  }
  const rounded = Math.round(seconds);
  return rounded < 60 ? `${rounded} s` : `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
}

/** Round values from at most `low` to at least `high`, `count` steps or so. */
export function ticks(low: number, high: number, count: number): number[] {
  const raw = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw) ?? raw;
  const made: number[] = [];
  for (let index = Math.floor(low / step); index * step < high + step * 0.999; index += 1) {
    made.push(Number((index * step).toPrecision(12)));
  }
  return made;
}
