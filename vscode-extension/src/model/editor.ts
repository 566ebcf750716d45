/** Model files in the editor, read only: the picture first, then histograms, some at a time. */

import * as vscode from "vscode";
import type { FromView, ToView } from "../network/messages";
import { savePicture } from "../network/saving";
import { pageOf, viewOptions } from "../page";
import { type Folds, type Graph, MODEL, MODEL_WEIGHTS, type SomeWeights } from "../protocol";
import type { Server } from "../server";

/** How long a file stays as it is before it is opened again, in milliseconds: it may be written. */
const QUIET = 300;

/** Opens model files: of the suffixes that CNTK gives by itself, and any file by another name. */
export class ModelEditors implements vscode.CustomReadonlyEditorProvider {
  static readonly types = ["netsharp.model", "netsharp.anyModel"];

  constructor(
    private readonly root: vscode.Uri,
    private readonly server: Server,
  ) {}

  register(): vscode.Disposable {
    const options = { webviewOptions: { retainContextWhenHidden: true } };
    return vscode.Disposable.from(
      ...ModelEditors.types.map((each) =>
        vscode.window.registerCustomEditorProvider(each, this, options),
      ),
    );
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  resolveCustomEditor(document: vscode.CustomDocument, panel: vscode.WebviewPanel): void {
    panel.webview.options = viewOptions(this.root);
    const shown = new ShownModel(document.uri, panel, this.server);
    panel.onDidDispose(() => shown.dispose());
    panel.webview.html = pageOf(panel.webview, this.root, "network");
  }
}

/** One model in one editor. */
class ShownModel implements vscode.Disposable {
  private folds: Folds = {};
  /** Counts what is drawn from a file as it was: answers about an older one are passed over. */
  private opened = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly uri: vscode.Uri,
    private readonly panel: vscode.WebviewPanel,
    private readonly server: Server,
  ) {
    const name = uri.path.split("/").at(-1) ?? "";
    const pattern = new vscode.RelativePattern(vscode.Uri.joinPath(uri, ".."), escaped(name));
    const watcher = vscode.workspace.createFileSystemWatcher(pattern);
    const again = () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.open(), QUIET);
    };
    this.subscriptions = [
      watcher,
      watcher.onDidChange(again),
      watcher.onDidCreate(again),
      vscode.workspace.onDidGrantWorkspaceTrust(again),
      server.onDidStart(again),
      panel.webview.onDidReceiveMessage((message: FromView) => this.heard(message)),
    ];
  }

  dispose(): void {
    this.opened += 1;
    clearTimeout(this.timer);
    this.subscriptions.forEach((each) => each.dispose());
  }

  private heard(message: FromView): void {
    switch (message.type) {
      case "ready":
        void this.server.start().then(() => this.open());
        break;
      case "fold":
        this.folds = { ...this.folds, [message.key]: message.open };
        void this.draw(this.opened);
        break;
      case "save":
        void savePicture(this.uri, message.format, Buffer.from(message.base64, "base64"));
        break;
    }
  }

  private async open(): Promise<void> {
    this.opened += 1;
    const opened = this.opened;
    if (await this.draw(opened)) {
      await this.look(opened);
    }
  }

  /** Draws the network; false where there is none to draw, or the file is another by now. */
  private async draw(opened: number): Promise<boolean> {
    const { folds } = this;
    const uri = this.uri.toString();
    const answer = await this.ask<Graph>(MODEL, { uri, folds });
    if (opened !== this.opened || folds !== this.folds) {
      return false;
    }
    if (typeof answer === "string") {
      this.post({ type: "stale", message: answer });
      return false;
    }
    const title = this.uri.path.split("/").at(-1) ?? "";
    this.post({ type: "graph", title, graph: answer });
    return true;
  }

  /** Looks at the numbers, until all were looked at or the file is another. */
  private async look(opened: number): Promise<void> {
    const uri = this.uri.toString();
    let first: number | null = 0;
    while (first !== null) {
      const some: SomeWeights | string = await this.ask<SomeWeights>(MODEL_WEIGHTS, { uri, first });
      if (opened !== this.opened || typeof some === "string") {
        return;
      }
      this.post({ type: "weights", weights: some.weights });
      first = some.next;
    }
  }

  /** What the server answers; a sentence where it does not. */
  private async ask<Answer extends object>(
    method: string,
    params: object,
  ): Promise<Answer | string> {
    const { client } = this.server;
    if (client === undefined) {
      return "The Net# server is not running.";
    }
    try {
      return await client.sendRequest<Answer>(method, params);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  private post(message: ToView): void {
    void this.panel.webview.postMessage(message);
  }
}

/** A name as a pattern that means it alone. */
function escaped(name: string): string {
  return name.replace(/[[\]{}?*]/g, (sign) => `[${sign}]`);
}
