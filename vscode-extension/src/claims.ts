/**
 * Which documents are Net#, and which make the server start.  A `.nn` file belongs to whoever claims
 * it; only where nobody does and the text looks like Net# is it opened as such.
 */

import * as vscode from "vscode";
import { looksLikeNetSharp, mayHoldNetSharp } from "./content";
import * as settings from "./settings";

const HOSTS = new Set(["python", "r", "markdown", "rmd", "quarto"]);

/** Watches what is opened; `wanted` is called once something needs the server. */
export function watchDocuments(wanted: () => void): vscode.Disposable {
  const look = async (document: vscode.TextDocument) => {
    if (document.languageId === "netsharp") {
      wanted();
    } else if (isUnclaimed(document) && looksLikeNetSharp(document.getText())) {
      await vscode.languages.setTextDocumentLanguage(document, "netsharp");
    } else if (isHost(document) && mayHoldNetSharp(document.getText())) {
      wanted();
    }
  };
  vscode.workspace.textDocuments.forEach((document) => void look(document));
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidSaveTextDocument(look),
  );
}

function isUnclaimed(document: vscode.TextDocument): boolean {
  const unclaimed = document.languageId === "plaintext" && /\.nn$/i.test(document.uri.path);
  return unclaimed && settings.detectByContent();
}

function isHost(document: vscode.TextDocument): boolean {
  return HOSTS.has(document.languageId) && settings.embedded();
}
