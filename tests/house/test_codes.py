"""A code stands where its findings are made, and nobody decides by a code or by a sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

LANGUAGES = Path(__file__).resolve().parents[2] / "netsharp_lsp"
NETSHARP = LANGUAGES / "netsharp"
CNTK = LANGUAGES / "cntk"
#: A code, or the beginning of one.
CODE = re.compile(r"(NS|CK|BS|ND|ME)\d{0,3}\Z")
#: The one table of the faults of values.
TABLE = NETSHARP / "meaning" / "faults.py"
RULES = [path for room in (NETSHARP, CNTK) for path in sorted((room / "rules").rglob("*.py"))]
#: What reads, works out, judges and repairs without being a rule.
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
JUDGES = [path for path in ROOMS if path.relative_to(CNTK).parts[0] in ("judging", "commands")]
#: How text is looked into.
READING = frozenset(
    (
        *("match", "fullmatch", "search", "findall", "finditer", "split", "partition"),
        *("rpartition", "startswith", "endswith", "find", "index", "count"),
    )
)


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def codes(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and CODE.match(node.value)
        ):
            yield node


def named(path: Path) -> str:
    return str(path.relative_to(LANGUAGES))


@pytest.mark.parametrize("path", [*OTHERS, *ROOMS], ids=named)
def test_no_code_outside_its_rule(path: Path) -> None:
    assert [node.lineno for node in codes(tree_of(path))] == []


@pytest.mark.parametrize("path", [*RULES, TABLE, *OTHERS, *JUDGES], ids=named)
def test_no_finding_is_read_again(path: Path) -> None:
    """Nothing is compared with, or looked for in, the code or the sentence of what was found."""
    for node in ast.walk(tree_of(path)):
        reads = isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in READING
        if isinstance(node, ast.Compare) or reads:
            inside = (one for one in ast.walk(node) if isinstance(one, ast.Attribute))
            assert {one.attr for one in inside}.isdisjoint(("code", "message")), ast.unparse(node)
