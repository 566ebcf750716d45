"""The commands know the codes of CNTK's languages: selected, ignored, explained, repaired."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.cli.command_line import netsharp

TEXT = """\
traceLevel = 1#INF # note
modelPath = "$Out$/m"
Digits = [
    frameMode = true
]
]
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "a.cntk").write_text(TEXT, encoding="utf-8")
    return tmp_path


def codes(folder: pathlib.Path, *arguments: str) -> list[str]:
    answer = netsharp("check", "a.cntk", "--format", "json", *arguments, cwd=folder)
    found = json.loads(answer.out)["diagnostics"]
    return sorted(one["code"] for one in found if one["code"] < "CK040")


def test_codes_can_be_selected_and_ignored(folder: pathlib.Path) -> None:
    assert codes(folder) == ["CK006", "CK009", "CK019", "CK032"]
    assert codes(folder, "--select", "CK01,CK03") == ["CK019", "CK032"]
    assert codes(folder, "--ignore", "CK0") == []
    (folder / "netsharp.toml").write_text('ignore = ["CK032"]\n', encoding="utf-8")
    assert codes(folder) == ["CK006", "CK009", "CK019"]


def test_a_variable_is_an_error_once_a_run_is_declared(folder: pathlib.Path) -> None:
    (folder / "netsharp.toml").write_text('[cntk]\ndefines = ["Out"]\n', encoding="utf-8")
    assert "CK019" not in codes(folder)
    (folder / "netsharp.toml").write_text('[[cntk.run]]\nfiles = ["a.cntk"]\n', encoding="utf-8")
    answer = netsharp("check", "a.cntk", "--format", "concise", cwd=folder)
    assert "error CK019" in answer.out
    assert "CK019" not in codes(folder, "--set", "Out=x")


def test_fixes_are_applied_and_what_is_unsafe_only_when_asked_for(folder: pathlib.Path) -> None:
    netsharp("check", "a.cntk", "--fix", cwd=folder)
    safe = (folder / "a.cntk").read_text(encoding="utf-8")
    assert safe == TEXT.replace("]\n]\n", "]\n\n")
    netsharp("check", "a.cntk", "--fix", "--unsafe-fixes", cwd=folder)
    fixed = (folder / "a.cntk").read_text(encoding="utf-8")
    assert fixed.startswith("# note\ntraceLevel = 1#INF\n")
    assert "Digits = {\n    frameMode = true\n}\n" in fixed


def test_a_suppressed_code_is_not_reported(folder: pathlib.Path) -> None:
    text = TEXT.replace('/m"', '/m"  # netsharp: ignore[CK019]')
    (folder / "a.cntk").write_text(text, encoding="utf-8")
    assert codes(folder) == ["CK006", "CK009", "CK032"]
