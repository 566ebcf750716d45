"""What ARCHITECTURE.md says about tests is true: every invariant names some, and they are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def invariants() -> list[str]:
    section = TEXT.partition("## Invariants\n")[2].partition("\n## ")[0]
    return re.split(r"(?m)^- (?=\*\*)", section)[1:]


def test_every_invariant_names_tests_that_are_there() -> None:
    assert len(invariants()) >= 20
    for invariant in invariants():
        held = re.search(r"\*Held by (.+)\.\*\s*\Z", invariant, re.DOTALL)
        assert held, f"no test named: {invariant[:60]}"
        names = re.findall(r"`(tests/[^`]+)`", held[1])
        assert names, invariant
        for name in names:
            assert (ROOT / name).exists(), f"{name} is not there: {invariant[:60]}"
