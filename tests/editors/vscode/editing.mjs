// What a person sees and does while typing: squiggle, hover, hint, completion, fix, rename, format
// on save, and a specification inside a Python file.

import * as fs from "node:fs";
import { scenario } from "./workbench.mjs";

const { TOOLS, VSIX, PYTHON, OUT } = process.env;

const DIGITS = `// Handwritten digits, 28 by 28 pixels.
const { Side = 28; Maps = 5; }

input Image [Side, Side];

hidden Strokes [Maps, 12, 12] rlinear from Image convolve {
  InputShape = [Side, Side];
  KernelShape = [5, 5];
  Stride = [2, 2];
  MapCount = Maps;
}

hidden Corners [100] tanh from Strokse all;

output Digit [10] softmax from Corners all;
`;

const SCRIPT = `from microsoftml import rx_neural_network

digits = """
input Image [28, 28];
hidden Hidden [100] from Imge all;
output Digit [10] softmax from Hidden all;
"""

model = rx_neural_network("Digit ~ .", data=None, net_definition=digits)
`;

const options = {
  tools: TOOLS,
  vsix: VSIX,
  out: OUT,
  files: { "digits.netsharp": DIGITS, "train.py": SCRIPT },
  open: "digits.netsharp",
  settings: { "editor.formatOnSave": true },
  machine: { "netsharp.python": PYTHON },
};

await scenario(options, async (bench, checks) => {
  const { page } = bench;
  const squiggles = page.locator(".squiggly-error");
  await squiggles.first().waitFor({ state: "attached", timeout: 40_000 }).catch(() => {});
  checks.that("squiggle", (await squiggles.count()) === 1, await squiggles.count());

  const hinted = await bench.until(async () => (await bench.text()).includes("130 params"));
  checks.that("inlay hint", hinted, await bench.text());
  await bench.picture("open");

  await bench.goTo(6, 40);
  const word = page.locator(".view-line span", { hasText: /^\s*convolve/ }).first();
  const place = (await word.boundingBox()) ?? { x: 500, y: 200, width: 40, height: 18 };
  await page.mouse.move(place.x + place.width / 2, place.y + place.height / 2);
  await page.mouse.move(place.x + place.width / 2 + 2, place.y + place.height / 2);
  const hover = page.locator(".monaco-hover:visible", { hasText: "kernel" }).first();
  await hover.waitFor({ timeout: 15_000 }).catch(() => {});
  checks.that("hover", (await hover.count()) > 0);
  await bench.picture("hover");
  await page.mouse.move(5, 5);

  await bench.goTo(13, 38);
  const menu = page.locator(".action-widget", { hasText: "Strokes" });
  // Whoever sees no menu presses again: the keys go to a window that is still busy with the hover.
  const offered = await bench.until(async () => {
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+.");
    return bench.until(() => menu.isVisible(), 4000);
  });
  checks.that("quick fix is offered", offered);
  await bench.picture("quick-fix");
  await page.keyboard.press("Enter");
  const fixed = await bench.until(async () => (await bench.text()).includes("from Strokes all"));
  checks.that("quick fix is applied", fixed, await bench.text());
  await squiggles.first().waitFor({ state: "detached", timeout: 10_000 }).catch(() => {});
  checks.that("squiggle goes", (await squiggles.count()) === 0);

  await bench.goTo(15, 19);
  await page.keyboard.press("Control+Shift+ArrowRight");
  await page.keyboard.type("ta", { delay: 60 });
  await page.keyboard.press("Control+Space");
  const proposals = page.locator(".suggest-widget.visible .monaco-list-row");
  await proposals.first().waitFor({ timeout: 15_000 }).catch(() => {});
  const labels = await proposals.allInnerTexts();
  checks.that("completion", labels.some((label) => label.includes("tanh")), labels);
  await bench.picture("completion");
  await page.keyboard.press("Escape");
  // As many steps as the letters have become; the fix above stays.
  for (let steps = 0; steps < 4 && !(await bench.text()).includes("softmax from"); steps++) {
    await page.keyboard.press("Control+z");
    await bench.until(async () => (await bench.text()).includes("softmax from"), 1000);
  }
  checks.that("the fix stays", (await bench.text()).includes("from Strokes all"));

  await bench.goTo(13, 10);
  await page.keyboard.press("F2");
  const box = page.locator(".rename-box input:visible").first();
  await box.waitFor({ timeout: 15_000 });
  await box.fill("Edges");
  await bench.picture("rename");
  await page.keyboard.press("Enter");
  const renamed = await bench.until(async () => {
    const text = await bench.text();
    return text.includes("hidden Edges") && text.includes("from Edges all");
  });
  checks.that("rename", renamed, await bench.text());

  await bench.goTo(3, 1);
  await page.keyboard.type("const   Unused=3;", { delay: 20 });
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+s");
  const saved = await bench.until(() => bench.read("digits.netsharp").includes("const Unused = 3;"));
  checks.that("format on save", saved, bench.read("digits.netsharp"));
  await bench.picture("saved");

  await bench.openFile("train.py");
  await squiggles.first().waitFor({ state: "attached", timeout: 20_000 }).catch(() => {});
  checks.that("squiggle inside Python", (await squiggles.count()) === 1, await squiggles.count());
  await bench.goTo(5, 27);
  await page.keyboard.press("Control+.");
  const inner = page.locator(".action-widget", { hasText: "Image" });
  await inner.waitFor({ timeout: 15_000 }).catch(() => {});
  checks.that("quick fix inside Python", (await inner.count()) > 0);
  await bench.picture("python");
  await page.keyboard.press("Enter");
  const repaired = await bench.until(async () => (await bench.text()).includes("from Image all"));
  checks.that("quick fix inside Python is applied", repaired, await bench.text());
  fs.writeFileSync(`${OUT}/ready`, "");
});
