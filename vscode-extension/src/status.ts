/** The item in the status bar: how the server is, and how large the network in view. */

import * as vscode from "vscode";
import { OURS } from "./claims";
import type { Graphs } from "./graphs";
import type { Graph } from "./protocol";
import type { State, StateOfServer } from "./state";

/** How long nothing must change before the network is counted, in milliseconds. */
const QUIET = 700;
/** Longer texts are not counted while somebody types. */
const MOST_LINES = 5000;

interface Face {
  readonly icon: string;
  readonly words: string;
  readonly severe: boolean;
}

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem(
    "netsharp.status",
    vscode.StatusBarAlignment.Right,
    90,
  );
  private timer: NodeJS.Timeout | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly state: StateOfServer,
    private readonly graphs: Graphs,
  ) {
    this.item.name = "Net#";
    this.item.command = "netsharp.showOutput";
    this.subscriptions = [
      this.item,
      state.onDidChange(() => this.draw()),
      vscode.window.onDidChangeActiveTextEditor(() => this.draw()),
      // A document that gets another language is opened anew in the same editor.
      vscode.workspace.onDidOpenTextDocument(() => this.draw()),
      vscode.workspace.onDidChangeTextDocument((change) => {
        if (change.document === vscode.window.activeTextEditor?.document) {
          this.countSoon();
        }
      }),
    ];
    this.draw();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.subscriptions.forEach((each) => each.dispose());
  }

  private draw(): void {
    const document = vscode.window.activeTextEditor?.document;
    const face = faceOf(this.state.value);
    if (document === undefined || !OURS.includes(document.languageId)) {
      this.item.hide();
      return;
    }
    this.item.text = `${face.icon} Net#`;
    this.item.tooltip = face.words;
    this.item.accessibilityInformation = { label: `Net#: ${face.words}` };
    this.item.backgroundColor = face.severe
      ? new vscode.ThemeColor("statusBarItem.warningBackground")
      : undefined;
    this.item.show();
    this.countSoon();
  }

  private countSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.count(), QUIET);
  }

  private async count(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (document === undefined || !OURS.includes(document.languageId)) {
      return;
    }
    if (document.lineCount > MOST_LINES || this.state.value.kind !== "running") {
      return;
    }
    const version = document.version;
    const answer = await this.graphs.of(document);
    if (document === vscode.window.activeTextEditor?.document && document.version === version) {
      const { icon } = faceOf(this.state.value);
      this.item.text = answer.ok ? `${icon} Net# ${brief(answer.graph)}` : `${icon} Net#`;
      this.item.tooltip = answer.ok ? summary(answer.graph) : answer.message;
    }
  }
}

function faceOf(state: State): Face {
  switch (state.kind) {
    case "idle":
      return {
        icon: "$(circle-outline)",
        words: "The server has not been needed yet.",
        severe: false,
      };
    case "starting":
      return { icon: "$(loading~spin)", words: `Starting: ${state.doing}`, severe: false };
    case "running":
      return {
        icon: state.warnings.length > 0 ? "$(warning)" : "$(check)",
        words: [
          `Server ${state.version} (${state.origin}): ${state.command.join(" ")}`,
          ...state.warnings,
        ].join(". "),
        severe: false,
      };
    default:
      return { icon: "$(warning)", words: state.message, severe: true };
  }
}

function brief(graph: Graph): string {
  return graph.parameters === null ? "" : `${short(graph.parameters)} parameters`;
}

function summary(graph: Graph): vscode.MarkdownString {
  const row = (name: string, value: number | null) =>
    `| ${name} | ${value === null ? "unknown" : value.toLocaleString("en")} |`;
  return new vscode.MarkdownString(
    [
      "| Net# | |",
      "|:--|--:|",
      row("layers", graph.layers.length),
      row("parameters", graph.parameters),
      row("connections", graph.connections),
      row("multiply-adds", graph.multiply_adds),
      row("bytes for one sample", graph.memory_bytes),
    ].join("\n"),
  );
}

function short(count: number): string {
  return new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(
    count,
  );
}
