// A folder that nobody has trusted yet: its texts are checked, and nothing of it is run or read for
// data; once it is trusted, all the rest comes by itself.

import * as fs from "node:fs";
import * as path from "node:path";
import { scenario } from "./workbench.mjs";

const { TOOLS, VSIX, PYTHON, OUT, EXAMPLES } = process.env;

const read = (name) => fs.readFileSync(path.join(EXAMPLES, "digits", name));
const TEXT = `input Pixels auto;
hidden Middle [20] rlinear from Pixels all;
output Digit [10] softmax from Midle all;
`;
// Whoever runs the folder's own Python leaves a mark.
const TRAP = '#!/bin/sh\ntouch "$(dirname "$0")/trapped"\nexit 1\n';

const options = {
  tools: TOOLS,
  vsix: VSIX,
  out: OUT,
  files: {
    "digits.nn": TEXT,
    "digits.toml": read("digits.toml"),
    "digits.csv.gz": read("digits.csv.gz"),
    ".venv/bin/python": TRAP,
  },
  open: "digits.nn",
  settings: { "security.workspace.trust.startupPrompt": "never" },
  machine: { "netsharp.python": PYTHON },
  trust: false,
};

await scenario(options, async (bench, checks) => {
  const { page } = bench;
  const trap = path.join(bench.folder, ".venv/bin");
  fs.chmodSync(path.join(trap, "python"), 0o755);
  const squiggles = page.locator(".squiggly-error");
  await squiggles.first().waitFor({ state: "attached", timeout: 40_000 }).catch(() => {});
  checks.that("what is wrong is shown", (await squiggles.count()) === 1, await squiggles.count());
  const unknown = await bench.until(async () => (await bench.text()).includes("20 (n + 1)"));
  checks.that("no data is read", unknown, await bench.text());
  const lens = page.locator(".codelens-decoration a", { hasText: /train/i });
  const button = page.locator('.editor-actions [aria-label^="Train"]');
  checks.that("nor by a button", (await button.count()) === 0);

  await bench.command("Net#: Show Network");
  const network = await bench.webview(".layer .name");
  checks.that("the network is drawn", network !== null && (await network.locator(".layer").count()) === 3);
  // Lenses had time to come.
  checks.that("no run is offered", (await lens.count()) === 0);
  await bench.picture("untrusted");

  checks.that("the folder's own Python is not run", !fs.existsSync(path.join(trap, "trapped")));

  await bench.command("Workspaces: Manage Workspace Trust");
  await page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust$/ }).click();
  await page.locator('.monaco-modal-editor-block [aria-label^="Close"]').first().click();
  await page.locator(".tab", { hasText: "digits.nn" }).first().click();
  await lens.first().waitFor({ timeout: 20_000 }).catch(() => {});
  checks.that("trusted, a run is offered", (await lens.count()) === 1, await lens.count());
  const known = await bench.until(async () => (await bench.text()).includes("1,300 params"));
  checks.that("trusted, the data's header tells the size", known, await bench.text());
  await bench.picture("trusted");
}, 220);
