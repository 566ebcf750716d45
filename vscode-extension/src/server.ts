/** Starts, restarts and stops the language server, and says what has become of it. */

import * as vscode from "vscode";
import {
  type Executable,
  LanguageClient,
  State as ClientState,
} from "vscode-languageclient/node";
import { activePython } from "./active_python";
import { clientOptions, type Takeover } from "./client_options";
import { answerAtWords } from "./late_lists";
import { TRUST } from "./protocol";
import { accountOf, installPython } from "./search/advice";
import { type Bundle, place, type Unpacked, unpack } from "./search/bundle";
import { readBundle } from "./search/bundle_file";
import type { Interpreter } from "./search/interpreters";
import { type Launch, launchOf } from "./search/launch";
import { realMachine } from "./search/real_machine";
import { type Found, type Program, search } from "./search/search";
import * as settings from "./settings";
import type { StateOfServer } from "./state";

const TOLD_NO_PYTHON = "toldNoPython";

type Show = (message: string, button: string) => Thenable<string | undefined>;
const WARNING: Show = (message, button) => vscode.window.showWarningMessage(message, button);
const ERROR: Show = (message, button) => vscode.window.showErrorMessage(message, button);

interface Prepared {
  readonly launch: Launch;
  readonly later: () => Promise<void>;
}

export class Server implements vscode.Disposable {
  client: LanguageClient | undefined;
  private readonly told = new Set<string>();
  private atWords: vscode.Disposable | undefined;
  private work: Promise<void> = Promise.resolve();
  private readonly starts = new vscode.EventEmitter<LanguageClient>();
  /** Resolves once what training needs is there; rejects with a sentence where it cannot be. */
  training: Promise<void> = Promise.resolve();
  /** Fires with each client that has been started. */
  readonly onDidStart = this.starts.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly output: vscode.LogOutputChannel,
    private readonly state: StateOfServer,
    private readonly takeover: Takeover,
  ) {}

  /** Starts the server unless it has been asked for before. */
  start(): Promise<void> {
    if (this.state.value.kind === "idle") {
      this.state.set({ kind: "starting", doing: "looking for a server" });
      this.work = this.work.then(() => this.launch());
    }
    return this.work;
  }

  /** Stops the server and looks for one anew. */
  restart(): Promise<void> {
    this.told.clear();
    void this.context.globalState.update(TOLD_NO_PYTHON, undefined);
    this.state.set({ kind: "starting", doing: "restarting" });
    this.work = this.work.then(async () => {
      await this.halt();
      await this.launch();
    });
    return this.work;
  }

  async halt(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.atWords?.dispose();
    try {
      await client?.dispose();
    } catch (error) {
      this.output.info(`The server did not stop in order: ${String(error)}`);
    }
  }

  dispose(): void {
    this.starts.dispose();
  }

  /** Tells a running server that the folder is trusted from now on. */
  async trust(): Promise<void> {
    await this.client?.sendNotification(TRUST, { trusted: true });
  }

  private async launch(): Promise<void> {
    try {
      const bundle = await readBundle(this.context.asAbsolutePath("bundled"));
      const found = await search(realMachine, {
        serverPath: settings.serverPath(),
        python: settings.python(),
        active: vscode.workspace.isTrusted ? activePython : async () => undefined,
        folders: (vscode.workspace.workspaceFolders ?? []).map((each) => each.uri.fsPath),
        trusted: vscode.workspace.isTrusted,
        bundle,
      });
      await this.take(found, bundle);
    } catch (error) {
      this.fail(`The Net# server did not start: ${error instanceof Error ? error.message : error}`);
    }
  }

  private async take(found: Found, bundle: Bundle | undefined): Promise<void> {
    if (found.kind === "bad-setting") {
      this.state.set({ kind: "bad-setting", setting: found.setting, message: found.message });
      this.tell(found.message, "Open Settings", () => openSetting(found.setting));
      return;
    }
    found.warnings.forEach((each) =>
      this.tell(each, "Open Settings", () => openSetting("netsharp.python"), WARNING),
    );
    if (found.kind === "no-python") {
      accountOf(found.rejections).forEach((line) => this.output.info(line));
      const message = installPython(realMachine.platform);
      this.state.set({ kind: "no-python", message });
      await this.tellNoPython(message);
      return;
    }
    const { launch, later } = await this.prepare(found.program, bundle);
    await this.connect(found.program, launch, found.warnings);
    this.training = later();
    // Whoever trains is told; nobody else has to know.
    this.training.catch((error: unknown) => this.output.error(String(error)));
  }

  /** How a program is started, the bundled server unpacked; `later` sees to what training needs. */
  private async prepare(program: Program, bundle: Bundle | undefined): Promise<Prepared> {
    const { interpreter } = program;
    if (program.origin !== "bundled" || bundle === undefined || interpreter === undefined) {
      return { launch: launchOf(program, []), later: () => Promise.resolve() };
    }
    const storage = this.context.globalStorageUri.fsPath;
    const { platform } = realMachine;
    const server = place(bundle, "server", interpreter, storage, platform);
    const training = place(bundle, "training", interpreter, storage, platform);
    await this.unpackShown(bundle, interpreter, server);
    const later = () =>
      unpacked(unpack(realMachine, bundle, "training", interpreter, training, () => undefined));
    return { launch: launchOf(program, [server, training]), later };
  }

  /** Unpacks the server with progress where a person can see it. */
  private async unpackShown(
    bundle: Bundle,
    interpreter: Interpreter,
    target: string,
  ): Promise<void> {
    const work = (report: (part: number) => void) =>
      unpacked(unpack(realMachine, bundle, "server", interpreter, target, report));
    if (await realMachine.isFolder(target)) {
      return;
    }
    this.state.set({ kind: "starting", doing: "unpacking the server" });
    const title = "Net#: unpacking the server (once)";
    const location = vscode.ProgressLocation.Notification;
    await vscode.window.withProgress({ location, title }, (progress) => {
      let before = 0;
      return work((part) => {
        progress.report({ increment: (part - before) * 100 });
        before = part;
      });
    });
  }

  private async connect(
    program: Program,
    launch: Launch,
    warnings: readonly string[],
  ): Promise<void> {
    const [command = "", ...args] = launch.command;
    const executable: Executable = { command, args: [...args], options: { env: launch.env } };
    this.state.set({ kind: "starting", doing: launch.command.join(" ") });
    const client = new LanguageClient(
      "netsharp",
      "Net#",
      executable,
      clientOptions(this.output, this.takeover),
    );
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.client = undefined;
      throw error;
    }
    this.atWords = answerAtWords(client);
    const running = () => {
      const version = client.initializeResult?.serverInfo?.version ?? "";
      const { origin } = program;
      this.state.set({ kind: "running", origin, command: launch.command, version, warnings });
      this.starts.fire(client);
    };
    running();
    client.onDidChangeState(({ newState }) => this.followClient(client, newState, running));
  }

  /** A client starts a server that has crashed again, a few times; then it stays stopped. */
  private followClient(client: LanguageClient, now: ClientState, running: () => void): void {
    if (this.client !== client) {
      return;
    }
    if (now === ClientState.Running) {
      running();
    } else if (now === ClientState.Starting) {
      this.state.set({ kind: "starting", doing: "again, for the server has stopped" });
    } else if (now === ClientState.Stopped) {
      const message = "The Net# server has stopped; the output tells its last words.";
      this.state.set({ kind: "failed", message });
    }
  }

  private fail(message: string): void {
    this.state.set({ kind: "failed", message });
    this.tell(message, "Show Output", () => this.output.show());
  }

  /** Shows a message with one button, once between two restarts. */
  private tell(message: string, button: string, act: () => void, show: Show = ERROR): void {
    if (!this.told.has(message)) {
      this.told.add(message);
      void show(message, button).then((chosen) => chosen && act());
    }
  }

  /** Shows the message once on this machine, and again only when somebody restarts the server. */
  private async tellNoPython(message: string): Promise<void> {
    const memory = this.context.globalState;
    if (memory.get<boolean>(TOLD_NO_PYTHON) !== true) {
      await memory.update(TOLD_NO_PYTHON, true);
      this.tell(message, "Show Output", () => this.output.show());
    }
  }
}

async function unpacked(work: Promise<Unpacked>): Promise<void> {
  const done = await work;
  if (!done.ok) {
    throw new Error(done.message);
  }
}

function openSetting(name: string): void {
  void vscode.commands.executeCommand("workbench.action.openSettings", name);
}
