/** The training view's side in the editor: one panel, which shows the run of one document. */

import * as vscode from "vscode";
import { pageOf, viewOptions } from "../page";
import type { FromView, ToView } from "./messages";
import type { Change, Run, Runs } from "./runs";

export class TrainingPanel implements vscode.Disposable {
  static readonly type = "netsharp.training";
  private panel: vscode.WebviewPanel | undefined;
  private run: Run | undefined;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly root: vscode.Uri,
    private readonly runs: Runs,
    private readonly again: (uri: vscode.Uri, resume: boolean) => void,
  ) {
    this.subscription = runs.onDidChange((change) => this.follow(change));
  }

  /** Shows a run, in a new view beside the text where there is none. */
  show(run: Run): void {
    this.run = run;
    if (this.panel === undefined) {
      const column = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      this.adopt(
        vscode.window.createWebviewPanel(
          TrainingPanel.type,
          "Training",
          column,
          viewOptions(this.root),
        ),
      );
    } else {
      this.panel.reveal(undefined, true);
      this.replay();
    }
  }

  dispose(): void {
    this.subscription.dispose();
    this.panel?.dispose();
  }

  private adopt(panel: vscode.WebviewPanel): void {
    this.panel = panel;
    panel.iconPath = vscode.Uri.joinPath(this.root, "media", "icon.svg");
    panel.webview.onDidReceiveMessage((message: FromView) => this.heard(message));
    panel.onDidDispose(() => (this.panel = undefined));
    panel.webview.html = pageOf(panel.webview, this.root, "training");
  }

  private follow({ run, event }: Change): void {
    if (run.uri.toString() !== this.run?.uri.toString()) {
      return;
    }
    if (run !== this.run) {
      this.run = run;
      this.replay();
      return;
    }
    if (event !== undefined) {
      this.post({ type: "event", event });
    }
    const { status, error, model } = run;
    this.post({ type: "status", status, error, model });
  }

  /** A hidden view keeps nothing: all that was told is told again. */
  private replay(): void {
    if (this.run !== undefined && this.panel !== undefined) {
      const { title, status, error, model, events } = this.run;
      this.panel.title = `Training ${title}`;
      this.post({ type: "replay", title, status, error, model, events });
    }
  }

  private heard(message: FromView): void {
    const run = this.run;
    if (run === undefined) {
      return;
    }
    switch (message.type) {
      case "ready":
        this.replay();
        break;
      case "stop":
        void this.runs.stop(run);
        break;
      case "resume":
      case "again":
        this.again(run.uri, message.type === "resume");
        break;
      case "model":
        void vscode.commands.executeCommand("revealInExplorer", vscode.Uri.file(run.model));
        break;
      case "specification":
        void vscode.window.showTextDocument(run.uri, { viewColumn: vscode.ViewColumn.One });
        break;
    }
  }

  private post(message: ToView): void {
    void this.panel?.webview.postMessage(message);
  }
}
