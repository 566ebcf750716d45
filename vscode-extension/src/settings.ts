/** The settings that the extension itself reads, each by its name in the manifest. */

import * as vscode from "vscode";

/** Keys that the server does not know; they are left out of what it is sent. */
export const EXTENSIONS_OWN = ["server", "python", "trace", "detectByContent", "embedded"];

function section(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("netsharp");
}

export const serverPath = () => section().get("server.path", "").trim();
export const python = () => section().get("python", "").trim();
export const detectByContent = () => section().get("detectByContent", true);
export const embedded = () => section().get("embedded.enable", true);

/** The section as the server gets it. */
export function forServer(values: unknown): Record<string, unknown> {
  const own = Object.entries((values ?? {}) as Record<string, unknown>);
  return Object.fromEntries(own.filter(([key]) => !EXTENSIONS_OWN.includes(key)));
}
