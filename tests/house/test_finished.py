"""Functions that are given a network or a finding read it: only its builders write to it."""

from __future__ import annotations

import ast
from collections.abc import Collection
from pathlib import Path

import pytest

from netsharp_lsp.cntk.networks.node import Node
from netsharp_lsp.diagnostics import findings
from netsharp_lsp.netsharp.findings import Finding
from netsharp_lsp.netsharp.meaning import model
from tests.house.test_dependencies import MODULES
from tests.house.trees import nodes

CNTK = "netsharp_lsp.cntk."
#: The rooms that get networks from those who build them.
READERS = ("run", "rules", "checking", "description", "migration", "ide", "commands")
#: Those of Net# that get networks, and those of both families that get findings.
OF_NETSHARP = ("rules", "repairs", "formatting", "describe", "lower", "check")
OF_FINDINGS = (
    *("netsharp.rules", "netsharp.repairs", "netsharp.check"),
    *("cntk.rules", "cntk.checking"),
)
#: The attributes of networks of Net#, and of findings with their notes and fixes.
MEANING = frozenset(
    slot
    for kind in (model.Constant, model.Geometry, model.Bundle, model.Layer, model.Share)
    for slot in kind.__slots__
)
FOUND = frozenset(
    slot
    for kind in (Finding, findings.Finding, findings.Repair, findings.Note)
    for slot in kind.__slots__
)
#: What changes a list or a table.
CHANGING = frozenset(("add", "append", "clear", "extend", "insert", "pop", "remove", "update"))


def written(path: Path, attributes: Collection[str] = Node.__slots__) -> list[str]:
    """Return where a module writes into such attributes of an object that another one made."""
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
                if isinstance(place, ast.Attribute) and place.attr in attributes:
                    own = isinstance(place.value, ast.Name) and place.value.id == "self"
                    found += [] if own else [f"{path.name}:{node.lineno}"]
    return found


@pytest.mark.parametrize("room", READERS)
def test_readers_of_networks_change_nothing_of_them(room: str) -> None:
    modules = [name for name in MODULES if f"{name}.".startswith(f"{CNTK}{room}.")]
    assert modules
    assert {name: found for name in modules if (found := written(MODULES[name]))} == {}


def below(room: str) -> list[Path]:
    """Return the modules of a room, of which there are some."""
    name = f"netsharp_lsp.{room}"
    found = [path for one, path in MODULES.items() if f"{one}.".startswith(f"{name}.")]
    assert found, room
    return found


@pytest.mark.parametrize("room", OF_NETSHARP)
def test_readers_of_networks_of_netsharp_change_nothing_of_them(room: str) -> None:
    modules = below(f"netsharp.{room}")
    assert {path.name: found for path in modules if (found := written(path, MEANING))} == {}


@pytest.mark.parametrize("room", OF_FINDINGS)
def test_nobody_changes_a_finding(room: str) -> None:
    assert {path.name: found for path in below(room) if (found := written(path, FOUND))} == {}


def test_writing_is_found(tmp_path: Path) -> None:
    path = tmp_path / "probe.py"
    path.write_text("node.where = 1\nnode.tags.append(2)\na, b.shape = 1, 2\nself.name = 3\n")
    assert sorted(written(path)) == ["probe.py:1", "probe.py:2", "probe.py:3"]
    other = tmp_path / "other.py"
    other.write_text("finding.message += '!'\nlayer.bundles.append(1)\n")
    assert (written(other, FOUND), written(other, MEANING)) == (["other.py:1"], ["other.py:2"])
