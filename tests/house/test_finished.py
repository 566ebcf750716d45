"""Whoever is given a network reads it: only those who build one write into its nodes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from netsharp_lsp.cntk.networks.node import Node
from tests.house.test_dependencies import MODULES
from tests.house.trees import nodes

CNTK = "netsharp_lsp.cntk."
#: The rooms that get networks from those who build them.
READERS = ("run", "rules", "checking", "description", "migration", "ide", "commands")
#: What changes a list or a table.
CHANGING = frozenset(("add", "append", "clear", "extend", "insert", "pop", "remove", "update"))


def written(path: Path) -> list[str]:
    """Where a module writes into a node that somebody else made."""
    found = []
    for node in nodes(path):
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            targets = [node.func.value] if node.func.attr in CHANGING else []
        else:
            continue
        for target in targets:
            for part in target.elts if isinstance(target, ast.Tuple) else (target,):
                place = part.value if isinstance(part, ast.Subscript) else part
                if isinstance(place, ast.Attribute) and place.attr in Node.__slots__:
                    own = isinstance(place.value, ast.Name) and place.value.id == "self"
                    found += [] if own else [f"{path.name}:{node.lineno}"]
    return found


@pytest.mark.parametrize("room", READERS)
def test_readers_of_networks_change_nothing_of_them(room: str) -> None:
    modules = [name for name in MODULES if f"{name}.".startswith(f"{CNTK}{room}.")]
    assert modules
    assert {name: found for name in modules if (found := written(MODULES[name]))} == {}


def test_writing_is_found(tmp_path: Path) -> None:
    path = tmp_path / "probe.py"
    path.write_text("node.where = 1\nnode.tags.append(2)\na, b.shape = 1, 2\nself.name = 3\n")
    assert sorted(written(path)) == ["probe.py:1", "probe.py:2", "probe.py:3"]
