/**
 * Says of each text on standard input what it is taken for: of a JSON list of texts whether they are
 * Net#, of pairs of a file's name and its text which of CNTK's languages, null for none.
 */

import { readFileSync } from "node:fs";
import { cntkLanguageOf, looksLikeNetSharp } from "../src/content";

const given = JSON.parse(readFileSync(0, "utf8")) as (string | [string, string])[];
console.log(
  JSON.stringify(
    given.map((each) =>
      typeof each === "string" ? looksLikeNetSharp(each) : (cntkLanguageOf(...each) ?? null),
    ),
  ),
);
