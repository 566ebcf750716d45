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

const MENTION =
  /\bnet_?definition\b|language\s*=\s*net#|(?:`{3,}|~{3,})\s*\{?\s*\.?(?:netsharp|net#)/i;

/** Whether a text of another language may hold a specification. */
export function mayHoldNetSharp(text: string): boolean {
  return MENTION.test(text) || ((LAYER.test(text) || GROUP.test(text)) && CONNECTION.test(text));
}
