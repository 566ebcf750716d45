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
/** A chunk of a document as its grammar has it: another language between fences. */
const chunk = (kind: string, language: string, scope: string) => ({
  name: `markup.fenced_code.block.${kind}`,
  begin: `^\\s*(\`{3,})(?=\\{${language}\\b)`,
  end: "^\\s*(\\1)\\s*$",
  patterns: [
    { begin: "(\\{[a-z]+\\b)", end: "(\\})" },
    {
      contentName: `meta.embedded.block.${language}`,
      begin: "^",
      while: "(^|\\G)(?!\\s*(`{3,})\\s*$)",
      patterns: [{ include: scope }],
    },
  ],
});
/** A document with chunks of R and Python; a fence that it does not know is one all the same. */
const document = (scopeName: string, kind: string, others: readonly object[]) => ({
  scopeName,
  patterns: [chunk(kind, "r", "source.r"), chunk(kind, "python", "source.python"), ...others],
});
const unknown = {
  name: "markup.fenced_code.block",
  begin: "(^|\\G)(\\s*)(`{3,}|~{3,})\\s*(?=([^`~]*)?$)",
  end: "(^|\\G)(\\2|\\s{0,3})(\\3)\\s*$",
};
const markdown = [{ include: "text.html.markdown" }];
/** Grammars that VS Code has and this project does not, as far as injections need them. */
const HOSTS: Readonly<Record<string, object>> = {
  "text.html.markdown": { scopeName: "text.html.markdown", patterns: [unknown] },
  "text.html.rmarkdown": { scopeName: "text.html.rmarkdown", patterns: markdown },
  "text.html.markdown.rmarkdown": document("text.html.markdown.rmarkdown", "rmarkdown", markdown),
  "text.html.quarto": document("text.html.quarto", "quarto", [unknown]),
  "source.python": {
    scopeName: "source.python",
    patterns: [
      string("python", "multi", "(\"\"\"|\'\'\')", "\\1"),
      string("python", "single", "([\"\'])", "(\\1)|(\\n)"),
    ],
  },
  "source.sql": {
    scopeName: "source.sql",
    patterns: [string("sql", "single", "N?\'", "\'")],
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
  // The editor injects into a scope what is for one that it begins with, too.
  const parts = scope.split(".");
  const scopes = parts.map((_, number) => parts.slice(0, number + 1).join("."));
  const meant = grammars.filter((each) => each.injectTo?.some((one) => scopes.includes(one)));
  return meant.map((each) => each.scopeName);
}

void main();
