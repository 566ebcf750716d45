// Completion as a person meets it: words typed at the speeds at which people type, the list that
// stands there then, and Enter. Nothing is asked for with a key.

import { scenario } from "./workbench.mjs";

const { TOOLS, VSIX, PYTHON, OUT } = process.env;

const NETWORK = `input Image [28, 28];
hidden Convolution [5, 12, 12] rlinear from Image convolve {
  InputShape = [28, 28];
  KernelShape = [5, 5];
  Stride = [2, 2];
  MapCount = 5;
}
`;

const CONFIGURATION = `command = Train
Train = {
    action = "train"
    modelPath = "m.dnn"
    BrainScriptNetworkBuilder = {
        features = Input {4}
        labels = Input {2, tag = "label"}
        z = LinearLayer {2} (features)
        ce = CrossEntropyWithSoftmax (labels, z)
        criterionNodes = (ce)

    }
    SGD = { maxEpochs = 1 ; minibatchSize = 2 ; learningRatesPerSample = 0.1 }
    reader = {
        readerType = "CNTKTextFormatReader" ; file = "train.txt"
        input = { features = { dim = 4 ; format = "dense" } ; labels = { dim = 2 ; format = "dense" } }
    }
}
`;

/** What is typed at the end of a line, at how many milliseconds a key, and what is wanted then. */
const TYPED = [
  ["a.netsharp", 8, "hidden N [5, 8, 8] from Conv", 40, "Convolution"],
  ["a.netsharp", 8, "hidden N [5, 8, 8] from Conv", 120, "Convolution"],
  ["a.netsharp", 8, "hidden N [5, 8, 8] from Conv", 350, "Convolution"],
  ["a.netsharp", 8, "hidden N [5, 4, 4] from Convolution max po", 90, "pool"],
  ["a.netsharp", 8, "hidden N [5, 8, 8] rl", 120, "rlinear"],
  ["a.netsharp", 8, "hid", 120, "hidden … convolve"],
  ["a.cntk", 11, "        h = DenseLa", 90, "DenseLayer"],
  ["a.cntk", 11, "        errs = ClassificationError (lab", 90, "labels"],
  ["a.cntk", 19, "prec", 120, "precision"],
];

/** A hint that the server writes behind a word of each file. */
const HINTS = { "a.netsharp": /\d+ params/, "a.cntk": /z\s*\[2\]/ };

const options = {
  tools: TOOLS,
  vsix: VSIX,
  out: OUT,
  files: { "a.netsharp": NETWORK, "a.cntk": CONFIGURATION, "train.txt": "|features 1 2 3 4 |labels 1 0\n" },
  open: "a.netsharp",
  machine: { "netsharp.python": PYTHON },
};

await scenario(options, async (bench, checks) => {
  const { page } = bench;
  const answered = async (file) => {
    const hinted = await bench.until(async () => HINTS[file].test(await bench.text()), 40_000);
    checks.that(`the server answers for ${file}`, hinted, await bench.text());
  };
  await answered("a.netsharp");
  const rows = page.locator(".suggest-widget.visible .monaco-list-row");
  const labels = async () => (await rows.allInnerTexts()).map((each) => each.split("\n")[0]);
  let open = "a.netsharp";
  for (const [file, line, words, pause, wanted] of TYPED) {
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
    const blank = (await labels()).filter((label) => /^(hidden|input|output|network)\b/.test(label));
    const begins = /^\s*hid$/.test(words);
    checks.that("no declaration is proposed within another", begins || blank.length === 0, blank);
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
}, 220);
