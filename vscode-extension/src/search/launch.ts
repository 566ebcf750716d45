/** The words and variables with which a found server is started. */

import { delimiter } from "node:path";
import { SAFE } from "./real_machine";
import type { Program } from "./search";

export interface Launch {
  readonly command: readonly string[];
  readonly env: Record<string, string>;
}

/** How to start a program; `unpacked` is where the bundled parts lie, if it is that one. */
export function launchOf(program: Program, unpacked: readonly string[]): Launch {
  const own = Object.entries(process.env).filter(([, value]) => value !== undefined);
  const env: Record<string, string> = { ...(Object.fromEntries(own) as Record<string, string>), ...SAFE };
  if (unpacked.length > 0) {
    // Compiled modules are kept beside the unpacked ones: later starts are shorter by them.
    const compiled = { PYTHONDONTWRITEBYTECODE: "", PYTHONPYCACHEPREFIX: "" };
    const places = { PYTHONPATH: unpacked.join(delimiter), PYTHONNOUSERSITE: "1" };
    Object.assign(env, compiled, places);
  }
  return { command: program.command, env };
}
