"""Commands that people wait for import nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.checkout import git

HEAVY = ("pygls", "lsprotocol", "parso", "numpy", "rich", "safetensors", "dulwich", "urllib3")
LIGHT_COMMANDS = ("--version", "check", "fmt", "explain", "config")

SPECIFICATION = """\
input Pixels [10, 20];
hidden ByRow [10, 12] from Pixels where (s, d) => s[0] == d[0];
output Result [10] softmax from ByRow all;
"""


def imported_by(code: str, folder: Path) -> set[str]:
    """The top-level packages that a Python program has imported at its end."""
    program = f"{code}\nimport sys\nprint('IMPORTED', *sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False
    )
    last = [line for line in done.stdout.splitlines() if line.startswith("IMPORTED")]
    assert last, done.stderr
    return {name.partition(".")[0] for name in last[-1].split()[1:]}


@pytest.mark.parametrize("command", LIGHT_COMMANDS)
def test_light_commands_import_nothing_heavy(command: str, tmp_path: Path) -> None:
    (tmp_path / "net.nn").write_text(SPECIFICATION)
    arguments = {"--version": [], "explain": ["NS074"], "config": ["a=1"]}.get(command, ["net.nn"])
    code = f"from netsharp_lsp.__main__ import main\nmain({[command, *arguments]!r})"
    assert imported_by(code, tmp_path).isdisjoint(HEAVY)


@pytest.mark.parametrize("command", ["check", "fmt"])
def test_files_of_cntk_import_nothing_heavy_either(command: str, tmp_path: Path) -> None:
    network = "f = Input {2} ; z = Tanh (f) ; outputNodes = (z)"
    text = f"command = T\nT = {{ action = train ; BrainScriptNetworkBuilder = {{ {network} }} }}\n"
    (tmp_path / "a.cntk").write_text(text)
    code = f"from netsharp_lsp.__main__ import main\nmain({[command, 'a.cntk']!r})"
    found = imported_by(code, tmp_path)
    assert found.isdisjoint((*HEAVY, "dataclasses", "subprocess", "multiprocessing"))


#: Builds by one builder, and says last which rooms of the other languages' evaluation were read.
ROOMS = """
import sys
from netsharp_lsp.__main__ import main
main(["check", "a.cntk"])
rooms = ("ndl.evaluation", "ndl.reading", "mel.evaluation", "mel.reading", "simple.program")
rooms += ("brainscript.evaluation.program",)
print("READ", *(one for one in rooms if f"netsharp_lsp.cntk.{one}" in sys.modules))
"""
BUILT = {
    "BrainScriptNetworkBuilder = { f = Input {2} ; z = Tanh (f) ; outputNodes = (z) }": [],
    "SimpleNetworkBuilder = { layerSizes = 2:3 }": ["simple.program"],
    "NDLNetworkBuilder = { run = N ; N = [ f = InputValue(2) ] }": [
        "ndl.evaluation",
        "ndl.reading",
    ],
}


@pytest.mark.parametrize("builder", BUILT)
def test_a_run_reads_the_evaluation_of_its_own_builder_alone(builder: str, tmp_path: Path) -> None:
    text = f"command = T\nT = {{ action = train ; {builder} }}\n"
    (tmp_path / "a.cntk").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", ROOMS], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    # BrainScript's always comes last: most configurations use it, and it reads the library.
    wanted = [*BUILT[builder], "brainscript.evaluation.program"]
    assert done.stdout.splitlines()[-1].split()[1:] == wanted, done.stdout


def test_a_walk_in_a_work_tree_imports_nothing_heavy_either(tmp_path: Path) -> None:
    (tmp_path / "net.nn").write_text(SPECIFICATION)
    (tmp_path / "old.nn").write_text(SPECIFICATION)
    (tmp_path / ".gitignore").write_text("ol*.nn\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    found = imported_by("from netsharp_lsp.__main__ import main\nmain(['check', '.'])", tmp_path)
    assert found.isdisjoint((*HEAVY, "subprocess"))
    git(tmp_path, "commit", "--quiet", "--message", "first")
    code = "from netsharp_lsp.__main__ import main\nmain(['describe', 'HEAD:net.nn'])"
    found = imported_by(code, tmp_path)
    assert found.isdisjoint(("urllib3", "subprocess", "socket", "http"))
    assert "dulwich" in found


def test_the_public_interface_is_lazy(tmp_path: Path) -> None:
    assert imported_by("import netsharp", tmp_path).isdisjoint(HEAVY)


#: Runs a check, and says last which modules of ours compiled expressions, and how often a usage
#: was written.
WITNESSED = """
import argparse, re, sys
from netsharp_lsp.__main__ import main
compile_, usage = re._compiler.compile, argparse.ArgumentParser.format_usage
compiled, usages = [], []
def noting(*given):
    frame = sys._getframe(1)
    while frame.f_globals["__name__"] in ("re", "netsharp_lsp.text.expressions"):
        frame = frame.f_back
    compiled.append(frame.f_globals["__name__"])
    return compile_(*given)
re._compiler.compile = noting
argparse.ArgumentParser.format_usage = lambda self: usages.append(1) or usage(self)
main(["check", "net.nn"])
print(len(usages), *sorted({name for name in compiled if name.startswith("netsharp")}))
print("unicodedata" in sys.modules, "netsharp_lsp.diagnostics.conflicts" in sys.modules)
"""


def test_a_check_without_findings_prepares_nothing_for_findings(tmp_path: Path) -> None:
    (tmp_path / "net.nn").write_text(SPECIFICATION)
    done = subprocess.run(
        [sys.executable, "-c", WITNESSED], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    # What the reader itself matches every value with is compiled at once.
    assert done.stdout.splitlines()[-2:] == [
        "0 netsharp_lsp.netsharp.reading.expression_reader",
        "False False",
    ]
