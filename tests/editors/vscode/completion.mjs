// Completion as a person meets it: words typed at the speeds at which people type, the list that
// stands there then, and Enter. Nothing is asked for with a key.

import { readFileSync } from "node:fs";

import { scenario } from "./workbench.mjs";

const { TOOLS, VSIX, PYTHON, OUT } = process.env;

/** The texts, and what is typed at the end of a line, how fast, and what is wanted then. */
const TABLE = JSON.parse(readFileSync(new URL("../typed.json", import.meta.url), "utf8"));

/** A hint that the server writes behind a word of a file; texts of other languages have none. */
const HINTS = { "a.netsharp": /\d+ params/, "a.cntk": /z\s*\[2\]/ };

const options = {
  tools: TOOLS,
  vsix: VSIX,
  out: OUT,
  files: Object.fromEntries(Object.entries(TABLE.files).map(([name, lines]) => [name, lines.join("\n")])),
  open: "a.netsharp",
  machine: { "netsharp.python": PYTHON },
};

await scenario(options, async (bench, checks) => {
  const { page } = bench;
  const answered = async (file) => {
    if (!HINTS[file]) return;
    const hinted = await bench.until(async () => HINTS[file].test(await bench.text()), 40_000);
    checks.that(`the server answers for ${file}`, hinted, await bench.text());
  };
  await answered("a.netsharp");
  const rows = page.locator(".suggest-widget.visible .monaco-list-row");
  const labels = async () => (await rows.allInnerTexts()).map((each) => each.split("\n")[0]);
  let open = "a.netsharp";
  for (const [file, line, words, pause, wanted] of TABLE.typed) {
    if (file !== open) {
      await bench.openFile(file);
      await answered(file);
    }
    open = file;
    await bench.goTo(line, 1);
    await page.keyboard.press("End");
    await page.keyboard.type(words, { delay: pause });
    const shown = await bench.until(async () => (await labels()).some((label) => label.startsWith(wanted)), 4000);
    checks.that(`${words.trim()} at ${pause} ms: ${wanted}`, shown, await labels());
    if (file === "a.netsharp" && words !== "hid") {
      const begun = (await labels()).filter((label) => /^(hidden|input|output|network)\b/.test(label));
      checks.that("no declaration is proposed within another", begun.length === 0, begun);
    }
    await page.keyboard.press("Escape");
    await bench.command("File: Revert File");
  }

  await bench.openFile("a.netsharp");
  await bench.goTo(8, 1);
  await page.keyboard.type("hidden N [5, 8, 8] from Conv", { delay: 120 });
  await bench.until(async () => (await labels())[0]?.startsWith("Convolution"), 4000);
  await page.keyboard.press("Enter");
  const taken = await bench.until(async () => (await bench.text()).includes("[5, 8, 8] from Convolution"));
  checks.that("Enter takes the layer", taken, await bench.text());
  await bench.picture("typed");
}, 280);
