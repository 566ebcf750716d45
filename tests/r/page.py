"""Runs the blocks of docs/r.md in one R, and writes what they print after `#>` into them.

`python -m tests.r.page LIBRARY` updates the page; LIBRARY is a library of R with the package in it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "r.md"
BLOCK = re.compile(r"(?<=^```r\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
#: What is printed between two pieces of code.
MARK = "@@"
PRINTED = "#>"


def pieces(block: str) -> list[str]:
    """The code of a block, cut after each place where something is printed."""
    found, code = [], ""
    for line in block.splitlines(keepends=True):
        if not line.startswith(PRINTED):
            code += line
        elif code:
            found.append(code)
            code = ""
    return [*found, code] if code else found


def updated(text: str, library: Path) -> str:
    """The page with what its code prints now; AssertionError where R ends in an error."""
    code = [piece for block in BLOCK.findall(text) for piece in pieces(block)]
    printed = iter(_run(code, library))

    def block(match: re.Match[str]) -> str:
        return "".join(piece + _as_comment(next(printed)) for piece in pieces(match[0]))

    return BLOCK.sub(block, text)


def _as_comment(printed: str) -> str:
    return "".join(f"{PRINTED} {line}".rstrip() + "\n" for line in printed.splitlines())


def _run(code: list[str], library: Path) -> list[str]:
    """What each piece prints."""
    environment = {**os.environ, "R_LIBS": str(library), "RETICULATE_PYTHON": sys.executable}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "page.R"
        script.write_text(f'cat("{MARK}\\n")\n'.join([*code, ""]), encoding="utf-8")
        done = subprocess.run(
            ["Rscript", str(script)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout.split(f"{MARK}\n")[: len(code)]


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text("utf-8"), Path(sys.argv[1])), encoding="utf-8")
