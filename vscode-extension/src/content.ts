/** What a text looks like, judged by a few patterns; the server's parser has the last word. */

/** How much of a text is looked at, in characters. */
const LOOKED_AT = 20_000;

const LAYER = /^[ \t]*(?:input|hidden|output)\s+[A-Za-z_]\w*\s*(?:\[[^\]]{0,200}\]|auto\b)/im;
const GROUP = /^[ \t]*(?:input|hidden|output|const)\s*\{\s*[A-Za-z_]\w*\s*(?:\[|auto\b|=)/im;
const CONNECTION =
  /\bfrom\s+[A-Za-z_]\w*\s+(?:all\s*[;{]|where\s*\(|convolve\b|m(?:ax|ean)\s+pool\b|response\s+norm\b)/i;
const INPUT_ALONE = /^[ \t]*input\s+[A-Za-z_]\w*\s*(?:\[[\d\s,]+\]|auto)\s*;/im;
const BLOB = /^[ \t]*const\s+\w+\s*=\s*\[\s*floats_from_bytes\s*\(/im;

/** Whether a text is very likely a Net# specification. */
export function looksLikeNetSharp(text: string): boolean {
  const start = text.slice(0, LOOKED_AT);
  return (
    ((LAYER.test(start) || GROUP.test(start)) && CONNECTION.test(start)) ||
    INPUT_ALONE.test(start) ||
    BLOB.test(start)
  );
}

const COMMENTS = /\/\/.*|\/\*[\s\S]*?\*\//g;
const DECLARATION = /(?:^|[;}])[ \t]*(?:input|hidden|output|const|share)(?:\s+[A-Za-z_]|\s*\{)/im;

/** Whether a text is clearly something else: it says something, and declares nothing. */
export function cannotBeNetSharp(text: string): boolean {
  const bare = text.slice(0, LOOKED_AT).replace(COMMENTS, "");
  return bare.trim() !== "" && !DECLARATION.test(bare);
}

const MENTION =
  /\bnet_?definition\b|language\s*=\s*net#|(?:`{3,}|~{3,})\s*\{?\s*\.?(?:netsharp|net#)/i;

/** Whether a text of another language may hold a specification. */
export function mayHoldNetSharp(text: string): boolean {
  return MENTION.test(text) || ((LAYER.test(text) || GROUP.test(text)) && CONNECTION.test(text));
}

const CONFIGURATION_KEY =
  /^[ \t]*(?:command|action|reader|SGD|modelPath|\w*NetworkBuilder)[ \t]*(?:=|\[|\{)/im;
const BRIGHTSCRIPT = /^\s*(?:'.*\n\s*|rem .*\n\s*)*(?:sub|function)\s+[A-Za-z_]\w*(?!\s*=)/i;
const MEMBER = /^[ \t[({]*[A-Za-z_]\w*[ \t]*(?:\([^)\n]*\)|\{[^}\n]*\})?[ \t]*=(?!=)/m;
const MODEL_EDIT =
  /^[ \t]*(?:\w+[ \t]*=[ \t]*)?(?:LoadModel|CreateModel|SetDefaultModel|SaveModel|SaveDefaultModel|CopyNode|SetProperty|SetInput|DeleteNode|RemoveNode|Rename|DumpModel|LoadNDLSnippet)\w*[ \t]*\(/im;

/**
 * The language id of a file that shares its suffix with others' files, judged by its text; undefined
 * where it is not one of CNTK's.  Files with suffixes of CNTK's own need no judgement.
 */
export function cntkLanguageOf(path: string, text: string): string | undefined {
  const start = text.slice(0, LOOKED_AT);
  const suffix = /\.\w+$/.exec(path.toLowerCase())?.[0] ?? "";
  if (suffix === ".config" && !/^\uFEFF?\s*</.test(start) && CONFIGURATION_KEY.test(start)) {
    return "cntk";
  }
  if (suffix === ".bs" && !BRIGHTSCRIPT.test(start) && MEMBER.test(start)) {
    return "brainscript";
  }
  if (suffix === ".mel" && MODEL_EDIT.test(start)) {
    return "mel";
  }
  return undefined;
}
