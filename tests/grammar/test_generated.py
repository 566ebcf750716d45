"""What is generated is what the grammar says: the parser, and the trees of its own test corpus."""

from __future__ import annotations

import filecmp
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GRAMMARS = ("brainscript", "cntk", "netsharp")
SHARED = ROOT.parent / "shared" / "bin"
TOOL = shutil.which("tree-sitter", path=f"{os.environ.get('PATH', '')}{os.pathsep}{SHARED}")
needs_tool = pytest.mark.skipif(TOOL is None, reason="the tree-sitter command is not installed")


def run(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tool with its caches and settings beside ``directory`` alone."""
    home = {"HOME": str(directory.parent), "TREE_SITTER_LIBDIR": str(directory.parent)}
    return subprocess.run(
        [str(TOOL), *arguments],
        cwd=directory,
        env={**os.environ, **home, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(params=GRAMMARS)
def grammar(request: pytest.FixtureRequest) -> Path:
    return ROOT / "grammar" / str(request.param)


@pytest.fixture
def copy(grammar: Path, tmp_path: Path) -> Path:
    shutil.copytree(grammar, tmp_path / grammar.name)
    return tmp_path / grammar.name


@needs_tool
def test_trees_of_the_test_corpus(copy: Path) -> None:
    done = run(copy, "test")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_tool
def test_the_committed_parser_is_the_generated_one(grammar: Path, copy: Path) -> None:
    done = run(copy, "generate", "--js-runtime", "native")
    assert done.returncode == 0, done.stderr
    for name in ("parser.c", "grammar.json", "node-types.json"):
        assert filecmp.cmp(copy / "src" / name, grammar / "src" / name, shallow=False)


def test_every_kind_of_node_is_in_the_test_corpus(grammar: Path) -> None:
    kinds = json.loads((grammar / "src" / "node-types.json").read_text(encoding="utf-8"))
    named = {kind["type"] for kind in kinds if kind["named"] and "subtypes" not in kind}
    corpus = "".join(path.read_text("utf-8") for path in grammar.glob("test/corpus/*.txt"))
    assert named == set(re.findall(r"\((\w+)", corpus)) & named
