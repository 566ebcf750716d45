/**
 * Tokenizes texts as VS Code does: reads `{"scope", "texts"}` from standard input, prints for each
 * text its tokens as `[line, start, end, scopes]`.  Tests in Python drive it.
 */

import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import { createOnigScanner, createOnigString, loadWASM } from "vscode-oniguruma";
import { INITIAL, parseRawGrammar, Registry } from "vscode-textmate";

const SYNTAXES = path.join(__dirname, "..", "syntaxes");
/** A string as grammars have it: its quotes are in its scope. */
const string = (host: string, name: string, begin: string, end: string) => ({
  name: `string.quoted.${name}.${host}`,
  begin,
  end,
  beginCaptures: { "0": { name: `punctuation.definition.string.begin.${host}` } },
  endCaptures: { "0": { name: `punctuation.definition.string.end.${host}` } },
});
/** Grammars that VS Code has and this project does not, as far as injections need them. */
const HOSTS: Readonly<Record<string, object>> = {
  "text.html.markdown": { scopeName: "text.html.markdown", patterns: [] },
  "source.python": {
    scopeName: "source.python",
    patterns: [
      string("python", "multi", "(\"\"\"|\'\'\')", "\\1"),
      string("python", "single", "([\"\'])", "(\\1)|(\\n)"),
    ],
  },
  "source.r": {
    scopeName: "source.r",
    patterns: [
      string("r", "double.raw", "[rR]\"-*\\(", "\\)-*\""),
      string("r", "double", '"', '"'),
      string("r", "single", "\'", "\'"),
    ],
  },
};

async function main(): Promise<void> {
  const require = createRequire(path.join(__dirname, "..", "package.json"));
  const wasm = require.resolve("vscode-oniguruma/release/onig.wasm");
  await loadWASM(readFileSync(wasm));
  const files = readdirSync(SYNTAXES).map((name) => path.join(SYNTAXES, name));
  const texts = files.map((file) => [file, readFileSync(file, "utf8")] as const);
  const own = new Map(
    texts.map(([file, text]) => [
      (JSON.parse(text) as { scopeName: string }).scopeName,
      [file, text],
    ]),
  );
  const registry = new Registry({
    onigLib: Promise.resolve({ createOnigScanner, createOnigString }),
    loadGrammar: async (scope) => {
      const [file, text] = own.get(scope) ?? ["host.json", JSON.stringify(HOSTS[scope] ?? null)];
      return text === "null" ? null : parseRawGrammar(text ?? "", file ?? "");
    },
    getInjections: (scope) => injectedInto(scope),
  });
  const order = JSON.parse(readFileSync(0, "utf8")) as { scope: string; texts: string[] };
  const grammar = await registry.loadGrammar(order.scope);
  if (grammar === null) {
    throw new Error(`There is no grammar ${order.scope}.`);
  }
  const made = order.texts.map((text) => {
    let stack = INITIAL;
    return text.split(/\r\n|\r|\n/).flatMap((line, number) => {
      const done = grammar.tokenizeLine(line, stack);
      stack = done.ruleStack;
      return done.tokens.map((each) => [number, each.startIndex, each.endIndex, each.scopes]);
    });
  });
  console.log(JSON.stringify(made));
}

function injectedInto(scope: string): string[] {
  const manifest = JSON.parse(readFileSync(path.join(__dirname, "..", "package.json"), "utf8")) as {
    contributes: { grammars: { scopeName: string; injectTo?: string[] }[] };
  };
  const grammars = manifest.contributes.grammars;
  return grammars.filter((each) => each.injectTo?.includes(scope)).map((each) => each.scopeName);
}

void main();
