"""The README tells the truth: every command in it runs, and prints what stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.readme.transcripts import LEFT_TO_CI, README, ROOT, blocks, updated


@pytest.mark.filterwarnings("ignore")
def test_every_transcript_is_true(tmp_path: Path) -> None:
    text = README.read_text(encoding="utf-8")
    fresh = updated(text, tmp_path, keep_varying=True)
    assert fresh.splitlines() == text.splitlines()


def test_commands_left_to_ci_are_targets_that_it_runs() -> None:
    text = README.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = [command for block in blocks(text) for command in block.commands]
    for command in named:
        if command.startswith("make "):
            assert command.split()[1] in targets
    assert any(not command.startswith(LEFT_TO_CI) for command in named)


def test_links_lead_somewhere() -> None:
    for page in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "bench/README.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
            assert ((ROOT / page).parent / target).exists(), f"{page}: {target}"
