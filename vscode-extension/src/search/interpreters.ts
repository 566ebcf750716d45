/** Finds programs that may be a Python, and asks each what it is; knows no server. */

import type { Machine, Outcome } from "./machine";
import { rules } from "./paths";

/** The oldest Python that the server runs on. */
export const OLDEST: readonly [number, number] = [3, 11];

const NAMES = ["python3.14", "python3.13", "python3.12", "python3.11", "python3", "python"];
/** Programs started from a dock or a launcher often miss these in their PATH. */
const MAC_FOLDERS = ["/opt/homebrew/bin", "/usr/local/bin"];
/** Exit status with which Windows says that no Python is installed behind its alias. */
const STORE_STUB = 9009;

export interface Interpreter {
  /** The words that start it: a path, for the launcher of Windows with `-3`. */
  readonly command: readonly string[];
  readonly version: readonly [number, number, number];
  readonly implementation: string;
  /** What its compiled modules have to be made for, such as `linux-x86_64` or `win-amd64`. */
  readonly platform: string;
  readonly freeThreaded: boolean;
  /** Whether its environment holds a netsharp with a language server. */
  readonly server: boolean;
}

export interface Rejection {
  readonly command: readonly string[];
  readonly reason: string;
}

export type Probe =
  | { readonly ok: true; readonly interpreter: Interpreter }
  | { readonly ok: false; readonly rejection: Rejection };

/**
 * What an interpreter is asked to print.  It imports nothing of what it looks for but the empty
 * package itself, and must be readable by any Python, however old.
 */
export const QUESTION = `
import json, platform, sys, sysconfig
machine = platform.machine().lower()
kind = {"darwin": "macos-" + machine, "win32": sysconfig.get_platform()}.get(sys.platform, "linux-" + machine)
if "musl" in str(sysconfig.get_config_var("HOST_GNU_TYPE")):
    kind = "musl-" + machine
server = False
try:
    from importlib.util import find_spec
    names = ("netsharp_lsp.server", "pygls", "lsprotocol", "tree_sitter", "netsharp_grammar")
    server = all(find_spec(name) for name in names)
except Exception:
    pass
print(json.dumps({
    "version": list(sys.version_info[:3]),
    "implementation": platform.python_implementation(),
    "platform": kind,
    "freeThreaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "server": server,
    "executable": sys.executable,
}))
`;

/** Commands that may start a Python on this machine, the likeliest first. */
export async function candidates(machine: Machine): Promise<string[][]> {
  const found: string[][] = [];
  const launcher = machine.platform === "win32" ? await which(machine, "py") : undefined;
  if (launcher !== undefined) {
    found.push([launcher, "-3"]);
  }
  for (const name of NAMES) {
    const program = await which(machine, name);
    if (program !== undefined) {
      found.push([program]);
    }
  }
  return found;
}

/** The first file of that name in the folders of PATH; relative folders are never looked into. */
export async function which(machine: Machine, name: string): Promise<string | undefined> {
  const { isAbsolute, join, delimiter } = rules(machine.platform);
  const listed = (machine.env["PATH"] ?? machine.env["Path"] ?? "").split(delimiter);
  const folders = [...listed, ...(machine.platform === "darwin" ? MAC_FOLDERS : [])];
  const file = machine.platform === "win32" ? `${name}.exe` : name;
  for (const folder of folders.filter((folder) => isAbsolute(folder))) {
    const program = join(folder, file);
    // Apple's own python3 may open a dialogue that offers to install developer tools.
    const apple = machine.platform === "darwin" && folder === "/usr/bin";
    if (!apple && (await machine.isFile(program))) {
      return program;
    }
  }
  return undefined;
}

/** Asks a command what Python it starts; says in a few words why it is none that can be used. */
export async function probe(
  machine: Machine,
  command: readonly string[],
  limit: number,
): Promise<Probe> {
  const outcome = await machine.run([...command, "-c", QUESTION], limit);
  const answer = read(outcome.stdout);
  if (answer === undefined) {
    return { ok: false, rejection: { command, reason: whyNot(command, outcome, limit) } };
  }
  const version = answer.version;
  if (version[0] < OLDEST[0] || (version[0] === OLDEST[0] && version[1] < OLDEST[1])) {
    const reason = `is Python ${version.join(".")}; ${OLDEST.join(".")} or newer is needed`;
    return { ok: false, rejection: { command, reason } };
  }
  return { ok: true, interpreter: { ...answer, command: [answer.executable] } };
}

/** Whether a program's end is that of the alias which only leads to the Store of Windows. */
export function isStoreStub(command: readonly string[], outcome: Outcome): boolean {
  const inAliases = /[\\/]WindowsApps[\\/]/i.test(command[0] ?? "");
  return outcome.code === STORE_STUB || (inAliases && read(outcome.stdout) === undefined);
}

function whyNot(command: readonly string[], outcome: Outcome, limit: number): string {
  if (isStoreStub(command, outcome)) {
    return "only leads to the Microsoft Store; no Python is installed behind it";
  }
  if (outcome.timedOut) {
    return `gave no answer within ${limit / 1000} seconds`;
  }
  if (outcome.code === null) {
    return `cannot be started: ${outcome.stderr.trim()}`;
  }
  return `does not answer as a Python does (exit status ${outcome.code})`;
}

type Answer = Omit<Interpreter, "command"> & { readonly executable: string };

function read(stdout: string): Answer | undefined {
  const line = stdout.trim().split("\n").at(-1) ?? "";
  try {
    const answer = JSON.parse(line) as Answer;
    return Array.isArray(answer.version) && answer.version.length === 3 ? answer : undefined;
  } catch {
    return undefined;
  }
}
