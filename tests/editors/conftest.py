"""Real editors: where they are, and the server they start."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Files of every language of CNTK's that use each other, one unknown name among them, and files of
#: other languages with the same suffixes.
EXPERIMENT = Path(__file__).parent / "experiment"
#: One unknown name with a safe fix, and one line to be formatted.
FAULTY = """\
input Image [28, 28];
hidden Hidden [100] tanh from Imge all;
output   Digit [10] softmax from Hidden all;
"""


def editor(name: str) -> str:
    """The path of an editor's program; skips the test where it is not installed."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed ('make editors' installs it)")
    return found


@pytest.fixture
def server() -> str:
    """The command that starts the server, its words apart by spaces."""
    return f"{sys.executable} -m netsharp_lsp lsp"


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "digits.nn"
    file.write_text(FAULTY, encoding="utf-8")
    yield file
    assert file.read_text(encoding="utf-8") == FAULTY, "an editor saved without being asked"


@pytest.fixture
def experiment(tmp_path: Path) -> Iterator[Path]:
    """A folder with the experiment, and a file in the language that Maya has the suffix for."""
    folder = tmp_path / "experiment"
    shutil.copytree(EXPERIMENT, folder)
    (folder / "maya.mel").write_text('string $name = `ls -sl`;\nsetAttr ($name + ".tx") 1;\n')
    before = {path: path.read_bytes() for path in folder.iterdir()}
    yield folder
    after = {path: path.read_bytes() for path in before}
    assert after == before, "an editor saved without being asked"
