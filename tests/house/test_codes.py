"""A code is written where its findings are made, and nothing decides by a code or by a sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.trees import tree

LANGUAGES = Path(__file__).resolve().parents[2] / "netsharp_lsp"
NETSHARP = LANGUAGES / "netsharp"
CNTK = LANGUAGES / "cntk"
#: A code, or the beginning of one.
CODE = re.compile(r"(NS|CK|BS|ND|ME)\d{0,3}\Z")
#: The one table of the faults of values.
TABLE = NETSHARP / "meaning" / "values" / "faults.py"
RULES = [path for room in (NETSHARP, CNTK) for path in sorted((room / "rules").rglob("*.py"))]
#: Modules that parse, evaluate, check and fix without being rules.
OTHERS = [
    NETSHARP / "check.py",
    NETSHARP / "findings.py",
    *(
        path
        for room in ("reading", "meaning", "repairs")
        for path in sorted((NETSHARP / room).rglob("*.py"))
        if path != TABLE
    ),
]
#: All of CNTK's but the rules, and the migration, whose edits have the codes of its own rules.
#: The module of its languages names the codes that suppression itself has.
ROOMS = [
    path
    for path in sorted(CNTK.rglob("*.py"))
    if path.relative_to(CNTK).parts[0] not in ("rules", "migration", "languages.py")
]
#: Those of them that have findings and diagnostics in hand; the others have faults of their own.
JUDGES = [path for path in ROOMS if path.relative_to(CNTK).parts[0] in ("checking", "commands")]
MIGRATION = sorted((CNTK / "migration").rglob("*.py"))
#: A code of the migration.
MIGRATED = re.compile(r"MG\d\d?b?\Z")
#: What may hold codes to look one up.
TABLES = (ast.Set, ast.Dict, ast.List, ast.Tuple)
#: How text is looked into.
READING = frozenset(
    (
        *("match", "fullmatch", "search", "findall", "finditer", "split", "partition"),
        *("rpartition", "startswith", "endswith", "find", "index", "count"),
    )
)


def codes(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and CODE.match(node.value)
        ):
            yield node


def is_migrated(node: ast.AST) -> bool:
    """Whether it is a code of the migration."""
    return isinstance(node, ast.Constant) and MIGRATED.match(str(node.value)) is not None


def reads(node: ast.AST) -> bool:
    """Whether it looks into a text."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in READING


def named(path: Path) -> str:
    return str(path.relative_to(LANGUAGES))


@pytest.mark.parametrize("path", [*OTHERS, *ROOMS], ids=named)
def test_no_code_outside_its_rule(path: Path) -> None:
    assert [node.lineno for node in codes(tree(path))] == []


@pytest.mark.parametrize("path", MIGRATION, ids=named)
def test_a_code_of_the_migration_says_whose_an_edit_is_and_decides_nothing(path: Path) -> None:
    """No comparison and no table reads one; that of the rules declares those without a function."""
    whole = tree(path)
    assigned = [one for one in ast.walk(whole) if isinstance(one, ast.Assign)]
    names = {ast.unparse(one.targets[0]) for one in assigned if is_migrated(one.value)}
    tables = () if path.parent.name == "rules" and path.stem == "__init__" else TABLES
    for node in ast.walk(whole):
        if isinstance(node, (ast.Compare, *tables)) or reads(node):
            for one in ast.walk(node):
                assert not is_migrated(one), ast.unparse(node)
                assert not (isinstance(one, ast.Name) and one.id in names), ast.unparse(node)


@pytest.mark.parametrize("path", [*RULES, TABLE, *OTHERS, *JUDGES], ids=named)
def test_no_finding_is_read_again(path: Path) -> None:
    """Nothing is compared with, or looked for in, the code or the sentence of what was found."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Compare) or reads(node):
            inside = (one for one in ast.walk(node) if isinstance(one, ast.Attribute))
            assert {one.attr for one in inside}.isdisjoint(("code", "message")), ast.unparse(node)
