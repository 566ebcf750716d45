"""The table of bombs: texts that nobody would write on purpose, as functions of their size.

A row names a text and the commands that have to answer it; `BOMBS` has one bomb for each of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

Files = Mapping[str, bytes]

MEBI = 2**20
#: No text of the table gets larger than this, unless its row says so.
MOST_BYTES = 4 * MEBI


class Bomb(NamedTuple):
    """A text that grows, and a command that has to answer it.

    `files` makes the files of a size; `least` is the size at which to begin, `most` the largest.
    """

    name: str
    language: str
    command: tuple[str, ...]
    files: Callable[[int], Files]
    least: int
    most: int


#: The file of each language, and the commands that read one alone.
LANGUAGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "netsharp": ("bomb.nn", ("check", "fmt --check", "describe")),
    "cntk": ("bomb.cntk", ("check", "fmt --check", "describe", "config", "migrate")),
    "brainscript": ("bomb.bs", ("check", "fmt --check")),
    "ndl": ("bomb.ndl", ("check", "fmt --check")),
    "mel": ("bomb.mel", ("check", "fmt --check")),
    "python": ("bomb.py", ("check", "fmt --check")),
    "r": ("bomb.R", ("check", "fmt --check")),
    "markdown": ("bomb.md", ("check", "fmt --check")),
    "notebook": ("bomb.ipynb", ("check", "fmt --check")),
}


def repeated(
    language: str, name: str, unit: str, before: str = "", after: str = "", most: int = 0
) -> list[Bomb]:
    """Bombs of a unit that is repeated; `{n}` in it is the number of the repetition."""
    piece = len(unit.encode())

    def text(size: int) -> bytes:
        if "{n}" not in unit:
            middle = unit * size
        else:
            middle = "".join(
                unit.replace("{n}", str(n)).replace("{m}", str(n + 1)) for n in range(size)
            )
        return (before + middle + after).encode()

    # A misspelt name is compared with some hundred others before the number of names is bounded.
    least = 1024 if name.startswith("unknown") else 64
    return of_text(language, name, text, most or MOST_BYTES // piece, least)


def of_text(
    language: str, name: str, text: Callable[[int], bytes], most: int, least: int = 64
) -> list[Bomb]:
    """Bombs of one file for every command of its language."""
    file, commands = LANGUAGES[language]

    def files(size: int) -> Files:
        return {file: text(size)}

    return [
        Bomb(
            f"{name} ({command.split()[0]})", language, (*command.split(), file), files, least, most
        )
        for command in commands
    ]


def of_files(
    language: str, name: str, command: str, files: Callable[[int], Files], most: int, least: int = 4
) -> list[Bomb]:
    """A bomb of several files for one command."""
    return [
        Bomb(f"{name} ({command.split()[0]})", language, tuple(command.split()), files, least, most)
    ]


#: What is repeated in every language, whether it means anything there or not.
EVERYWHERE = {
    "[": "[",
    "(": "(",
    "{": "{",
    "]": "]",
    ")": ")",
    "}": "}",
    ";": ";",
    ",": ",",
    "=": "=",
    ":": ":",
    "$": "$",
    "*": "*",
    "<": "<",
    "quotes": '"',
    "apostrophes": "'",
    "backslashes": "\\",
    "hashes": "#",
    "openings of comments": "/*",
    "line comments": "//",
    "line comments on lines": "//\n",
    "hash comments on lines": "#\n",
    "closings of comments": "*/",
    "blanks": " ",
    "line ends": "\n",
    "returns": "\r",
    "blank lines": " \n",
    "a letter": "a",
    "a digit": "9",
    "points": ".",
    "minus": "-",
    "not": "!",
    "letters beyond ASCII": "é",
    "controls": "\x01",
    "zeros": "\0",
    "words": "a ",
    "words on lines": "a\n",
    "dots in words": "a.",
    "assignments": "a = 1\n",
    "numbered assignments": "a{n} = 1\n",
    "calls": "f(",
    "indices": "a[",
    "blocks": "a = [\n",
    "braces": "a = {\n",
    "pairs": "()",
    "pairs of brackets": "[]",
    "mixed brackets": "([{",
    "crossed brackets": "[(])",
    "variables": "$a$",
    "open variables": "$a",
    "operators": "a+",
    "lists": "1:",
    "strings": '"a" ',
    "open strings": '"a\n',
    "from": "from ",
    "suppressions": "# netsharp: ignore[NS001]\n",
    "suppressions of lines": "// netsharp: ignore\n",
}


def _everywhere() -> list[Bomb]:
    languages = ("netsharp", "cntk", "brainscript", "ndl", "mel")
    return [
        bomb
        for language in languages
        for name, unit in EVERYWHERE.items()
        for bomb in repeated(language, name, unit)
    ] + [
        bomb
        for language in languages
        for bomb in of_text(
            language, "brackets that others close", lambda n: b"[" * n + b")" * n, MOST_BYTES // 2
        )
    ]


#: What a line of 8 MiB is made of: what stands before, what is repeated, what stands behind.
LONG_LINES = {
    "netsharp": {
        "a comment": ("// ", "a ", ""),
        "a value": ("const { a = ", "1+", "1; }"),
    },
    "cntk": {"a comment": ("# ", "a ", ""), "a value": ("a = ", "b ", "")},
    "brainscript": {"a comment": ("# ", "a ", ""), "a string": ("a = '", "b ", "'")},
    "ndl": {"a comment": ("# ", "a ", ""), "a name": ("", "a", " = Input(2)")},
    "mel": {"a comment": ("# ", "a ", ""), "a name": ('m = LoadModel("', "a", '")')},
    "python": {
        "a comment": ('n = "input A [2]; output B [2] from A all;"\n# ', "a ", "\n"),
        "a string": ('n = "input A [2]; output B [2] from A all; // ', "a ", '"\n'),
    },
    "r": {
        "a comment": ('n <- "input A [2]; output B [2] from A all;"\n# ', "a ", "\n"),
        "a string": ('n <- "input A [2]; output B [2] from A all; // ', "a ", '"\n'),
    },
    "markdown": {
        "a paragraph": ("```netsharp\ninput A [2];\n```\n", "a ", "\n"),
        "a comment in a fence": ("```netsharp\ninput A [2]; // ", "a ", "\n```\n"),
    },
    "notebook": {
        "a comment": (
            '{"cells": [{"cell_type": "code", "metadata": {}, "source": "# input A [2];',
            "a ",
            '"}]}',
        ),
    },
}


def _long_lines() -> list[Bomb]:
    """Lines of 1, 2, 4 and 8 MiB."""

    def text(before: str, unit: str, after: str) -> Callable[[int], bytes]:
        return lambda size: (before + unit * (size * 1024 // len(unit)) + after).encode()

    return [
        bomb
        for language, lines in LONG_LINES.items()
        for name, pieces in lines.items()
        for bomb in of_text(language, f"a line of {name[2:]}, in KiB", text(*pieces), 8192, 1024)
    ]


def _many_lines() -> list[Bomb]:
    """Up to 200,000 statements on lines of their own."""
    units = {
        ("ndl", "many inputs"): "n{n} = Input(2)\n",
        ("ndl", "many nodes"): "n{m} = Plus(n{n}, n{n})\n",
        ("mel", "many properties"): "SetProperty(m.n{n}, output, true)\n",
        ("mel", "many removed nodes"): "RemoveNode(n{n})\n",
    }
    return [
        bomb._replace(least=25_000, most=200_000)
        for (language, name), unit in units.items()
        for bomb in repeated(language, name, unit)
    ]


def _netsharp() -> list[Bomb]:
    def of(name: str, unit: str, before: str = "", after: str = "", most: int = 0) -> list[Bomb]:
        return repeated("netsharp", name, unit, before, after, most)

    head, all_from = "input A [2];\n", "output B [2] from A all;\n"
    return [
        *of("a long number in a bundle", "9", "]\nfrom norm InputShape=", "[true tr"),
        *of("layers in a chain", "hidden H{m} [2] from H{n} all;\n", "input H0 [2];\n"),
        *of("layers in a chain, upside down", "hidden H{n} [2] from H{m} all;\n"),
        *of("layers of one name", "hidden H [2] from A all;\n", head),
        *of("unknown sources", "hidden H{n} [2] from A{n}x all;\n", head),
        *of("unknown kinds", "hidden H{n} [2] from A convolv{n};\n", head),
        *of("unknown activations", "hidden H{n} [2] sigmod{n} from A all;\n", head),
        *of(
            "unknown attributes", "hidden H{n} [2] from A convolve { KernlShape{n} = [1]; }\n", head
        ),
        *of("constants in a chain", "const { c{m} = c{n} + 1; }\n", "const { c0 = 1; }\n"),
        *of("constants that double", "const { c{m} = c{n} * c{n}; }\n", "const { c0 = 3; }\n"),
        *of("tuples that double", "const { t{m} = (t{n}, t{n}); }\n", "const { t0 = (1, 1); }\n"),
        *of("constants that turn back", "const { a{n} = b{n}; b{n} = a{n} + a{m}; }\n"),
        *of("constants that wait", "const { c{n} = c{m}; }\n"),
        *of("missing brackets on a line", "const { a{n} = (1; } "),
        *of("declarations without a mark", "input A [2]\n"),
        *of("values", "0.5, ", f"{head}output B [2] from A all {{ Weights = (", "1); }"),
        *of("values and sums", "1+", f"{head}output B [1", "+1] from A all;"),
        *of("brackets around a value", "(", f"{head}output B [", "2] from A all;"),
        *of("dimensions", "1,", "input A [", "1];\n"),
        *of(
            "dimensions of a kernel",
            "1,",
            "input A [2]; output B [2] from A convolve { KernelShape = [",
            "1]; }",
        ),
        *of(
            "terms of a condition",
            "s[0] == d[0] && ",
            f"{head}output B [2] from A where (s, d) => ",
            "true;",
        ),
        *of(
            "alternatives of a condition",
            "s[0] == d[0] || ",
            f"{head}output B [2] from A where (s, d) => ",
            "true;",
        ),
        *of("shares", "share { A => H{n}, A => H{m} }\n", head),
        *of("members of a share", "A => H{n}, ", f"{head}share {{ ", "A => B }"),
        *of(
            "members of a share that are",
            "A => H, ",
            f"{head}hidden H [2] from A all; share {{ ",
            "A => H }",
        ),
        *of("bundles", "from A all; ", f"{head}output B [2] {{ ", "}"),
        *of(
            "bundles that repeat a kind", "from A all; from A all; ", f"{head}output B [2] {{ ", "}"
        ),
        *of("attributes", "Biases = 1; ", f"{head}output B [2] from A all {{ ", "}"),
        *of("layers in a group", "A{n} [2] from X all; ", "hidden { ", "}"),
        *of("inputs", "input A{n} [2];\n", "", all_from),
        *of("inputs of one name", "input A [2];\n", "", all_from),
        *of("a long name", "x", "input ", " [2];"),
        *of("a long name that nobody knows", "x", "input A [2]; output B [2] from ", " all;"),
        *of("a long kind", "x", "input A [2]; output B [2] from A ", ";"),
        *of("a long activation", "x", "input A [2]; output B [2] ", " from A all;"),
        *of("a long attribute", "x", "input A [2]; output B [2] from A convolve { ", " = 1; }"),
        *of("a long constant", "x", "input A [", "];"),
        *of("a long word alone", "x"),
        *of("a long comment", "x", "/* ", " */ input A [2];"),
        *of("comments within a layer", "/* x */ ", "input A ", "[2];"),
        *of("line comments within a layer", "// x\n", "input A ", "[2];"),
        *of("comments behind a line", "input A{n} [2]; // x\n"),
        *of("wrong quotes", "“", "input A ["),
        *of("keywords", "input hidden output const share from where "),
        *of("where", "where (s, d) => ", "output B [2] from A "),
        *of("true", "true ", "const { a = "),
        *of("calls in calls", "Square(", "const { a = ", "1"),
        *of("indices of indices", "[1]", "const { a = b", "; }"),
        *of("signs", "-", "const { a = ", "1; }"),
        *of("powers", "2^", "const { a = ", "2; }"),
        *of(
            "convolutions in a chain",
            "hidden H{m} [1, 9, 9] from H{n} convolve {"
            " InputShape = [1, 9, 9]; KernelShape = [1, 3, 3]; Padding = true; }\n",
            "input H0 [1, 9, 9];\n",
        ),
        *_conditions(),
    ]


def _conditions() -> list[Bomb]:
    """Filters between two layers of one size."""
    conditions = {
        "a product": "s[0] * d[0] % 7 == 3",
        "a sum": "s[0] + d[0] == 9",
        "an equality": "s[0] == d[0]",
        "a difference": "s[0] - d[0] < 3 && d[0] - s[0] < 3",
        "everything": "s[0] >= 0 || d[0] >= 0",
        "a fault far away": "1 / (s[0] + d[0] - 59999) > 0",
    }

    def text(condition: str) -> Callable[[int], bytes]:
        return lambda n: (
            f"input A [{n}]; output B [{n}] from A where (s, d) => {condition};".encode()
        )

    def sharing(n: int) -> bytes:
        layers = " ".join(
            f"input A{i} [{n}]; hidden H{i} [{n}] from A{i} where (s, d) => s[0] * d[0] % 7 == 3;"
            for i in range(2)
        )
        both = "share { A0 => H0, A1 => H1 }"
        return f"{layers} output O [1] {{ from H0 all; from H1 all; }} {both}".encode()

    return [
        *(
            bomb
            for name, condition in conditions.items()
            for bomb in of_text("netsharp", f"a condition over {name}", text(condition), 60_000, 64)
        ),
        *of_text("netsharp", "two conditions that share", sharing, 60_000, 64),
    ]


def _trained_in_turn(n: int) -> bytes:
    """So many commands, each of which trains a model of its own."""
    names = ":".join(f"C{i}" for i in range(n))
    train = "action = train ; SimpleNetworkBuilder = [ layerSizes = 2:2 ]"
    blocks = "".join(f"C{i} = [ {train} ; modelPath = m{i} ]\n" for i in range(n))
    return f"command = {names}\n{blocks}".encode()


def _read_in_turn(n: int) -> bytes:
    """So many commands, each of which tests the model of the first."""
    names = ":".join(f"C{i}" for i in range(n))
    train = "C0 = [ action = train ; SimpleNetworkBuilder = [ layerSizes = 2:2 ] ; modelPath = m ]"
    blocks = "".join(f"C{i} = [ action = test ; modelPath = m.{i} ]\n" for i in range(1, n))
    return f"command = {names}\n{train}\n{blocks}".encode()


def _target_of_calls(n: int) -> bytes:
    target, calls = "a" + ".a" * n, "f" + '(net_definition="b")' * n
    return f"n = {_HINT}{target} = {calls}\n".encode()


def _cntk() -> list[Bomb]:
    def of(name: str, unit: str, before: str = "", after: str = "", most: int = 0) -> list[Bomb]:
        return repeated("cntk", name, unit, before, after, most)

    brain = "command = T\nT = [ action = train ; BrainScriptNetworkBuilder = [\n"
    ndl = "command = T\nT = [ action = train ; NDLNetworkBuilder = [ run = N ] ]\nN = [\n"
    return [
        *of("elements of a list", "{n}:", "command = T\nT = [ SGD = [ minibatchSize = ", "1 ] ]"),
        *of("repeated elements", "1*2:", "command = T\nT = [ SGD = [ minibatchSize = ", "1 ] ]"),
        *of("one great repetition", "9", "command = T\nT = [ SGD = [ minibatchSize = 1*", " ] ]"),
        *of("variables in a chain", "v{n} = $v{m}$\n", "command = $v0$\n"),
        *of("variables that double", "v{n} = $v{m}$$v{m}$\n", "command = $v0$\n", most=2**16),
        *of("variables of a variable", "$a$", "a = b\nc = "),
        *of("variables of a long one", "$a$", f"a = {'b' * 1000}\nc = "),
        *of("unknown variables", "a{n} = $b{n}$\n"),
        *of(
            "unknown keys", "SGDx{n} = 1\n", "command = T\nT = [ action = train ; SGD = [\n", "] ]"
        ),
        *of("commands", "C{n}:", "command = "),
        *of("commands that are", "C{n} = [ action = train ]\n", "command = C1\n"),
        *of(
            "commands that train",
            "C{n} = [ action = train ; SimpleNetworkBuilder = [ layerSizes = 2:2 ] ]\n"
            "command = C{n}\n",
            "",
        ),
        *of("commands that are unlisted", "C{n} = [ action = train ; SGD = [ a = 1 ] ]\n"),
        *of_text("cntk", "commands that train in turn", _trained_in_turn, 2**13),
        *of_text("cntk", "commands that read in turn", _read_in_turn, 2**13),
        *of("slashes on a line", "a // b ", "command = T\n"),
        *of("slashes on lines", "a // b\n", "command = T\n"),
        *of("signs on lines", "a# #b\n", "command = T\n"),
        *of("blanks behind a sign", " ", "a#", "b"),
        *of("lone closers on a line", "a = [ b ) ] ", "x = (\n"),
        *of("networks that end otherwise", "XNetworkBuilder = [ /* [ */ ]\n", "command = T\n"),
        *of("networks on a line", "BrainScriptNetworkBuilder = [ a = ( ] ; ", "T = [ ", "]"),
        *of("the same key", "key = 1\n"),
        *of("the same section", "A = [ b = 1 ]\n"),
        *of("sections within sections", "a{n} = [\n"),
        *of("closed sections within sections", "a = [", "", "b = 1"),
        *of("a long key", "x", "", " = 1"),
        *of("a long value", "x", "command = T\nT = [ action = ", "]"),
        *of("a long unknown key", "x", "command = T\nT = [ action = train ; SGD = [ ", " = 1 ] ]"),
        *of("a long unknown command", "x", "command = "),
        *of(
            "a long number", "9", "command = T\nT = [ action = train ; SGD = [ maxEpochs = ", " ] ]"
        ),
        *of("a long variable", "x", "a = $", "$"),
        *of("includes of nothing", 'include = "nothing{n}.cntk"\n'),
        *of("includes of itself", "include = bomb.cntk\n", most=2**12),
        *of("nodes in BrainScript", "n{m} = n{n} + 1\n", f"{brain}n0 = Input {{2}}\n", "] ]"),
        *of(
            "layers in BrainScript",
            "n{m} = DenseLayer {2} (n{n})\n",
            f"{brain}n0 = Input {{2}}\n",
            "] ]",
        ),
        *of("constants in BrainScript", "n{m} = n{n} + 1\n", f"{brain}n0 = 1\n", "] ]"),
        *of("values that double", "n{m} = n{n} + n{n}\n", f"{brain}n0 = Input {{2}}\n", "] ]"),
        *of("arrays that double", "n{m} = (n{n}:n{n})\n", f"{brain}n0 = (1:2)\n", "] ]", 2**12),
        *of("texts that double", "n{m} = n{n} + n{n}\n", f"{brain}n0 = 'x'\n", "] ]", 2**12),
        *of(
            "functions in functions",
            "f{m} (x) = f{n} (f{n} (x))\n",
            f"{brain}x = Input {{2}}\nf0 (x) = x + 1\n",
            "] ]",
            2**12,
        ),
        *of(
            "unknown functions in BrainScript",
            "n{n} = DenseLayr{n} {2} (x)\n",
            f"{brain}x = Input {{2}}\n",
            "] ]",
        ),
        *of(
            "unknown names in BrainScript",
            "n{n} = feture{n} + 1\n",
            f"{brain}features = Input {{2}}\n",
            "] ]",
        ),
        *of("a sum in BrainScript", "x + ", f"{brain}x = Input {{2}}\ny = ", "x ] ]"),
        *of("brackets in BrainScript", "(", f"{brain}x = ", "1 ] ]"),
        *of("records in BrainScript", "[ a = ", f"{brain}x = ", "1 ] ]"),
        *of(
            "loops in BrainScript",
            "n{n} = PastValue (2, n{m}) + x\n",
            f"{brain}x = Input {{2}}\n",
            "] ]",
        ),
        *of(
            "a loop in BrainScript",
            "n{m} = n{n} + 1\n",
            f"{brain}n0 = PastValue (2, last)\n",
            "last = n0 ] ]",
        ),
        *of("dimensions in BrainScript", "1:", f"{brain}x = Input {{ (", "1) } ] ]"),
        *of("an array in BrainScript", "9", f"{brain}x = array [0..", "] (i => i) ] ]", 64),
        *of("nodes in NDL", "n{m} = Plus(n{n}, n{n})\n", f"{ndl}n0 = Input(2)\n", "]"),
        *of(
            "unknown functions in NDL", "n{m} = Pluz{n}(n{n}, n{n})\n", f"{ndl}n0 = Input(2)\n", "]"
        ),
        *of(
            "unknown names in NDL",
            "n{n} = Plus(feture{n}, x)\n",
            f"{ndl}features = Input(2)\n",
            "]",
        ),
        *of(
            "macros in NDL",
            "f{m}(x) = [ a = f{n}(x) ; b = f{n}(a) ]\n",
            "command = T\nT = [ action = train ; NDLNetworkBuilder = [ load = L ; run = N ] ]\n"
            "N = [ x = Input(2) ; y = f20(x) ]\nL = [ f0(x) = [ y = Plus(x, x) ]\n",
            "]",
            2**12,
        ),
        *of(
            "layers of SimpleNetworkBuilder",
            "2:",
            "command = T\nT = [ action = train ; SimpleNetworkBuilder = [ layerSizes = ",
            "2 ] ]",
        ),
        *of(
            "streams of a reader",
            "f{n} = [ dim = 2 ]\n",
            "command = T\nT = [ action = train ; reader = [ readerType = UCIFastReader\n",
            "] ]",
        ),
        *of(
            "a great count of layers",
            "9",
            "command = T\nT = [ action = train ; SimpleNetworkBuilder = [ layerSizes = 2*",
            " ] ]",
            64,
        ),
    ]


def _brainscript() -> list[Bomb]:
    def of(name: str, unit: str, before: str = "", after: str = "", most: int = 0) -> list[Bomb]:
        return repeated("brainscript", name, unit, before, after, most)

    return [
        *of("braces behind a definition", "{", "f(a) = b"),
        *of("brackets behind a definition", "[", "f(a) = b"),
        *of("open brackets in a definition", "(", "f(a) = b"),
        *of("faults on lines", "a{n} = ) \n"),
        *of("placeholders", "... "),
        *of("placeholders on lines", "a = ...\n"),
        *of("unclosed on lines", "a = (\n"),
        *of("crossed on lines", "a = (]\n"),
        *of("definitions", "f{n} (x) = x + 1\n"),
        *of("definitions that call", "f{m} (x) = f{n} (x)\n"),
        *of("unknown functions", "a{n} = Pluz{n} (1, 2)\n"),
        *of("unknown names", "a{n} = b{n}x\n"),
        *of("conditions", "if a then b else ", "x = ", "c"),
        *of("lambdas", "x => ", "f = ", "1"),
        *of("members", ".a", "x = a"),
        *of("indices of indices", "[1]", "x = a"),
        *of("parameters", "a{n}, ", "f (", "b) = 1"),
        *of("arguments", "a{n}, ", "x = f (", "b)"),
        *of("new", "new A { x = ", "x = ", "1"),
        *of("block comments", "/* a */", "x = 1"),
        *of("open block comments on lines", "x = 1 /*\n"),
        *of("a long name", "x", "", " = 1"),
        *of("a long unknown name", "x", "a = b", " + 1"),
        *of("a long call", "x", "a = ", " (1)"),
        *of("a long number", "9", "a = "),
        *of("a long string", "x", "a = '", "'"),
        *of("an open string", "x", "a = '"),
        *of("faults on a line", "a{n} = 13abc; "),
        *of("joints on a line", "(a)[1] + ", "x = ", "1"),
        *of("the same name", "a = 1\n"),
        *of("the same parameter", "a, ", "f (", "a) = 1"),
        *of("includes", "include 'a{n}.bs'\n"),
        *of("arrays", "array [1..2] (i => ", "x = ", "i"),
        *of("junk between definitions", "a = 1 ? b = 2\n"),
        *of("numbers and words", "13abc "),
        *of("hashes behind values", "a = 1 # b\n"),
    ]


def _ndl_and_mel() -> list[Bomb]:
    def ndl(name: str, unit: str, before: str = "", after: str = "", most: int = 0) -> list[Bomb]:
        return repeated("ndl", name, unit, before, after, most)

    def mel(name: str, unit: str, before: str = "", after: str = "", most: int = 0) -> list[Bomb]:
        return repeated("mel", name, unit, before, after, most)

    return [
        *ndl("sections", "A{n} = [ x = Input(2) ]\n"),
        *ndl("statements", "n{n} = Input(2)\n"),
        *ndl(
            "nodes in a chain", "n{m} = Plus(n{n}, n{n})\n", "run = N\nN = [ n0 = Input(2)\n", "]"
        ),
        *ndl("arguments", "x, ", "y = Plus(", "x)"),
        *ndl("options", "a{n} = 1, ", "y = Plus(x, ", "x)"),
        *ndl("macros", "F{n}(x) = [ y = Plus(x, x) ]\n"),
        *ndl("macros that call", "F{m}(x) = [ y = F{n}(x) ]\n"),
        *ndl("unknown functions", "n{n} = Pluz{n}(x)\n"),
        *ndl("unknown names", "n{n} = Plus(feture{n}, y)\n"),
        *ndl("a long name", "x", "", " = Input(2)"),
        *ndl("a long function", "x", "a = ", "(2)"),
        *ndl("a long argument", "x", "a = Plus(", ", 2)"),
        *ndl("a long number", "9", "a = Input(", ")"),
        *ndl("calls in calls", "Plus(x, ", "y = ", "x"),
        *ndl("the same name", "n = Input(2)\n"),
        *ndl("repeats", "1*2:", "y = Input(", "1)"),
        *mel("models", 'm{n} = LoadModel("a{n}.dnn", format=cntk)\n'),
        *mel("set properties", "SetProperty(m.n{n}, output, true)\n", 'm = LoadModel("a.dnn")\n'),
        *mel(
            "copies", "Copy(m.n{n}, m.n{m}, copy=all)\n", "m = CreateModel()\nSetDefaultModel(m)\n"
        ),
        *mel(
            "copies of all", "Copy(m.*, m.n{n}*, copy=all)\n", "m = CreateModel()\nn = Input(2)\n"
        ),
        *mel(
            "statements of NDL",
            "n{m} = Plus(n{n}, n{n})\n",
            "m = CreateModel()\nSetDefaultModel(m)\nn0 = Input(2)\n",
        ),
        *mel("removed nodes", "RemoveNode(n{n})\n", "m = CreateModel()\n"),
        *mel("removed together", "n{n}, ", "m = CreateModel()\nRemoveNode(", "n)"),
        *mel(
            "renamed nodes",
            "Rename(m.n{n}, m.n{m})\n",
            "m = CreateModel()\nSetDefaultModel(m)\nn0 = Input(2)\n",
        ),
        *mel("unknown functions", "SetPropertee{n}(m, x)\n", "m = CreateModel()\n"),
        *mel("inputs", "SetNodeInput(n{n}, 1, n{m})\n", "m = CreateModel()\n"),
        *mel("a long input", "9", "m = CreateModel()\nSetNodeInput(a, ", ", b)"),
        *mel("stars", "*", "m = CreateModel()\nn = Input(2)\nCopy(m.", ", m.a*)"),
        *mel("dumps", 'DumpModel(m, "a{n}")\n', "m = CreateModel()\n"),
        *mel("a long function", "x", "a = ", "(2)"),
        *mel("a long model", "x", "", " = CreateModel()"),
    ]


def _hosts() -> list[Bomb]:
    spec = "input A [2]; output B [2] from A all;"

    def notebook(n: int) -> bytes:
        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        cells = [{**cell, "source": [f'net{i} = """{spec}"""\n']} for i in range(n)]
        return json.dumps(
            {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        ).encode()

    def deep(n: int) -> bytes:
        return b'{"cells": ' + b"[" * n + b"]" * n + b"}"

    return [
        *repeated("python", "strings", f'net{{n}} = """{spec}"""\n'),
        *repeated("python", "strings of nothing", 'a{n} = "b"\n'),
        *repeated("python", "one long string", "input A [2];\n", 'net = """\n', f'{spec}"""\n'),
        *repeated("python", "pieces of a string", f'"{spec}"\n', "net = (", ")\n"),
        *repeated("python", "open strings", f'net{{n}} = """{spec}\n'),
        *repeated("python", "open brackets", "("),
        *repeated("python", "closed brackets", "()"),
        *repeated("python", "indents", "if a:\n ", "", "pass"),
        *repeated("python", "operators", "a + ", "b = ", "1\n"),
        *repeated("python", "escapes", "\\n", f'net = "{spec}', '"\n'),
        *repeated("python", "quotes", '"'),
        *repeated("python", "three quotes", '"""'),
        *repeated("python", "blank lines", "\n"),
        *repeated("python", "comments", "# input A [2];\n"),
        *repeated("python", "f-strings", f'net{{n}} = f"{spec}"\n'),
        *repeated("r", "strings", f'net{{n}} <- "{spec}"\n'),
        *repeated("r", "one long string", "input A [2];\n", 'net <- "\n', f'{spec}"\n'),
        *repeated("r", "open strings", f'net{{n}} <- "{spec}\n'),
        *repeated("r", "brackets", "("),
        *repeated("r", "braces", "{"),
        *repeated("r", "raw strings", 'r"----('),
        *repeated("r", "quotes", "'"),
        *repeated("r", "calls", "paste(", "a <- "),
        *repeated("r", "pasted strings", f'"{spec}", ', "net <- paste(", '"")\n'),
        *repeated("r", "backslashes", "\\"),
        *_python_that_says_something(),
        *_r_that_says_something(),
        *repeated("markdown", "fences", f"```netsharp\n{spec}\n```\n"),
        *repeated("markdown", "open fences", "```netsharp\n"),
        *repeated("markdown", "one long fence", f"{spec}\n", "```netsharp\n", "```\n"),
        *repeated("markdown", "a long fence mark", "`"),
        *repeated("markdown", "quotations", "> "),
        *repeated("markdown", "quotations on lines", "> ```netsharp\n"),
        *repeated("markdown", "indents", " ", "```netsharp\n", "a\n"),
        *repeated("markdown", "tildes", "~~~\n"),
        *repeated("markdown", "backquotes on lines", "`\n"),
        *repeated("markdown", "chunks of R", f'```{{r}}\nnet <- "{spec}"\n```\n'),
        *of_text("notebook", "cells", notebook, 2**14),
        *of_text("notebook", "many cells", notebook, 100_000, 12_500),
        *of_text("notebook", "deep lists", deep, 2**21),
        *repeated("notebook", "brackets", "["),
        *repeated(
            "notebook",
            "one long source",
            "a",
            '{"cells": [{"cell_type": "code", "metadata": {}, "source": "',
            '"}]}',
        ),
        *repeated(
            "notebook",
            "a long string that stays open",
            "a",
            '{"cells": [{"cell_type": "code", "source": "',
        ),
        *repeated("notebook", "spaces", " ", '{"cells":'),
    ]


#: A file without a hint at a specification is not read at all.
_HINT = '"input A [2]; output B [2] from A all;"\n'


def _python_that_says_something() -> list[Bomb]:
    def of(name: str, unit: str, before: str = "", after: str = "") -> list[Bomb]:
        return repeated("python", name, unit, f"n = {_HINT}{before}", after)

    return [
        *of("comments beside a specification", "# input A [2];\n"),
        *of("comments in brackets", "# a\n", "a = (\n", ")\n"),
        *of("blank lines beside a specification", "\n"),
        *of("continued lines", "\\\n", "a = "),
        *of("holes", "{a}", 'a = f"', '"\n'),
        *of("braces of an f-string", "{{", 'a = f"', '"\n'),
        *of("names that are passed on", "f(net_definition=n{n})\n"),
        *of("calls behind each other", '(net_definition="a")', "f", "\n"),
        *of("arguments of one call", 'net_definition="a", ', "f(", ")\n"),
        *of("calls within calls", "f(net_definition=n, "),
        *of("marks of a string", "# language=Net#\n", "", '"a"\n'),
        *of("marked strings", '"a" # language=Net#\n'),
        *of("heads of layers in a string", "hidden A [\n", 'a = """input A [2];\n', '"""\n'),
        *of("line ends in a string", "\n", 'a = """input A [2];', '"""\n'),
        *of("open comments in a string", "/* ", 'a = """input A [2];\n', '"""\n'),
        *of("broken lines", "a = )\n"),
        *of("broken assignments", "a = = b\n"),
        *of("broken in brackets", "a = ", "("),
        *of("targets", "a = ", "", "1\n"),
        *of("targets of a name", "a = ", "f(net_definition=a)\n", "1\n"),
        *of("deleted names", "a, ", "f(net_definition=a)\ndel ", "a\n"),
        *of("parts of a target", ".a", "f(net_definition=a)\na", " = 1\n"),
        *of("calls on a line", "f(net_definition=n)", "g()"),
        *of("names in calls behind each other", "(net_definition=n)", "f", "\n"),
        *of_text("python", "parts of the target of calls", _target_of_calls, 2**18),
        *of("functions", 'def f{n}(a):\n b = "c"\n'),
        *of("lambdas", "lambda: (a := 1, "),
        *of("variables that are used", f"m{{n}} = {_HINT}g(m{{n}} + 1)\n"),
        *of("open strings of three quotes", '"""a\n'),
        *of("strings side by side", '"b" ', "a = ", "\n"),
        *of("methods", ".strip()", 'a = "b"', "\n"),
    ]


def _r_that_says_something() -> list[Bomb]:
    def of(name: str, unit: str, before: str = "", after: str = "") -> list[Bomb]:
        return repeated("r", name, unit, f"n <- {_HINT}{before}", after)

    def crossed(n: int) -> bytes:
        return f"n <- {_HINT}{'(' * n}{']' * n}".encode()

    return [
        *of("functions", "f{n} <- function(x) x\n"),
        *of("heads of functions", "function("),
        *of("functions in bodies", "function(x) "),
        *of("functions in brackets", "function(x) ("),
        *of("functions in blocks", "function(x) {\n"),
        *of("names in a block", "x <- 1\n", "f <- function(a) {", "}"),
        *of("assignments to the right", ")-> "),
        *of("marks of a string", "# language=Net#\n", "", '"a"'),
        *of("marked strings", '"a" # language=Net#\n'),
        *of("raw strings beside a specification", 'r"----('),
        *of("blocks", "{ a <- 1\n"),
        *of("parts of a name", "a$", "", "b <- 1"),
        *of("calls within calls", "f(netDefinition=n, "),
        *of("arguments of one call", 'netDefinition="a", ', "f(", ")"),
        *of("names that are passed on", "f(netDefinition=n{n})\n"),
        *of("variables that are used", f"m{{n}} <- {_HINT}g(m{{n}} + 1)\n"),
        *of_text("r", "brackets that others close", crossed, 2**20),
    ]


def _files() -> list[Bomb]:
    """Bombs of several files: includes, settings, baselines, and what flags say."""

    def doubling(n: int) -> Files:
        files = {
            f"i{i}.bs": f"include 'i{i + 1}.bs'\ninclude 'i{i + 1}.bs'\n".encode() for i in range(n)
        }
        brain = "[ action = train ; BrainScriptNetworkBuilder = [ include 'i0.bs' ] ]"
        return {**files, f"i{n}.bs": b"a = 1\n", "a.cntk": f"command = T\nT = {brain}".encode()}

    def in_file(n: int) -> Files:
        network = 'new ComputationNetwork [ include "i0.bs" ]'
        brain = f"[ action = train ; BrainScriptNetworkBuilder = ( {network} ) ]"
        return {**doubling(n), "a.cntk": f"command = T\nT = {brain}".encode()}

    def of_configurations(n: int) -> Files:
        files = {
            f"i{i}.cntk": f"include = i{i + 1}.cntk\ninclude = i{i + 1}.cntk\n".encode()
            for i in range(n)
        }
        return {**files, f"i{n}.cntk": b"a = 1\n", "a.cntk": b"include = i0.cntk\n"}

    def of_long_ones(n: int) -> Files:
        include = b"include = long.cntk\n" * n
        return {"a.cntk": include, "long.cntk": b"a = 1\n" * n}

    def of_long_scripts(n: int) -> Files:
        include = "include 'long.bs'\n" * n
        brain = f"[ action = train ; BrainScriptNetworkBuilder = [ {include} ] ]"
        return {"a.cntk": f"command = T\nT = {brain}".encode(), "long.bs": b"a = 1\n" * n}

    def with_settings(text: Callable[[int], bytes]) -> Callable[[int], Files]:
        return lambda n: {"a.nn": b"input A [2];\n", "netsharp.toml": text(n)}

    def stars(n: int) -> Files:
        name = "a/" * 30
        pattern = f'exclude = ["{"**/" * n}b", "{"*a" * n}b", "{"**/a" * n}/b"]\n'
        return {"a" * 60 + ".nn": f"// {name}".encode(), "netsharp.toml": pattern.encode()}

    def baseline(n: int) -> Files:
        known = {"version": 1, "findings": {f"a{i}.nn": [] for i in range(n)}}
        return {"a.nn": b"input A [2];\n", "base.json": json.dumps(known).encode()}

    def settings(name: str, text: Callable[[int], bytes], most: int) -> list[Bomb]:
        return of_files("settings", name, "check a.nn", with_settings(text), most)

    def many_runs(n: int) -> Files:
        return {"a.cntk": b"command = T\n", "netsharp.toml": of_runs(n)}

    def of_runs(n: int) -> bytes:
        return b'[[cntk.run]]\nfiles = ["a.cntk"]\n' * n

    return [
        *of_files("cntk", "includes that double", "check a.cntk", doubling, 32, 2),
        *of_files("cntk", "includes that double", "describe a.cntk", doubling, 32, 2),
        *of_files("cntk", "includes that double", "migrate a.cntk", doubling, 32, 2),
        *of_files("cntk", "includes that double", "check i0.bs", doubling, 32, 2),
        *of_files("cntk", "includes that double in a record", "check a.cntk", in_file, 32, 2),
        *of_files(
            "cntk",
            "includes of configurations that double",
            "check a.cntk",
            of_configurations,
            32,
            2,
        ),
        *of_files(
            "cntk",
            "includes of configurations that double",
            "config a.cntk",
            of_configurations,
            32,
            2,
        ),
        *of_files("cntk", "includes of a long file", "check a.cntk", of_long_ones, 2**13, 64),
        *of_files("cntk", "includes of a long script", "check a.cntk", of_long_scripts, 2**13, 64),
        *of_files("settings", "stars", "check .", stars, 64, 1),
        *of_files("settings", "a baseline", "check --baseline base.json a.nn", baseline, 2**18),
        *settings("brackets", lambda n: b"select = " + b"[" * n, 2**21),
        *settings("braces", lambda n: b"select = " + b"{a=" * n, 2**21),
        *settings("codes", lambda n: b"select = [" + b'"NS001",' * n + b"]", 2**18),
        *settings("unknown codes", lambda n: b"select = [" + b'"XX001",' * n + b"]", 2**18),
        *settings("a long unknown code", lambda n: b'select = ["' + b"X" * n + b'"]', 2**21),
        *settings("a long unknown key", lambda n: b"x" * n + b" = 1", 2**21),
        *settings("a long value", lambda n: b'task = "' + b"x" * n + b'"', 2**21),
        *settings("a list for a text", lambda n: b"task = [" + b"1," * n + b"]", 2**20),
        *settings("unknown keys", lambda n: b"".join(b"k%d = 1\n" % i for i in range(n)), 2**18),
        *settings("patterns", lambda n: b"exclude = [" + b'"a*b/**/c",' * n + b"]", 2**14),
        *settings("dots in a key", lambda n: b"a" + b".a" * n + b" = 1", 2**20),
        *settings("comments", lambda n: b"#\n" * n, 2**21),
        *settings("runs", of_runs, 2**16),
        *of_files("settings", "many runs", "check .", many_runs, 100_000, 12_500),
        *settings("a deep table", lambda n: b"[a" + b".a" * n + b"]", 2**20),
        *settings("quotes", lambda n: b'"' * n, 2**20),
        *settings("a long number", lambda n: b"features = " + b"9" * n, 2**20),
    ]


BOMBS: tuple[Bomb, ...] = (
    *_everywhere(),
    *_long_lines(),
    *_many_lines(),
    *_netsharp(),
    *_cntk(),
    *_brainscript(),
    *_ndl_and_mel(),
    *_hosts(),
    *_files(),
)
