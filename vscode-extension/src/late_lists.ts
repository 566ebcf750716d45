/**
 * Lists that come when the next word has begun.  VS Code then compares their items with the blank and
 * the word together, finds none, and asks nobody about the word; it asks where a list has no items.
 */

import * as vscode from "vscode";
import { CompletionRequest, type LanguageClient, type Middleware } from "vscode-languageclient/node";

/** Behind these marks a blank is usual. */
const BEFORE_BLANKS = new Set(["[", ",", "=", "(", "{"]);
/** How long such a list waits for the next key: longer than quick typists leave between two. */
const NEXT_KEY = 60;

/** What our provider for words asks the client's. */
const AT_WORDS = new WeakSet<vscode.CompletionContext>();

/**
 * Gives no items for a place that a blank follows by now, and none but behind marks where VS Code asks
 * the client's provider itself.
 */
export function withoutLateLists(): Pick<Middleware, "provideCompletionItem"> {
  return {
    async provideCompletionItem(document, position, context, token, next) {
      const isBehindMark = context.triggerKind === vscode.CompletionTriggerKind.TriggerCharacter;
      if (!isBehindMark && !AT_WORDS.has(context)) {
        return undefined;
      }
      const typed = new Typing(document, position);
      const spaced = isBehindMark && BEFORE_BLANKS.has(context.triggerCharacter ?? "");
      try {
        const answer = await next(document, position, context, token);
        if (spaced) {
          await typed.began;
        }
        return typed.blank || cursorIsBehindBlank(document, position) ? undefined : answer;
      } finally {
        typed.dispose();
      }
    },
  };
}

/**
 * Answers at words by a provider of its own.  Where a late list of a mark comes to the page when the next
 * word has begun there, which is not known here, VS Code asks those alone that have no items in it.
 */
export function answerAtWords(client: LanguageClient): vscode.Disposable {
  const selector = client.protocol2CodeConverter.asDocumentSelector(
    client.clientOptions.documentSelector ?? [],
  );
  let asked: vscode.CompletionItemProvider | undefined;
  return vscode.languages.registerCompletionItemProvider(selector, {
    provideCompletionItems(document, position, token, context) {
      asked = client.getFeature(CompletionRequest.method).getProvider(document);
      const own = { ...context };
      AT_WORDS.add(own);
      return asked?.provideCompletionItems(document, position, token, own);
    },
    resolveCompletionItem: (item, token) => asked?.resolveCompletionItem?.(item, token) ?? item,
  });
}

/** Follows what is typed from a position on. */
class Typing implements vscode.Disposable {
  blank = false;
  /** Resolves with the next change of the document, or after a while. */
  readonly began: Promise<void>;
  private readonly watch: vscode.Disposable;

  constructor(
    document: vscode.TextDocument,
    private end: vscode.Position,
  ) {
    let done = () => {};
    this.began = new Promise((resolve) => (done = resolve));
    setTimeout(done, NEXT_KEY);
    this.watch = vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.document === document) {
        event.contentChanges.forEach((each) => this.follow(each));
        done();
      }
    });
  }

  dispose(): void {
    this.watch.dispose();
  }

  /** Takes one key; VS Code adds the second of two brackets to the first. */
  private follow({ range, text }: vscode.TextDocumentContentChangeEvent): void {
    if (range.start.isEqual(this.end) && text !== "") {
      this.blank ||= /^[ \t]/.test(text);
      this.end = this.end.translate(0, 1);
    }
  }
}

/** Whether keys that were pressed before the question came begin with a blank. */
function cursorIsBehindBlank(document: vscode.TextDocument, position: vscode.Position): boolean {
  return vscode.window.visibleTextEditors.some((editor) => {
    const cursor = editor.selection.active;
    const beyond = cursor.line === position.line && cursor.isAfter(position);
    const between = new vscode.Range(position, cursor);
    return editor.document === document && beyond && /[ \t]/.test(document.getText(between));
  });
}
