/** The runs that were started here: asks the server for them and keeps what it tells of each. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { PROGRESS, RUN, type RunEvent, STOP } from "../protocol";
import type { Replay, Status } from "./messages";

export interface Order {
  readonly runFile?: string;
  readonly resume?: boolean;
  /** Which of several specifications in a document. */
  readonly name?: string;
  /** What is done of a configuration, and values by key that hold for it. */
  readonly command?: string;
  readonly set?: Readonly<Record<string, string | number | boolean>>;
}

/** A run of one document; a resumed one keeps what was told before. */
export class Run implements Replay {
  id: string | number | undefined;
  status: Status = "starting";
  error = "";
  model = "";
  readonly events: RunEvent[];

  constructor(
    readonly uri: vscode.Uri,
    readonly order: Order,
    before: readonly RunEvent[],
  ) {
    this.events = before.filter((event) => event.event !== "end");
  }

  get title(): string {
    const file = this.uri.path.split("/").at(-1) ?? "";
    return this.order.command === undefined ? file : `${this.order.command} of ${file}`;
  }

  get active(): boolean {
    return this.status === "starting" || this.status === "running" || this.status === "stopping";
  }

  take(event: RunEvent): void {
    this.events.push(event);
    if (event.event === "end" && event.status !== undefined) {
      this.status = event.status;
      this.error = event.error ?? "";
      this.model = event.model ?? "";
    } else if (this.status === "starting") {
      this.status = "running";
    }
  }
}

export interface Change {
  readonly run: Run;
}

export class Runs implements vscode.Disposable {
  private readonly byUri = new Map<string, Run>();
  /** Notifications may come before the answer that tells whose they are. */
  private readonly early: RunEvent[] = [];
  private readonly changes = new vscode.EventEmitter<Change>();
  readonly onDidChange = this.changes.event;

  constructor(
    private readonly client: () => LanguageClient | undefined,
    private readonly prepared: () => Promise<void>,
  ) {}

  dispose(): void {
    this.changes.dispose();
  }

  /** Takes what a new client tells; the runs of the one before have ended with it. */
  attach(client: LanguageClient): void {
    for (const run of this.byUri.values()) {
      if (run.active) {
        this.fail(run, "The server was restarted, and the run ended with it.");
      }
    }
    this.early.length = 0;
    client.onNotification(PROGRESS, (event: RunEvent) => this.hear(event));
  }

  of(uri: vscode.Uri): Run | undefined {
    return this.byUri.get(uri.toString());
  }

  get active(): Run[] {
    return [...this.byUri.values()].filter((run) => run.active);
  }

  /** Starts a run; what goes wrong is the run's error. */
  async start(document: vscode.TextDocument, order: Order): Promise<void> {
    const before = this.of(document.uri);
    if (before?.active === true) {
      return;
    }
    const run = new Run(document.uri, order, order.resume === true ? (before?.events ?? []) : []);
    this.byUri.set(document.uri.toString(), run);
    this.changes.fire({ run });
    try {
      // The model records the text on disk.
      if (document.isDirty && !(await document.save())) {
        throw new Error("The document could not be saved.");
      }
      await this.prepared();
      const { id } = await this.ask(document, order);
      run.id = id;
      this.early.splice(0).forEach((event) => this.hear(event));
      if (run.status === "stopping") {
        await this.askToStop(run);
      }
    } catch (error) {
      this.fail(run, error instanceof Error ? error.message : String(error));
    }
  }

  /** Asks a run to stop and to keep its model, one that is only starting as soon as it can hear. */
  async stop(run: Run): Promise<void> {
    if (run.active && run.status !== "stopping") {
      run.status = "stopping";
      this.changes.fire({ run });
      if (run.id !== undefined) {
        await this.askToStop(run);
      }
    }
  }

  private async askToStop(run: Run): Promise<void> {
    await this.client()?.sendRequest(STOP, { id: run.id });
  }

  private async ask(document: vscode.TextDocument, order: Order): Promise<{ id: string | number }> {
    const client = this.client();
    if (client === undefined) {
      throw new Error("The Net# server is not running.");
    }
    const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(document);
    return client.sendRequest(RUN, { textDocument, ...order });
  }

  private hear(event: RunEvent): void {
    const run = [...this.byUri.values()].find((each) => each.id === event.id);
    if (run === undefined) {
      this.early.push(event);
      return;
    }
    run.take(event);
    this.changes.fire({ run });
  }

  private fail(run: Run, message: string): void {
    run.status = "failed";
    run.error = message;
    this.changes.fire({ run });
  }
}
