/** Puts the parts of the extension together when an editor needs it. */

import * as vscode from "vscode";
import { watchActivePython } from "./active_python";
import { watchDocuments } from "./claims";
import { type Parts, registerCommands, takeover, train } from "./commands";
import { Graphs } from "./graphs";
import { Migrations } from "./migration";
import { ModelEditors } from "./model/editor";
import { NetworkPanel } from "./network/panel";
import { Server } from "./server";
import { type State, StateOfServer } from "./state";
import { Status } from "./status";
import { TrainingPanel } from "./training/panel";
import { Runs } from "./training/runs";

/** What other extensions, and tests, may ask. */
export interface Api {
  readonly version: 1;
  /** What has become of the server so far. */
  state(): State;
  /** Starts the server if need be; resolves once that has come to an end, good or bad. */
  settled(): Promise<State>;
}

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<Api> {
  const output = vscode.window.createOutputChannel("Net#", { log: true });
  const state = new StateOfServer(output);
  const started = new Server(context, output, state, takeover);
  server = started;
  const graphs = new Graphs(() => started.client);
  const runs = new Runs(
    () => started.client,
    () => started.training,
  );
  const network = new NetworkPanel(context.extensionUri, graphs);
  const training = new TrainingPanel(context.extensionUri, runs, async (uri, resume) => {
    const document = await vscode.workspace.openTextDocument(uri);
    await train(parts, document, { ...runs.of(uri)?.order, resume });
  });
  const migrations = new Migrations();
  const parts: Parts = { server: started, output, network, training, runs, migrations };
  context.subscriptions.push(
    output,
    state,
    started,
    runs,
    migrations,
    network,
    training,
    new Status(state, graphs),
    started.onDidStart((client) => {
      graphs.clear();
      runs.attach(client);
      network.refresh();
    }),
    registerCommands(parts),
    new ModelEditors(context.extensionUri, started).register(),
    watchDocuments(() => void started.start()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void started.trust()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      const names = ["netsharp.server.path", "netsharp.python", "netsharp.embedded.enable"];
      if (names.some((name) => change.affectsConfiguration(name)) && state.value.kind !== "idle") {
        void started.restart();
      }
    }),
  );
  void watchActivePython(() => {
    if (state.value.kind !== "idle" && vscode.workspace.isTrusted) {
      void started.restart();
    }
  }).then((subscription) => context.subscriptions.push(subscription));
  return {
    version: 1,
    state: () => state.value,
    settled: async () => {
      await started.start();
      return state.settled();
    },
  };
}

export async function deactivate(): Promise<void> {
  await server?.halt();
}
