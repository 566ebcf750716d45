// A migration from the light bulb and from the palette: both show what changes, say that it is proven
// and what is left to a person, and one Ctrl+Z takes all of it back, the new file too.

import * as fs from "node:fs";
import * as path from "node:path";
import { scenario } from "./workbench.mjs";

const { TOOLS, VSIX, PYTHON, OUT, EXPERIMENT } = process.env;

const names = ["old.config", "old.ndl", "train.txt", "test.txt"];
const files = Object.fromEntries(
  names.map((name) => [name, fs.readFileSync(path.join(EXPERIMENT, name), "utf8")]),
);
// Names change with the network, so a pattern of names is left to a person.
files["old.config"] += 'Out=[\n  action="write"\n  nodeNames="*.y"\n]\n';
const builder = files["old.config"].split("\n").findIndex((line) => line.includes("NDLNetworkBuilder")) + 1;

const options = {
  tools: TOOLS,
  vsix: VSIX,
  out: OUT,
  files,
  open: "old.config",
  machine: { "netsharp.python": PYTHON },
  viewport: { width: 1440, height: 860 },
};

await scenario(options, async (bench, checks) => {
  const { page } = bench;
  const language = page.locator("#status\\.editor\\.mode");
  const question = page.locator(".quick-input-widget:visible", { hasText: "Migration to BrainScript" });
  const answers = question.locator(".monaco-list-row");
  const point = "Check that '*.y' still means the same nodes";
  const notice = page
    .locator(".notification-list-item-message", { hasText: "proven equal" })
    .filter({ hasText: point });
  const include = 'include "old.bs"';
  const made = path.join(bench.folder, "old.bs");
  const configuration = page.locator('.editor-instance .monaco-editor[data-uri$="/old.config"]').first();
  const text = async () => (await configuration.innerText().catch(() => "")).replaceAll("\u00a0", " ");

  const fromLightBulb = async () => {
    await bench.goTo(builder, 5);
    const offered = page.locator(".action-widget .monaco-list-row", { hasText: "Migrate this file" });
    await bench.until(async () => {
      await page.keyboard.press("Control+.");
      return bench.until(() => offered.isVisible(), 4000);
    }, 40_000);
    await offered.first().click();
  };
  const fromPalette = () => bench.command("Net#: Migrate NDL to BrainScript");

  /** See what a migration would change, and answer. */
  const answered = async (way, answer) => {
    await question.waitFor({ timeout: 30_000 }).catch(() => {});
    const proven = await question.locator("input").first().getAttribute("placeholder").catch(() => "");
    checks.that(`${way}: the question says that it is proven`, proven?.includes("proven equal"), proven);
    const left = await bench.until(() => answers.filter({ hasText: point }).count(), 5000);
    checks.that(`${way}: and what is left to a person`, left === 1, await answers.allInnerTexts());
    const preview = page.locator(".multiDiffEditor, .multi-diff-root-floating-menu, .multiDiffEntry");
    await preview.first().waitFor({ timeout: 20_000 }).catch(() => {});
    const shown = await bench.until(async () => {
      const all = (await page.locator(".multiDiffEntry").allInnerTexts()).join("\n").replaceAll("\u00a0", " ");
      return all.includes(include) && all.includes("hidden = Feed") && all;
    });
    checks.that(`${way}: both files are shown as they would be`, shown, await page.locator(".multiDiffEntry").allInnerTexts());
    await bench.picture(`preview ${way} ${answer}`);
    await answers.filter({ hasText: answer }).first().click({ timeout: 15_000 });
    await question.waitFor({ state: "hidden", timeout: 15_000 });
  };

  await bench.until(async () => (await language.innerText()).trim() === "CNTK configuration", 40_000);

  await fromLightBulb();
  await answered("light bulb", "Leave everything");
  const left = await bench.until(async () => (await text()).includes("NDLNetworkBuilder"));
  checks.that("nothing is made where a person declines", left && !fs.existsSync(made), await text());

  for (const [way, ask] of [["light bulb", fromLightBulb], ["palette", fromPalette]]) {
    await ask();
    await answered(way, "Migrate");
    const done = await bench.until(async () => (await text()).includes(include) && fs.existsSync(made));
    checks.that(`${way}: the configuration names the new file`, done, await text());
    await notice.first().waitFor({ timeout: 15_000 }).catch(() => {});
    checks.that(`${way}: the notice says both`, (await notice.count()) > 0);
    await bench.picture(`done ${way}`);
    await bench.command("Notifications: Clear All Notifications");
    await notice.first().waitFor({ state: "detached", timeout: 15_000 });

    // The cursor is in the configuration: nothing else is clicked.
    await page.keyboard.press("Control+z");
    const both = page.locator(".monaco-dialog-box .monaco-button", { hasText: /Undo in \d+ Files/ });
    const back = () => bench.until(async () => (await text()).includes("NDLNetworkBuilder") && !fs.existsSync(made), 500);
    await bench.until(async () => {
      if (await both.isVisible()) await both.click();
      return back();
    });
    checks.that(`${way}: one Ctrl+Z brings the text back`, (await text()).includes("NDLNetworkBuilder"), await text());
    checks.that(`${way}: and takes the new file away`, !fs.existsSync(made));
    checks.that(`${way}: nothing is on disk of it`, bench.read("old.config") === files["old.config"]);
    await bench.picture(`undone ${way}`);
  }
}, 200);
