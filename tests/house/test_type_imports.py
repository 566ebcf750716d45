"""`TYPE_CHECKING = False` spares an import of `typing`; its reason is in one place."""

from __future__ import annotations

import ast

from tests.house.test_dependencies import MODULES, ROOT
from tests.house.trees import tree


def at_run_time(tree: ast.Module) -> set[str]:
    """The modules that are imported whenever a module is."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def spares(tree: ast.Module) -> bool:
    """Whether a module has a `TYPE_CHECKING` of its own."""
    return any(
        isinstance(node, ast.Assign) and ast.unparse(node) == "TYPE_CHECKING = False"
        for node in tree.body
    )


def test_a_module_that_imports_typing_takes_the_name_from_there() -> None:
    trees = {name: tree(path) for name, path in MODULES.items()}
    both = [name for name, tree in trees.items() if spares(tree) and "typing" in at_run_time(tree)]
    assert not both
    assert sum(map(spares, trees.values())) > 300


def test_the_reason_is_in_the_architecture() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    assert text.count("TYPE_CHECKING = False") == 1
