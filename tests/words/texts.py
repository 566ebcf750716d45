"""The texts of the project that people read, each with its place: docstrings, comments, messages,
pages of rules and functions, documents.  What their words should be is not known here.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    *("netsharp", "netsharp_lsp", "engine/netsharp_engine", "engine/netsharp_compile"),
    *("grammar/netsharp_grammar", "packaging", "website"),
)
DOCUMENTS = (
    *("README.md", "ARCHITECTURE.md", "engine/ARCHITECTURE.md"),
    *("CONTRIBUTING.md", "DECISIONS.md", "SECURITY.md"),
)
FOLDERS = ("docs", "bench", "examples", "r", "editors", "vscode-extension", "tests")
#: Folders besides the packages whose Python sources are read for their comments.
COMMENTED = ("bench", "grammar", "examples", "tests")
#: Words that other programs read, or that are others' own.
LEFT_OUT = ("node_modules", "out/", "corpus/", "fixtures/", "CHANGELOG.md", "LICENSE")
GLOSSARY = re.compile(r"^\| term \| meaning \| not \|\n(?:\|.*\n)+", re.MULTILINE)
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1`*$", re.MULTILINE | re.DOTALL)
#: Comments that tools read.
DIRECTIVE = re.compile(r"(?:noqa|type:|ruff:|pragma|!|-\*-)")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|\]\([^)]*\)|<https?:[^>]*>|\"\w+\"|⟦|⟧", re.DOTALL)


class Read(NamedTuple):
    """A text, the kind of it, and its place: a path below the root and a line from 1."""

    path: str
    line: int
    kind: str
    text: str


def texts(below: str = "") -> Iterator[Read]:
    """Yield all texts of files whose paths below the root begin with ``below``."""
    for path in _files():
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(below) and not any(part in name for part in LEFT_OUT):
            if path.suffix != ".py":
                yield from _prose(path, name)
                continue
            if name.startswith(PACKAGES):
                yield from _python(path, name)
            elif name.startswith("tests/"):
                yield from _descriptions(path, name)
            yield from _comments(path.read_text(encoding="utf-8"), name)


def _files() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))
        yield from sorted((ROOT / package).rglob("*.md"))
    for folder in COMMENTED:
        yield from (
            path
            for path in sorted((ROOT / folder).rglob("*.py"))
            if not path.relative_to(ROOT).as_posix().startswith(PACKAGES)
        )
    yield from (ROOT / name for name in DOCUMENTS)
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.md"))


def _prose(path: Path, name: str) -> Iterator[Read]:
    """Yield the paragraphs of a document, code taken out."""
    kind = "page" if name.startswith(PACKAGES) else "document"
    text = GLOSSARY.sub(_blank, FENCE.sub(_blank, path.read_text(encoding="utf-8")))
    yield from _paragraphs(CODE.sub(_blank, text), name, kind)


def _paragraphs(text: str, name: str, kind: str) -> Iterator[Read]:
    for found in re.finditer(r"\S.*?(?=\n\s*\n|\Z)", text, re.DOTALL):
        yield Read(name, text.count("\n", 0, found.start()) + 1, kind, found[0])


def _blank(found: re.Match[str]) -> str:
    """Return as many line ends as were found, around a word that says that code was there."""
    return "_" + "\n" * found[0].count("\n")


def _python(path: Path, name: str) -> Iterator[Read]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and _is_text(first.value):
                documented.add(first.value)
                kind = "docstring" if hasattr(node, "args") else "description"
                text = CODE.sub(_blank, str(first.value.value))  # type: ignore[attr-defined]
                yield Read(name, first.lineno, kind, text.strip())
    for node, text in _literals(tree):
        if node not in documented and re.search(r"[a-z,] [a-z]", text):
            yield Read(name, node.lineno, "message", CODE.sub(_blank, text))


def _descriptions(path: Path, name: str) -> Iterator[Read]:
    """Yield the docstrings of tests, which say what a test shows, not what a function does."""
    for read in _python(path, name):
        if read.kind != "message":
            yield read._replace(kind="description")


def _comments(source: str, name: str) -> Iterator[Read]:
    """Yield the comments of a Python source; lines below each other are one text."""
    first, last, column, lines = 0, -1, 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        words = token.string.lstrip("#:").strip()
        if token.type != tokenize.COMMENT or DIRECTIVE.match(words):
            continue
        line, at = token.start
        if lines and (line, at) == (last + 1, column):
            lines.append(words)
        else:
            if lines:
                yield Read(name, first, "comment", CODE.sub(_blank, "\n".join(lines)))
            first, lines = line, [words]
        last, column = line, at
    if lines:
        yield Read(name, first, "comment", CODE.sub(_blank, "\n".join(lines)))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _literals(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Yield strings, those with values in braces as one text."""
    inside = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside.update(node.values)
            parts = (part.value if isinstance(part, ast.Constant) else "_" for part in node.values)
            yield node, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inside:
            yield node, node.value
