/** Asks the server for the network of a document, once per version of it where that is all. */

import type * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { FAMILY } from "./claims";
import { type Folds, GRAPH, type Graph } from "./protocol";

export type Answer =
  | { readonly ok: true; readonly graph: Graph }
  | { readonly ok: false; readonly message: string };

export class Graphs {
  private readonly kept = new Map<string, { version: number; answer: Promise<Answer> }>();

  constructor(private readonly client: () => LanguageClient | undefined) {}

  /**
   * The network of a document as it is now; why there is none, where that is so.
   * `name` chooses one of several specifications; without it the first is meant.  `folds` are
   * groups to open or close, which only networks of the family have.
   */
  of(document: vscode.TextDocument, name?: string, folds: Folds = {}): Promise<Answer> {
    if (FAMILY.has(document.languageId)) {
      // Its version does not tell whether other files have changed; the server keeps what it made.
      return this.ask(document, name, folds);
    }
    const key = JSON.stringify([document.uri.toString(), name]);
    const kept = this.kept.get(key);
    if (kept?.version === document.version) {
      return kept.answer;
    }
    const answer = this.ask(document, name, folds).then((made) => this.keepIfMade(key, made));
    this.kept.set(key, { version: document.version, answer });
    return answer;
  }

  /** Forgets everything: another server may answer otherwise. */
  clear(): void {
    this.kept.clear();
  }

  /** A refusal is not kept: the same text may have a network once the server is ready. */
  private keepIfMade(key: string, answer: Answer): Answer {
    if (!answer.ok) {
      this.kept.delete(key);
    }
    return answer;
  }

  private async ask(
    document: vscode.TextDocument,
    name: string | undefined,
    folds: Folds,
  ): Promise<Answer> {
    const client = this.client();
    if (client === undefined) {
      return { ok: false, message: "The Net# server is not running." };
    }
    const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(document);
    try {
      const graph = await client.sendRequest<Graph>(GRAPH, { textDocument, name, folds });
      return { ok: true, graph };
    } catch (error) {
      return { ok: false, message: error instanceof Error ? error.message : String(error) };
    }
  }
}
