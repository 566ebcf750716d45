// Completion as a person meets it: words typed at the speeds at which people type, the list that
// stands there then, and Enter. Nothing is asked for with a key.  TABLE names the file with the
// texts and the places: what stands at the end of a line, the keys, and what is wanted then.

import { readFileSync } from "node:fs";

import { scenario } from "./workbench.mjs";

const { TOOLS, VSIX, PYTHON, OUT, TABLE, SECONDS } = process.env;
const { files, places, seed } = JSON.parse(readFileSync(TABLE, "utf8"));

/** A hint that the server writes behind a word of a file; texts of other languages have none. */
const HINTS = { "a.netsharp": /\d+ params/, "a.cntk": /z\s*\[2\]/ };
/** What begins a declaration of Net#. */
const BEGINS = /^(hidden|input|output|network)\b/;
// Where a machine stands still between the extension and the page, keys that were apart come together,
// and the list with the next key: such a place is typed once more, and few may be.
const TRIES = 2;
const AGAIN = 0.05;

const options = {
  tools: TOOLS,
  vsix: VSIX,
  out: OUT,
  files,
  open: "a.netsharp",
  machine: { "netsharp.python": PYTHON },
  // VS Code opens no list in Markdown while words are typed, unless a person wants it.
  settings: { "[markdown]": { "editor.quickSuggestions": { other: "on" } } },
};

await scenario(options, async (bench, checks) => {
  const { page } = bench;
  const answered = async (file) => {
    if (!HINTS[file]) return;
    const hinted = await bench.until(async () => HINTS[file].test(await bench.text()), 40_000);
    checks.that(`the server answers for ${file}`, hinted, await bench.text());
  };
  const rows = page.locator(".suggest-widget.visible .monaco-list-row");
  const labels = async () => (await rows.allInnerTexts()).map((each) => each.split("\n")[0]);
  // Only the part of a long list that is seen is on the page.
  const listed = (wanted) =>
    bench.until(async () => {
      const seen = await labels();
      if (seen.some((label) => label.startsWith(wanted))) return true;
      if (seen.length > 0) await page.keyboard.press("PageDown");
      return false;
    }, 4000);
  await answered("a.netsharp");
  console.log(`speeds by seed ${seed}`);

  const inCell = (file) => file.endsWith(".ipynb");
  /** Empty the line: the first key closes the list, and Home stops at the first word. */
  const emptied = async (file) => {
    // Without a list that key would leave the cell.
    if (!inCell(file) || (await rows.count()) > 0) await page.keyboard.press("Escape");
    for (const key of ["End", "Shift+Home", "Shift+Home", "Delete"]) await page.keyboard.press(key);
  };
  /** Put the cursor on a line; a cell has none to go to by its number. */
  const goTo = async (file, line) => {
    if (!inCell(file)) return bench.goTo(line, 1);
    await page.locator(".notebookOverlay .cell .view-line").first().click({ timeout: 15_000 });
    await page.keyboard.press("Control+Home");
    for (let above = 1; above < line; above++) await page.keyboard.press("ArrowDown");
  };
  let again = 0;
  let before = { file: "a.netsharp", line: 0 };
  for (const { file, line, lead, keys, wanted, milliseconds } of places) {
    if (file !== before.file) {
      // What was typed is undone, or the file would ask whether to save it.
      await bench.command("File: Revert File");
      await bench.openFile(file);
      await answered(file);
    }
    if (file !== before.file || line !== before.line) await goTo(file, line);
    before = { file, line };
    let shown = false;
    for (let tries = 0; tries < TRIES && !shown; tries++) {
      if (tries > 0) {
        again++;
        await emptied(file);
      }
      await page.keyboard.press("End");
      await page.keyboard.type(lead);
      await page.keyboard.type(keys, { delay: milliseconds });
      shown = await listed(wanted);
    }
    checks.that(`${file}: ${lead.trim()}|${keys} at ${milliseconds} ms: ${wanted}`, shown, await labels());
    const each = await labels();
    checks.that("nothing is proposed twice", new Set(each).size === each.length, each);
    if (file.endsWith(".netsharp") && !BEGINS.test(wanted)) {
      const begun = (await labels()).filter((label) => BEGINS.test(label));
      checks.that("no declaration is proposed within another", begun.length === 0, begun);
    }
    await emptied(file);
  }
  checks.that(`typed once more: ${again} of ${places.length}`, again <= places.length * AGAIN, again);

  await bench.command("File: Revert File");
  await bench.openFile("a.netsharp");
  await bench.goTo(10, 1);
  await page.keyboard.type("hidden N [5, 8, 8] from Conv", { delay: 120 });
  await listed("Convolution");
  await page.keyboard.press("Enter");
  const taken = await bench.until(async () => (await bench.text()).includes("[5, 8, 8] from Convolution"));
  checks.that("Enter takes the layer", taken, await bench.text());
  await bench.picture("typed");
}, Number(SECONDS));
