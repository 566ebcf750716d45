/** What to tell a person on whose machine no server can be started. */

import type { Rejection } from "./interpreters";

const COMMANDS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  win32: "winget install Python.Python.3.13",
  darwin: "brew install python@3.13",
  linux: "sudo apt install python3 (Debian 12, Ubuntu 24.04) or sudo dnf install python3 (Fedora)",
};

/** One message with the exact commands. */
export function installPython(platform: NodeJS.Platform): string {
  const install = COMMANDS[platform] ?? "your system's package manager";
  return (
    "No Python 3.11 or newer was found, so there are colours for Net#, but no " +
    `checking. Install one with: ${install}. Then run the command "Net#: Restart Server"; or ` +
    "name an interpreter in the setting netsharp.python."
  );
}

/** What was found and why none of it serves, a line each, for the output channel. */
export function accountOf(rejections: readonly Rejection[]): string[] {
  return rejections.map((each) => `${each.command.join(" ")} ${each.reason}`);
}
