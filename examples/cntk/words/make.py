"""Draws sentences and the table of their words from a seed, which it prints: python make.py [SEED].

Of twenty words each says which comes next, and every fifth ends a sentence: only the first word of
one cannot be known.
"""

import random
import sys
from pathlib import Path

WORDS, FIRST_CLASS, LAST = 20, 8, 5


def sentence(draw: random.Random) -> list[int]:
    """Words from 1 on, each of which follows from the one before it."""
    words = [draw.randint(1, WORDS)]
    while words[-1] % LAST:
        words.append((words[-1] + 2) % WORDS + 1)
    return words


def main() -> None:
    """Write the table and both texts beside this file."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print(f"seed {seed}")
    draw = random.Random(seed)
    names = ["</s>", *(f"w{one}" for one in range(1, WORDS + 1))]
    classes = [0, *(1 + (one > FIRST_CLASS) for one in range(1, WORDS + 1))]
    table = [f"{at}\t{100 - at}\t{names[at]}\t{classes[at]}" for at in range(WORDS + 1)]
    texts = {"words": table}
    for name, count in (("train", 400), ("test", 100)):
        drawn = [sentence(draw) for _ in range(count)]
        texts[name] = [" ".join(["</s>", *(names[at] for at in one), "</s>"]) for one in drawn]
    for name, lines in texts.items():
        Path(__file__).with_name(f"{name}.txt").write_text("\n".join(lines) + "\n", newline="\n")


if __name__ == "__main__":
    main()
