"""The syntax of Python files, each parsed and walked once for all tests of the house.

Knows no rule and no module.
"""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def tree(path: Path) -> ast.Module:
    """Parse a file; no caller changes what this returns."""
    parsed = ast.parse(path.read_text(encoding="utf-8"))
    # A million nodes stay for the rest of the run: the collector of cycles need not look at them.
    gc.freeze()
    return parsed


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of a file, from the outside inwards."""
    return tuple(ast.walk(tree(path)))
