/** The network view's side in the editor: feeds it the graph, and follows the cursor both ways. */

import * as vscode from "vscode";
import { FAMILY, OURS } from "../claims";
import type { Graphs } from "../graphs";
import { pageOf, viewOptions } from "../page";
import type { Folds, Graph, Position, Range } from "../protocol";
import type { FromView, ToView } from "./messages";
import { savePicture } from "./saving";

/** How long after the last keystroke the picture is drawn anew, in milliseconds. */
const QUIET = 150;
/** The same where another file was edited: the server looks at those that go with it a little later. */
const QUIET_ELSEWHERE = 800;

export class NetworkPanel implements vscode.Disposable {
  static readonly type = "netsharp.network";
  private panel: vscode.WebviewPanel | undefined;
  private document: vscode.TextDocument | undefined;
  /** Which of several specifications in the document; none for the first. */
  private name: string | undefined;
  private graph: Graph | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** The groups that were opened or closed, by document. */
  private readonly folds = new Map<string, Folds>();
  /** The layer that the view has asked to be shown: the cursor that lands there is no news. */
  private pointed: string | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly root: vscode.Uri,
    private readonly graphs: Graphs,
  ) {
    this.subscriptions = [
      vscode.workspace.onDidChangeTextDocument((change) => {
        if (change.contentChanges.length > 0) {
          this.edited(change.document);
        }
      }),
      vscode.window.onDidChangeActiveTextEditor(() => this.followEditor()),
      // A document that gets another language is opened anew in the same editor.
      vscode.workspace.onDidOpenTextDocument((document) => {
        this.followEditor();
        this.edited(document);
      }),
      vscode.window.onDidChangeTextEditorSelection((change) => this.cursor(change.textEditor)),
    ];
  }

  /** Opens the view for a document, or one specification in it, or brings it to the front. */
  show(document: vscode.TextDocument, name?: string): void {
    if (this.panel === undefined) {
      const column = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      const options = { ...viewOptions(this.root), retainContextWhenHidden: true };
      this.adopt(vscode.window.createWebviewPanel(NetworkPanel.type, "Network", column, options));
    } else {
      this.panel.reveal(undefined, true);
    }
    this.follow(document, name);
  }

  /** Draws anew whatever is shown: another server may answer now. */
  refresh(): void {
    if (this.document !== undefined) {
      this.drawSoon();
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
    this.subscriptions.forEach((each) => each.dispose());
  }

  private adopt(panel: vscode.WebviewPanel): void {
    this.panel = panel;
    panel.iconPath = vscode.Uri.joinPath(this.root, "media", "icon.svg");
    panel.webview.onDidReceiveMessage((message: FromView) => this.heard(message));
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.document = undefined;
    });
    panel.webview.html = pageOf(panel.webview, this.root, "network");
  }

  private followEditor(): void {
    const document = vscode.window.activeTextEditor?.document;
    if (this.panel !== undefined && document !== undefined && OURS.includes(document.languageId)) {
      this.follow(document);
    }
  }

  private follow(document: vscode.TextDocument, name?: string): void {
    if (this.document !== document || this.name !== name) {
      this.document = document;
      this.name = name;
      this.graph = undefined;
      void this.draw();
    }
  }

  private edited(document: vscode.TextDocument): void {
    const own = document === this.document;
    if (own || (FAMILY.has(document.languageId) && FAMILY.has(this.document?.languageId ?? ""))) {
      this.drawSoon(own ? QUIET : QUIET_ELSEWHERE);
    }
  }

  private drawSoon(quiet = QUIET): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.draw(), quiet);
  }

  private async draw(): Promise<void> {
    const document = this.document;
    if (document === undefined || this.panel === undefined) {
      return;
    }
    const version = document.version;
    const folds = this.folds.get(document.uri.toString()) ?? {};
    const answer = await this.graphs.of(document, this.name, folds);
    const later = folds !== (this.folds.get(document.uri.toString()) ?? folds);
    if (this.document !== document || document.version !== version || later) {
      return;
    }
    const title = document.uri.path.split("/").at(-1) ?? "";
    this.panel.title = `Network ${title}`;
    if (!answer.ok) {
      this.post({ type: "stale", message: answer.message });
      return;
    }
    this.graph = answer.graph;
    this.post({ type: "graph", title, graph: answer.graph });
    const editor = this.editor();
    if (editor !== undefined) {
      this.cursor(editor);
    }
  }

  private cursor(editor: vscode.TextEditor): void {
    if (editor.document !== this.document || this.graph === undefined) {
      return;
    }
    const layer = layerAt(this.graph, editor.selection.active);
    if (layer === this.pointed) {
      this.pointed = undefined;
      return;
    }
    this.post({ type: "cursor", layer: layer ?? null });
  }

  private heard(message: FromView): void {
    switch (message.type) {
      case "ready":
        void this.draw();
        break;
      case "reveal":
        void this.reveal(message.layer, this.place(message.layer), message.focus);
        break;
      case "revealBundle":
        void this.reveal(message.layer, this.place(message.layer, message.index), true);
        break;
      case "fold":
        this.fold(message.key, message.open);
        break;
      case "save":
        if (this.document !== undefined) {
          const data = Buffer.from(message.base64, "base64");
          void savePicture(this.document.uri, message.format, data);
        }
        break;
    }
  }

  /** Opens or closes a group; it stays so while the document is edited. */
  private fold(key: string, open: boolean): void {
    if (this.document !== undefined) {
      const uri = this.document.uri.toString();
      this.folds.set(uri, { ...this.folds.get(uri), [key]: open });
      void this.draw();
    }
  }

  /** Where a layer's name stands, or one of its bundles. */
  private place(name: string, index?: number): Range | undefined {
    const layer = this.graph?.layers.find((each) => each.name === name);
    const bundle = index === undefined ? undefined : layer?.bundles[index]?.range;
    return bundle ?? layer?.selectionRange ?? layer?.range ?? undefined;
  }

  private async reveal(layer: string, place: Range | undefined, focus: boolean): Promise<void> {
    if (this.document === undefined || place === undefined) {
      return;
    }
    this.pointed = layer;
    const start = new vscode.Position(place.start.line, place.start.character);
    const end = new vscode.Position(place.end.line, place.end.character);
    const viewColumn = this.editor()?.viewColumn ?? vscode.ViewColumn.One;
    await vscode.window.showTextDocument(this.document, {
      viewColumn,
      preserveFocus: !focus,
      selection: new vscode.Range(start, end),
    });
  }

  private editor(): vscode.TextEditor | undefined {
    const editors = vscode.window.visibleTextEditors;
    return editors.find((each) => each.document === this.document);
  }

  private post(message: ToView): void {
    void this.panel?.webview.postMessage(message);
  }
}

/** The layer in whose declaration a position lies. */
export function layerAt(graph: Graph, position: Position): string | undefined {
  const holds = (range: Range) => !before(position, range.start) && !before(range.end, position);
  return graph.layers.find((each) => each.range !== null && holds(each.range))?.name;
}

function before(one: Position, other: Position): boolean {
  return one.line < other.line || (one.line === other.line && one.character < other.character);
}
