"""No text makes an answer cost more than 2.5 times as much when it is twice as long.

`FULL=1` measures every bomb of the table; without it one or two of each cause are measured.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("forks and limits of a process are POSIX", allow_module_level=True)

from netsharp_lsp.limits import TEXT_WORDS
from tests.bounds.bombs import Bomb
from tests.bounds.every import EVERY
from tests.bounds.measuring import NOTHING, Forks, Measurement, checked, measure, verdict

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

#: One text for each cause that was fixed, and for each language.
CHOSEN = {
    ("netsharp", "a long number in a bundle (check)"),
    ("netsharp", "a condition over a product (describe)"),
    ("netsharp", "layers in a group (check)"),
    ("netsharp", "brackets around a value (check)"),
    ("netsharp", "indices (check)"),
    ("netsharp", "a long name that nobody knows (check)"),
    ("netsharp", "circles of constants within circles (check)"),
    ("netsharp", "block comments (describe)"),
    ("cntk", "suppressions (fmt)"),
    ("cntk", "unknown variables (check)"),
    ("cntk", "nodes beside each other in BrainScript (check)"),
    ("cntk", "includes that double (check)"),
    ("cntk", "includes that double in a record (check)"),
    ("cntk", "includes of a long file (check)"),
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
    ("r", "a line of string, in KiB (fmt)"),
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
    wrong, _ = checked(bomb, forks)
    assert wrong is None, wrong


def test_every_chosen_bomb_is_in_the_table() -> None:
    assert {(bomb.language, bomb.name) for bomb in EVERY} >= CHOSEN


def test_a_verdict_sees_growth_and_ends() -> None:
    def of(*cpu: float, code: int = 0) -> list[Measurement]:
        return [Measurement(2**n, one, 0, code, "") for n, one in enumerate(cpu)]

    assert verdict(of(0.1, 0.2, 0.4, 0.8)) is None
    assert "4.0 times" in str(verdict(of(0.1, 0.4, 1.6, 6.4)))
    assert "ended with -24" in str(verdict(of(1, code=-24)))


def test_a_verdict_sees_growth_that_ends_in_a_refusal() -> None:
    def of(*cpu: float, least: int = 1) -> list[Measurement]:
        *answers, last = (Measurement(least << n, one, 0, 0, "") for n, one in enumerate(cpu))
        return [*answers, last._replace(exit=2, output=f"more than {TEXT_WORDS} are not read")]

    assert "4.0 times" in str(verdict(of(0.1, 0.4, 1.6, 6.4, 0.0)))
    assert "4.0 times" in str(verdict(of(0.1, 0.4, 1.6)))
    assert "2 sizes" in str(verdict(of(0.1, 0.2, 0.0, least=8)))
    assert verdict(of(0.1, 0.2, 0.4, 0.8, 0.0)) is None
    assert verdict(of(0.02, 0.04, 0.0, least=8)) is None
    assert verdict(of(0.0)) is None


def test_a_verdict_wants_four_sizes_where_there_are_so_many() -> None:
    def of(*cpu: float, least: int) -> list[Measurement]:
        return [Measurement(least << n, one, 0, 0, "") for n, one in enumerate(cpu)]

    assert "3 sizes" in str(verdict(of(0.1, 0.2, 0.4, least=8)))
    assert verdict(of(0.1, 0.2, 0.4, least=1)) is None
    assert verdict(of(0.01, least=8)) is None


class Priced:
    """Answers that cost a given number of seconds for each unit of size, on any machine."""

    def __init__(self, price: float) -> None:
        self.price = price

    def run(self, command: Sequence[str], folder: Path, size: int) -> Measurement:
        assert command
        assert any(folder.iterdir())
        return Measurement(size, self.price * size, 0, 0, "")


@pytest.mark.parametrize("dear", [1.1, 1.9])
def test_sizes_that_a_bound_cuts_off_are_measured_below(dear: float) -> None:
    """An answer that costs something at its two largest sizes alone is measured at four."""
    (long,) = (
        bomb
        for bomb in EVERY
        if (bomb.language, bomb.name) == ("python", "open comments in a string (check)")
    )
    small = long._replace(most=long.least << 13)
    priced = Priced(dear * NOTHING / small.most)
    assert [one.size for one in measure(small, None, priced)] == [
        small.most >> halving for halving in (3, 2, 1, 0)
    ]
