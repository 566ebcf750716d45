"""What is repeated in every language, and lines of 8 MiB."""

from __future__ import annotations

from collections.abc import Callable

from tests.bounds.bombs import MOST_BYTES, Bomb, of_text, repeated

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
    "conflicts": "<<<<<<< a\nx{n} = 1\n=======\ny{n} = 1\n>>>>>>> b\n",
    "openings of conflicts": "<<<<<<< a\n",
    "ends of conflicts": ">>>>>>> a\n",
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


#: The parts of a line of 8 MiB: its beginning, the part that is repeated, its end.
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


BOMBS: tuple[Bomb, ...] = (
    *_everywhere(),
    *_long_lines(),
    *_many_lines(),
)
