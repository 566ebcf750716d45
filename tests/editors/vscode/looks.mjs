// How the views look where a person may have them: in other themes, with deep, with filtered and with
// folded networks, for runs without validation and runs that fail; and what is saved of them.

import * as fs from "node:fs";
import * as path from "node:path";
import { scenario } from "./workbench.mjs";

const { TOOLS, VSIX, PYTHON, OUT, EXAMPLES } = process.env;

const read = (name) => fs.readFileSync(path.join(EXAMPLES, "digits", name));
const digits = read("digits.nn").toString();
const order = read("digits.toml").toString().replace(/^epochs = .*$/m, "epochs = 8");

const RESNET = path.join(EXAMPLES, "../tests/corpus/cntk/networks/resnet20.cntk");

/** Sixty layers, every fourth fed by one further up as well. */
function deep() {
  const layer = (n) => {
    const skip = n % 4 === 0 ? `  from L${n - 3} all;\n` : "";
    return `hidden L${n} [${n % 5 ? 32 : 64}] rlinear {\n  from L${n - 1} all;\n${skip}}\n`;
  };
  const hidden = Array.from({ length: 58 }, (_, index) => layer(index + 1));
  return ["input L0 [16, 16];\n", ...hidden, "output Result [10] softmax from L58 all;\n"].join("");
}

const TOWERS = `// Two towers that learn the same weights, and connections under a condition.
const { Side = 12; Maps = 8; }

input { Left [Side, Side]; Right [Side, Side]; }

hidden {
  First [Maps, 5, 5] rlinear from Left convolve {
    InputShape = [Side, Side]; KernelShape = [4, 4]; Stride = [2, 2]; MapCount = Maps;
  }
  Second [Maps, 5, 5] rlinear from Right convolve {
    InputShape = [Side, Side]; KernelShape = [4, 4]; Stride = [2, 2]; MapCount = Maps;
  }
}
share { First, Second }

hidden Norm [Maps, 5, 5] from First response norm {
  InputShape = [Maps, 5, 5]; KernelShape = [1, 3, 3]; Padding = true;
  Alpha = 0.001; Beta = 0.75;
}
hidden Mean [Maps, 2, 2] from Second mean pool {
  InputShape = [Maps, 5, 5]; KernelShape = [1, 2, 2]; Stride = [1, 2, 2];
}
hidden Rows [Maps, 25] tanh from First where (s, d) => s[0] == d[0];
hidden WhatBothTowersHaveSeenTogether [20] sigmoid {
  from Norm all;
  from Mean all;
  from Rows where (s, d) => s[1] > d[0];
}

output Result [2] softmax from WhatBothTowersHaveSeenTogether all;
`;

const options = {
  tools: TOOLS,
  vsix: VSIX,
  out: OUT,
  files: {
    "towers.nn": TOWERS,
    "deep.nn": deep(),
    "resnet.cntk": fs.readFileSync(RESNET).toString(),
    "plain.nn": digits,
    "plain.toml": order.replace(/^validation.*$/m, "").replace("digits.saf", "plain.saf"),
    "digits.csv.gz": read("digits.csv.gz"),
    "lost.nn": digits,
    "lost.toml": order.replace("digits.csv", "lost.csv"),
    "notes.ipynb": JSON.stringify({
      cells: [
        {
          cell_type: "code",
          execution_count: null,
          metadata: {},
          outputs: [],
          source: ['net = """\n', "input Image [28, 28];\n", 'output Digit [10] softmax from Imge all;\n', '"""'],
        },
      ],
      metadata: { language_info: { name: "python" } },
      nbformat: 4,
      nbformat_minor: 5,
    }),
  },
  open: "towers.nn",
  machine: { "netsharp.python": PYTHON },
  viewport: { width: 1440, height: 860 },
};

// The name in the list of themes, and the class that a view gets.
const THEMES = [
  ["Dark High Contrast", "vscode-high-contrast"],
  ["Light High Contrast", "vscode-high-contrast-light"],
  ["Light Modern", "vscode-light"],
  ["Dark Modern", "vscode-dark"],
];

/** Those whose boundaries, too, have to be seen. */
const CONTRASTING = THEMES.slice(0, 2);

/** How well each drawn thing stands out from the paper: the least of their contrasts. */
function leastContrast() {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const luminance = (...colours) => {
    paint.clearRect(0, 0, 1, 1);
    for (const colour of colours) {
      paint.fillStyle = colour;
      paint.fillRect(0, 0, 1, 1);
    }
    const linear = [...paint.getImageData(0, 0, 1, 1).data.slice(0, 3)].map((each) =>
      each <= 10 ? each / 3294 : ((each / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const paper = getComputedStyle(document.body).backgroundColor;
  const of = (element, name) => {
    const [one, other] = [luminance(paper), luminance(paper, getComputedStyle(element)[name])];
    const [low, high] = [Math.min(one, other), Math.max(one, other)];
    const what = element.parentElement.getAttribute("class") ?? element.getAttribute("class");
    return [(high + 0.05) / (low + 0.05), `${what} ${getComputedStyle(element)[name]} on ${paper}`];
  };
  const all = (selector, name) => [...document.querySelectorAll(selector)].map((each) => of(each, name));
  const lines = all(".way, .frame, .group rect, .curve, .sample", "stroke");
  const words = all(".name, .line, .label, .heading, .tick", "fill").map(([value, what]) => [value / 1.5, what]);
  return [...lines, ...words].filter(([, what]) => !what.includes(" none on")).sort((a, b) => a[0] - b[0])[0];
}

/** The same of a page of words and buttons; on what has no colour of its own, what is below counts. */
function leastContrastOfPage() {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const luminance = (colours) => {
    paint.clearRect(0, 0, 1, 1);
    for (const colour of colours) {
      paint.fillStyle = colour;
      paint.fillRect(0, 0, 1, 1);
    }
    const linear = [...paint.getImageData(0, 0, 1, 1).data.slice(0, 3)].map((each) =>
      each <= 10 ? each / 3294 : ((each / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const below = (element) =>
    element === null ? [] : [...below(element.parentElement), getComputedStyle(element).backgroundColor];
  const of = (element, colour, ground) => {
    const [low, high] = [luminance(ground), luminance([...ground, colour])].sort((a, b) => a - b);
    const what = `${element.tagName} ${element.className?.baseVal ?? element.className}: ${colour} on ${ground.at(-1)}`;
    return [(high + 0.05) / (low + 0.05), what];
  };
  const shown = [...document.querySelectorAll("main *")].filter((each) => each.getClientRects().length > 0);
  const speaks = (element) => [...element.childNodes].some((each) => each.nodeType === 3 && each.data.trim());
  const words = shown.filter(speaks).map((each) => {
    const style = getComputedStyle(each);
    const [contrast, what] = of(each, each.namespaceURI.endsWith("svg") ? style.fill : style.color, below(each));
    // Words need half as much again as lines.
    return [contrast / 1.5, what];
  });
  const edges = shown.filter((each) => each.matches("button:not(.link), .status"));
  const lines = shown.filter((each) => each.matches(".curve"));
  return [
    ...words,
    ...edges.map((each) => of(each, getComputedStyle(each).borderTopColor, below(each.parentElement))),
    ...lines.map((each) => of(each, getComputedStyle(each).stroke, below(each))),
  ].sort((one, other) => one[0] - other[0])[0];
}

await scenario(options, async (bench, checks) => {
  const { page } = bench;
  const counted = page.locator(".statusbar-item", { hasText: /Net# [\d.]+K? parameters/ });
  await counted.first().waitFor({ timeout: 40_000 }).catch(() => {});
  checks.that("the status bar counts", (await counted.count()) === 1);

  await bench.command("Net#: Show Network");
  const network = await bench.webview(".layer .name");
  const title = network.locator("h1");
  for (const [theme, name] of THEMES) {
    await bench.theme(theme);
    const there = await bench.until(() => network.locator(`body.${name}`).count());
    checks.that(`${theme} is taken over`, there > 0);
    const [contrast, what] = await network.evaluate(leastContrast);
    checks.that(`${theme}: everything can be seen`, contrast >= 3, `${contrast}: ${what}`);
    await bench.picture(`towers-${name.slice(7)}`);
  }

  // With the keyboard alone: from layer to layer, and the text follows.
  await network.locator(".layer").first().focus();
  await page.keyboard.press("ArrowDown");
  // The status bar tells no line while the picture has the focus.
  const line = page.locator(".monaco-editor .active-line-number");
  const walked = await bench.until(async () => (await line.allInnerTexts()).includes("7"));
  checks.that("an arrow key leads to the next layer", walked, await line.allInnerTexts());

  for (const format of ["svg", "png"]) {
    await network.locator("button", { hasText: format.toUpperCase() }).click();
    const dialog = page.locator(".quick-input-widget:visible input[type=text]");
    await dialog.waitFor({ timeout: 15_000 });
    await bench.until(async () => (await dialog.inputValue()).endsWith(`towers.${format}`));
    await page.keyboard.press("Enter");
    const file = path.join(bench.folder, `towers.${format}`);
    const written = await bench.until(() => fs.existsSync(file) && fs.statSync(file).size > 1000);
    checks.that(`${format} is saved beside the text`, written);
    if (written) fs.copyFileSync(file, path.join(OUT, `towers.${format}`));
  }

  // A file opens where the cursor is: beside the picture.
  await page.locator(".tab", { hasText: "towers.nn" }).first().click();
  await bench.openFile("deep.nn");
  const followed = await bench.until(async () => (await title.innerText()) === "deep.nn");
  checks.that("the picture follows to another file", followed, await title.innerText());
  const box = await network.locator(".layer").first().boundingBox();
  checks.that("a deep network opens where it can be read", box.width > 60, box);
  await bench.picture("deep");

  // A network of hundreds of nodes is drawn by its blocks, which have the names of the text.
  await bench.openFile("resnet.cntk");
  const named = (label) => network.locator(".layer", { hasText: label });
  const stacked = await bench.until(async () => (await named("\u25b8 LayerStack").count()) > 1, 30_000);
  checks.that("blocks are boxes", stacked, await network.locator(".layer .name").allTextContents());
  const before = await network.locator(".layer .name").allTextContents();
  checks.that("a block has a name that a person would use", !before.some((each) => /\.x\b|\._/.test(each)), before);
  await named("\u25b8 LayerStack 2").first().click();
  const open = network.locator(".group .heading");
  const opened = await bench.until(async () => (await open.allTextContents()).includes("\u25be LayerStack 2"));
  checks.that("a click opens a block", opened, await open.allTextContents());
  checks.that("its parts have names, too", (await named("\u25b8 plain 1").count()) === 1, await network.locator(".layer .name").allTextContents());
  for (const [theme, name] of CONTRASTING) {
    await bench.theme(theme);
    await bench.until(() => network.locator(`body.${name}`).count());
    const [contrast, what] = await network.evaluate(leastContrast);
    checks.that(`${theme}: blocks and what is in them can be seen`, contrast >= 3, `${contrast}: ${what}`);
    await bench.picture(`resnet-${name.slice(7)}`);
  }
  // Wires run over the middle of its heading.
  await network.locator(".group .grip").first().click({ position: { x: 8, y: 8 } });
  const closed = await bench.until(async () => (await network.locator(".group").count()) === 0);
  checks.that("and closes it", closed, await open.allTextContents());

  const end = { plain: "finished", lost: "failed" };
  for (const name of ["plain", "lost"]) {
    await bench.openFile(`${name}.nn`);
    const lens = page.locator(".codelens-decoration a", { hasText: `${name}.toml` });
    await lens.first().waitFor({ timeout: 20_000 });
    await lens.first().click();
    const training = await bench.webview(".status", 20_000);
    const ended = await bench.until(
      async () =>
        (await training.locator("h1").innerText()) === `${name}.nn` &&
        (await training.locator(`.status.${end[name]}`).count()) === 1,
      60_000,
    );
    checks.that(`${name}: ${end[name]}`, ended, await training.locator("main").innerText());
    const said = await training.locator("main").innerText();
    if (name === "plain") checks.that("nothing is said of validation", !said.includes("validation"), said);
    else checks.that("the missing file is named", said.includes("lost.csv.gz"), said);
    await bench.picture(`training-${name}`);
    for (const [theme, colours] of name === "plain" ? CONTRASTING : CONTRASTING.slice(0, 1)) {
      await bench.theme(theme);
      const there = await bench.until(() => training.locator(`body.${colours}`).count());
      checks.that(`${theme} is taken over by the training`, there > 0);
      const [contrast, what] = await training.evaluate(leastContrastOfPage);
      checks.that(`${theme}: all of a training that has ${end[name]} can be seen`, contrast >= 3, `${contrast}: ${what}`);
      await bench.picture(`training-${name}-${colours.slice(7)}`);
    }
  }

  await bench.openFile("notes.ipynb");
  const squiggle = page.locator(".notebookOverlay .squiggly-error, .notebook-editor .squiggly-error");
  await squiggle.first().waitFor({ state: "attached", timeout: 30_000 }).catch(() => {});
  await page.mouse.move(5, 5);
  checks.that("a specification in a notebook's cell is checked", (await squiggle.count()) === 1, await squiggle.count());
  await bench.picture("notebook");
}, 280);
