// How the server is found: by a setting, in an interpreter, unpacked from the extension, or not at
// all.  CASE names which; prints what became of it and after how many seconds from the moment at
// which the extension shows itself in the status bar.

import { scenario } from "./workbench.mjs";

const { TOOLS, VSIX, OUT, CASE, SERVER, PYTHON, PATH_OF_EDITOR } = process.env;

const TEXT = "input Image [28, 28];\nhidden Hidden [100] from Imge all;\noutput Digit [10] softmax from Hidden all;\n";

// The settings of the machine, what the status bar ends with, and the seconds it may take.
const CASES = {
  setting: { machine: { "netsharp.server.path": SERVER }, end: /^Net#: Server \S+ \(setting\)/ },
  "missing-setting": {
    machine: { "netsharp.server.path": "/nowhere/netsharp" },
    end: /netsharp\.server\.path/,
  },
  interpreter: {
    machine: { "netsharp.python": PYTHON },
    end: /^Net#: Server \S+ \(interpreter\)/,
  },
  // The bundled server stands in, and is unpacked for that; the person is told before.
  "missing-interpreter": {
    machine: { "netsharp.python": "/nowhere/python" },
    end: /\(bundled\).*netsharp\.python/,
    seconds: 30,
    told: true,
  },
  bundled: { machine: {}, end: /^Net#: Server \S+ \(bundled\)/, seconds: 30 },
  "no-python": { machine: {}, end: /No Python 3\.11/ },
};

const SOON = 5;
const { machine, end, seconds = SOON, told = false } = CASES[CASE];
const RUNNING = /^Net#: Server/;
const WAITING = /Starting: |has not been needed/;

await scenario(
  {
    tools: TOOLS,
    vsix: VSIX,
    out: OUT,
    files: { "digits.netsharp": TEXT },
    open: "digits.netsharp",
    machine,
    path: PATH_OF_EDITOR,
  },
  async (bench, checks) => {
    const { page } = bench;
    const item = page.locator('.statusbar-item [aria-label^="Net#:"], .statusbar-item[aria-label^="Net#:"]');
    const label = async () => (await item.first().getAttribute("aria-label")) ?? "";
    const messages = page.locator(".notification-list-item", { hasText: "Net#" });
    const since = (moment) => (Date.now() - moment) / 1000;
    const ended = async () => {
      await item.first().waitFor({ timeout: 40_000 });
      const started = Date.now();
      if (told) await messages.first().waitFor({ timeout: 30_000 }).catch(() => {});
      if (told) checks.that("the person is told", since(started) <= SOON, `${since(started)} s`);
      await bench.until(async () => !WAITING.test(await label()), (seconds + 20) * 1000);
      return since(started);
    };
    const took = await ended();
    const last = await label();
    checks.that("the end that is to be reached", end.test(last), last);
    checks.that(`within ${seconds} s`, took <= seconds, `${took} s`);
    console.log(`${CASE}: ${took.toFixed(2)} s, ${last}`);
    if (RUNNING.test(last)) {
      const squiggle = page.locator(".squiggly-error");
      await squiggle.first().waitFor({ state: "attached", timeout: 20_000 }).catch(() => {});
      checks.that("diagnostics come", (await squiggle.count()) === 1);
    } else {
      await messages.first().waitFor({ timeout: 10_000 }).catch(() => {});
      checks.that("one message", (await messages.count()) === 1, await messages.count());
      console.log(`message: ${(await messages.allInnerTexts()).join(" | ")}`);
      const colours = await page
        .locator(".view-line span[class^=mtk]")
        .evaluateAll((spans) => new Set(spans.map((span) => span.className)).size);
      checks.that("colours without a server", colours > 3, colours);
    }
    await bench.picture("end");
    if (CASE === "no-python" || told) {
      await page.reload({ waitUntil: "domcontentloaded" });
      const later = await ended();
      checks.that("a new window comes to the same end", end.test(await label()), await label());
      checks.that(`and soon`, later <= SOON, `${later} s`);
    }
    if (CASE === "no-python")
      checks.that("and does not say it again", (await messages.count()) === 0, await messages.count());
  },
);
