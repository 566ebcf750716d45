"""Draws the data of both experiments from a seed, which it prints: python make.py [SEED].

A word is a number, and of one of three kinds.  The tag of a word is how many of its neighbours are
of its own kind; the kind of a sentence is that of most of its words.
"""

import random
import sys
from pathlib import Path

WORDS, KINDS = 60, 3


def sentence(draw: random.Random) -> list[int]:
    """Return random words, most of them of one kind."""
    favourite = draw.randrange(KINDS)
    words = []
    for _ in range(draw.randint(3, 12)):
        kind = favourite if draw.random() < 0.7 else draw.randrange(KINDS)
        words.append(kind + KINDS * draw.randrange(WORDS // KINDS))
    return words


def kind_of(words: list[int]) -> int:
    """Return the kind of most words, the first of several."""
    counts = [sum(word % KINDS == kind for word in words) for kind in range(KINDS)]
    return counts.index(max(counts))


def tag(words: list[int], place: int) -> int:
    """Return how many neighbours of a word are of its kind."""
    beside = [words[at] for at in (place - 1, place + 1) if 0 <= at < len(words)]
    return sum(word % KINDS == words[place] % KINDS for word in beside)


def lines(sentences: list[list[int]]) -> list[str]:
    """Return a line for each word, under the number of its sentence."""
    found = []
    for number, words in enumerate(sentences):
        for place, word in enumerate(words):
            text = f"{number} |word {word}:1 |tag {tag(words, place)}:1"
            found.append(text if place else f"{text} |kind {kind_of(words)}:1")
    return found


def main() -> None:
    """Write both files beside this one."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print(f"seed {seed}")
    draw = random.Random(seed)
    for name, count in (("train", 500), ("test", 150)):
        text = "\n".join(lines([sentence(draw) for _ in range(count)])) + "\n"
        Path(__file__).with_name(f"{name}.ctf").write_text(text, newline="\n")


if __name__ == "__main__":
    main()
