// The licences of the packages that a bundle holds, as they ask to be passed on.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Writes the licences of every package among the inputs of an esbuild metafile. */
export function writeNotices(metafile, file) {
  const inputs = Object.keys(metafile.inputs);
  const folders = inputs.map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]);
  const notices = [...new Set(folders.filter(Boolean))].sort().map(noticeOf);
  writeFileSync(file, `${notices.join(`\n${"-".repeat(72)}\n\n`)}`);
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, "package.json")));
  const found = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = found === undefined ? "" : readFileSync(path.join(folder, found), "utf8");
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}
