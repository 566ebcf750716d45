/**
 * Which server to start: the setting's, the interpreter's own, or the bundled one.
 * Asks the world through `Machine` alone and knows no editor.
 */

import { type Bundle, misfit } from "./bundle";
import { candidates, type Interpreter, type Probe, probe, type Rejection } from "./interpreters";
import type { Machine } from "./machine";
import { expandHome, interpreterOf, rules } from "./paths";

export interface Wishes {
  /** `netsharp.server.path`; empty for none. */
  readonly serverPath: string;
  /** `netsharp.python`; empty for none. */
  readonly python: string;
  /** The interpreter chosen elsewhere in the editor, if any; may be slow, must not throw. */
  readonly active: () => Promise<string | undefined>;
  /** Folders of the workspace; what lies in them is run only where `trusted`. */
  readonly folders: readonly string[];
  readonly trusted: boolean;
  readonly bundle: Bundle | undefined;
}

export interface Program {
  readonly command: readonly string[];
  readonly origin: "setting" | "interpreter" | "bundled";
  /** Absent where the setting names a program: nobody asked it. */
  readonly interpreter?: Interpreter;
}

export type Found =
  | { readonly kind: "program"; readonly program: Program; readonly warnings: readonly string[] }
  | { readonly kind: "bad-setting"; readonly setting: string; readonly message: string }
  | {
      readonly kind: "no-python";
      readonly rejections: readonly Rejection[];
      readonly warnings: readonly string[];
    };

/** How long a Python may take to say what it is, in milliseconds. */
const PROBE_LIMIT = 2800;
/** How long the editor may take to name its interpreter. */
const ACTIVE_LIMIT = 1200;
/** After how many milliseconds the search goes on while a chosen interpreter is still silent. */
const PATIENCE = 800;
/** After how many milliseconds the next Python is asked while the one before is silent. */
const STAGGER = 250;

export const MODULE = ["-m", "netsharp_lsp", "lsp"];

/** Finds the server to start; settles within five seconds whatever the programs found do. */
export async function search(machine: Machine, wishes: Wishes): Promise<Found> {
  if (wishes.serverPath !== "") {
    return fromSetting(machine, wishes.serverPath);
  }
  const { bundle } = wishes;
  const warnings: string[] = [];
  let others: Promise<Probe[]> | undefined;
  const askOthers = () => (others ??= askUntil(machine, (each) => fits(each, bundle)));
  const timer = setTimeout(askOthers, PATIENCE);
  try {
    const chosen = await chosenInterpreters(machine, wishes, warnings);
    const asked = chosen.map((python) => probe(machine, [python], PROBE_LIMIT));
    const own = await within(
      PATIENCE,
      firstWhere(asked, (each) => each.server),
    );
    if (own !== undefined) {
      return { kind: "program", program: ownServer(own), warnings };
    }
    // Where all have answered, this one is there at once.
    const fitting = await within(
      STAGGER,
      firstWhere(asked, (each) => fits(each, bundle)),
    );
    if (fitting !== undefined) {
      const program = fitting.server ? ownServer(fitting) : bundledServer(fitting);
      return { kind: "program", program, warnings };
    }
    const [first, rest] = await Promise.all([Promise.all(asked), askOthers()]);
    return decide(first, rest, bundle, warnings);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether an interpreter can run the server that comes with the extension, else one of its own. */
function fits(interpreter: Interpreter, bundle: Bundle | undefined): boolean {
  return bundle === undefined ? interpreter.server : misfit(bundle, interpreter) === undefined;
}

/** Asks one Python after the other, not waiting long for any; the first that fits is enough. */
async function askUntil(
  machine: Machine,
  enough: (interpreter: Interpreter) => boolean,
): Promise<Probe[]> {
  const asked: Promise<Probe>[] = [];
  for (const command of await candidates(machine)) {
    const asking = probe(machine, command, PROBE_LIMIT);
    const answer = await within(STAGGER, asking);
    if (answer?.ok === true && enough(answer.interpreter)) {
      return [answer];
    }
    asked.push(asking);
  }
  return Promise.all(asked);
}

/** The last step: what every Python found has answered. */
function decide(
  chosen: readonly Probe[],
  others: readonly Probe[],
  bundle: Bundle | undefined,
  warnings: readonly string[],
): Found {
  const late = interpreters(chosen).find((each) => each.server);
  if (late !== undefined) {
    return { kind: "program", program: ownServer(late), warnings };
  }
  const all = [...chosen, ...others];
  const rejections = all.flatMap((each) => (each.ok ? [] : [each.rejection]));
  for (const interpreter of interpreters(all)) {
    const reason = bundle === undefined ? "has no netsharp" : misfit(bundle, interpreter);
    if (reason === undefined) {
      return { kind: "program", program: bundledServer(interpreter), warnings };
    }
    rejections.push({ command: interpreter.command, reason });
  }
  const installed = interpreters(others).find((each) => each.server);
  return installed === undefined
    ? { kind: "no-python", rejections, warnings }
    : { kind: "program", program: ownServer(installed), warnings };
}

async function fromSetting(machine: Machine, written: string): Promise<Found> {
  const program = expandHome(written, machine.env);
  if (!rules(machine.platform).isAbsolute(program)) {
    return badSetting(written, "which is not an absolute path");
  }
  if (!(await machine.isFile(program))) {
    return badSetting(written, "where there is no file");
  }
  const command = [program, "lsp"];
  return { kind: "program", program: { command, origin: "setting" }, warnings: [] };
}

function badSetting(written: string, why: string): Found {
  const setting = "netsharp.server.path";
  const message =
    `The setting ${setting} names ${written}, ${why}. Correct it, or clear it to use the ` +
    "server that comes with the extension.";
  return { kind: "bad-setting", setting, message };
}

/** Interpreters that somebody has chosen, the most explicit choice first. */
async function chosenInterpreters(
  machine: Machine,
  wishes: Wishes,
  warnings: string[],
): Promise<string[]> {
  const environments = [machine.env["VIRTUAL_ENV"] ?? ""];
  if (wishes.trusted) {
    const join = rules(machine.platform).join;
    environments.push(...wishes.folders.map((folder) => join(folder, ".venv")));
  }
  const named = expandHome(wishes.python, machine.env);
  const listed = [
    named,
    (await within(ACTIVE_LIMIT, wishes.active())) ?? "",
    ...environments.map((each) => each && interpreterOf(each, machine.platform)),
  ].filter((each) => rules(machine.platform).isAbsolute(each));
  const there = await Promise.all(listed.map((each) => machine.isFile(each)));
  if (named !== "" && !(await machine.isFile(named))) {
    warnings.push(
      `The setting netsharp.python names ${wishes.python}, where there is no program. ` +
        "Correct it, or clear it; another Python is looked for meanwhile.",
    );
  }
  return [...new Set(listed.filter((_, index) => there[index]))];
}

function interpreters(probes: readonly Probe[]): Interpreter[] {
  return probes.flatMap((each) => (each.ok ? [each.interpreter] : []));
}

async function firstWhere(
  probes: readonly Promise<Probe>[],
  wanted: (interpreter: Interpreter) => boolean,
): Promise<Interpreter | undefined> {
  for (const each of probes) {
    const answer = await each;
    if (answer.ok && wanted(answer.interpreter)) {
      return answer.interpreter;
    }
  }
  return undefined;
}

function ownServer(interpreter: Interpreter): Program {
  const command = [...interpreter.command, ...MODULE];
  return { command, origin: "interpreter", interpreter };
}

function bundledServer(interpreter: Interpreter): Program {
  const command = [...interpreter.command, ...MODULE];
  return { command, origin: "bundled", interpreter };
}

/** The value of a promise, or undefined where it takes longer. */
export async function within<T>(limit: number, value: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limit);
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}
