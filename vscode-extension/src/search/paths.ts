/** Paths in the manner of a named platform, so that a search for Windows can be tried anywhere. */

import * as path from "node:path";

export function rules(platform: NodeJS.Platform): path.PlatformPath {
  return platform === "win32" ? path.win32 : path.posix;
}

/** Where the interpreter of an environment lies. */
export function interpreterOf(environment: string, platform: NodeJS.Platform): string {
  return platform === "win32"
    ? path.win32.join(environment, "Scripts", "python.exe")
    : path.posix.join(environment, "bin", "python");
}

/** A path from a setting, with a leading `~` made the home folder. */
export function expandHome(
  written: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const home = env["HOME"] ?? env["USERPROFILE"];
  const trimmed = written.trim();
  return home !== undefined && /^~(?=[\\/]|$)/.test(trimmed) ? home + trimmed.slice(1) : trimmed;
}
