/** The page of a view: one script, one style sheet, and a policy that lets nothing else in. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

/** The HTML of a view whose script is `dist/NAME.js` and whose style is `media/NAME.css`. */
export function pageOf(webview: vscode.Webview, root: vscode.Uri, name: string): string {
  const nonce = randomBytes(16).toString("base64");
  const script = webview.asWebviewUri(vscode.Uri.joinPath(root, "dist", `${name}.js`));
  const style = webview.asWebviewUri(vscode.Uri.joinPath(root, "media", `${name}.css`));
  const policy = [
    "default-src 'none'",
    `style-src ${webview.cspSource}`,
    `script-src 'nonce-${nonce}'`,
    "img-src data:",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>Net#</title>
</head>
<body>
<main id="view"></main>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}

/** What both views may do: run the script of the extension, and load nothing from elsewhere. */
export function viewOptions(root: vscode.Uri): vscode.WebviewOptions {
  return {
    enableScripts: true,
    localResourceRoots: [vscode.Uri.joinPath(root, "dist"), vscode.Uri.joinPath(root, "media")],
  };
}
