"""What is kept of results weighs no more than it may, and the least lately used goes first."""

from __future__ import annotations

from netsharp_lsp.text.remembered import Remembered


def test_the_least_lately_used_goes_first() -> None:
    kept: Remembered[str] = Remembered(10)
    for key in "abc":
        kept.keep(key, key.upper(), 3)
    assert kept.find("a") == "A"
    kept.keep("d", "D", 3)
    assert (kept.find("a"), kept.find("b"), kept.find("d")) == ("A", None, "D")
    assert kept.weight == 9


def test_a_value_takes_the_place_of_the_one_before() -> None:
    kept: Remembered[str] = Remembered(10)
    kept.keep("a", "A", 9)
    kept.keep("a", "B", 2)
    assert (kept.find("a"), kept.weight, len(kept)) == ("B", 2, 1)


def test_the_newest_stays_however_heavy_it_is_and_goes_with_the_next() -> None:
    kept: Remembered[str] = Remembered(10)
    kept.keep("a", "A", 4)
    kept.keep("b", "B", 400)
    assert (kept.find("a"), kept.find("b"), kept.weight) == (None, "B", 400)
    kept.keep("c", "C", 1)
    assert (kept.find("b"), kept.find("c"), kept.weight) == (None, "C", 1)
