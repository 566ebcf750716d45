"""What a run takes of tests that are drawn: a share by the seed, all of what is asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.drawing import ONE_OF

ROOT = Path(__file__).parents[2]
CASES = 60
#: The cases of each file whose cases are chosen together, and the number of these files.
FEWER, FILES = 6, 40
TESTS = f"""
import pytest

@pytest.mark.costly
@pytest.mark.parametrize("case", range({CASES}))
def test_each(case): ...

@pytest.mark.costly
def test_alone(): ...

@pytest.mark.drawn
@pytest.mark.parametrize("case", range(3))
def test_few(case): ...

def test_always(): ...

@pytest.mark.parametrize("case", range({CASES}))
def test_many(case): ...
"""
TOGETHER = f"""
import pytest

pytestmark = pytest.mark.costly(by_file=True)

@pytest.mark.parametrize("case", range({FEWER}))
def test_each(case): ...
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "several").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    drawn:\n    costly:\n")
    for number in range(3):
        (tmp_path / "several" / f"test_each{number}.py").write_text(TESTS)
    for number in range(FILES):
        (tmp_path / "several" / f"test_together{number}.py").write_text(TOGETHER)
    return tmp_path


def taken(folder: Path, *arguments: str, **more: str) -> list[str]:
    """The names of the tests that a run would take."""
    environment = {name: value for name, value in os.environ.items() if name != "FULL"}
    # No other plugin has a word in it, and they take a second to load.
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "tests.drawing"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT), **more},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_a_folder_has_a_share_and_always_the_same(folder: Path) -> None:
    found = taken(folder, "several")
    assert found == taken(folder, "several")
    each = [one for one in found if "/test_each" in one and "::test_each" in one]
    assert 0 < len(each) < 3 * CASES * 2 / ONE_OF
    assert sum("::test_few" in one for one in found) == 9
    assert sum("::test_always" in one for one in found) == 3
    many = sum("::test_many" in one for one in found)
    assert 0 < many < 3 * CASES * 2 / ONE_OF
    assert many < len(taken(folder, "several", "-m", "drawn")) < len(found)


def test_what_one_fixture_serves_is_taken_together(folder: Path) -> None:
    files = [one.partition("::")[0] for one in taken(folder, "several") if "test_together" in one]
    counts = {file: files.count(file) for file in files}
    assert set(counts.values()) == {FEWER}
    assert 0 < len(counts) < FILES * 2 / ONE_OF


def test_what_is_named_or_asked_for_is_taken_whole(folder: Path) -> None:
    assert len(taken(folder, "several/test_each0.py")) == 2 * CASES + 5
    assert taken(folder, "several/test_each0.py::test_alone")
    together = FILES * FEWER
    assert len(taken(folder, "several", FULL="1")) == 3 * (2 * CASES + 5) + together
    drawn = taken(folder, "several", "-m", "drawn", FULL="1")
    assert len(drawn) == 3 * (2 * CASES + 3)
    marked = taken(folder, "several", "-m", "drawn or costly", FULL="1")
    assert len(marked) == 3 * (2 * CASES + 4) + together


def test_the_rest_is_what_the_share_leaves_out(folder: Path) -> None:
    (folder / "several" / "test_full.py").write_text(f"from tests.drawing import FULL\n{TESTS}")
    share = {one for one in taken(folder, "several") if "test_full" not in one}
    rest, every = (
        set(taken(folder, "several", "-m", "drawn or costly", FULL=full)) for full in ("rest", "1")
    )
    own = {one for one in every if "test_full" in one}
    assert len(own) == 2 * CASES + 4
    assert rest == (every - share) | own
    assert own < rest < every
