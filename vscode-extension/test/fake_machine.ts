/** A machine made of tables: which files there are, and what each program answers. */

import type { Machine, Outcome } from "../src/search/machine";

export interface Answer extends Partial<Outcome> {
  /** After how many milliseconds it answers; longer than the limit means never. */
  readonly after?: number;
}

export class FakeMachine implements Machine {
  /** Every command that was run, in order. */
  readonly asked: string[][] = [];

  constructor(
    readonly platform: NodeJS.Platform,
    readonly env: Record<string, string>,
    private readonly programs: Record<string, Answer>,
    private readonly folders: readonly string[] = [],
  ) {}

  async isFile(path: string): Promise<boolean> {
    return Object.keys(this.programs).some((command) => command.split(" ")[0] === path);
  }

  async isFolder(path: string): Promise<boolean> {
    return this.folders.includes(path);
  }

  async run(command: readonly string[], limit: number): Promise<Outcome> {
    this.asked.push([...command]);
    const end = command.indexOf("-c");
    const answer = this.programs[command.slice(0, end).join(" ")] ?? {
      code: null,
      stderr: "no file",
    };
    const timedOut = (answer.after ?? 0) > limit;
    await new Promise((resolve) => setTimeout(resolve, Math.min(answer.after ?? 0, limit)));
    const said = { code: 0, stdout: "", stderr: "", timedOut, ...answer };
    return timedOut ? { ...said, code: null, stdout: "" } : said;
  }
}

/** What an interpreter prints when it is asked what it is. */
export function python(executable: string, given: Record<string, unknown> = {}): Answer {
  const usual = {
    version: [3, 12, 4],
    implementation: "CPython",
    platform: "linux-x86_64",
    freeThreaded: false,
    server: false,
    executable,
  };
  return { stdout: `${JSON.stringify({ ...usual, ...given })}\n` };
}
