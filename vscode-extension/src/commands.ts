/** The extension's commands, by the ids of the manifest; each is short and leaves the work to others. */

import * as vscode from "vscode";
import { isHost, OURS } from "./claims";
import { compile } from "./compiling";
import type { Migrations, Plan } from "./migration";
import type { NetworkPanel } from "./network/panel";
import type { Server } from "./server";
import type { TrainingPanel } from "./training/panel";
import type { Order, Runs } from "./training/runs";

export interface Parts {
  readonly server: Server;
  readonly output: vscode.LogOutputChannel;
  readonly network: NetworkPanel;
  readonly training: TrainingPanel;
  readonly runs: Runs;
  readonly migrations: Migrations;
}

const HINTS = ["shapes", "parameters"] as const;
const TEMPLATE = `input Data [28, 28];
hidden Hidden [100] rlinear from Data all;
output Result [10] softmax from Hidden all;
`;

/** Registers every command of the manifest. */
export function registerCommands(parts: Parts): vscode.Disposable {
  const { server, output, network, training, runs, migrations } = parts;
  const table: Record<string, (...args: never[]) => unknown> = {
    restartServer: () => server.restart(),
    showOutput: () => output.show(),
    format: () => format(server),
    fixAll: () => askServer(server, "netsharp.server.fixAll"),
    describe: () => askServer(server, "netsharp.server.describe"),
    examine: () => askServer(server, "netsharp.server.examine"),
    showNetwork: (uri?: unknown, name?: string) =>
      withDocument(uri, (document) => network.show(document, name)),
    train: (uri?: unknown, order?: Order) =>
      withDocument(uri, (document) => train(parts, document, order ?? {})),
    compile: (uri?: unknown) => withDocument(uri, (document) => compile(server, document)),
    stopTraining: () => Promise.all(runs.active.map((run) => runs.stop(run))),
    toggleHints,
    newSpecification,
    migrate: (uri?: vscode.Uri, plan?: Plan) => migrate(server, migrations, uri, plan),
  };
  let active = false;
  return vscode.Disposable.from(
    ...Object.entries(table).map(([name, act]) =>
      vscode.commands.registerCommand(`netsharp.${name}`, act),
    ),
    runs.onDidChange(({ run }) => {
      // Every menu of the window is looked through again where it is set, and runs change often.
      if (active !== runs.active.length > 0) {
        active = !active;
        void vscode.commands.executeCommand("setContext", "netsharp.training", active);
      }
      if (run.status === "starting") {
        training.show(run);
      }
    }),
  );
}

/** Trains a document, and shows how that goes. */
export async function train(
  parts: Parts,
  document: vscode.TextDocument,
  order: Order,
): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    const trust = "Manage Workspace Trust";
    const message = "Net#: nothing is trained in a folder that is not trusted.";
    if ((await vscode.window.showWarningMessage(message, trust)) === trust) {
      await vscode.commands.executeCommand("workbench.trust.manage");
    }
    return;
  }
  const running = parts.runs.of(document.uri);
  if (running?.active === true) {
    parts.training.show(running);
    return;
  }
  await parts.runs.start(document, order);
}

/** Answers commands of the server that have a view here, wherever they come from. */
export function takeover(command: string, args: readonly unknown[]): boolean {
  const ours: Readonly<Record<string, string>> = {
    "netsharp.server.showNetwork": "netsharp.showNetwork",
    "netsharp.server.train": "netsharp.train",
    "netsharp.server.compile": "netsharp.compile",
  };
  const own = ours[command];
  if (own !== undefined) {
    void vscode.commands.executeCommand(own, ...args);
  }
  return own !== undefined;
}

async function askServer(server: Server, command: string): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document !== undefined && server.client !== undefined) {
    const uri = server.client.code2ProtocolConverter.asUri(document.uri);
    await server.client.sendRequest("workspace/executeCommand", { command, arguments: [uri] });
  }
}

/** Puts the specifications of the document in front in order; says so where it holds none. */
async function format(server: Server): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document !== undefined && OURS.includes(document.languageId)) {
    await vscode.commands.executeCommand("editor.action.formatDocument");
  } else if (document !== undefined && isHost(document)) {
    await askServer(server, "netsharp.server.format");
  } else {
    const what = document === undefined ? "no text is open" : "this text holds no specification";
    const message = `Net#: ${what}. Open a specification, or a text that holds one, and format that.`;
    void vscode.window.showInformationMessage(message);
  }
}

/** Migrates by a plan that the light bulb came with, else by one that the server makes. */
async function migrate(
  server: Server,
  migrations: Migrations,
  uri: vscode.Uri | undefined,
  plan: Plan | undefined,
): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (uri !== undefined && plan !== undefined) {
    await migrations.carryOut(uri, plan);
  } else if (document !== undefined && server.client !== undefined) {
    await migrations.begin(server.client, document);
  }
}

/** Calls with the document that an address names, or with the one in front. */
async function withDocument(
  given: unknown,
  act: (document: vscode.TextDocument) => unknown,
): Promise<void> {
  const uri = typeof given === "string" ? vscode.Uri.parse(given) : given;
  const document =
    uri instanceof vscode.Uri
      ? await vscode.workspace.openTextDocument(uri)
      : (vscode.window.activeTextEditor ?? ourEditor())?.document;
  if (document === undefined) {
    void vscode.window.showInformationMessage("Net#: open a specification or a CNTK file first.");
    return;
  }
  await act(document);
}

function ourEditor(): vscode.TextEditor | undefined {
  const editors = vscode.window.visibleTextEditors;
  return editors.find((each) => OURS.includes(each.document.languageId));
}

/** Turns both kinds of hints that are on by default off, or on again. */
async function toggleHints(): Promise<void> {
  const hints = vscode.workspace.getConfiguration("netsharp.inlayHints");
  const shown = HINTS.some((name) => hints.get(name, true));
  for (const name of HINTS) {
    await hints.update(name, !shown, vscode.ConfigurationTarget.Global);
  }
}

async function newSpecification(): Promise<void> {
  const content = { language: "netsharp", content: TEMPLATE };
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(content));
}
