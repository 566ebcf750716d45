"""An author who rewrites networks and leaves them readable: what they mean changes at every step.

Random typing mostly breaks a text, and of broken text little is said; here names meet, lines
move, circles close and sizes disagree, which is what findings about meaning are made of.
"""

from __future__ import annotations

import random
import re

LINES = (
    "const N = 3;",
    "const M = N * 2;",
    "const Size = [4, 4];",
    "const A = B;",
    "const B = A + 1;",
    "input Data auto;",
    "input Data [4, 4];",
    "input More [5];",
    "hidden H [N] tanh from Data all;",
    "hidden H1 [4, 4] linear from H all;",
    "hidden h1 [M] from H1 all;",
    "hidden H2 [N] tanh from Datta all;",
    "hidden P [4, 4] from Data max pool { InputShape = [4, 4]; KernelShape = [1, 1]; }",
    "hidden Q [4, 4] from P where (s, d) => s[0] == d[0] && abs(s[1] - d[1]) <= N;",
    "hidden C [6, 3] from P convolve { InputShape = [4, 4]; KernelShape = [2, 2]; MapCount = 2; }",
    "hidden R { from H all; from H1 all; }",
    "hidden S [3] { from S all; from R all; }",
    "hidden F [400] from C all;",
    "hidden G auto linear from F all;",
    "hidden Big [4096, 30] from F all;",
    "hidden all [3] from Data all;",
    "hidden 3D [3] from Data all;",
    "hidden Y [3] from 3D all;",
    "hidden X { }",
    "hidden Z [3] from Q where (s, d) => s[0] == d[0];",
    "output O [2] softmax from H all;",
    "output O2 auto from H1 all;",
    "share { H, H1 }",
    "share { Data => H, Data => R }",
    "share { 1 => H, 1 => R }",
)
NAMES = tuple("N M Size A B Data More H H1 h1 P Q R S C O F G H2 X Z all 3D Data2".split())  # noqa: SIM905
NUMBERS = ("0", "1", "2", "3", "4", "16", "400", "N", "M", "2.5")
NAME = re.compile(rf"(?<!\w)(?:{'|'.join(NAMES)})(?!\w)")
NUMBER = re.compile(r"\b\d+\b")


class Author:
    """Rewrites a network at random; `text` is what it has become."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._lines = [chance.choice(LINES) for _ in range(chance.randint(4, 22))]
        self._undo: list[list[str]] = []

    @property
    def text(self) -> bytes:
        """The network as it is now."""
        return "\n".join(self._lines).encode()

    def rewrite(self) -> None:
        """Take one step, or one back."""
        if self._undo and self._chance.random() < 0.15:
            self._lines = self._undo.pop()
            return
        self._undo.append([*self._lines])
        ways = (self._put_in, self._take_out, self._move, self._exchange, self._exchange)
        self._chance.choice(ways)()

    def _put_in(self) -> None:
        self._lines.insert(self._at(), self._chance.choice(LINES))

    def _take_out(self) -> None:
        if len(self._lines) > 1:
            self._lines.pop(self._chance.randrange(len(self._lines)))

    def _move(self) -> None:
        line = self._lines.pop(self._chance.randrange(len(self._lines)))
        self._lines.insert(self._at(), line)

    def _exchange(self) -> None:
        """Another name, or another number, in one place."""
        at = self._chance.randrange(len(self._lines))
        pattern, others = self._chance.choice(((NAME, NAMES), (NAME, NAMES), (NUMBER, NUMBERS)))
        found = [match.span() for match in pattern.finditer(self._lines[at])]
        if found:
            start, end = self._chance.choice(found)
            line = self._lines[at]
            self._lines[at] = line[:start] + self._chance.choice(others) + line[end:]

    def _at(self) -> int:
        return self._chance.randint(0, len(self._lines))
