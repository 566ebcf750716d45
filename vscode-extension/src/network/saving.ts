/** Saves a picture where a person says. */

import * as vscode from "vscode";

/** Asks for a place beside what is drawn, and writes the picture there. */
export async function savePicture(
  drawn: vscode.Uri,
  format: "svg" | "png",
  data: Buffer,
): Promise<void> {
  const path = `${drawn.path.replace(/\.[^./]*$/, "")}.${format}`;
  const target = await vscode.window.showSaveDialog({
    defaultUri: drawn.with({ scheme: "file", path }),
    filters: format === "svg" ? { "SVG picture": ["svg"] } : { "PNG picture": ["png"] },
  });
  if (target !== undefined) {
    await vscode.workspace.fs.writeFile(target, data);
  }
}
