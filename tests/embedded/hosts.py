"""What hosts say, found out without the code under test: Python by `ast`, notebooks by `json`,
R by a small reader of its own, Markdown by its lines outside fences.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize

#: What stands for each string in the rest of a host.
HOLE = "<string>"


class ExpectedMessage:
    """A host taken apart: the strings in it, in order, and all the rest."""

    def __init__(self, strings: list[str], rest: str) -> None:
        self.strings = strings
        self.rest = rest


def read_host(name: str, data: bytes) -> ExpectedMessage:
    """Take a host apart by its suffix."""
    return _READERS[name.rpartition(".")[2].lower()](data)


def read_python(data: bytes) -> ExpectedMessage:
    tree = ast.parse(data)
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    strings = [node for node in constants if isinstance(node.value, str)]
    strings.sort(key=lambda node: (node.lineno, node.col_offset))
    rest = []
    for token in tokenize.tokenize(io.BytesIO(data).readline):
        is_string = token.type == tokenize.STRING
        rest.append(HOLE if is_string else f"{tokenize.tok_name[token.type]} {token.string!r}")
    return ExpectedMessage([str(node.value) for node in strings], "\n".join(rest))


_R_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def read_r(data: bytes) -> ExpectedMessage:
    """Walk over the characters of R code, as its manual describes strings."""
    text = data.decode()
    strings, rest, at = [], [], 0
    while at < len(text):
        raw = re.match(r"[rR](['\"])(-*)([(\[{])", text[at:])
        starts_word = at == 0 or not re.match(r"[\w.]", text[at - 1])
        if raw and starts_word:
            closing = {"(": ")", "[": "]", "{": "}"}[raw[3]] + raw[2] + raw[1]
            end = text.index(closing, at + len(raw[0]))
            strings.append(re.sub(r"\r\n?", "\n", text[at + len(raw[0]) : end]))
            at = end + len(closing)
            rest.append(HOLE)
        elif text[at] in "'\"":
            value, at = _r_string(text, at)
            strings.append(value)
            rest.append(HOLE)
        elif text[at] == "#":
            end = min((text + "\n").index("\n", at), len(text))
            rest.append(text[at:end])
            at = end
        else:
            rest.append(text[at])
            at += 1
    return ExpectedMessage(strings, "".join(rest))


def _r_string(text: str, at: int) -> tuple[str, int]:
    quote, value, at = text[at], "", at + 1
    while text[at] != quote:
        if text[at] != "\\":
            ended = text.startswith("\r\n", at)
            value += "\n" if ended or text[at] == "\r" else text[at]
            at += 2 if ended else 1
            continue
        number = re.match(r"\\(?:x([0-9A-Fa-f]{1,2})|[uU]\{?([0-9A-Fa-f]{1,8})\}?)", text[at:])
        octal = re.match(r"\\([0-7]{1,3})", text[at:])
        if number:
            value += chr(int(number[1] or number[2], 16))
            at += len(number[0])
        elif octal:
            value += chr(int(octal[1], 8))
            at += len(octal[0])
        else:
            value += _R_ESCAPES.get(text[at + 1], text[at + 1])
            at += 2
    return value, at + 1


def read_notebook(data: bytes) -> ExpectedMessage:
    notebook = json.loads(data)
    strings = []
    for cell in notebook["cells"]:
        source = cell["source"]
        strings.append(source if isinstance(source, str) else "".join(source))
        cell["source"] = HOLE
    string = rb'"(?:[^"\\]|\\.)*"'
    pattern = rb'("source":\s*)(?:%b|\[(?:\s*%b\s*,?)*\s*\])' % (string, string)
    return ExpectedMessage(strings, re.sub(pattern, rb"\1", data).decode() + json.dumps(notebook))


def read_markdown(data: bytes) -> ExpectedMessage:
    """Blocks by fences after quote marks and blanks."""
    strings: list[list[str]] = []
    rest, fence = [], ""
    for line in data.decode().splitlines(keepends=True):
        found = re.match(r"[>\-\s]*(`{3,}|~{3,})", line)
        closes = bool(found and fence and found[1].startswith(fence))
        if fence and not closes:
            strings[-1].append(re.sub(r"^[>\s]*", "", line))
            continue
        rest.append(line)
        if found:
            fence = "" if closes else found[1]
            if not closes:
                strings.append([])
    return ExpectedMessage(["".join(lines) for lines in strings], "".join(rest))


def read_sql(data: bytes) -> ExpectedMessage:
    """Walk over the characters of T-SQL; text between double quotes is taken for a string."""
    text = data.decode()
    strings, rest, at = [], [], 0
    while at < len(text):
        if text.startswith("--", at):
            end = min((text + "\n").index("\n", at), len(text))
        elif text.startswith("/*", at):
            end, depth = at + 2, 1
            while depth and end < len(text):
                step = {"/*": 1, "*/": -1}.get(text[end : end + 2], 0)
                depth += step
                end += 2 if step else 1
        elif text[at] in "['\"":
            closing = "]" if text[at] == "[" else text[at]
            end = at + 1
            while text[end] != closing or text.startswith(closing * 2, end):
                end += 2 if text[end] == closing else 1
            end += 1
            if closing != "]":
                reported = text[at + 1 : end - 1].replace(closing * 2, closing)
                strings.append(reported.replace("\\\r\n", "").replace("\r\n", "\n"))
                rest.append(HOLE)
                at = end
                continue
        else:
            end = at + 1
        rest.append(text[at:end])
        at = end
    return ExpectedMessage(strings, "".join(rest))


_READERS = {
    "sql": read_sql,
    "py": read_python,
    "r": read_r,
    "ipynb": read_notebook,
    "md": read_markdown,
    "rmd": read_markdown,
    "qmd": read_markdown,
}
