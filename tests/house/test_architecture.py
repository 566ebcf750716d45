"""What ARCHITECTURE.md says about tests is true: every invariant names some, and they are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


ENGINE = ROOT / "engine" / "netsharp_engine"


def test_the_core_of_the_engine_is_read_in_an_evening() -> None:
    rows = re.findall(r"^\| [\w' ]+ \| (`[^|]+`) \| (\d+) \|$", TEXT, re.MULTILINE)
    assert len(rows) == 4
    for modules, most in rows:
        paths = [ENGINE / name for name in re.findall(r"`([^`]+)`", modules)]
        files = [f for path in paths for f in (path.glob("*.py") if path.is_dir() else [path])]
        lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
        assert 0.7 * int(most) < lines <= int(most), (modules, lines)
    assert sum(int(most) for _, most in rows) <= 1500


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
