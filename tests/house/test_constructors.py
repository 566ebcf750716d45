"""A constructor takes what it holds: a walk over texts or networks is a function that gives it."""

from __future__ import annotations

import ast

import pytest

from tests.house.test_dependencies import MODULES
from tests.house.trees import tree

#: The rooms whose passes walk trees, programs and networks.
LANGUAGES = ("netsharp_lsp.cntk.", "netsharp_lsp.netsharp.")
LOOPS = (ast.For, ast.While)


def own_calls(function: ast.FunctionDef) -> set[str]:
    """The methods of its own object that a method calls."""
    return {
        node.func.attr
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "self"
    }


def passes(tree: ast.AST) -> list[str]:
    """The classes whose constructor walks: by methods of its own that loop or call others."""
    found = []
    for one in ast.walk(tree):
        if not isinstance(one, ast.ClassDef):
            continue
        methods = {part.name: part for part in one.body if isinstance(part, ast.FunctionDef)}
        constructor = methods.pop("__init__", None)
        for name in own_calls(constructor) & methods.keys() if constructor is not None else ():
            loops = any(isinstance(node, LOOPS) for node in ast.walk(methods[name]))
            if loops or own_calls(methods[name]):
                found.append(f"{one.name}.{name}")
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_constructor_does_the_work_of_a_pass(language: str) -> None:
    modules = {name: path for name, path in MODULES.items() if f"{name}.".startswith(language)}
    assert modules
    trees = {name: tree(path) for name, path in modules.items()}
    assert {name: found for name, read in trees.items() if (found := passes(read))} == {}


def test_a_pass_is_found() -> None:
    lines = (
        "class Walk:",
        "    def __init__(self, nodes):",
        "        for node in nodes:",
        "            self.visit(node)",
        "    def visit(self, node):",
        "        for one in node.inputs:",
        "            print(one)",
    )
    assert passes(ast.parse("\n".join(lines))) == ["Walk.visit"]
