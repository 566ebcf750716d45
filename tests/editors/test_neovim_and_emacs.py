"""Neovim 0.7 and Emacs 28, run without a screen, with the files of `editors/`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.editors.conftest import ROOT, editor

HERE = Path(__file__).parent
SECONDS = 60


def drive(command: list[str], file: Path, server: str, passed: str) -> None:
    """Run an editor's script; it prints a line a check, and `passed` at its end."""
    environment = {
        **os.environ,
        "NETSHARP_COMMAND": server,
        "NETSHARP_FILE": str(file),
        "HOME": str(file.parent),
        "XDG_CONFIG_HOME": str(file.parent / "config"),
    }
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    said = done.stdout + done.stderr
    assert "FAIL" not in said, said
    assert done.returncode == 0, said
    assert passed in done.stdout, said


def test_neovim(faulty: Path, server: str) -> None:
    program = editor("nvim")
    ours = ROOT / "editors" / "neovim-0.7"
    command = [program, "--headless", "--clean", "-n", "-i", "NONE"]
    command += ["--cmd", f"set rtp+={ours}", "-S", str(HERE / "neovim.lua")]
    drive(command, faulty, server, "passed")


def test_emacs(faulty: Path, server: str) -> None:
    program = editor("emacs")
    command = [program, "-q", "--batch", "-L", str(ROOT / "editors" / "emacs")]
    drive([*command, "-l", str(HERE / "emacs.el")], faulty, server, "0 failed")
