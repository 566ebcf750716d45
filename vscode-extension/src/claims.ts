/**
 * Which documents are ours, and which make the server start.  A suffix that others use too belongs to
 * whoever claims it; only where nobody does and the text looks so is a document opened as ours.  `.nn`
 * is ours by the manifest, so that it has its colours before any program runs: what is clearly
 * something else is given back.
 */

import * as vscode from "vscode";
import { cannotBeNetSharp, cntkLanguageOf, looksLikeNetSharp, mayHoldNetSharp } from "./content";
import * as settings from "./settings";

/** The ids of the languages that a whole file may be in. */
export const OURS: readonly string[] = ["netsharp", "cntk", "brainscript", "ndl", "mel"];
/** Those whose files are read together: a change of one may change what another means. */
export const FAMILY: ReadonlySet<string> = new Set(["cntk", "brainscript", "ndl", "mel"]);
/** What a file is taken for where no other extension knows it; VS Code's own XML takes `.config`. */
const UNCLAIMED = new Set(["plaintext", "xml"]);
const HOSTS = new Set(["python", "r", "markdown", "rmd", "quarto", "sql", "tsql"]);

/** Watches what is opened; `wanted` is called once something needs the server. */
export function watchDocuments(wanted: () => void): vscode.Disposable {
  const look = async (document: vscode.TextDocument) => {
    if (await givenBack(document)) {
      return;
    }
    if (OURS.includes(document.languageId)) {
      wanted();
    } else if (isHost(document) && mayHoldNetSharp(document.getText())) {
      wanted();
    } else {
      await claim(document);
    }
  };
  vscode.workspace.textDocuments.forEach((document) => void look(document));
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidSaveTextDocument(look),
    // A file may be empty when it is opened, and say only later what it is.
    vscode.workspace.onDidChangeTextDocument(({ document }) => void claim(document)),
  );
}

/** Files whose suffix alone was judged; who chooses a language afterwards has chosen. */
const judgedByName = new Set<string>();

/** Whether a document was ours by its suffix and is not by its text. */
async function givenBack(document: vscode.TextDocument): Promise<boolean> {
  const uri = document.uri.toString();
  if (document.languageId !== "netsharp" || !/\.nn$/i.test(uri) || judgedByName.has(uri)) {
    return false;
  }
  judgedByName.add(uri);
  if (!settings.detectByContent() || !cannotBeNetSharp(document.getText())) {
    return false;
  }
  await vscode.languages.setTextDocumentLanguage(document, "plaintext");
  return true;
}

async function claim(document: vscode.TextDocument): Promise<void> {
  const judged = judgedLanguage(document);
  if (judged !== undefined) {
    await vscode.languages.setTextDocumentLanguage(document, judged);
  }
}

/** What the text of a document that nobody claimed looks like. */
function judgedLanguage(document: vscode.TextDocument): string | undefined {
  if (!UNCLAIMED.has(document.languageId) || !settings.detectByContent()) {
    return undefined;
  }
  const path = document.uri.path;
  if (/\.nn$/i.test(path)) {
    return looksLikeNetSharp(document.getText()) ? "netsharp" : undefined;
  }
  return /\.(?:config|bs|mel)$/i.test(path) ? cntkLanguageOf(path, document.getText()) : undefined;
}

/** Whether a text of another language may hold specifications that are looked at. */
export function isHost(document: vscode.TextDocument): boolean {
  return HOSTS.has(document.languageId) && settings.embedded();
}
