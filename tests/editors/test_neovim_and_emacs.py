"""Neovim 0.7 and Emacs 28, run without a screen, with the files of `editors/`."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.editors.conftest import FAULTY, ROOT, editor

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
    output = done.stdout + done.stderr
    assert "FAIL" not in output, output
    assert done.returncode == 0, output
    assert passed in done.stdout, output


def neovim(script: str, folder: Path) -> list[str]:
    """The command that runs a script, our files installed below a folder as their README says."""
    program = editor("nvim")
    for part in ("neovim-0.7", "neovim/ftplugin", "neovim/lua"):
        source = ROOT / "editors" / part
        target = folder if part == "neovim-0.7" else folder / source.name
        shutil.copytree(source, target, dirs_exist_ok=True)
    command = [program, "--headless", "--clean", "-n", "-i", "NONE"]
    return [*command, "--cmd", f"set rtp+={folder}", "-S", str(HERE / script)]


def emacs(script: str) -> list[str]:
    """The command that runs a script with our files on the path."""
    program = editor("emacs")
    command = [program, "-q", "--batch", "-L", str(ROOT / "editors" / "emacs")]
    return [*command, "-l", str(HERE / "emacs-checks.el"), "-l", str(HERE / script)]


def test_neovim(faulty: Path, server: str, tmp_path: Path) -> None:
    drive(neovim("neovim.lua", tmp_path / "installed"), faulty, server, "passed")


def test_neovim_without_a_server(faulty: Path, tmp_path: Path) -> None:
    drive(
        neovim("neovim_alone.lua", tmp_path / "installed"), faulty, "no-such-server lsp", "passed"
    )


def test_neovim_on_experiments(experiment: Path, server: str, tmp_path: Path) -> None:
    command = neovim("neovim_cntk.lua", tmp_path / "installed")
    drive(command, experiment / "digits.cntk", server, "passed")


def test_emacs(faulty: Path, server: str) -> None:
    drive(emacs("emacs.el"), faulty, server, "0 failed")


def test_emacs_on_experiments(experiment: Path, server: str) -> None:
    drive(emacs("emacs-cntk.el"), experiment / "digits.cntk", server, "0 failed")


def test_emacs_serves_hosts_where_it_is_asked_to(tmp_path: Path, server: str) -> None:
    file = tmp_path / "train.py"
    file.write_text(f'NET = """\n{FAULTY}"""\n\n\ndef fitted():\n    return NET\n')
    drive(emacs("emacs-hosts.el"), file, server, "0 failed")
