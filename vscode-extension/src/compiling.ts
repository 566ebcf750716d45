/** A network compiled for a device: the server does it, and its report is shown beside the text. */

import * as vscode from "vscode";
import type { Server } from "./server";

/** What the server tells of a compilation. */
interface Compiled {
  /** The address of the report as a page. */
  readonly report: string;
}

const COMMAND = "netsharp.server.compile";

/** Compiles the trained model of a document; the server says what cannot be, and what was done. */
export async function compile(server: Server, document: vscode.TextDocument): Promise<void> {
  const { client } = server;
  if (client === undefined) {
    void vscode.window.showInformationMessage("Net#: the server is not running.");
    return;
  }
  const uri = client.code2ProtocolConverter.asUri(document.uri);
  const told = await client.sendRequest<Compiled | null>("workspace/executeCommand", {
    command: COMMAND,
    arguments: [uri, { shown: true }],
  });
  if (told !== null) {
    await show(client.protocol2CodeConverter.asUri(told.report));
  }
}

/** Shows a page as it is read; as it is written, where somebody has switched Markdown off. */
async function show(report: vscode.Uri): Promise<void> {
  try {
    await vscode.commands.executeCommand("markdown.showPreviewToSide", report);
  } catch {
    const viewColumn = vscode.ViewColumn.Beside;
    await vscode.window.showTextDocument(report, { viewColumn, preserveFocus: true });
  }
}
