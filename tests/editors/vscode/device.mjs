// A network compiled for a device from above its text: the command says what to do before there is
// a model, the line appears with it, and the report is read beside the text, with its picture.

import * as fs from "node:fs";
import * as path from "node:path";
import { scenario } from "./workbench.mjs";

const { TOOLS, VSIX, PYTHON, OUT, EXAMPLES } = process.env;

const read = (name) => fs.readFileSync(path.join(EXAMPLES, "digits", name));

const options = {
  tools: TOOLS,
  vsix: VSIX,
  out: OUT,
  files: {
    "digits.nn": read("digits.nn"),
    "digits.toml": read("digits.toml").toString().replace(/^epochs = .*$/m, "epochs = 6"),
    "digits.csv.gz": read("digits.csv.gz"),
  },
  open: "digits.nn",
  machine: { "netsharp.python": PYTHON },
  viewport: { width: 1440, height: 860 },
};

await scenario(options, async (bench, checks) => {
  const { page } = bench;
  const lens = (words) => page.locator(".codelens-decoration a", { hasText: words });
  const told = (words) => page.locator(".notification-toast", { hasText: words });

  await lens(/Train with/).first().waitFor({ timeout: 40_000 }).catch(() => {});
  checks.that("nothing to compile before there is a model", (await lens(/Compile/).count()) === 0);
  await bench.command("Net#: Compile for a Device");
  const how = await bench.until(async () => (await told(/no trained model yet/).count()) > 0);
  checks.that("the command says what to do", how);
  await bench.command("Notifications: Clear All Notifications");

  await lens(/Train with/).first().click();
  const compile = lens(/Compile for a device/);
  const there = await bench.until(async () => (await compile.count()) === 1, 90_000);
  checks.that("the line comes with the model", there);
  await compile.first().click();
  const said = await bench.until(async () => (await told(/files are in digits-device/).count()) > 0, 60_000);
  checks.that("it says where the files are", said);
  const report = await bench.webview("img[alt='where the error arises']", 60_000);
  checks.that("the report is shown as a page", report !== null);
  const text = await report.locator("body").innerText();
  for (const words of ["Conv", "Digit", "rlinear", "held-out", "scratch memory"])
    checks.that(`it says ${words}`, text.includes(words), text);
  const picture = report.locator("img").first();
  const drawn = await bench.until(
    () => picture.evaluate((image) => image.complete && image.naturalWidth > 100).catch(() => false),
    20_000,
  );
  checks.that("with the picture of where the error arises", drawn);
  const folder = path.join(bench.folder, "digits-device");
  const files = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  checks.that("the files are there", files.includes("net.c") && files.includes("report.svg"), files);
  checks.that("the text stays in view", (await bench.text()).includes("input Image"));
  await bench.command("Notifications: Clear All Notifications");
  await picture.scrollIntoViewIfNeeded();
  await bench.picture("report");
}, 220);
