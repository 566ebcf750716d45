/** The kinds of bundles: each has a colour of the theme and a dash, so that colour is not needed. */

export interface Kind {
  readonly name: string;
  /** The class that carries the colour in the style sheet. */
  readonly style: string;
  readonly dash: string;
}

const KINDS: readonly Kind[] = [
  { name: "all", style: "all", dash: "" },
  { name: "where", style: "where", dash: "2 4" },
  { name: "convolve", style: "convolve", dash: "9 3" },
  { name: "max pool", style: "max-pool", dash: "6 3 2 3" },
  { name: "mean pool", style: "mean-pool", dash: "6 3 2 3 2 3" },
  { name: "response norm", style: "response-norm", dash: "1 3" },
  { name: "value", style: "all", dash: "" },
  { name: "delay", style: "where", dash: "2 4" },
];
const UNKNOWN: Kind = { name: "unknown", style: "unknown", dash: "3 3" };

export function kindOf(name: string): Kind {
  return KINDS.find((each) => each.name === name) ?? UNKNOWN;
}

/** The kinds that occur, in the order of the table. */
export function occurring(names: ReadonlySet<string>): Kind[] {
  return KINDS.filter((each) => names.has(each.name));
}
