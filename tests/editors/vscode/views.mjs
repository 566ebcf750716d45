// The two pictures beside the text: the network, which follows the cursor and the text, and the
// training of it, whose curves grow, which can be stopped and taken up again.

import * as fs from "node:fs";
import * as path from "node:path";
import { scenario } from "./workbench.mjs";

const { TOOLS, VSIX, PYTHON, OUT, EXAMPLES } = process.env;

const read = (name) => fs.readFileSync(path.join(EXAMPLES, "digits", name));
const specification = read("digits.nn").toString();
// Long enough to be stopped by hand.
const runFile = read("digits.toml").toString().replace(/^epochs = .*$/m, "epochs = 150");

const options = {
  tools: TOOLS,
  vsix: VSIX,
  out: OUT,
  files: {
    "digits.nn": specification,
    "digits.toml": runFile,
    "digits.csv.gz": read("digits.csv.gz"),
  },
  open: "digits.nn",
  machine: { "netsharp.python": PYTHON },
  viewport: { width: 1440, height: 860 },
};

const rowOf = (word) => specification.split("\n").findIndex((line) => line.includes(word)) + 1;
const layers = [...specification.matchAll(/^(?:input|hidden|output) (\w+)/gm)].map((one) => one[1]);

await scenario(options, async (bench, checks) => {
  const { page } = bench;
  const lens = page.locator(".codelens-decoration a", { hasText: /train/i });
  await lens.first().waitFor({ timeout: 40_000 }).catch(() => {});
  checks.that("a .nn file is known by its content, and its run file gives a lens", (await lens.count()) === 1, await lens.count());

  await bench.command("Net#: Show Network");
  const network = await bench.webview(".layer .name");
  checks.that("network view", network !== null);
  const names = () => network.locator(".layer .name").allTextContents();
  const boxed = await bench.until(async () => {
    const there = await names();
    return layers.every((name) => there.includes(name));
  });
  checks.that("every layer has a box", boxed, await names());
  const arrows = await network.locator(".edge").count();
  checks.that("bundles are arrows", arrows >= layers.length - 1, arrows);
  await bench.picture("network");

  // From the picture to the text: with the keyboard, and with the mouse.
  const last = layers.at(-1);
  await network.locator(".layer", { hasText: last }).first().click();
  await network.locator(".layer", { hasText: last }).first().press("Enter");
  const row = await bench.until(async () => {
    const shown = await page.locator(".statusbar-item", { hasText: /^Ln \d+/ }).innerText();
    return shown.includes(`Ln ${rowOf(` ${last} `)},`);
  });
  checks.that("a box leads to its layer", row, `line ${rowOf(` ${last} `)}`);

  // From the text to the picture.
  await page.locator(".tab", { hasText: "digits.nn" }).first().click();
  await bench.goTo(rowOf(` ${layers[1]} `), 10);
  const marked = await bench.until(async () => {
    const chosen = network.locator(".layer.selected, .layer.current, .layer[aria-current], .layer.here");
    return (await chosen.count()) > 0 && (await chosen.first().innerHTML()).includes(layers[1]);
  });
  checks.that("the cursor marks its box", marked);
  await bench.picture("network-cursor");

  await page.keyboard.press("Control+End");
  await page.keyboard.type(`hidden Extra [7] from ${layers[0]} all;`, { delay: 10 });
  await page.keyboard.press("Escape");
  const grown = await bench.until(
    async () => (await network.locator(".layer .name", { hasText: "Extra" }).count()) === 1,
  );
  checks.that("the picture follows the text", grown);
  await bench.command("File: Revert File");
  const shrunk = await bench.until(
    async () => (await network.locator(".layer .name", { hasText: "Extra" }).count()) === 0,
  );
  checks.that("and back", shrunk);

  await lens.first().click();
  const training = await bench.webview("svg.chart");
  checks.that("training view", training !== null);
  const points = () =>
    training.locator("polyline.curve").evaluateAll((lines) =>
      Math.max(0, ...lines.map((line) => line.getAttribute("points").trim().split(/\s+/).length)),
    );
  const curve = await bench.until(async () => (await points()) >= 5, 60_000);
  checks.that("the curve has points", curve, await points());
  checks.that("epochs are listed", (await training.locator(".epochs tr").count()) > 3);
  await bench.picture("training");

  await training.locator("button", { hasText: "Stop" }).click();
  const resume = training.locator("button", { hasText: "Resume" });
  const stopped = await bench.until(async () => await resume.isVisible(), 30_000);
  checks.that("it stops, and can be taken up again", stopped);
  const before = await points();
  await resume.click();
  const on = await bench.until(async () => (await points()) > before, 60_000);
  checks.that("it goes on where it stopped", on, `${before} points before, ${await points()} after`);
  const model = await bench.until(
    async () => (await training.locator(".result").innerText()).includes("digits.safetensors"),
    90_000,
  );
  checks.that("the model is named", model, await training.locator(".result").innerText());
  checks.that("the model is there", fs.existsSync(path.join(bench.folder, "digits.safetensors")));
  await bench.picture("trained");
}, 300);
