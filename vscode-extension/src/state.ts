/** What has become of the server, for the status bar, for menus and for those who wait for it. */

import * as vscode from "vscode";

export type State =
  | { readonly kind: "idle" }
  | { readonly kind: "starting"; readonly doing: string }
  | {
      readonly kind: "running";
      readonly origin: "setting" | "interpreter" | "bundled";
      readonly command: readonly string[];
      readonly version: string;
      /** Settings that lead nowhere, a sentence each; the search has gone on without them. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: "bad-setting"; readonly setting: string; readonly message: string }
  | { readonly kind: "no-python"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string };

/** The state as it changes; a settled one stays until somebody restarts the server. */
export class StateOfServer implements vscode.Disposable {
  private current: State = { kind: "idle" };
  private readonly changes = new vscode.EventEmitter<State>();
  readonly onDidChange = this.changes.event;

  constructor(private readonly output: vscode.LogOutputChannel) {}

  get value(): State {
    return this.current;
  }

  set(state: State): void {
    this.current = state;
    this.output.info(`state: ${JSON.stringify(state)}`);
    void vscode.commands.executeCommand("setContext", "netsharp.state", state.kind);
    void vscode.commands.executeCommand("setContext", "netsharp.ready", state.kind === "running");
    this.changes.fire(state);
  }

  /** Resolves with the first state that waits for nothing more. */
  settled(): Promise<State> {
    if (isSettled(this.current)) {
      return Promise.resolve(this.current);
    }
    return new Promise((resolve) => {
      const subscription = this.onDidChange((state) => {
        if (isSettled(state)) {
          subscription.dispose();
          resolve(state);
        }
      });
    });
  }

  dispose(): void {
    this.changes.dispose();
  }
}

function isSettled(state: State): boolean {
  return state.kind !== "idle" && state.kind !== "starting";
}
