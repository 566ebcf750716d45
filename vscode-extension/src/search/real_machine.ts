/** This machine, as the search sees it. */

import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import * as os from "node:os";
import { Transform, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
import type { Input, Machine, Outcome } from "./machine";

/** How much of what a program says is kept, in characters. */
const KEPT = 100_000;

/**
 * What every Python started here gets: a module in the working directory is never imported, and
 * another installation's library is not taken for its own; empty is the same as not set.
 */
export const SAFE = { PYTHONSAFEPATH: "1", PYTHONHOME: "" } as const;

export const realMachine: Machine = {
  platform: process.platform,
  env: process.env,
  isFile: async (path) => (await kindOf(path)) === "file",
  isFolder: async (path) => (await kindOf(path)) === "folder",
  run,
};

async function kindOf(path: string): Promise<"file" | "folder" | undefined> {
  try {
    const found = await stat(path);
    return found.isDirectory() ? "folder" : "file";
  } catch (error) {
    // An alias of the Windows Store can be started but not looked at.
    return (error as NodeJS.ErrnoException).code === "EACCES" && process.platform === "win32"
      ? "file"
      : undefined;
  }
}

function run(command: readonly string[], limit: number, input?: Input): Promise<Outcome> {
  return new Promise((resolve) => {
    const [program = "", ...words] = command;
    // A group of its own, so that what a script has started ends with it; no shell.
    const child = spawn(program, words, {
      cwd: os.tmpdir(),
      env: { ...process.env, ...SAFE },
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    const said = { stdout: "", stderr: "" };
    const end = (code: number | null, timedOut: boolean) => {
      clearTimeout(timer);
      resolve({ code, ...said, timedOut });
    };
    const timer = setTimeout(() => {
      stop(child.pid);
      end(null, true);
    }, limit);
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      said.stdout = (said.stdout + text).slice(-KEPT);
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said.stderr = (said.stderr + text).slice(-KEPT);
    });
    if (input !== undefined && child.stdin !== null) {
      feed(input, child.stdin).catch((error: NodeJS.ErrnoException) => {
        // A program that ends early says itself why.
        if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_PREMATURE_CLOSE") {
          said.stderr += `${input.file}: ${error.message}`;
          stop(child.pid);
        }
      });
    }
    child.on("error", (error) => {
      said.stderr += error.message;
      end(null, false);
    });
    child.on("close", (code) => end(code, false));
  });
}

/** Gives a program the content of a compressed file. */
async function feed({ file, onBytes }: Input, stdin: Writable): Promise<void> {
  let given = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      given += chunk.length;
      onBytes(given);
      done(null, chunk);
    },
  });
  await pipeline(createReadStream(file), createBrotliDecompress(), count, stdin);
}

function stop(pid: number | undefined): void {
  try {
    if (pid !== undefined) {
      process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
    }
  } catch {
    // It has ended by itself.
  }
}
