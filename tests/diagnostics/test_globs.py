"""Patterns of paths in settings."""

from __future__ import annotations

import pytest

from netsharp_lsp.globs import Glob


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("*.nn", ["a.nn", "x/y/a.nn"], ["a.nnx", "a.netsharp"]),
        ("build", ["build", "build/a.nn", "x/build/y/a.nn"], ["builder/a.nn", "a/rebuild"]),
        ("build/", ["build/a.nn", "x/build/a.nn"], ["builds/a.nn"]),
        ("x/*.nn", ["x/a.nn"], ["a.nn", "x/y/a.nn", "y/x/a.nn"]),
        ("./x/*.nn", ["x/a.nn"], ["y/x/a.nn"]),
        ("x/**", ["x/a.nn", "x/y/z.nn"], ["a.nn", "y/x/a.nn"]),
        ("**/old/*.nn", ["old/a.nn", "x/y/old/a.nn"], ["old/x/a.nn"]),
        ("x/**/a.nn", ["x/a.nn", "x/y/z/a.nn"], ["x/ba.nn"]),
        ("v?.nn", ["v1.nn", "x/v2.nn"], ["v.nn", "v10.nn", "v/.nn"]),
        ("v[12].nn", ["v1.nn"], ["v3.nn", "v[12].nn"]),
        ("v[!12].nn", ["v3.nn"], ["v1.nn"]),
        ("v[1-3].nn", ["v2.nn"], ["v4.nn", "v-.nn"]),
        ("v[!1-3].nn", ["v4.nn", "v-.nn"], ["v2.nn", "v/.nn"]),
        ("v[3-1].nn", [], ["v2.nn", "v3.nn", "v-.nn"]),
        ("v[3-1x].nn", ["vx.nn"], ["v3.nn"]),
        ("v[a--].nn", [], ["va.nn"]),
        ("v[&&^].nn", ["v&.nn", "v^.nn"], ["va.nn"]),
        ("a+(b).nn", ["a+(b).nn"], ["aab.nn"]),
        ("v[1.nn", ["v[1.nn"], ["v1.nn"]),
    ],
)
def test_patterns(pattern: str, fitting: list[str], others: list[str]) -> None:
    glob = Glob(pattern)
    assert [path for path in fitting + others if glob.matches(path)] == fitting
