"""What one file of the tests takes from another is defined there.

Types of tests are not checked, and a file is often run alone: a name that moved would be missed
only by who runs everything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.house.trees import nodes, tree

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for path in sorted((ROOT / "tests").rglob("*.py"))
}


@cache
def defined(module: str) -> frozenset[str]:
    """Return the names that a module binds at its top, in branches of it too."""
    return frozenset(name for node in tree(FILES[module]).body for name in bound(node))


def bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds, without those inside functions and classes."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    if isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    else:
        for child in ast.iter_child_nodes(node):
            yield from bound(child)


def missing(module: str) -> list[str]:
    """Return what a module takes from other test modules that they do not define."""
    taken: dict[str, str] = {}
    absent = []
    inside = nodes(FILES[module])
    for node in inside:
        if not isinstance(node, ast.ImportFrom) or node.module is None or node.level:
            continue
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            if whole in FILES:
                taken[alias.asname or alias.name] = whole
            elif node.module in FILES and alias.name not in defined(node.module):
                absent.append(f"line {node.lineno}: {whole}")
    for node in inside if taken else ():
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            source = taken.get(node.value.id)
            if source is not None and node.attr not in defined(source):
                absent.append(f"line {node.lineno}: {source}.{node.attr}")
    return absent


def test_what_is_taken_is_defined() -> None:
    assert {module: absent for module in FILES if (absent := missing(module))} == {}


def test_a_name_that_moved_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = "from tests import drawing\nfrom tests.drawing import gone\ndrawing.moved()\n"
    path = tmp_path / "taking.py"
    path.write_text(f"{source}drawing.FULL\n", encoding="utf-8")
    monkeypatch.setitem(FILES, "tests.taking", path)
    assert missing("tests.taking") == ["line 2: tests.drawing.gone", "line 3: tests.drawing.moved"]
