"""No text makes an answer cost more than 2.5 times as much when it is twice as long.

`FULL=1` measures every bomb of the table; without it one or two of each cause are measured.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

if sys.platform == "win32":
    pytest.skip("forks and limits of a process are POSIX", allow_module_level=True)

from tests.bounds.bombs import Bomb
from tests.bounds.every import EVERY
from tests.bounds.measuring import Forks, Measurement, judged, verdict

#: What stands for each cause that was mended, and for each language.
CHOSEN = {
    ("netsharp", "a long number in a bundle (check)"),
    ("netsharp", "a condition over a product (describe)"),
    ("netsharp", "layers in a group (check)"),
    ("netsharp", "brackets around a value (check)"),
    ("netsharp", "indices (check)"),
    ("cntk", "suppressions (fmt)"),
    ("cntk", "unknown variables (check)"),
    ("cntk", "includes that double (check)"),
    ("cntk", "includes that double in a record (check)"),
    ("cntk", "includes of a long script (check)"),
    ("brainscript", "braces behind a definition (check)"),
    ("brainscript", "members (check)"),
    ("mel", "set properties (check)"),
    ("cntk", "the same section (check)"),
    ("netsharp", "line comments within a layer (fmt)"),
    ("python", "comments beside a specification (check)"),
    ("python", "pieces of a string (fmt)"),
    ("python", "heads of layers in a string (check)"),
    ("r", "functions (check)"),
    ("markdown", "open fences (check)"),
    ("settings", "stars (check)"),
    ("table", "a line without an end (run)"),
    ("network", "shared weights (run)"),
    ("report", "findings on an accented line, text (check)"),
    ("report", "findings on an accented line, gitlab (check)"),
}


def measured() -> list[Bomb]:
    """The bombs of this run."""
    if os.environ.get("FULL") == "1":
        return list(EVERY)
    return [bomb for bomb in EVERY if (bomb.language, bomb.name) in CHOSEN]


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as running:
        yield running


@pytest.mark.parametrize("bomb", measured(), ids=lambda bomb: f"{bomb.language}: {bomb.name}")
def test_an_answer_grows_with_its_text(bomb: Bomb, forks: Forks) -> None:
    wrong, _ = judged(bomb, forks)
    assert wrong is None, wrong


def test_every_chosen_bomb_is_in_the_table() -> None:
    assert {(bomb.language, bomb.name) for bomb in EVERY} >= CHOSEN


def test_a_verdict_sees_growth_and_ends() -> None:
    def of(*cpu: float, code: int = 0) -> list[Measurement]:
        return [Measurement(2**n, one, 0, code, "") for n, one in enumerate(cpu)]

    assert verdict(of(0.1, 0.2, 0.4, 0.8)) is None
    assert "4.0 times" in str(verdict(of(0.1, 0.4, 1.6, 6.4)))
    assert "ended with -24" in str(verdict(of(1, code=-24)))
