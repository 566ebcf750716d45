/** The words and variables with which a found server is started. */

import { SAFE } from "./real_machine";
import type { Program } from "./search";

export interface Launch {
  readonly command: readonly string[];
  readonly env: Record<string, string>;
}

/** Variables that would lead a bundled server to another installation's modules. */
const MISLEADING = ["PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP"];

/** How to start a program; `unpacked` is where the bundled server lies, if it is that one. */
export function launchOf(program: Program, unpacked: string | undefined): Launch {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !(unpacked !== undefined && MISLEADING.includes(name))) {
      env[name] = value;
    }
  }
  Object.assign(env, SAFE);
  if (unpacked !== undefined) {
    Object.assign(env, { PYTHONPATH: unpacked, PYTHONNOUSERSITE: "1" });
  }
  return { command: program.command, env };
}
