/** Asks the server for the network of a document, once per version of it. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { GRAPH, type Graph } from "./protocol";

export type Answer =
  | { readonly ok: true; readonly graph: Graph }
  | { readonly ok: false; readonly message: string };

export class Graphs {
  private readonly kept = new Map<string, { version: number; answer: Promise<Answer> }>();

  constructor(private readonly client: () => LanguageClient | undefined) {}

  /** The network of a document as it is now; why there is none, where that is so. */
  of(document: vscode.TextDocument): Promise<Answer> {
    const key = document.uri.toString();
    const kept = this.kept.get(key);
    if (kept?.version === document.version) {
      return kept.answer;
    }
    const answer = this.ask(document);
    this.kept.set(key, { version: document.version, answer });
    return answer;
  }

  /** Forgets everything: another server may answer otherwise. */
  clear(): void {
    this.kept.clear();
  }

  private async ask(document: vscode.TextDocument): Promise<Answer> {
    const client = this.client();
    if (client === undefined) {
      this.kept.delete(document.uri.toString());
      return { ok: false, message: "The Net# server is not running." };
    }
    const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(document);
    try {
      const graph = await client.sendRequest<Graph | null>(GRAPH, { textDocument });
      return graph === null
        ? { ok: false, message: "There is no specification in this document." }
        : { ok: true, graph };
    } catch (error) {
      return { ok: false, message: error instanceof Error ? error.message : String(error) };
    }
  }
}
