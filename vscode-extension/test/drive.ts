/**
 * Carries a start of the server out on this very machine, without an editor, and prints as JSON how
 * it ended.  Reads the wishes from its first argument; tests in Python drive it.
 */

import { spawn } from "node:child_process";
import { installPython } from "../src/search/advice";
import { type Part, place, unpack } from "../src/search/bundle";
import { readBundle } from "../src/search/bundle_file";
import { type Launch, launchOf } from "../src/search/launch";
import { realMachine } from "../src/search/real_machine";
import { search } from "../src/search/search";

interface Order {
  readonly serverPath?: string;
  readonly python?: string;
  readonly active?: string;
  readonly folders?: string[];
  readonly trusted?: boolean;
  readonly bundled: string;
  readonly storage: string;
}

async function main(order: Order): Promise<object> {
  const bundle = await readBundle(order.bundled);
  const found = await search(realMachine, {
    serverPath: order.serverPath ?? "",
    python: order.python ?? "",
    active: async () => order.active,
    folders: order.folders ?? [],
    trusted: order.trusted ?? true,
    bundle,
  });
  if (found.kind === "bad-setting") {
    return { state: found.kind, message: found.message };
  }
  if (found.kind === "no-python") {
    return { state: found.kind, message: installPython(realMachine.platform), ...found };
  }
  const { program, warnings } = found;
  const began = Date.now();
  const unpacked: string[] = [];
  let progress = 0;
  const { interpreter } = program;
  const parts = program.origin === "bundled" && bundle !== undefined && interpreter !== undefined;
  const unpackPart = async (part: Part) => {
    if (parts) {
      const target = place(bundle, part, interpreter, order.storage, realMachine.platform);
      unpacked.push(target);
      return unpack(realMachine, bundle, part, interpreter, target, () => progress++);
    }
    return { ok: true } as const;
  };
  const done = await unpackPart("server");
  if (!done.ok) {
    return { state: "failed", message: done.message };
  }
  const launch = launchOf(program, unpacked);
  const server = await initialize(launch);
  const ready = (Date.now() - began) / 1000;
  const training = (await unpackPart("training")).ok;
  return {
    state: "running",
    origin: program.origin,
    command: launch.command,
    warnings,
    progress,
    server,
    ready,
    training,
  };
}

/** Starts the server, shakes hands, and ends it. */
function initialize(launch: Launch): Promise<unknown> {
  const [command = "", ...args] = launch.command;
  const child = spawn(command, args, { env: launch.env, stdio: ["pipe", "pipe", "inherit"] });
  const message = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { processId: null, rootUri: null, capabilities: {} },
  });
  child.stdin.write(`Content-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`);
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      const [head, body] = said.split("\r\n\r\n", 2);
      const length = Number(/Content-Length: (\d+)/i.exec(head ?? "")?.[1]);
      if (body !== undefined && Buffer.byteLength(body) >= length) {
        child.kill();
        resolve((JSON.parse(body) as { result: { serverInfo: unknown } }).result.serverInfo);
      }
    });
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`The server ended with ${code}.`)));
  });
}

main(JSON.parse(process.argv[2] ?? "{}") as Order).then(
  (outcome) => console.log(JSON.stringify(outcome)),
  (error: unknown) => console.log(JSON.stringify({ state: "failed", message: String(error) })),
);
