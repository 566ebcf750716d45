"""One registry serves every language: it knows neither what rules read nor what a place is."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path

import pytest

from netsharp_lsp.cntk.migration.rules import RULES as MIGRATION
from netsharp_lsp.cntk.rules import RULES as CNTK
from netsharp_lsp.diagnostics.registry import Registry
from netsharp_lsp.netsharp.rules import RULES as NETSHARP
from tests.house.test_dependencies import MODULES

#: Lines of a poem are checked here, and a place is the number of one.
PACKAGE = """\
from netsharp_lsp.diagnostics.findings import Finding
from netsharp_lsp.diagnostics.registry import Registry, SubjectKind

LINE = SubjectKind("line")
POEM = SubjectKind("poem")
RULES = Registry(__name__, __path__[0])
"""
RULE = """\
from {package} import {kind}, RULES, Finding

@RULES.rule("{code}", "{severity}", {kind}, traits=None)
def judge(subject, around):
    return [Finding("{code}", around, subject)]
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = "poems_of_a_test"
    rows = [("PO003", "hint", "LINE"), ("PO001", "error", "POEM"), ("PO002", "info", "LINE")]
    folder = tmp_path / name
    (folder / "forms").mkdir(parents=True)
    (folder / "__init__.py").write_text(PACKAGE)
    (folder / "beside.py").write_text("raise AssertionError('no page stands beside it')\n")
    for code, severity, kind in rows:
        text = RULE.format(package=name, kind=kind, code=code, severity=severity)
        (folder / "forms" / f"{code.lower()}.py").write_text(text)
        (folder / "forms" / f"{code}.md").write_text(f"# {code}: a rule\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for one in [one for one in sys.modules if one.startswith(name)]:
        monkeypatch.delitem(sys.modules, one)
    return name


def test_rules_of_any_subject_and_place_are_found_in_the_order_of_codes(package: str) -> None:
    poems = import_module(package)
    assert poems.RULES.severities == {}
    assert [rule.code for rule in poems.RULES.load()] == ["PO001", "PO002", "PO003"]
    assert [rule.code for rule in poems.RULES.on(poems.LINE)] == ["PO002", "PO003"]
    found = [one for rule in poems.RULES.on(poems.LINE) for one in rule.check("a line", 7)]
    assert [(one.code, one.place, one.message) for one in found] == [
        ("PO002", 7, "a line"),
        ("PO003", 7, "a line"),
    ]
    assert poems.RULES.severities == {"PO001": "error", "PO002": "info", "PO003": "hint"}


def test_all_are_there_though_one_was_imported_before(package: str) -> None:
    import_module(f"{package}.forms.po003")
    poems = import_module(package)
    assert list(poems.RULES.severities) == ["PO003"]
    assert len(poems.RULES.load()) == 3
    assert poems.RULES.load() is poems.RULES.load()


@pytest.mark.parametrize("registry", [NETSHARP, CNTK, MIGRATION])
def test_several_functions_for_one_code_agree_on_how_severe_it_is(
    registry: Registry[object],
) -> None:
    for rule in registry.load():
        assert registry.severities[rule.code] == rule.severity, rule.code
    assert registry.severities.keys() == registry.traits.keys()


@pytest.mark.costly
def test_every_language_has_its_rules_in_a_registry_and_none_of_its_own() -> None:
    made = {
        name
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Registry"
    }
    assert made == {
        "netsharp_lsp.netsharp.rules",
        "netsharp_lsp.cntk.rules",
        "netsharp_lsp.cntk.migration.rules",
    }
