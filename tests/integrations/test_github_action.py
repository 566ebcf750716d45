"""The steps of `action.yml`, run as scripts in a repository as GitHub would run them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.checkout import ROOT, copy_checkout, environment, git

yaml = pytest.importorskip("yaml")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = ACTION["runs"]["steps"]
WORKING_COPY = (sys.executable, "-m", "netsharp_lsp")
EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


class Job:
    """A job that uses the action: its workspace, the files that stand for GitHub, outputs."""

    def __init__(self, folder: Path, **inputs: str) -> None:
        self.workspace = folder / "workspace"
        self.temporary = folder / "runner"
        for made in (self.workspace, self.temporary, folder / "programs"):
            made.mkdir()
        self.programs = [str(folder / "programs")]
        defaults = {name: given.get("default", "") for name, given in ACTION["inputs"].items()}
        self.inputs = defaults | {name.replace("_", "-"): value for name, value in inputs.items()}
        self.outputs: dict[str, dict[str, str]] = {}
        self.log = ""
        self.summary = ""
        self.uploads: list[str] = []
        program = folder / "programs" / "netsharp"
        program.write_text(f'#!/bin/sh\nexec {" ".join(WORKING_COPY)} "$@"\n')
        program.chmod(0o755)

    def value(self, text: str) -> str:
        """A text with its expressions evaluated."""
        return EXPRESSION.sub(lambda found: self._known(found.group(1)), str(text))

    def _known(self, name: str) -> str:
        kind, _, rest = name.partition(".")
        if kind == "inputs":
            return self.inputs[rest]
        step, _, key = rest.partition(".outputs.")
        return self.outputs.get(step, {}).get(key, "")

    def wanted(self, step: dict[str, str]) -> bool:
        """Whether the condition of a step holds; conditions are comparisons joined by `&&`."""
        inside = step.get("if", "").removeprefix("${{").removesuffix("}}")
        for comparison in filter(None, map(str.strip, inside.split("&&"))):
            left, operator, right = comparison.split()
            if (self._known(left) == right.strip("'")) != (operator == "=="):
                return False
        return True

    def run(self, *, install: bool = False) -> int:
        """Run the steps in order; the exit code of the first that fails."""
        for step in STEPS:
            if (step["name"] == "Install netsharp" and not install) or not self.wanted(step):
                continue
            if "uses" in step:
                self.uploads.append(self.value(step["with"]["sarif_file"]))
                continue
            code = self._script(step)
            if code:
                return code
        return 0

    def _script(self, step: dict[str, str]) -> int:
        names = ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")
        files = {name: self.temporary / name.lower() for name in names}
        for file in files.values():
            file.write_text("")
        given = {key: self.value(value) for key, value in step.get("env", {}).items()}
        path = ":".join([*reversed(self.programs), environment()["PATH"]])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.workspace,
            env=environment(
                PATH=path,
                RUNNER_TEMP=str(self.temporary),
                **{name: str(file) for name, file in files.items()},
                **given,
                **(
                    {"GITHUB_ACTION_PATH": self.inputs["action"]} if "action" in self.inputs else {}
                ),
            ),
            capture_output=True,
            text=True,
            check=False,
        )
        self.log += done.stdout + done.stderr
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        self.programs += files["GITHUB_PATH"].read_text().split()
        lines = files["GITHUB_OUTPUT"].read_text().splitlines()
        self.outputs[step.get("id", step["name"])] = dict(line.split("=", 1) for line in lines)
        return done.returncode


def write(job: Job, *, faulty: bool) -> None:
    source = "Z" if faulty else "X"
    (job.workspace / "net.nn").write_text(f"input X[3];\noutput Y [1] sigmoid from {source} all;\n")
    (job.workspace / "script.py").write_text(
        f'NET = """\ninput X [3];\noutput Y [1] sigmoid from {source} all;\n"""\n'
    )


def test_what_lies_outside_the_checkout_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "secret.cntk").write_text("password = swordfish [\n")
    job = Job(tmp_path)
    (job.workspace / "a.cntk").write_text("command = Train\ninclude = ../secret.cntk\n")
    (job.workspace / "link.nn").symlink_to(tmp_path / "secret.cntk")
    (job.workspace / "netsharp.toml").write_text(
        '[[cntk.run]]\nfiles = ["a.cntk", "../secret.cntk"]\n'
    )
    job.run()
    (sarif,) = job.temporary.glob("*.sarif")
    assert "a.cntk" in job.log
    assert "--root" in job.log
    assert "swordfish" not in job.log + job.summary + sarif.read_text()


def test_a_fault_is_annotated_uploaded_and_checked(tmp_path: Path) -> None:
    job = Job(tmp_path)
    write(job, faulty=True)
    assert job.run() == 1
    assert "::error title=netsharp NS035,file=net.nn,line=2,col=27" in job.log
    assert "script.py" not in job.log
    (sarif,) = job.uploads
    (result,) = [
        one
        for one in json.loads(Path(sarif).read_text())["runs"][0]["results"]
        if one["level"] == "error"
    ]
    assert result["ruleId"] == "NS035"
    assert "NS035" in job.summary


def test_experiments_of_cntk_too(tmp_path: Path) -> None:
    job = Job(tmp_path, format="true")
    network = "BrainScriptNetworkBuilder = { x = Input {3} ; z = Tanh (y) ; outputNodes = (z) }"
    (job.workspace / "run.config").write_text(
        f'command = Train\nTrain={{\n    action = "train"\n    modelPath = "m"\n    {network}\n}}\n'
    )
    (job.workspace / "app.config").write_text("<configuration></configuration>\n")
    assert job.run() == 1
    assert "::error title=netsharp BS020,file=run.config,line=5,col=61" in job.log
    assert "::error file=run.config,title=netsharp fmt::" in job.log
    assert "app.config" not in job.log
    (sarif,) = job.uploads
    (result,) = [
        one
        for one in json.loads(Path(sarif).read_text())["runs"][0]["results"]
        if one["level"] == "error"
    ]
    assert result["ruleId"] == "BS020"


def test_embedded_specifications_too(tmp_path: Path) -> None:
    job = Job(tmp_path, embedded="true")
    write(job, faulty=True)
    assert job.run() == 1
    assert "file=script.py,line=3,col=27" in job.log
    uris = json.dumps(json.loads(Path(job.uploads[0]).read_text()))
    assert '"uri": "script.py"' in uris


def test_clean_files_pass(tmp_path: Path) -> None:
    job = Job(tmp_path, embedded="true", paths="net.nn\nscript.py")
    write(job, faulty=False)
    assert job.run() == 0
    assert "::" not in job.log
    assert len(job.uploads) == 1


def test_the_format_is_checked_where_asked(tmp_path: Path) -> None:
    job = Job(tmp_path, format="true", upload_sarif="false")
    write(job, faulty=False)
    assert job.run() == 1
    assert "::error file=net.nn,title=netsharp fmt::" in job.log
    assert job.uploads == []
    (job.workspace / "net.nn").write_text("input X [3];\noutput Y [1] sigmoid from X all;\n")
    assert job.run() == 0


def test_what_cannot_run_fails(tmp_path: Path) -> None:
    job = Job(tmp_path, paths="missing.nn")
    assert job.run() == 2
    assert "missing.nn: cannot be read" in job.log + job.summary


def test_every_input_is_used_and_described() -> None:
    text = (ROOT / "action.yml").read_text()
    for name, given in ACTION["inputs"].items():
        assert given["description"]
        assert f"inputs.{name}" in text


@pytest.mark.costly
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_the_action_installs_itself(tmp_path: Path) -> None:
    job = Job(tmp_path, python=sys.executable)
    job.inputs["action"] = str(copy_checkout(tmp_path / "action"))
    write(job, faulty=False)
    code = job.run(install=True)
    if "No matching distribution" in job.log:
        pytest.skip("no package index to install from")
    assert code == 0, job.log
    installed = Path(job.programs[-1]) / "netsharp"
    assert installed.is_relative_to(tmp_path / "runner")
    assert git(tmp_path / "action", "status", "--porcelain", "--untracked-files=no") == ""
