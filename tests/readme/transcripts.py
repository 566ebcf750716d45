"""Runs the commands of the README and of pages of docs/, and writes back what they print.

A block ```console holds commands after `$ ` and their output; ```python is run; a block
```netsharp, ```toml, ```r, ```text or in a language of CNTK below a line "`NAME`:" is a file.  A
comment `<!-- varies -->` above a block says that its figures differ from machine to machine: it
is run, not compared.  Each page begins in a folder of its own, with the examples in it.
Pictures named in docs/ are regenerated.  `python -m tests.readme.transcripts` updates all pages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
#: What is run from top to bottom.
DOCS = ROOT / "docs"
PAGES = (
    README,
    *(
        DOCS / f"{name}.md"
        for name in (
            *("checking", "cntk", "compiling", "devices", "editors", "experiments", "formatting"),
            *(
                "graphics",
                "in-a-project",
                "leaving-cntk",
                "machines",
                "networks",
                "python",
                "training",
            ),
        )
    ),
)
BLOCK = re.compile(
    r"(?P<varies><!-- varies -->\n)?(?:`(?P<name>[\w./-]+)`:\n\n)?"
    r"^```(?P<kind>console|python|netsharp|toml|r|text|cntk|brainscript|ndl|mel)\n"
    r"(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
#: Commands that set up a machine, which the CI runs unchanged.
LEFT_TO_CI = ("make ", "git clone ", "cd ", "pip install ", "pre-commit ", "code ")


class Block:
    """One block of a page: where its text is, what it is, what it says."""

    def __init__(self, match: re.Match[str]) -> None:
        self.kind = match["kind"]
        self.name = match["name"]
        self.text = match["text"]
        self.varies = match["varies"] is not None
        self.start, self.end = match.span("text")

    @property
    def commands(self) -> list[str]:
        """The commands of a console block."""
        return [line[2:] for line in self.text.splitlines() if line.startswith("$ ")]


def blocks(text: str) -> list[Block]:
    """The blocks of a page in order."""
    return [Block(match) for match in BLOCK.finditer(text)]


def workplace(folder: Path) -> dict[str, str]:
    """Prepare a folder with the examples; the environment in which commands run there."""
    ignored = shutil.ignore_patterns("*.safetensors", "__pycache__")
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=ignored)
    door = folder / "bin"
    door.mkdir()
    for name, module in (("netsharp", "netsharp_lsp"), ("python", "")):
        start = f'exec "{sys.executable}"' + (f" -m {module}" if module else "")
        (door / name).write_text(f'#!/bin/sh\n{start} "$@"\n')
        (door / name).chmod(0o755)
    path = f"{door}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}


def run_console(block: Block, folder: Path, environment: dict[str, str]) -> str:
    """The block's text with what its commands print now."""
    lines: list[str] = []
    for command in block.commands:
        lines.append(f"$ {command}")
        if command.startswith(LEFT_TO_CI):
            continue
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if "Traceback" in done.stdout:
            raise AssertionError(f"{command}\n{done.stdout}")
        lines += done.stdout.rstrip("\n").splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def run_block(block: Block, folder: Path, environment: dict[str, str]) -> str:
    """Run or store a block; its text as it should stand."""
    if block.kind == "console":
        return run_console(block, folder, environment)
    if block.kind == "python":
        subprocess.run([sys.executable, "-c", block.text], cwd=folder, env=environment, check=True)
    elif block.name:
        (folder / block.name).parent.mkdir(exist_ok=True, parents=True)
        (folder / block.name).write_text(block.text, encoding="utf-8")
    return block.text


def updated(text: str, folder: Path, *, keep_varying: bool) -> str:
    """A page with every transcript regenerated; those that vary may stay as they are."""
    environment = workplace(folder)
    parts, at = [], 0
    for block in blocks(text):
        fresh = run_block(block, folder, environment)
        parts.append(text[at : block.start])
        parts.append(block.text if block.varies and keep_varying else fresh)
        at = block.end
    return "".join([*parts, text[at:]])


def main() -> None:
    """Write pages and pictures."""
    for page in PAGES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            text = updated(page.read_text(encoding="utf-8"), folder, keep_varying=False)
            page.write_text(text, encoding="utf-8")
            for picture in re.findall(r"\((?:docs/)?([\w-]+\.svg)\)", text):
                if (folder / picture).exists():
                    shutil.copy(folder / picture, ROOT / "docs" / picture)


if __name__ == "__main__":
    main()
