/** The order of the search, on machines made of tables. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bundle } from "../src/search/bundle";
import { type Found, search, type Wishes } from "../src/search/search";
import { FakeMachine, python } from "./fake_machine";

const BUNDLE: Bundle = {
  folder: "/ext/bundled",
  id: "1",
  platform: "linux-x86_64",
  pythons: ["3.11", "3.12"],
  sizes: { server: 1000, training: 2000 },
};
const NOTHING: Wishes = {
  serverPath: "",
  python: "",
  active: async () => undefined,
  folders: [],
  trusted: true,
  bundle: BUNDLE,
};

function origin(found: Found): string {
  return found.kind === "program"
    ? `${found.program.origin} ${found.program.command.join(" ")}`
    : found.kind;
}

test("a setting goes before everything", async () => {
  const machine = new FakeMachine(
    "linux",
    { PATH: "/bin" },
    {
      "/opt/netsharp": {},
      "/bin/python3": python("/bin/python3", { server: true }),
    },
  );
  const found = await search(machine, { ...NOTHING, serverPath: "/opt/netsharp" });
  assert.equal(origin(found), "setting /opt/netsharp lsp");
  assert.deepEqual(machine.asked, []);
});

test("a setting that leads nowhere is said by its name, and nothing else is tried", async () => {
  const machine = new FakeMachine(
    "linux",
    { PATH: "/bin" },
    { "/bin/python3": python("/bin/python3") },
  );
  const found = await search(machine, { ...NOTHING, serverPath: "/opt/gone" });
  assert.ok(found.kind === "bad-setting");
  assert.match(found.message, /netsharp\.server\.path names \/opt\/gone/);
  assert.deepEqual(machine.asked, []);
});

test("a relative server path is refused: a workspace could supply it", async () => {
  const machine = new FakeMachine("linux", {}, { "bin/netsharp": {} });
  assert.equal(
    origin(await search(machine, { ...NOTHING, serverPath: "bin/netsharp" })),
    "bad-setting",
  );
});

test("a home folder is understood", async () => {
  const machine = new FakeMachine("linux", { HOME: "/home/me" }, { "/home/me/netsharp": {} });
  const found = await search(machine, { ...NOTHING, serverPath: "~/netsharp" });
  assert.equal(origin(found), "setting /home/me/netsharp lsp");
});

test("interpreters are asked in the order of their choice", async () => {
  const server = (path: string) => python(path, { server: true });
  const machine = new FakeMachine(
    "linux",
    { VIRTUAL_ENV: "/venv" },
    {
      "/set/python": server("/set/python"),
      "/active/python": server("/active/python"),
      "/venv/bin/python": server("/venv/bin/python"),
      "/project/.venv/bin/python": server("/project/.venv/bin/python"),
    },
  );
  const wishes = {
    ...NOTHING,
    python: "/set/python",
    active: async () => "/active/python",
    folders: ["/project"],
  };
  const run = "-m netsharp_lsp lsp";
  assert.equal(origin(await search(machine, wishes)), `interpreter /set/python ${run}`);
  const unset = { ...wishes, python: "" };
  assert.equal(origin(await search(machine, unset)), `interpreter /active/python ${run}`);
  const inactive = { ...unset, active: NOTHING.active };
  assert.equal(origin(await search(machine, inactive)), `interpreter /venv/bin/python ${run}`);
});

test("the environment of a folder is used where the folder is trusted, else never run", async () => {
  const machine = new FakeMachine(
    "linux",
    { PATH: "/bin" },
    {
      "/project/.venv/bin/python": python("/project/.venv/bin/python", { server: true }),
      "/bin/python3": python("/bin/python3"),
    },
  );
  const wishes = { ...NOTHING, folders: ["/project"] };
  assert.equal(
    origin(await search(machine, wishes)),
    "interpreter /project/.venv/bin/python -m netsharp_lsp lsp",
  );
  machine.asked.length = 0;
  const found = await search(machine, { ...wishes, trusted: false });
  assert.equal(origin(found), "bundled /bin/python3 -m netsharp_lsp lsp");
  assert.ok(machine.asked.every(([program]) => program !== "/project/.venv/bin/python"));
});

test("the bundled server runs on the chosen interpreter first", async () => {
  const machine = new FakeMachine(
    "linux",
    { PATH: "/bin", VIRTUAL_ENV: "/venv" },
    {
      "/venv/bin/python": python("/venv/bin/python"),
      "/bin/python3": python("/bin/python3"),
    },
  );
  const found = await search(machine, NOTHING);
  assert.equal(origin(found), "bundled /venv/bin/python -m netsharp_lsp lsp");
});

test("a Python that does not fit is passed over, and the account says why", async () => {
  const programs = {
    "/bin/python3.14": python("/bin/python3.14", { version: [3, 14, 0], freeThreaded: true }),
    "/bin/python3.13": python("/bin/python3.13", { platform: "musl-x86_64" }),
    "/bin/python3": python("/bin/python3", { version: [3, 9, 2] }),
    "/bin/python": python("/bin/python", { implementation: "PyPy" }),
  };
  const machine = new FakeMachine("linux", { PATH: "/bin" }, programs);
  const found = await search(machine, NOTHING);
  assert.ok(found.kind === "no-python");
  const reasons = found.rejections.map((each) => each.reason).sort();
  assert.deepEqual(reasons, [
    "is PyPy; the bundled server needs CPython",
    "is Python 3.9.2; 3.11 or newer is needed",
    "is a free-threaded Python; the bundled server needs a usual one",
    "is made for musl-x86_64; the bundled server for linux-x86_64",
  ]);
  const fitting = {
    ...programs,
    "/bin/python3.11": python("/bin/python3.11", { version: [3, 11, 2] }),
  };
  const better = await search(new FakeMachine("linux", { PATH: "/bin" }, fitting), NOTHING);
  assert.equal(origin(better), "bundled /bin/python3.11 -m netsharp_lsp lsp");
});

test("no more Pythons are started than it takes to find one", async () => {
  const machine = new FakeMachine(
    "linux",
    { PATH: "/bin" },
    {
      "/bin/python3.13": python("/bin/python3.13", { version: [3, 13, 0] }),
      "/bin/python3.12": python("/bin/python3.12"),
      "/bin/python3": python("/bin/python3"),
    },
  );
  const found = await search(machine, NOTHING);
  assert.equal(origin(found), "bundled /bin/python3.12 -m netsharp_lsp lsp");
  assert.deepEqual(
    machine.asked.map(([program]) => program),
    ["/bin/python3.13", "/bin/python3.12"],
  );
});

test("an interpreter that is set and not there is said, and another is used", async () => {
  const machine = new FakeMachine(
    "linux",
    { PATH: "/bin" },
    { "/bin/python3": python("/bin/python3") },
  );
  const found = await search(machine, { ...NOTHING, python: "/gone/python" });
  assert.equal(origin(found), "bundled /bin/python3 -m netsharp_lsp lsp");
  assert.ok(found.kind === "program");
  assert.match(found.warnings.join(), /netsharp\.python names \/gone\/python/);
});

test("without any Python, that is the end", async () => {
  const found = await search(new FakeMachine("linux", { PATH: "/bin:/usr/bin" }, {}), NOTHING);
  assert.deepEqual(found, { kind: "no-python", rejections: [], warnings: [] });
});

test("a package without a server inside uses one that is installed anywhere", async () => {
  const machine = new FakeMachine(
    "linux",
    { PATH: "/bin" },
    {
      "/bin/python3": python("/bin/python3", { server: true }),
    },
  );
  const found = await search(machine, { ...NOTHING, bundle: undefined });
  assert.equal(origin(found), "interpreter /bin/python3 -m netsharp_lsp lsp");
});

test("programs that never answer do not hold the search up for five seconds", async () => {
  const silent = { after: 60_000 };
  const machine = new FakeMachine(
    "linux",
    { PATH: "/bin", VIRTUAL_ENV: "/venv" },
    {
      "/venv/bin/python": silent,
      "/bin/python3.13": silent,
      "/bin/python3": python("/bin/python3"),
    },
  );
  const started = Date.now();
  const active = () => new Promise<undefined>(() => undefined);
  const found = await search(machine, { ...NOTHING, active });
  assert.equal(origin(found), "bundled /bin/python3 -m netsharp_lsp lsp");
  assert.ok(Date.now() - started < 5000);
});
