"""Bytes at random, and files of the collection with bytes changed: reading must survive them."""

from __future__ import annotations

import random
from collections.abc import Iterator

from netsharp_lsp.context import Context
from tests.collection import RESOLVING, SAMPLES
from tests.fuzz.checking import check_bytes

#: Longer files take long and say nothing new.
LONGEST = 900
FILES = [sample.data for sample in SAMPLES if len(sample.data) <= LONGEST]
ALPHABETS = (
    bytes(range(256)),
    bytes(range(32, 127)),
    b" \t\r\n{}[]();,=><!&|+-*/%^.:#'\"01289abcXYZ_",
    "öäü€“”‘’；，（）｛｝［］＝\u2028\u00a0\ufeff😀é".encode(),
)
KEYWORDS = (
    "const input hidden output share from all where convolve max mean pool response norm auto "
    "true false sigmoid softmax Weights Biases InputShape KernelShape Stride Padding MapCount "
    "Sharing Alpha Beta"
)
MARKS = "=> == // /* */ # <!-- --> “ ； é 😀 \u2028 \u00a0"
WORDS = [
    *(word.encode() for word in f"{KEYWORDS} {MARKS}".split(" ")),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"),
]


def trial(chance: random.Random) -> Iterator[bytes]:
    """A dozen texts: some from nothing, some from a file with a few places changed."""
    context = RESOLVING if chance.random() < 0.3 else Context()
    data = chance.choice(FILES)
    for _ in range(12):
        text = at_random(chance) if chance.random() < 0.3 else mutated(data, chance)
        yield text
        check_bytes(text, context)


def at_random(chance: random.Random) -> bytes:
    """Bytes of one alphabet with words of the language between them."""
    alphabet = chance.choice(ALPHABETS)
    parts = []
    for _ in range(chance.randint(0, 12)):
        parts.append(bytes(chance.choices(alphabet, k=chance.randint(0, 12))))
        parts.append(chance.choice((b" ", b"", b"\n")) + chance.choice(WORDS))
    return b"".join(parts)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A file with some bytes changed, cut out, doubled or put in."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((0, 1, 1, 2, 5, 40)))
        how = chance.randrange(5)
        if how == 0:
            piece = b""
        elif how == 1:
            piece = data[start:end] * 2
        elif how == 2:
            piece = bytes((chance.randrange(256),))
        elif how == 3:
            piece = b" " + chance.choice(WORDS) + b" "
        else:
            piece = bytes(chance.choices(chance.choice(ALPHABETS), k=chance.randint(1, 6)))
        data = data[:start] + piece + data[end:]
    return data
