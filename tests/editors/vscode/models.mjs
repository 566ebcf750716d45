// Model files: opened as their picture with a table and histograms, by their suffix, by "Open With",
// and from a configuration that names them; a damaged one, a large one, and one that changes.

import * as fs from "node:fs";
import * as path from "node:path";
import { scenario } from "./workbench.mjs";

const { TOOLS, VSIX, PYTHON, OUT, MODELS, TRUSTED } = process.env;

const model = fs.readFileSync(path.join(MODELS, "net.dnn"));
const TEXT = `command = Test
Test = { action = test ; modelPath = "net.dnn"
    reader = { file = "data.ctf" ; input = { x = { dim = 4 ; format = dense } } } }
`;
const options = {
  tools: TOOLS,
  vsix: VSIX,
  out: OUT,
  files: {
    "a.cntk": TEXT,
    "net.dnn": model,
    "torn.cmf": model.subarray(0, model.length - 120),
    "tuesday": model,
    // There from the start: what is copied later is not found by its name at once.
    "large.dnn": fs.readFileSync(path.join(MODELS, "large.dnn")),
  },
  open: "a.cntk",
  settings: { "security.workspace.trust.startupPrompt": "never" },
  machine: { "netsharp.python": PYTHON },
  viewport: { width: 1440, height: 860 },
  trust: TRUSTED === "yes",
};

const PATIENCE = 60_000;

await scenario(options, async (bench, checks) => {
  const { page } = bench;
  const shut = () => bench.command("View: Close All Editors");
  const rows = (frame) => frame.locator(".model tbody th").allTextContents();

  if (TRUSTED !== "yes") {
    await bench.openFile("net.dnn");
    const sentence = "no model is read in a workspace that is not trusted";
    const said = async () => (await bench.webview(".notice", 500))?.locator(".notice").innerText();
    checks.that("no model is read", await bench.until(async () => (await said())?.includes(sentence), PATIENCE), await said());
    checks.that("nothing is drawn", (await bench.webview(".layer", 1_000)) === null);
    await bench.picture("untrusted");
    await bench.command("Workspaces: Manage Workspace Trust");
    await page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust$/ }).click();
    checks.that("trusted, it is drawn", (await bench.webview(".layer .name", PATIENCE)) !== null);
    return;
  }

  const link = page.locator(".detected-link", { hasText: "net.dnn" });
  await link.first().waitFor({ timeout: PATIENCE }).catch(() => {});
  checks.that("the model's name is a link", (await link.count()) === 1, await link.count());
  const first = await bench.follow(link, () => bench.webview(".layer .name", 10_000));
  checks.that("the link opens the picture", first !== null);
  const names = await first.locator(".layer .name").allTextContents();
  checks.that("nodes are boxes", names.includes("z") && names.includes("x"), names);
  checks.that("nodes are rows", (await rows(first)).join() === "x,W,z", await rows(first));
  const bars = await bench.until(async () => (await first.locator(".bars").count()) === 1, PATIENCE);
  checks.that("a histogram follows", bars);
  await bench.picture("model");

  // The file is written again while it is shown.
  fs.copyFileSync(path.join(MODELS, "other.dnn"), path.join(bench.folder, "net.dnn"));
  const renewed = await bench.until(async () => (await rows(first)).includes("other"), PATIENCE);
  checks.that("a file that changes is shown anew", renewed, await rows(first));

  await shut();
  await bench.openFile("torn.cmf");
  const torn = await bench.webview(".model .fault", PATIENCE);
  checks.that("a damaged model says where", torn !== null && (await torn.locator(".fault").first().innerText()).startsWith("not read: byte "));
  checks.that("and shows what can be read", torn !== null && (await rows(torn)).includes("x"));

  await shut();
  await bench.openFile("tuesday");
  // The editor says that the file is binary; until it does, it takes the focus from the palette.
  await page.locator(".monaco-editor-pane-placeholder").first().waitFor({ timeout: PATIENCE });
  await bench.command("View: Reopen Editor With...");
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "CNTK Model (any name)" }).first().click();
  checks.that("any name opens by Open With", (await bench.webview(".layer .name", PATIENCE)) !== null);

  await shut();
  const begun = Date.now();
  await bench.openFile("large.dnn");
  const large = await bench.webview(".model tbody tr", PATIENCE);
  console.log(`a model of 104 MB is a picture after ${Date.now() - begun} ms`);
  checks.that("a large model is drawn before its numbers are looked at", large !== null && (await large.locator(".bars").count()) < 26);
  const all = await bench.until(async () => (await large.locator(".bars").count()) === 26, PATIENCE);
  checks.that("its histograms come piece by piece", all, await large.locator(".bars").count());
}, 300);
