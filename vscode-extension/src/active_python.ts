/** The interpreter chosen in the Python extension, where that extension is there. */

import * as vscode from "vscode";

const EXTENSION = "ms-python.python";

/** As much of that extension's interface as is used here. */
interface PythonApi {
  readonly environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(environment: {
      readonly path: string;
    }): Promise<{ readonly executable: { readonly uri?: vscode.Uri } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath?: vscode.Event<unknown>;
  };
}

/** The path of the chosen interpreter; undefined where there is none, whatever goes wrong. */
export async function activePython(): Promise<string | undefined> {
  try {
    const environments = (await api())?.environments;
    if (environments === undefined) {
      return undefined;
    }
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const chosen = environments.getActiveEnvironmentPath(folder);
    const resolved = await environments.resolveEnvironment(chosen);
    return resolved?.executable.uri?.fsPath;
  } catch {
    return undefined;
  }
}

/** Calls `changed` whenever another interpreter is chosen. */
export async function watchActivePython(changed: () => void): Promise<vscode.Disposable> {
  try {
    const event = (await api())?.environments?.onDidChangeActiveEnvironmentPath;
    return event?.(changed) ?? { dispose: () => undefined };
  } catch {
    return { dispose: () => undefined };
  }
}

async function api(): Promise<PythonApi | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>(EXTENSION);
  if (extension === undefined) {
    return undefined;
  }
  return extension.isActive ? extension.exports : await extension.activate();
}
