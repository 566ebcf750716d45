"""What a sentence quotes is shown as far as anybody reads it."""

from __future__ import annotations

from netsharp_lsp.text.shorten import LONGEST_SENTENCE, shortened


def test_a_sentence_that_people_read_stays() -> None:
    sentence = f"{'/folder' * 50}: there is no such file."
    assert shortened(sentence) == sentence


def test_of_a_long_word_both_ends_are_shown() -> None:
    cut = shortened(f"'{'x' * 3_000_000}' is no name.")
    assert cut.startswith("'xxxx")
    assert cut.endswith("xxx' is no name.")
    assert len(cut) < 200


def test_many_words_are_cut_together() -> None:
    assert len(shortened("word " * 1_000_000)) <= LONGEST_SENTENCE + 10
