"""Python processes that the server starts: how they find what this one finds, and no more."""

from __future__ import annotations

import os
import sys

import netsharp_lsp

#: -P: a file in the working directory must not replace a package.
PYTHON = (sys.executable, "-P", "-m")


def environment() -> dict[str, str]:
    """Return the environment of a process that imports what this one imports."""
    return {**os.environ, **own_packages(), "NO_COLOR": "1"}


def own_packages() -> dict[str, str]:
    """Return the environment with which a process imports the same packages as this one."""
    return {"PYTHONPATH": os.pathsep.join(_package_folders()), "PYTHONIOENCODING": "utf-8"}


def _package_folders() -> list[str]:
    """Return this process's search path, with the working directory only if it has our package."""
    here = os.getcwd()
    ours = os.path.dirname(os.path.dirname(os.path.abspath(netsharp_lsp.__file__)))
    folders = [os.path.abspath(folder) for folder in sys.path if folder]
    return [folder for folder in folders if folder != here or folder == ours]
