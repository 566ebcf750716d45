"""Seeded text to measure on: Net#, Python and TOML of any length, no declaration of it twice.

Lines have 38 to 40 bytes on average in each language.  The layout is deliberately ugly, so that
a formatter has something to do; what the text says is sound, so that a checker reads to the end.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

SEED = 1
WORDS = "Edge Stem Patch Digit Signal Pixel Stroke Corner Window Phase Motif Trace".split()  # noqa: SIM905
ACTIVATIONS = ("sigmoid", "tanh", "rlinear", "srlinear", "abs", "square")
ACTIVATION = re.compile(rb"(?m)^( *\w+ *\w+ *\[[^]]*\] *(?:%b))\b" % "|".join(ACTIVATIONS).encode())
POOL = re.compile(rb"(?m)^( *\w+ *(?:Pool|Norm)\w+ *\[[^]]*\])")
PUNCTUATION = re.compile(r" ?([,;\[\]{}]|(?<![<>=])=(?![>=])) ?")


def netsharp(lines: int, seed: int = SEED) -> bytes:
    """About so many lines of a sound network in ugly layout."""
    chance = random.Random(seed)
    made: list[str] = []
    chain = _Chain(chance)
    for declaration in chain.declarations():
        made += declaration
        if len(made) >= lines - 2:
            break
    made += chain.output()
    return ("\n".join(_uglify(line, chance) for line in made) + "\n").encode()


def untidy(lines: int, seed: int = SEED) -> bytes:
    """About so many lines as people leave them: short blocks, comments, empty lines, lists."""
    chance = random.Random(seed)

    def blank() -> str:
        return " " * chance.choice((0, 0, 1, 1, 2, 3))

    made = ["input  Pixels [ 8 ,8] ;"]
    source, number = "Pixels", 0
    while len(made) < lines - 1:
        number += 1
        name = f"H{number}"
        block = chance.choice((_remarked, _apart, _named_size, _two_bundles, _weighted, _by_hand))
        made += [piece.replace("~", blank()) for piece in block(name, source, chance)]
        source = name
    made.append(f"output Answer[3] softmax from {source} all;")
    return ("\n".join(made) + "\n").encode()


# A `~` stands for blanks as they fall.
def _plain(name: str, source: str, chance: random.Random) -> str:
    nodes, activation = chance.randint(3, 40), chance.choice(("tanh", "sigmoid", ""))
    return f"hidden {name}[{nodes}]~{activation}~ from {source}~ all~;"


def _remarked(name: str, source: str, chance: random.Random) -> list[str]:
    return [f"~// {name}, which reads {source}", _plain(name, source, chance)]


def _apart(name: str, source: str, chance: random.Random) -> list[str]:
    return ["", _plain(name, source, chance)]


def _named_size(name: str, source: str, chance: random.Random) -> list[str]:
    size = f"const  Size{name}~=~{chance.randint(2, 30)}~;~// a size"
    return [size, f"hidden~ {name}~[~Size{name}~]~Tanh ~ from {source}~ all~;"]


def _two_bundles(name: str, source: str, chance: random.Random) -> list[str]:
    head = f"hidden {name}[~{chance.randint(2, 4)},~2]~tanh~{{"
    return [head, f"~from {source} ~all;~// of before", "", "~from Pixels all~;", "}"]


def _weighted(name: str, _source: str, chance: random.Random) -> list[str]:
    values = [f"{chance.uniform(-1, 1):.3f}" for _ in range(8 * chance.randint(1, 3))]
    rows = [f"~{'~,~'.join(values[at : at + 4])}" for at in range(0, len(values), 4)]
    return [
        f"hidden {name}~[{len(values) // 2}, 8, 8]~from Pixels convolve{{",
        "~InputShape~=[8,~8];",
        "KernelShape~= [ 1,1 ]~;~/* one */",
        f"MapCount = {len(values) // 2};",
        "~Weights=[",
        *(f"{row}~," for row in rows[:-1]),
        f"{rows[-1]}]~;",
        "}",
    ]


def _by_hand(name: str, source: str, chance: random.Random) -> list[str]:
    return [
        f"hidden {name}~[ {chance.randint(3, 40)} ]",
        "~/* by hand */",
        f"~from~ {source} all~;",
    ]


def flawed(network: bytes) -> bytes:
    """The same network with two findings in each block: a keyword, and its activation."""
    network = re.sub(rb"(?m)^( *)hidden\b", rb"\1Hidden", network)
    network = ACTIVATION.sub(rb"\1q", network)
    return POOL.sub(rb"\1 tanh ", network)


class _Chain:
    """Writes one layer after another, each from the one before, in shapes that fit."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.number = 0
        self.source = "Photograph"
        self.shape: tuple[int, ...] = (3, 32, 32)
        self.earlier = "Photograph"

    def declarations(self) -> Iterator[list[str]]:
        yield ["// A network made by a seed, to be measured and not to be trained.", ""]
        yield [f"input {self.source} [3, 32, 32];", ""]
        pictured = self.convolution, self.pool, self.norm, self.near, self.full, self.stride
        flat = self.full, self.joined, self.picture
        while True:
            self.number += 1
            if len(self.shape) == 1:
                (make,) = self.chance.choices(flat, (3, 1, 3))
            else:
                (make,) = self.chance.choices(pictured, (6, 3, 1, 1, 1, 2))
            yield [*make(), ""]

    def output(self) -> list[str]:
        return [f"output Answer [10] softmax from {self.source} all;"]

    def name(self, kind: str) -> str:
        return f"{kind}{self.chance.choice(WORDS)}{self.number}"

    def goes_on(self, name: str, *shape: int) -> None:
        self.earlier, self.source, self.shape = self.source, name, shape

    def full(self) -> list[str]:
        name, nodes = self.name("Full"), self.chance.randint(20, 400)
        line = f"hidden {name} [{nodes}] {self.activation()} from {self.source} all;"
        self.goes_on(name, nodes)
        return [line]

    def picture(self) -> list[str]:
        name, side = self.name("Picture"), 2 * self.chance.randint(8, 20)
        maps = self.chance.randint(2, 8)
        remark = f"// {name} sees {self.source} as {maps} pictures of {side} rows."
        line = f"hidden {name} [{maps}, {side}, {side}] {self.activation()} from {self.source} all;"
        self.goes_on(name, maps, side, side)
        return [remark, line]

    def near(self) -> list[str]:
        """A filter from a map to the same map, which sees a window of it."""
        name, (maps, rows, columns) = self.name("Near"), self.shape
        reach = [self.chance.randint(1, 5) for _ in range(2)]
        made = [
            f"// {name} sees no other map, and {sum(reach)} rows and columns at most.",
            f"hidden {name} [{maps}, {rows}, {columns}] {self.activation()}",
            f"  from {self.source} where (s, d) => s[0] == d[0] &&",
            f"    abs(s[1] - d[1]) <= {reach[0]} && abs(s[2] - d[2]) <= {reach[1]};",
        ]
        self.goes_on(name, maps, rows, columns)
        return made

    def joined(self) -> list[str]:
        name, nodes = self.name("Joined"), self.chance.randint(20, 300)
        head = f"hidden {name} [{nodes}] {self.activation()} " + "{"
        body = [f"  from {self.source} all;", f"  from {self.earlier} all;"]
        if self.earlier == self.source:
            body.pop()
        self.goes_on(name, nodes)
        return [head, *body, "}"]

    def convolution(self) -> list[str]:
        name, (maps, rows, columns) = self.name("Conv"), self.shape
        count = self.chance.randint(1, max(1, 24 // maps))
        constant = f"Count{name}"
        rest = f"from {self.source} convolve " + "{"
        made = [
            f"const {constant} = {count};" if count > 1 else f"// One kernel each for {name}.",
            f"hidden {name} [{maps * count}, {rows}, {columns}] {self.activation()} {rest}",
            f"  InputShape = [{maps}, {rows}, {columns}];",
            "  KernelShape = [1, 3, 3];  // rows and columns of one map",
            "  Padding = [false, true, true];  // the picture keeps its size",
            "  Sharing = [false, true, true];  // a kernel for each map",
            f"  MapCount = {constant};" if count > 1 else "  MapCount = 1;",
        ]
        if maps * count <= 4:
            made += self.weights(10 * maps * count)
        self.goes_on(name, maps * count, rows, columns)
        return [*made, "}"]

    def weights(self, count: int) -> list[str]:
        """Initial values as a trained network gives them, five a line."""
        values = [f"{self.chance.uniform(-1, 1):.7g}" for _ in range(count)]
        rows = [", ".join(values[at : at + 5]) for at in range(0, count, 5)]
        opening = "  Weights = [  // as they were trained before"
        return [opening, *(f"    {row}," for row in rows[:-1]), f"    {rows[-1]}", "  ];"]

    def pool(self) -> list[str]:
        maps, rows, columns = self.shape
        if rows % 2 or rows < 8:
            return self.full()
        name, way = self.name("Pool"), self.chance.choice(("max", "mean"))
        made = [
            f"hidden {name} [{maps}, {rows // 2}, {columns // 2}]",
            f"  from {self.source} {way} pool {{  // every second row and column",
            f"  InputShape = [{maps}, {rows}, {columns}];  // {self.source}, as it is made",
            "  KernelShape = [1, 2, 2];",
            "  Stride = [1, 2, 2];  // halves rows and columns of each map",
            "}",
        ]
        self.goes_on(name, maps, rows // 2, columns // 2)
        return made

    def norm(self) -> list[str]:
        name, (maps, rows, columns) = self.name("Norm"), self.shape
        alpha, beta = self.chance.uniform(1e-5, 1e-3), self.chance.uniform(0.5, 1)
        made = [
            f"hidden {name} [{maps}, {rows}, {columns}] from {self.source} response norm {{",
            f"  InputShape = [{maps}, {rows}, {columns}];",
            "  KernelShape = [1, 3, 3];  // rows and columns of one map",
            "  Padding = [false, true, true];",
            f"  Alpha = {alpha:.6f};",
            f"  Beta = {beta:.4f};",
            "}",
        ]
        self.goes_on(name, maps, rows, columns)
        return made

    def stride(self) -> list[str]:
        """A convolution over all maps with a stride, its numbers worked out in the text."""
        maps, rows, columns = self.shape
        if rows % 2 == 0 or rows < 11:
            return self.convolution()
        name, count = self.name("Stride"), self.chance.randint(2, 12)
        outs = (rows - 3) // 2 + 1, (columns - 3) // 2 + 1
        rest = f"from {self.source} convolve " + "{"
        made = [
            f"hidden {name} [{count}, {outs[0]}, {outs[1]}] {self.activation()} {rest}",
            f"  InputShape = [{maps}, {rows}, {columns}];",
            f"  KernelShape = [{maps}, 3, 3];",
            "  Stride = [1, 2, 2];",
            f"  MapCount = {count};",
            "}",
        ]
        self.goes_on(name, count, *outs)
        return made

    def activation(self) -> str:
        return self.chance.choice(ACTIVATIONS)


def _uglify(line: str, chance: random.Random) -> str:
    """The same tokens and comment with blanks as they fall."""
    code, slashes, comment = line.partition("//")
    if not code.strip():
        return " " * chance.randint(0, 3) + slashes + comment if slashes else ""

    def spaced(match: re.Match[str]) -> str:
        before, after = (" " * chance.choice((0, 0, 1, 1, 2)) for _ in range(2))
        return before + match[1] + after

    code = " " * chance.randint(0, 8) + PUNCTUATION.sub(spaced, code.strip())
    return code.rstrip() + (chance.choice((" ", "   ")) + slashes + comment if slashes else "")


def python(lines: int, seed: int = SEED) -> bytes:
    """About so many lines of valid Python in ugly layout."""
    chance = random.Random(seed)
    made: list[str] = []
    while len(made) < lines:
        made += _function(len(made), chance)
    return ("\n".join(made) + "\n").encode()


def _function(number: int, chance: random.Random) -> list[str]:
    word, other = (chance.choice(WORDS).lower() for _ in range(2))
    low, high = chance.randint(1, 50), chance.randint(51, 999)
    values = ",".join(str(chance.randint(0, 999)) for _ in range(chance.randint(3, 9)))
    return [
        f"def {word}_{number}( {other},limit = {high} ):",
        f"   total={low}+len( {other} )  # begin with {low} and what there is",
        f"   table = {{ '{word}':{low}, '{other}_{number}' : [{values}] }}",
        f"   for index,value in enumerate( {other} ):",
        f"       if value>{low} and index<limit :",
        f"            total = total+value * {high}",
        f"       else: total-= index  %  {low}  # what is left",
        f"   return total,table ['{word}']",
        "",
    ]


def toml(lines: int, seed: int = SEED) -> bytes:
    """About so many lines of valid TOML in ugly layout."""
    chance = random.Random(seed)
    made: list[str] = []
    while len(made) < lines:
        made += _table(len(made), chance)
    return ("\n".join(made) + "\n").encode()


def _table(number: int, chance: random.Random) -> list[str]:
    word, other = (chance.choice(WORDS).lower() for _ in range(2))
    values = " ,".join(str(chance.randint(0, 999)) for _ in range(chance.randint(3, 9)))
    return [
        f"[ {word}.layer_{number} ]",
        f"  source='{other} of the layer {number} before the {word}'",
        f"shape   =[ {values}]",
        f"    rate ={chance.uniform(0, 1):.6f}  # how fast {word} number {number} learns",
        f"shared=  {chance.choice(('true', 'false'))}   # with the layer before it and {other}",
        f" table   = {{ rows= {chance.randint(1, 99)},columns ={chance.randint(1, 99)} }}",
        f'remark="it was made for {word} by a seed of {chance.randint(1, 10**6)}"',
        "",
    ]
