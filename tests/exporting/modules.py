"""An exported module run by PyTorch beside the engine's own evaluation, and its text looked at."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from netsharp_engine.exporting.portable import Portable
from netsharp_engine.exporting.sampling import random_samples
from netsharp_engine.exporting.torch.comparing import compared
from netsharp_engine.exporting.torch.exported import TorchForm, TorchModule, exported
from netsharp_engine.exporting.torch.written import stored
from netsharp_engine.graph import Graph, Node

#: What a module may import, besides PyTorch only Python's own.
IMPORTS = {"__future__", "collections.abc", "json", "pathlib", "torch", "torch.nn"}


def agree(
    graph: Graph,
    tensors: Mapping[str, Any],
    outputs: Sequence[Node],
    *,
    dtype: str = "float64",
    bound: float = 1e-9,
    seed: int = 1,
    **form: Any,
) -> TorchModule:
    """Export a graph and compare what both say of random samples; return the module."""
    portable = Portable(graph, tensors, dtype, tuple(outputs))
    module = exported(portable, TorchForm(**form))
    require_plain(module.text)
    samples = [random_samples(portable, seed)]
    for difference in compared(portable, module, stored(module), samples):
        assert difference.relative <= bound, difference
    return module


def require_plain(text: str) -> None:
    """Fail where a module does anything but define what it is meant to."""
    assert text.isascii()
    tree = ast.parse(text)
    kinds = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.Assign, ast.AnnAssign)
    docstring, *rest = tree.body
    assert isinstance(docstring, ast.Expr)
    assert isinstance(docstring.value, ast.Constant)
    assert all(isinstance(one, kinds) for one in rest)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert {one.name for one in node.names} <= IMPORTS
        if isinstance(node, ast.ImportFrom):
            assert node.module in IMPORTS
    names = {one.name for one in tree.body if isinstance(one, ast.ClassDef | ast.FunctionDef)}
    assert names <= {"Network", "load", "encode", "predict"}
    called = {one.func.id for one in ast.walk(tree) if _is_named_call(one)}
    known = {
        "super",
        "len",
        "zip",
        "float",
        "range",
        "Path",
        "bytearray",
        "Network",
        "encode",
        "network",
    }
    assert not called - known - {"network"}


def _is_named_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def formatted(text: str) -> str:
    """Return a text as ruff leaves it, which refuses what is not Python."""
    return ruff("format", "-", text=text)


def ruff(*arguments: str, text: str) -> str:
    """Run ruff over a text, without any settings."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", arguments[0], "--isolated", *arguments[1:]],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
