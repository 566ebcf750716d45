"""A git repository with what this checkout holds, for programs that install from repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: What a wheel is made of; the rest of the checkout only costs time.
NEEDED = (
    *("netsharp", "netsharp_lsp", "engine", "grammar", "setup.py", "pyproject.toml"),
    *("MANIFEST.in", "README.md", "LICENSE", ".pre-commit-hooks.yaml", "action.yml"),
)


def git(folder: Path, *arguments: str) -> str:
    """Run git as a user with a name, whatever the settings of this machine."""
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def copy_checkout(target: Path) -> Path:
    """Commit what a wheel needs into a new repository."""
    target.mkdir()
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info", "build")
            shutil.copytree(source, target / name, ignore=ignored)
        else:
            shutil.copy(source, target / name)
    git(target, "init", "--quiet")
    git(target, "add", "--all")
    git(target, "commit", "--quiet", "--message", "all")
    return target


def environment(**changes: str) -> dict[str, str]:
    """This process's environment without git's, and with changes."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return kept | changes
