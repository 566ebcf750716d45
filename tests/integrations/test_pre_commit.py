"""The hooks, as `pre-commit` builds and runs them from a repository."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from netsharp_lsp.embedded.hosts import HOSTS
from netsharp_lsp.language import suffixes
from tests.integrations.checkout import ROOT, copy_checkout, environment, git

yaml = pytest.importorskip("yaml")
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
PAIRS = ("netsharp-fmt", "netsharp-check")


@pytest.mark.parametrize("hook", PAIRS)
def test_hooks_take_the_files_that_commands_know(hook: str) -> None:
    own, embedded = HOOKS[hook], HOOKS[f"{hook}-embedded"]
    for suffix in suffixes():
        assert re.search(own["files"], f"a{suffix}")
    for suffix in HOSTS:
        assert re.search(embedded["files"], f"a{suffix}")
        assert re.search(embedded["files"], f"a{suffix.upper()}")
        assert not re.search(own["files"], f"a{suffix}")
    assert not re.search(embedded["files"], "a.nn")
    assert embedded["entry"] == f"{own['entry']} --embedded"


EXPERIMENT = """\
Train={
    action = "train"
    modelPath = "m"
    BrainScriptNetworkBuilder = { x = Input {3} ; z = Tanh (y) ; outputNodes = (z) }
}
"""
XML = '<configuration>\n<add key = "command"/>\n</configuration>\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "net.nn").write_text("input X[3];\noutput Y [1] sigmoid from Z all;\n")
    (folder / "app.config").write_text(
        "<configuration><add key='a'   value='b' /></configuration>\n"
    )
    (folder / "tv.bs").write_text("sub Main()\n    print 1\nend sub\n")
    (folder / "run.cntk").write_text(EXPERIMENT)
    (folder / "app.config").write_text(XML)
    (folder / "plain.py").write_text("x = 1\n")
    (folder / "script.py").write_text(
        'NET = """\ninput X [3];\noutput Y [1]   sigmoid from X all;\n"""\n'
    )
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "all")
    return folder


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pre_commit") is None, reason="pre-commit is not installed")
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.costly
def test_all_hooks_from_a_repository(project: Path, tmp_path: Path) -> None:
    # `try-repo` builds a new environment each time, so all hooks run at once.
    hooks = copy_checkout(tmp_path / "netsharp")
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(hooks), "--all-files"]
    done = subprocess.run(
        [*command, "--verbose", "--color", "never"],
        cwd=project,
        env=environment(PRE_COMMIT_HOME=str(tmp_path / "home")),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if "No matching distribution" in done.stdout:
        pytest.skip("no package index to install from")
    assert done.returncode == 1, done.stdout + done.stderr
    output = answers(done.stdout)
    assert set(output) == set(HOOKS)
    assert "2 files reformatted" in output["netsharp-fmt"]
    assert "files were modified by this hook" in output["netsharp-fmt"]
    assert "error[NS035]: Layer 'Z' is not defined." in output["netsharp-check"]
    assert "error[BS020]: 'y' is not defined in this scope" in output["netsharp-check"]
    assert "app.config" not in output["netsharp-check"] + output["netsharp-fmt"]
    assert "Passed" not in output["netsharp-check"]
    assert "1 file reformatted, 1 file unchanged." in output["netsharp-fmt-embedded"]
    assert "2 files checked, nothing found." in output["netsharp-check-embedded"]
    assert "holds no" not in done.stdout
    assert (project / "net.nn").read_text() == "input X [3];\noutput Y [1] sigmoid from Z all;\n"
    assert (project / "run.cntk").read_text() == EXPERIMENT.replace("Train=", "Train = ").replace(
        " ;", ";"
    )
    assert (project / "app.config").read_text() == XML
    assert "[1] sigmoid" in (project / "script.py").read_text()
    assert (project / "plain.py").read_text() == "x = 1\n"


def answers(output: str) -> dict[str, str]:
    """What each hook said, by its id."""
    by_name = {hook["name"]: hook["id"] for hook in HOOKS.values()}
    parts = re.split(r"^(netsharp [^.\n]+?)\.{3,}", output, flags=re.MULTILINE)[1:]
    return {by_name[name]: reported for name, reported in zip(parts[::2], parts[1::2], strict=True)}
