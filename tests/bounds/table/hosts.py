"""Bombs of Python, R, Markdown and notebooks that hold specifications."""

from __future__ import annotations

import json

from tests.bounds.bombs import Bomb, of_text, repeated


def _target_of_calls(n: int) -> bytes:
    target, calls = "a" + ".a" * n, "f" + '(net_definition="b")' * n
    return f"n = {_HINT}{target} = {calls}\n".encode()


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
        *of_text("notebook", "many cells", notebook, 100_000, 3_125),
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


BOMBS: tuple[Bomb, ...] = (*_hosts(),)
