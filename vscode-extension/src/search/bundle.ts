/** The server that comes with the extension: which Pythons it fits, and where it is unpacked. */

import type { Interpreter } from "./interpreters";
import type { Machine } from "./machine";
import { rules } from "./paths";

/** The parts of the bundle: training comes after the server, so that nobody waits for it. */
export type Part = "server" | "training";

/** What `bundled/bundle.json` says about the archives beside it. */
export interface Bundle {
  /** The folder that holds `bundle.json`, `unpack.py` and an archive for each part. */
  readonly folder: string;
  /** Names what is in them: another content has another name. */
  readonly id: string;
  /** What they are compiled for, in the words of an interpreter's `platform`. */
  readonly platform: string;
  /** The Pythons that they are compiled for, such as `3.11`. */
  readonly pythons: readonly string[];
  /** The bytes of each archive once it is decompressed. */
  readonly sizes: Readonly<Record<Part, number>>;
}

export type Unpacked =
  | { readonly ok: true; readonly folder: string }
  | { readonly ok: false; readonly message: string };

const UNPACK_LIMIT = 120_000;

/** Why an interpreter cannot run the bundled server; undefined where it can. */
export function misfit(bundle: Bundle, interpreter: Interpreter): string | undefined {
  const version = interpreter.version.slice(0, 2).join(".");
  if (interpreter.implementation !== "CPython") {
    return `is ${interpreter.implementation}; the bundled server needs CPython`;
  }
  if (interpreter.freeThreaded) {
    return "is a free-threaded Python; the bundled server needs a usual one";
  }
  if (interpreter.platform !== bundle.platform) {
    return `is made for ${interpreter.platform}; the bundled server for ${bundle.platform}`;
  }
  if (!bundle.pythons.includes(version)) {
    return `is Python ${version}; the bundled server has parts for ${bundle.pythons.join(", ")}`;
  }
  return undefined;
}

/** Where a part of the bundle lies once it is unpacked for an interpreter. */
export function place(
  bundle: Bundle,
  part: Part,
  interpreter: Interpreter,
  storage: string,
  platform: NodeJS.Platform,
): string {
  const tag = `cp${interpreter.version[0]}${interpreter.version[1]}`;
  return rules(platform).join(storage, `${part}-${bundle.id}-${tag}`);
}

/**
 * Unpacks a part for an interpreter, unless that has been done; it is the interpreter that takes
 * the files from the archive, without pip and without a network.  `onProgress` gets what is done,
 * from 0 to 1.
 */
export async function unpack(
  machine: Machine,
  bundle: Bundle,
  part: Part,
  interpreter: Interpreter,
  target: string,
  onProgress: (part: number) => void,
): Promise<Unpacked> {
  if (await machine.isFolder(target)) {
    return { ok: true, folder: target };
  }
  const { join } = rules(machine.platform);
  const command = [...interpreter.command, join(bundle.folder, "unpack.py"), target];
  const outcome = await machine.run(command, UNPACK_LIMIT, {
    file: join(bundle.folder, `${part}.tar.br`),
    onBytes: (given) => onProgress(given / bundle.sizes[part]),
  });
  if (outcome.code === 0) {
    return { ok: true, folder: target };
  }
  const why = outcome.timedOut ? "it took too long" : outcome.stderr.trim().split("\n").at(-1);
  return { ok: false, message: `The bundled ${part} could not be unpacked into ${target}: ${why}` };
}
