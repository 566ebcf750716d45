/** The training view's side in the editor: one panel, which shows the run of one document. */

import * as vscode from "vscode";
import { pageOf, viewOptions } from "../page";
import type { FromView, Standing, ToView } from "./messages";
import type { Change, Run, Runs } from "./runs";

/** Milliseconds between two messages to the view: no screen shows more of them. */
const FRAME = 33;

export class TrainingPanel implements vscode.Disposable {
  static readonly type = "netsharp.training";
  private panel: vscode.WebviewPanel | undefined;
  private run: Run | undefined;
  /** Whether the view is there, and has drawn what it was told last: a page that draws more slowly
   * than a run goes on is told less often, and never trails behind it. */
  private listening = false;
  /** How many of the run's events the view knows, and the clock that will tell it the others. */
  private known = 0;
  private clock: ReturnType<typeof setTimeout> | undefined;
  /** How the view believes that the run stands. */
  private told: Standing | undefined;
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
    clearTimeout(this.clock);
    this.panel?.dispose();
  }

  private adopt(panel: vscode.WebviewPanel): void {
    this.panel = panel;
    panel.iconPath = vscode.Uri.joinPath(this.root, "media", "icon.svg");
    panel.webview.onDidReceiveMessage((message: FromView) => this.heard(message));
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.listening = false;
    });
    // A view that is hidden has no page; when it comes back, it is told all from the start.
    panel.onDidChangeViewState(() => {
      this.listening &&= panel.visible;
    });
    panel.webview.html = pageOf(panel.webview, this.root, "training");
  }

  private follow({ run }: Change): void {
    if (run.uri.toString() !== this.run?.uri.toString()) {
      return;
    }
    if (run !== this.run) {
      this.run = run;
      this.replay();
      return;
    }
    this.tellSoon();
  }

  private tellSoon(): void {
    if (this.listening) {
      this.clock ??= setTimeout(() => this.tell(), FRAME);
    }
  }

  /** Tells the view what has come since the last time. */
  private tell(): void {
    this.clock = undefined;
    if (this.run === undefined || !this.listening) {
      return;
    }
    const { events, status, error, model } = this.run;
    const news = events.slice(this.known);
    if (news.length > 0) {
      this.known = events.length;
      this.listening = false;
      this.post({ type: "events", events: news });
    }
    if (status !== this.told?.status || error !== this.told.error || model !== this.told.model) {
      this.told = { status, error, model };
      this.post({ type: "status", ...this.told });
    }
  }

  /** Tells all from the start: a view that was hidden keeps nothing. */
  private replay(): void {
    clearTimeout(this.clock);
    this.clock = undefined;
    this.listening = false;
    if (this.run !== undefined && this.panel !== undefined) {
      const { title, status, error, model, events } = this.run;
      this.told = { status, error, model };
      this.known = events.length;
      this.panel.title = `Training ${title}`;
      this.post({ type: "replay", title, events, ...this.told });
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
      case "drawn":
        this.listening = true;
        this.tellSoon();
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
