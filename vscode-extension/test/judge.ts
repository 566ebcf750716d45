/** Says of each text on standard input, a JSON list, whether it is taken for Net#. */

import { readFileSync } from "node:fs";
import { looksLikeNetSharp } from "../src/content";

const texts = JSON.parse(readFileSync(0, "utf8")) as string[];
console.log(JSON.stringify(texts.map(looksLikeNetSharp)));
