/** Where Pythons are looked for on each system, and how their answers are judged. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { installPython } from "../src/search/advice";
import { type Bundle, misfit, place, unpack } from "../src/search/bundle";
import { candidates, isStoreStub, probe, which } from "../src/search/interpreters";
import { FakeMachine, python } from "./fake_machine";

test("on Windows the launcher is asked for a Python 3 first", async () => {
  const path = "C:\\Windows;C:\\Python";
  const machine = new FakeMachine(
    "win32",
    { Path: path },
    {
      "C:\\Windows\\py.exe": {},
      "C:\\Python\\python.exe": {},
    },
  );
  assert.deepEqual(await candidates(machine), [
    ["C:\\Windows\\py.exe", "-3"],
    ["C:\\Python\\python.exe"],
  ]);
});

test("the newest name that fits goes first elsewhere", async () => {
  const machine = new FakeMachine(
    "linux",
    { PATH: "/a:/b" },
    {
      "/a/python3": {},
      "/b/python3.12": {},
      "/b/python": {},
    },
  );
  assert.deepEqual(await candidates(machine), [["/b/python3.12"], ["/a/python3"], ["/b/python"]]);
});

test("relative folders of PATH are never looked into", async () => {
  const machine = new FakeMachine(
    "linux",
    { PATH: ".:bin::/usr/bin" },
    {
      python3: {},
      "bin/python3": {},
      "/usr/bin/python3": {},
    },
  );
  assert.equal(await which(machine, "python3"), "/usr/bin/python3");
});

test("on macOS Homebrew is known, and Apple's python3 is let be", async () => {
  const machine = new FakeMachine(
    "darwin",
    { PATH: "/usr/bin" },
    {
      "/usr/bin/python3": {},
      "/opt/homebrew/bin/python3": {},
    },
  );
  assert.equal(await which(machine, "python3"), "/opt/homebrew/bin/python3");
});

test("the alias of the Windows Store is recognised", async () => {
  const alias = "C:\\Users\\me\\AppData\\Local\\Microsoft\\WindowsApps\\python.exe";
  const said = { code: 9009, stdout: "", stderr: "Python was not found", timedOut: false };
  assert.ok(isStoreStub([alias], said));
  assert.ok(isStoreStub([alias], { ...said, code: null }));
  const machine = new FakeMachine("win32", {}, { [alias]: said });
  const answer = await probe(machine, [alias], 100);
  assert.ok(!answer.ok);
  assert.match(answer.rejection.reason, /Microsoft Store/);
  const real = new FakeMachine("win32", {}, { [alias]: python("C:\\real\\python.exe") });
  assert.ok((await probe(real, [alias], 100)).ok, "a Python from the Store is a Python");
});

test("what a program prints before its answer does not matter; nonsense does", async () => {
  const answer = python("/p");
  const machine = new FakeMachine(
    "linux",
    {},
    {
      "/chatty": { stdout: `Welcome!\n${answer.stdout}` },
      "/nonsense": { stdout: "42\n" },
      "/broken": { code: 1, stderr: "oops" },
      "/silent": { after: 1000 },
    },
  );
  assert.ok((await probe(machine, ["/chatty"], 100)).ok);
  for (const [program, reason] of [
    ["/nonsense", /does not answer as a Python/],
    ["/broken", /exit status 1/],
    ["/silent", /no answer within 0.1 seconds/],
    ["/absent", /cannot be started: no file/],
  ] as const) {
    const probed = await probe(machine, [program], 100);
    assert.ok(!probed.ok);
    assert.match(probed.rejection.reason, reason);
  }
});

const BUNDLE: Bundle = {
  folder: "/b",
  id: "1-abc",
  platform: "win-arm64",
  pythons: ["3.11"],
  sizes: { server: 1000, training: 2000 },
};
const FITTING = {
  command: ["C:\\p.exe"],
  version: [3, 11, 9],
  implementation: "CPython",
  platform: "win-arm64",
  freeThreaded: false,
  server: false,
} as const;

test("a Python of another architecture does not fit", () => {
  assert.equal(misfit(BUNDLE, FITTING), undefined);
  assert.match(misfit(BUNDLE, { ...FITTING, platform: "win-amd64" }) ?? "", /made for win-amd64/);
  assert.match(misfit(BUNDLE, { ...FITTING, version: [3, 15, 0] }) ?? "", /parts for 3.11/);
});

test("each content has a folder of its own, for each Python", () => {
  assert.equal(place(BUNDLE, "server", FITTING, "C:\\s", "win32"), "C:\\s\\server-1-abc-cp311");
  assert.equal(place(BUNDLE, "training", FITTING, "C:\\s", "win32"), "C:\\s\\training-1-abc-cp311");
});

test("what is unpacked already is not unpacked again", async () => {
  const machine = new FakeMachine("linux", {}, {}, ["/s/done"]);
  const done = await unpack(machine, BUNDLE, "server", FITTING, "/s/done", () => undefined);
  assert.deepEqual(done, { ok: true, folder: "/s/done" });
  assert.deepEqual(machine.asked, []);
});

test("the advice names the command of each system, and the setting", () => {
  assert.match(installPython("win32"), /winget install Python\.Python\.3\.13/);
  assert.match(installPython("darwin"), /brew install python@3\.13/);
  assert.match(installPython("linux"), /sudo apt install python3/);
  assert.match(installPython("freebsd"), /netsharp\.python/);
});
