/** The settings that the extension itself reads, each by its name in the manifest. */

import * as vscode from "vscode";

/** All of them as they stand; the server passes over those that are the extension's own. */
export function section(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("netsharp");
}

export const serverPath = () => section().get("server.path", "").trim();
export const python = () => section().get("python", "").trim();
export const detectByContent = () => section().get("detectByContent", true);
export const embedded = () => section().get("embedded.enable", true);
