/** The words and variables with which a found server is started. */

import { delimiter } from "node:path";
import { SAFE } from "./real_machine";
import type { Program } from "./search";

export interface Launch {
  readonly command: readonly string[];
  readonly env: Record<string, string>;
}

/** Variables that would lead a bundled server to another installation's modules. */
const MISLEADING = ["PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP"];

/** How to start a program; `unpacked` is where the bundled parts lie, if it is that one. */
export function launchOf(program: Program, unpacked: readonly string[]): Launch {
  const bundled = unpacked.length > 0;
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !(bundled && MISLEADING.includes(name))) {
      env[name] = value;
    }
  }
  Object.assign(env, SAFE);
  if (bundled) {
    Object.assign(env, { PYTHONPATH: unpacked.join(delimiter), PYTHONNOUSERSITE: "1" });
  }
  return { command: program.command, env };
}
