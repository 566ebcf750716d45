"""A trained experiment whose models scripts of MEL edit, and what comes of such a script."""

from __future__ import annotations

from pathlib import Path

from netsharp_lsp.cntk.training.networks.models import LearntNetwork, ModelFiles
from netsharp_lsp.project.roots import ANYWHERE
from tests.cli.command_line import Answer, netsharp
from tests.cntk.training.experiments import made, run

COMMAND = """
change = { action = "edit" ; editPath = "change.mel" }
"""


def trained_to_change(folder: Path, more: str = "") -> Path:
    """An experiment that was trained, with a command that edits and `more` after it."""
    folder = made(folder)
    with (folder / "net.cntk").open("a") as stream:
        stream.write(COMMAND + more)
    assert run(folder, "command=learn")[0].code == 0
    return folder


def change(folder: Path, script: str) -> None:
    """Run a script, which must do what it says."""
    (folder / "change.mel").write_text(script)
    answer, _ = run(folder, "command=change")
    assert answer.code == 0, (answer.complaints, answer.reports)


def refused(folder: Path, script: str) -> Answer:
    """What a script is answered that cannot be done."""
    (folder / "change.mel").write_text(script)
    done = netsharp("run", "net.cntk", "command=change", cwd=folder)
    assert done.code in (1, 2), done.out
    assert "Traceback" not in done.out + done.err
    return done


def model_in(path: Path) -> LearntNetwork:
    """The model that a script wrote."""
    return ModelFiles(ANYWHERE).load(str(path))
