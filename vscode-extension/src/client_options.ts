/** What the language client is told: which documents, which settings, which commands go elsewhere. */

import * as vscode from "vscode";
import {
  type DocumentSelector,
  type LanguageClientOptions,
  RevealOutputChannelOn,
} from "vscode-languageclient/node";
import { OURS } from "./claims";
import { withoutLateLists } from "./late_lists";
import { withPreview } from "./migration";
import * as settings from "./settings";

/** Commands of the server that the extension answers with a view of its own; true where it did. */
export type Takeover = (command: string, args: readonly unknown[]) => boolean;

const HOSTS = ["python", "r", "markdown", "rmd", "quarto", "sql", "tsql"];
/** Commands that a hover may link to. */
const LINKED = [
  "netsharp.server.explain",
  "netsharp.server.bindData",
  "netsharp.server.showLayer",
  "netsharp.server.showNetwork",
];

export function clientOptions(
  output: vscode.LogOutputChannel,
  takeover: Takeover,
): LanguageClientOptions {
  return {
    documentSelector: selector(),
    outputChannel: output,
    traceOutputChannel: output,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    progressOnInitialization: true,
    markdown: { isTrusted: { enabledCommands: LINKED }, supportHtml: false },
    initializationOptions: {
      settings: settings.section(),
      trusted: vscode.workspace.isTrusted,
    },
    middleware: {
      ...withPreview(),
      ...withoutLateLists(),
      executeCommand: (command, args, next) =>
        takeover(command, args) ? undefined : next(command, args),
    },
  };
}

function selector(): DocumentSelector {
  const schemes = ["file", "untitled"];
  const languages = settings.embedded() ? [...OURS, ...HOSTS] : OURS;
  const files = schemes.flatMap((scheme) => languages.map((language) => ({ scheme, language })));
  const cells = languages.map((language) => ({ notebook: "*", language }));
  return settings.embedded() ? [...files, ...cells] : files;
}
