// What has its colours where a person looks: a `.nn` file by its name alone, before any program runs;
// specifications inside Python and R, whose quotes stay those of a string, in a fence of Markdown and in
// the cell of a notebook; and what Format says where there is no specification.

import { scenario } from "./workbench.mjs";

const { TOOLS, VSIX, PYTHON, OUT } = process.env;

const NET = "input Image [28, 28];\noutput Digit [10] softmax from Image all;\n";
const files = {
  "digits.nn": `// A comment, as a first line that says nothing.\n${NET}`,
  "other.nn": "import torch.nn as nn\n",
  "train.py": `NET = """\n${NET}"""\nmodel = fit(net_definition="""\n${NET}""")\n`,
  "train.R": `net <- "\n${NET}"\n`,
  "notes.md": `A network:\n\n\`\`\`netsharp\n${NET}\`\`\`\n`,
  "cells.ipynb": JSON.stringify({
    cells: [
      {
        cell_type: "code",
        execution_count: null,
        metadata: {},
        outputs: [],
        source: `net = """\n${NET}"""`.split(/(?<=\n)/),
      },
    ],
    metadata: { language_info: { name: "python" } },
    nbformat: 4,
    nbformat_minor: 5,
  }),
  "plain.py": "print(1)\n",
};

const options = {
  tools: TOOLS,
  vsix: VSIX,
  out: OUT,
  files,
  open: "plain.py",
  machine: { "netsharp.python": PYTHON },
};

await scenario(options, async (bench, checks) => {
  const { page } = bench;
  const language = page.locator("#status\\.editor\\.mode");
  const spoken = (wanted) => bench.until(async () => (await language.innerText()).trim() === wanted, 40_000);

  // Once the editor knows what its extensions have, every language that a file ever had is noted.
  await spoken("Python");
  await page.evaluate(() => {
    const item = document.getElementById("status.editor.mode");
    window.spoken = [];
    const note = () => window.spoken.push(item.innerText.trim());
    new MutationObserver(note).observe(item, { childList: true, characterData: true, subtree: true });
  });
  await bench.openFile("digits.nn");
  await spoken("Net#");
  const known = [...new Set(await page.evaluate(() => window.spoken))].filter((each) => each !== "Python");
  checks.that("a .nn file never was plain text", known.join() === "Net#", known);
  const icon = page.locator(".explorer-folders-view .netsharp-lang-file-icon");
  checks.that("and has its icon in the folder, opened or not", (await icon.count()) >= 1, await icon.count());

  await bench.openFile("other.nn");
  const plain = await spoken("Plain Text");
  checks.that("a .nn file that is something else is given back", plain, await language.innerText());

  const place = page.locator(".statusbar-item", { hasText: /^Ln \d+/ });
  const widget = page.locator(".token-inspect-widget");
  const scopesAt = async (line, column) => {
    await bench.goTo(line, column);
    await bench.until(async () => (await place.innerText()).includes(`Ln ${line}, Col ${column}`));
    await bench.command("Developer: Inspect Editor Tokens and Scopes");
    await widget.waitFor({ timeout: 15_000 });
    const text = await bench.until(async () => {
      const said = await widget.innerText();
      return said.includes("textmate scopes") && said;
    });
    await page.keyboard.press("Escape");
    await widget.waitFor({ state: "hidden", timeout: 15_000 });
    return text || "";
  };
  const inside = "keyword.control.declaration.netsharp";
  for (const [file, line, column, wanted] of [
    ["train.py", 2, 2, inside],
    ["train.py", 1, 8, "string.quoted"],
    ["train.py", 6, 2, inside],
    ["train.py", 5, 30, "string.quoted"],
    ["train.R", 2, 2, inside],
    ["train.R", 1, 8, "string.quoted"],
    ["notes.md", 4, 2, inside],
  ]) {
    if ((await page.locator(`.tab.active[data-resource-name="${file}"]`).count()) === 0) await bench.openFile(file);
    const scopes = await scopesAt(line, column);
    checks.that(`${file}, line ${line}: ${wanted}`, scopes.includes(wanted), scopes);
  }
  await bench.picture("hosts");

  // A cell has no line to go to: its words have the colours that they have in a file of Net#.
  const coloured = (within, words) =>
    page.locator(`${within} .view-line span[class^=mtk]`, { hasText: words }).first()
      .evaluate((span) => getComputedStyle(span).color, null, { timeout: 15_000 })
      .catch(() => "");
  await bench.openFile("digits.nn");
  await spoken("Net#");
  const keyword = await coloured(".editor-instance", /^input$/);
  checks.that("a keyword of a file has a colour", keyword !== "", keyword);
  await bench.openFile("cells.ipynb");
  const like = await bench.until(async () => keyword && (await coloured(".notebookOverlay", /^input$/)) === keyword, 30_000);
  const name = await coloured(".notebookOverlay", /Image/);
  checks.that("a keyword in a notebook's cell has it, too", like, await coloured(".notebookOverlay", /^input$/));
  checks.that("and a layer's name has another", name !== "" && name !== keyword, name);
  await bench.picture("cell");

  await bench.openFile("plain.py");
  await spoken("Python");
  await bench.command("Net#: Format Specification");
  const message = page.locator(".notification-list-item-message", { hasText: "holds no specification" });
  await message.first().waitFor({ timeout: 15_000 }).catch(() => {});
  checks.that("Format says that there is no specification", (await message.count()) > 0);
}, 160);
