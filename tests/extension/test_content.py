"""Which `.nn` files are opened as Net#: those of the corpus, and nobody else's."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.collection import SAMPLES
from tests.extension.conftest import ROOT

#: Programs in which a specification is written out.
HOLDING = {
    "netsharp_lsp/estimators.py",
    "netsharp_lsp/netsharp/rules/syntax_words.py",
}
#: What else lies in a project: none of it is a specification.
FOREIGN = ("*.py", "*.c", "*.js", "*.ts", "*.toml", "*.json", "*.scm", "LICENSE", "Makefile")

Judge = Callable[[list[str]], list[bool]]


@pytest.fixture(scope="module")
def judge(node: str, built: Path) -> Judge:
    def run(texts: list[str]) -> list[bool]:
        command = [node, str(built / "judge.cjs")]
        done = subprocess.run(
            command, input=json.dumps(texts), capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    return run


def test_whole_networks_are_recognised(judge: Judge) -> None:
    whole = [sample for sample in SAMPLES if sample.complete]
    assert len(whole) > 60
    judged = judge([sample.text.decode() for sample in whole])
    missed = [sample.name for sample, yes in zip(whole, judged, strict=True) if not yes]
    assert missed == []


def test_most_broken_networks_are_recognised(judge: Judge) -> None:
    broken = [sample for sample in SAMPLES if sample.group == "broken"]
    judged = judge([sample.text.decode() for sample in broken])
    assert sum(judged) > 0.6 * len(broken)


def test_nothing_else_of_a_project_is(judge: Judge) -> None:
    listed = ["git", "ls-files", "-z", "--", *FOREIGN, ":!tests", ":!bench", ":!vscode-extension"]
    names = subprocess.check_output(listed, cwd=ROOT).decode().split("\0")[:-1]
    assert len(names) > 100
    judged = judge([(ROOT / name).read_text(encoding="utf-8") for name in names])
    assert {name for name, yes in zip(names, judged, strict=True) if yes} <= HOLDING
