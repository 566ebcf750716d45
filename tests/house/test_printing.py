"""Commands print through one module, where text of others becomes visible."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house.trees import nodes

ROOT = Path(__file__).resolve().parents[2] / "netsharp_lsp"
#: The module itself, the one that it uses, and progress, whose lines are figures alone.
ALLOWED = {"terminal.py", "streams.py", "progress.py"}
#: Where the streams are looked at, or handed on as they are.
METHODS = {"write", "writelines"}
MODULES = sorted(path for path in (ROOT / "cli").rglob("*.py") if path.name not in ALLOWED)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_command_prints_by_itself(path: Path) -> None:
    for node in nodes(path):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        assert called != "print", f"{path.name}:{node.lineno}"
        stream, _, method = called.rpartition(".")
        prints = stream.startswith(("sys.stdout", "sys.stderr")) and method in METHODS
        assert not prints, f"{path.name}:{node.lineno}: {called}"
