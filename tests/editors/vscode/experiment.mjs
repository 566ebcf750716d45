// A folder of CNTK experiments: which language each file is in, and what a person sees and does in a
// configuration whose network stands inline and takes layers from a file beside it.

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { scenario } from "./workbench.mjs";

const { TOOLS, VSIX, PYTHON, OUT, EXPERIMENT } = process.env;

const files = Object.fromEntries(
  fs.readdirSync(EXPERIMENT).map((name) => [name, fs.readFileSync(path.join(EXPERIMENT, name), "utf8")]),
);
const lines = files["digits.cntk"].split("\n");
const lineOf = (start) => lines.findIndex((line) => line.trim().startsWith(start)) + 1;
/** Where a word stands on the line that begins so, a letter into it. */
const inside = (start, word) => [lineOf(start), lines[lineOf(start) - 1].indexOf(word) + 2];

const LANGUAGES = {
  "layers.bs": "BrainScript",
  "old.config": "CNTK configuration",
  "old.ndl": "NDL",
  "edit.mel": "CNTK MEL",
  // What is somebody else's stays so.
  "app.config": "XML",
  "main.bs": "Plain Text",
};

const options = {
  tools: TOOLS,
  vsix: VSIX,
  out: OUT,
  files,
  open: "digits.cntk",
  settings: { "editor.formatOnSave": true },
  machine: { "netsharp.python": PYTHON },
  viewport: { width: 1440, height: 860 },
};

/** What `netsharp fmt` makes of a file's text. */
function formatted(folder, name, text) {
  const aside = fs.mkdtempSync(path.join(folder, "aside-"));
  const file = path.join(aside, name);
  fs.writeFileSync(file, text);
  const done = spawnSync(PYTHON, ["-m", "netsharp_lsp", "fmt", file], { encoding: "utf8" });
  if (done.status !== 0) throw new Error(done.stdout + done.stderr);
  const made = fs.readFileSync(file, "utf8");
  fs.rmSync(aside, { recursive: true });
  return made;
}

await scenario(options, async (bench, checks) => {
  const { page } = bench;
  const language = page.locator("#status\\.editor\\.mode");
  const active = (name) => page.locator(`.tab.active[data-resource-name="${name}"]`);
  const squiggles = page.locator(".squiggly-error");
  const speaks = (name, wanted) =>
    bench.until(async () => (await language.innerText()).trim() === wanted, 15_000);
  /** Bring a file to the front by its tab. */
  const back = async (name) => {
    await page.locator(`.tab[data-resource-name="${name}"]`).first().click();
    await active(name).waitFor({ timeout: 15_000 });
  };

  await squiggles.first().waitFor({ state: "attached", timeout: 40_000 }).catch(() => {});
  checks.that("digits.cntk is a configuration", await speaks("digits.cntk", "CNTK configuration"), await language.innerText());
  checks.that("one squiggle", await bench.until(async () => (await squiggles.count()) === 1), await squiggles.count());
  const [row, column] = inside("z =", "hiden");
  await page.keyboard.press("Control+Shift+m");
  const problem = page.locator(".markers-panel .monaco-list-row", { hasText: "hiden" });
  await problem.first().waitFor({ timeout: 15_000 }).catch(() => {});
  const said = (await problem.first().innerText().catch(() => "")).replaceAll("\u00a0", " ");
  checks.that("the fault is found inside the network", said.includes("BS020") && said.includes(`[Ln ${row}, Col ${column - 1}]`), said);
  await bench.picture("fault");
  await page.keyboard.press("Control+Shift+m");
  await back("digits.cntk");

  // The colours of the text alone, and those of the server, are named by the same widget.
  for (const [start, word, scope] of [
    ["include", "include", "keyword.control"],
    ["labels = Input", "Input", "support.function"],
    ["labels = Input", "10", "constant.numeric"],
  ]) {
    await bench.goTo(...inside(start, word));
    await bench.command("Developer: Inspect Editor Tokens and Scopes");
    const widget = page.locator(".token-inspect-widget");
    await widget.waitFor({ timeout: 15_000 });
    const scopes = await bench.until(async () => {
      const text = await widget.innerText();
      return text.includes("textmate scopes") && text;
    });
    const fine = scopes && scopes.includes(scope) && scopes.includes("meta.embedded.block.brainscript");
    checks.that(`${word} is coloured as BrainScript`, fine, scopes);
    await page.keyboard.press("Escape");
  }

  /** Open the menu of actions at the cursor; whether it offers one. */
  const offers = async (title) => {
    const menu = page.locator(".action-widget", { hasText: title });
    return bench.until(async () => {
      await page.keyboard.press("Control+.");
      return bench.until(() => menu.isVisible(), 4000);
    });
  };
  await page.locator(".token-inspect-widget").waitFor({ state: "hidden", timeout: 15_000 });
  await bench.goTo(row, column);
  const fixable = await offers("Write 'hidden'");
  checks.that("quick fix is offered", fixable);
  await page.keyboard.press(fixable ? "Enter" : "Escape");
  const fixed = await bench.until(async () => (await bench.text()).includes("LinearLayer {10} (hidden)"));
  checks.that("quick fix is applied", fixed, await bench.text());
  await squiggles.first().waitFor({ state: "detached", timeout: 10_000 }).catch(() => {});
  checks.that("squiggle goes", (await squiggles.count()) === 0);

  const hinted = await bench.until(async () => /features\s*\[784\]/.test(await bench.text()));
  checks.that("inlay hint with the shape of a node", hinted, await bench.text());

  await bench.goTo(...inside("hidden =", "hidden"));
  await page.mouse.move(5, 5);
  const hover = page.locator(".monaco-hover:visible", { hasText: "[100]" }).first();
  await bench.until(async () => {
    await page.keyboard.press("Control+k");
    await page.keyboard.press("Control+i");
    return bench.until(() => hover.isVisible(), 3000);
  });
  const told = (await hover.innerText().catch(() => "")).replaceAll("\u00a0", " ");
  checks.that("hover with operation and shape", /hidden:?\s*Tanh\s*\[100\]/.test(told), told);
  await bench.picture("hover");
  await page.keyboard.press("Escape");

  await page.keyboard.press("Control+Shift+o");
  const symbols = page.locator(".quick-input-list .monaco-list-row");
  await symbols.first().waitFor({ timeout: 15_000 });
  await page.locator(".quick-input-widget input[type=text]").fill("@SGD");
  const section = await bench.until(async () => (await symbols.first().innerText()).includes("SGD"));
  await page.keyboard.press("Escape");
  await bench.command("Explorer: Focus on Outline View");
  const outline = page.locator(".outline-tree .monaco-list-row");
  await outline.first().waitFor({ timeout: 15_000 });
  const listed = await bench.until(async () => {
    const shown = (await outline.allInnerTexts()).join(" ");
    return ["Train", "Edit", "Test"].every((name) => shown.includes(name));
  });
  checks.that("outline", section && listed, await outline.allInnerTexts());
  await page.locator(".tab.active").first().click();

  // A library function inside the network, then an option of SGD: what is proposed fits the place.
  await bench.goTo(lineOf("errs ="), lines[lineOf("errs =") - 1].length + 1);
  await page.keyboard.press("Enter");
  await page.keyboard.type("extra = CrossEnt", { delay: 60 });
  const proposals = page.locator(".suggest-widget.visible .monaco-list-row");
  const proposed = async (label) =>
    (await bench.until(async () => (await proposals.allInnerTexts()).some((each) => each.includes(label)))) ||
    (await page.keyboard.press("Control+Space"),
    bench.until(async () => (await proposals.allInnerTexts()).some((each) => each.includes(label)), 8000));
  checks.that("completion of a library function", await proposed("CrossEntropyWithSoftmax"), await proposals.allInnerTexts());
  await bench.picture("completion");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+k");
  await bench.goTo(lineOf("maxEpochs"), lines[lineOf("maxEpochs") - 1].length + 1);
  await page.keyboard.press("Enter");
  await page.keyboard.type("momentumAs", { delay: 60 });
  checks.that("completion of an option", await proposed("momentumAsTimeConstant"), await proposals.allInnerTexts());
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+k");

  await bench.goTo(...inside("hidden =", "DenseTanh"));
  await page.keyboard.press("F12");
  await active("layers.bs").waitFor({ timeout: 15_000 }).catch(() => {});
  const line = page.locator(".statusbar-item", { hasText: /^Ln \d+/ });
  const landed = await bench.until(async () => (await line.innerText()).startsWith("Ln 2, Col 1"));
  checks.that("definition in the included file", landed && (await active("layers.bs").count()) === 1, await line.innerText());

  // The command that stands in the menu of the right button.
  await back("digits.cntk");
  await bench.goTo(...inside("hidden =", "DenseTanh"));
  await bench.command("Go to Implementations");
  await active("layers.bs").waitFor({ timeout: 15_000 }).catch(() => {});
  const gives = await bench.until(async () => (await line.innerText()).startsWith("Ln 4,"));
  checks.that("implementation: the line that gives the value of a call", gives && (await active("layers.bs").count()) === 1, await line.innerText());

  await back("digits.cntk");
  await bench.goTo(...inside("hidden =", "DenseTanh"));
  await page.keyboard.press("F2");
  const box = page.locator(".rename-box input:visible").first();
  await box.waitFor({ timeout: 15_000 });
  await box.fill("TanhLayer");
  await page.keyboard.press("Enter");
  await bench.until(async () => (await bench.text()).includes("TanhLayer {100}"));
  await bench.command("File: Save All Files");
  const renamed = await bench.until(
    () => bench.read("digits.cntk").includes("TanhLayer {100}") && bench.read("layers.bs").includes("TanhLayer {outDim}"),
  );
  checks.that("rename in both files", renamed, bench.read("layers.bs"));

  const crooked = "Unused={3;  4 }  # Nobody reads it.";
  const typed = bench.read("digits.cntk").replace("ImageDim", `${crooked}\nImageDim`);
  await bench.goTo(lineOf("ImageDim"), 1);
  await page.keyboard.insertText(`${crooked}\n`);
  const wanted = formatted(bench.root, "digits.cntk", typed);
  await page.keyboard.press("Control+s");
  const saved = await bench.until(() => bench.read("digits.cntk") === wanted);
  checks.that("format on save writes what fmt writes", saved && wanted !== typed, bench.read("digits.cntk"));
  await bench.goTo(lineOf("ImageDim"), 1);
  await page.keyboard.press("Control+Shift+k");
  await page.keyboard.press("Control+s");
  await bench.until(() => !bench.read("digits.cntk").includes("Unused"));

  await bench.command("Net#: Show Network");
  const network = await bench.webview(".layer .name");
  checks.that("network view", network !== null);
  const names = () => network.locator(".layer .name").allTextContents();
  const boxes = ["features", "labels", "hidden", "z", "ce", "errs"];
  const boxed = await bench.until(async () => {
    const there = await names();
    return boxes.every((name) => there.includes(name));
  });
  checks.that("nodes are boxes", boxed, await names());
  await back("digits.cntk");
  const at = bench.read("digits.cntk").split("\n").findIndex((each) => each.trim().startsWith("hidden =")) + 1;
  await bench.goTo(at, 10);
  const marked = await bench.until(async () => {
    const chosen = network.locator(".layer.selected, .layer.current, .layer[aria-current], .layer.here");
    return (await chosen.count()) > 0 && (await chosen.first().innerHTML()).includes("hidden");
  });
  checks.that("the cursor marks its box", marked);
  await bench.picture("network");

  // What was said of a file that is not open goes with the fault in another file.
  await page.keyboard.press("Control+Shift+m");
  const gone = await bench.until(async () => (await page.locator(".markers-panel .monaco-list-row", { hasText: "ME010" }).count()) === 0);
  checks.that("nothing is left of the fault in other files", gone, await page.locator(".markers-panel").innerText());
  await page.keyboard.press("Control+Shift+m");
  await back("digits.cntk");

  for (const [name, wants] of Object.entries(LANGUAGES)) {
    await bench.openFile(name);
    checks.that(`${name} is ${wants}`, await speaks(name, wants), await language.innerText());
  }

  await back("old.config");
  const builder = files["old.config"].split("\n").findIndex((each) => each.includes("NDLNetworkBuilder")) + 1;
  await bench.goTo(builder, 5);
  checks.that("the migration is offered at the builder", await offers("Migrate this file"));
  await page.keyboard.press("Escape");
  await bench.command("Net#: Migrate NDL to BrainScript");
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "Net# changes old.config" }).first().click({ timeout: 20_000 });
  const message = page.locator(".notification-list-item-message", { hasText: "proven equal" });
  await message.first().waitFor({ timeout: 20_000 }).catch(() => {});
  checks.that("the migration is proven", (await message.count()) > 0);
  const drawn = await bench.until(
    async () =>
      (await network.locator("h1").innerText()) === "old.config" &&
      // The sum in the first call: in NDL 'y' of the macro, in BrainScript what the call is named.
      (await network.locator(".layer .name").allTextContents()).includes("hidden"),
  );
  checks.that("the new network is drawn before it is saved", drawn, await network.locator("body").innerText());
  await bench.picture("migrated");
  await bench.command("File: Save All Files");
  // VS Code makes a new file empty and fills it afterwards, so its words are waited for, not its name.
  const reads = (name, words) => fs.existsSync(path.join(bench.folder, name)) && bench.read(name).includes(words);
  const made = await bench.until(
    () => reads("old.bs", "hidden = Feed (features, 784, 100)") && reads("old.config", 'include "old.bs"'),
  );
  checks.that("a file of BrainScript takes the place of NDL", made, `${bench.read("old.config")}\n${bench.read("old.bs")}`);
}, 280);
