// Bundles the extension and each view into dist, with --tests the tests into dist-test; --into=FOLDER
// names another place, and --watch does so again and again.

import { readdirSync } from "node:fs";
import path from "node:path";
import { writeNotices } from "./notices.mjs";
import { build, context } from "esbuild";

const watch = process.argv.includes("--watch");
const tests = process.argv.includes("--tests");
const into = process.argv.find((word) => word.startsWith("--into="))?.slice("--into=".length);
const shared = { bundle: true, minify: !tests && !watch, sourcemap: false, logLevel: "warning" };
const node = { ...shared, platform: "node", format: "cjs", target: "node20", external: ["vscode"] };
const browser = { ...shared, platform: "browser", format: "iife", target: "es2022" };

const jobs = tests
  ? [
      {
        ...node,
        entryPoints: readdirSync("test")
          .filter((name) => name.endsWith(".ts"))
          .map((name) => `test/${name}`),
        outdir: into ?? "dist-test",
        outExtension: { ".js": ".cjs" },
      },
    ]
  : [
      {
        ...node,
        metafile: true,
        entryPoints: ["src/extension.ts"],
        outfile: `${into ?? "dist"}/extension.js`,
      },
      {
        ...browser,
        entryPoints: ["src/webview/network/main.ts"],
        outfile: `${into ?? "dist"}/network.js`,
      },
      {
        ...browser,
        entryPoints: ["src/webview/training/main.ts"],
        outfile: `${into ?? "dist"}/training.js`,
      },
    ];
for (const job of jobs) {
  if (watch) {
    await (await context(job)).watch();
  } else {
    const { metafile } = await build(job);
    if (job.metafile) {
      writeNotices(metafile, path.join(path.dirname(job.outfile), "NOTICE.txt"));
    }
  }
}
