"""Sentences that quote a text: however long a word of it is, only its ends are shown."""

from __future__ import annotations

from netsharp_lsp.text.expressions import late

#: Every sentence without its quotations is much shorter.
LONGEST_SENTENCE = 4_000
#: Longer than any path or name that people want to read in full.
LONGEST_WORD = 400
#: The characters that are kept of a longer word, from its beginning and from its end.
HEAD, TAIL = 80, 20
_LONG_WORD = late(rf"\S{{{LONGEST_WORD + 1},}}")


def shortened(sentence: str) -> str:
    """Return a sentence with only the ends of its long words, whatever text it quotes."""
    if len(sentence) <= LONGEST_WORD:
        return sentence
    cut = _LONG_WORD.sub(lambda found: f"{found[0][:HEAD]}...{found[0][-TAIL:]}", sentence)
    if len(cut) > LONGEST_SENTENCE:
        return f"{cut[: LONGEST_SENTENCE - HEAD]} ... {cut[-HEAD:]}"
    return cut
