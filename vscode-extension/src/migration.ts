/**
 * A migration as a person meets it, from the light bulb and from the palette alike: what it changes
 * is shown, then asked about, then made in one step that one Ctrl+Z takes back.  Knows no language.
 */

import * as vscode from "vscode";
import type {
  WorkspaceEdit as EditAsJson,
  LanguageClient,
  Middleware,
} from "vscode-languageclient/node";

/** What is to be done, and what the server says of it: that it is proven, and what is left to do. */
export interface Plan {
  readonly edit: vscode.WorkspaceEdit;
  readonly sentences: readonly string[];
}

/** A file that a plan changes; one that comes to be has no document yet. */
interface Changed {
  readonly uri: vscode.Uri;
  readonly document: vscode.TextDocument | undefined;
  readonly version: number | undefined;
  readonly after: string;
}

interface Choice extends vscode.QuickPickItem {
  /** Absent where a line is only to be read. */
  readonly go?: boolean;
}

const KIND = "refactor.rewrite.migrate";
const COMMAND = "netsharp.migrate";
const SCHEME = "netsharp-migration";
const TITLE = "Migration to BrainScript";

/** Shows and makes migrations, one at a time. */
export class Migrations implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  private shown = 0;
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  dispose(): void {
    this.registration.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** Asks the server what would turn a document into BrainScript, and carries that out. */
  async begin(client: LanguageClient, document: vscode.TextDocument): Promise<void> {
    const uri = client.code2ProtocolConverter.asUri(document.uri);
    const command = "netsharp.server.migrate";
    const told = await client.sendRequest<{ edit: EditAsJson; sentences: string[] } | null>(
      "workspace/executeCommand",
      { command, arguments: [uri, { plan: true }] },
    );
    if (told !== null) {
      const edit = await client.protocol2CodeConverter.asWorkspaceEdit(told.edit);
      await this.carryOut(document.uri, { edit, sentences: told.sentences });
    }
  }

  /** Shows a plan, asks whether it is meant, and makes it where the texts are still the same. */
  async carryOut(uri: vscode.Uri, plan: Plan): Promise<void> {
    const changed = await Promise.all(plan.edit.entries().map(([each, edits]) => change(each, edits)));
    await this.show(changed);
    const meant = await ask(plan.sentences, changed);
    await this.hide();
    // What is undone is what the editor in front shows.
    await vscode.window.showTextDocument(uri, { preview: false });
    if (!meant) {
      return;
    }
    const other = changed.find(({ document, version }) => document?.version !== version);
    if (other !== undefined) {
      const name = nameOf(other.uri);
      void vscode.window.showWarningMessage(
        `Net#: ${name} has changed since, so nothing was migrated. Ask for the migration again.`,
      );
    } else if (await vscode.workspace.applyEdit(plan.edit)) {
      void vscode.window.showInformationMessage(plan.sentences.join(" "));
    } else {
      void vscode.window.showWarningMessage("Net#: the editor did not make the migration.");
    }
  }

  private async show(changed: readonly Changed[]): Promise<void> {
    this.shown += 1;
    const rows = changed.map(({ uri, document, after }) => {
      const made = vscode.Uri.from({ scheme: SCHEME, path: uri.path, query: String(this.shown) });
      this.texts.set(made.toString(), after);
      return [uri, document?.uri, made];
    });
    await vscode.commands.executeCommand("vscode.changes", TITLE, rows);
  }

  private async hide(): Promise<void> {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    await vscode.window.tabGroups.close(tabs.filter(({ label }) => label.startsWith(TITLE)));
    this.texts.clear();
  }
}

/** Lets migrations that the light bulb offers go the way of the command. */
export function withPreview(): Middleware {
  return {
    provideCodeActions: async (document, range, context, token, next) =>
      (await next(document, range, context, token))?.map((each) =>
        each instanceof vscode.CodeAction ? previewed(document.uri, each) : each,
      ),
    // What has a command of ours needs nothing more, and its edit is no JSON.
    resolveCodeAction: (action, token, next) =>
      action.command?.command === COMMAND ? action : next(action, token),
  };
}

function previewed(uri: vscode.Uri, action: vscode.CodeAction): vscode.CodeAction {
  const { data } = action as { data?: { sentences?: readonly string[] } };
  const sentences = data?.sentences;
  if (action.kind?.value !== KIND || action.edit === undefined || sentences === undefined) {
    return action;
  }
  const made = new vscode.CodeAction(action.title, action.kind);
  const plan: Plan = { edit: action.edit, sentences };
  made.command = { title: action.title, command: COMMAND, arguments: [uri, plan] };
  return made;
}

async function change(uri: vscode.Uri, edits: readonly vscode.TextEdit[]): Promise<Changed> {
  const document = await vscode.workspace.openTextDocument(uri).then(
    (found) => found,
    () => undefined,
  );
  const before = document?.getText() ?? "";
  const places = edits.map(({ range, newText }) => ({
    start: document?.offsetAt(range.start) ?? 0,
    end: document?.offsetAt(range.end) ?? 0,
    newText,
  }));
  places.sort((one, other) => one.start - other.start || one.end - other.end);
  let [after, at] = ["", 0];
  for (const { start, end, newText } of places) {
    after += before.slice(at, start) + newText;
    at = end;
  }
  return { uri, document, version: document?.version, after: after + before.slice(at) };
}

/** Whether a person wants what is shown; stays until that is said. */
function ask(sentences: readonly string[], changed: readonly Changed[]): Promise<boolean> {
  const [proven = "", ...left] = sentences;
  const made = changed.filter(({ document }) => document === undefined);
  const kept = changed.filter(({ document }) => document !== undefined);
  const parts = [
    ...(kept.length > 0 ? [`changes ${kept.map(({ uri }) => nameOf(uri)).join(", ")}`] : []),
    ...(made.length > 0 ? [`makes ${made.map(({ uri }) => nameOf(uri)).join(", ")}`] : []),
  ];
  const items: Choice[] = [
    { label: "$(check) Migrate", detail: `Net# ${parts.join(" and ")}; Ctrl+Z undoes it.`, go: true },
    { label: "$(close) Leave everything as it is", go: false },
  ];
  if (left.length > 0) {
    items.push({ label: "left to a person", kind: vscode.QuickPickItemKind.Separator });
    items.push(...left.map((label) => ({ label, alwaysShow: true })));
  }
  const pick = vscode.window.createQuickPick<Choice>();
  pick.title = TITLE;
  pick.placeholder = proven;
  pick.items = items;
  // The preview may be scrolled and read meanwhile.
  pick.ignoreFocusOut = true;
  return new Promise((resolve) => {
    pick.onDidAccept(() => {
      const go = pick.activeItems[0]?.go;
      if (go !== undefined) {
        resolve(go);
        pick.hide();
      }
    });
    pick.onDidHide(() => {
      resolve(false);
      pick.dispose();
    });
    pick.show();
  });
}

function nameOf(uri: vscode.Uri): string {
  return uri.path.slice(uri.path.lastIndexOf("/") + 1);
}
