"""Which files with the suffixes of others are opened: those of the corpora, and no others."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netsharp_lsp.cntk.recognition import language_of
from tests.cntk.collection import FILES
from tests.collection import SAMPLES
from tests.editors.conftest import EXPERIMENT
from tests.extension.conftest import ROOT

#: Programs in which a specification is written out.
HOLDING = {
    "netsharp_lsp/estimators/__init__.py",
    "netsharp_lsp/netsharp/rules/syntax/words.py",
}
#: What else lies in a project: none of it is a specification.
FOREIGN = ("*.py", "*.c", "*.js", "*.ts", "*.toml", "*.json", "*.scm", "LICENSE", "Makefile")

Judge = Callable[[Any], list[Any]]


@pytest.fixture(scope="module")
def check_all(node: str, built: Path) -> Judge:
    def run(texts: Any) -> list[Any]:
        command = [node, str(built / "judge.cjs")]
        done = subprocess.run(
            command, input=json.dumps(texts), capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    return run


def test_whole_networks_are_recognised(check_all: Judge) -> None:
    whole = [sample for sample in SAMPLES if sample.complete]
    assert len(whole) > 60
    checked = check_all([sample.text.decode() for sample in whole])
    missed = [sample.name for sample, yes in zip(whole, checked, strict=True) if not yes]
    assert missed == []


def test_most_broken_networks_are_recognised(check_all: Judge) -> None:
    broken = [sample for sample in SAMPLES if sample.group == "broken"]
    checked = check_all([sample.text.decode() for sample in broken])
    assert sum(checked) > 0.6 * len(broken)


def test_nothing_else_of_a_project_is(check_all: Judge) -> None:
    listed = ["git", "ls-files", "-z", "--", *FOREIGN, ":!tests", ":!bench", ":!vscode-extension"]
    names = subprocess.check_output(listed, cwd=ROOT).decode().split("\0")[:-1]
    assert len(names) > 100
    checked = check_all([(ROOT / name).read_text(encoding="utf-8") for name in names])
    assert {name for name, yes in zip(names, checked, strict=True) if yes} <= HOLDING


def test_the_languages_of_cntk_are_distinguished_as_by_the_server(check_all: Judge) -> None:
    suffixes = (".config", ".bs", ".mel")
    files = {file.name: file.data for file in FILES if not file.broken}
    files |= {path.name: path.read_bytes() for path in EXPERIMENT.iterdir()}
    names = [name for name in files if name.endswith(suffixes)]
    assert len(names) > 60
    checked = check_all([(name, files[name].decode("utf-8", "replace")) for name in names])
    reported = [language_of(name, files[name]) for name in names]
    expected = [one if isinstance(one, str) else None for one in reported]
    assert dict(zip(names, checked, strict=True)) == dict(zip(names, expected, strict=True))
