"""README and pages are true: every command in them runs, and prints what they show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.peers import peer
from tests.readme.transcripts import LEFT_TO_CI, PAGES, README, ROOT, blocks, updated


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_transcript_is_true(page: Path, tmp_path: Path) -> None:
    if page.stem == "leaving-cntk":
        peer("onnxruntime")
    if page.stem in ("devices", "machines"):
        peer("torch")
    text = page.read_text(encoding="utf-8")
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


def test_the_readme_is_read_at_a_sitting() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 200


def test_the_picture_of_the_error_is_that_of_the_transcript_above_it() -> None:
    """The script makes both; neither was changed alone."""
    text = (ROOT / "docs" / "compiling.md").read_text(encoding="utf-8")
    (block,) = (one for one in blocks(text) if "$ cp board/report.svg compiled.svg" in one.text)
    message = re.findall(r"^(\w+): \d.*, error ([\d.]+%)$", block.text, re.MULTILINE)
    picture = (ROOT / "docs" / "compiled.svg").read_text(encoding="utf-8")
    names = re.findall(r'text-anchor="end">(\w+)<', picture)
    errors = re.findall(r">([\d.]+%)<", picture)
    assert len(message) == 4
    assert message == list(zip(names, errors[::2], strict=True))


def test_links_lead_somewhere() -> None:
    pages = [
        ROOT / name
        for name in (
            *("ARCHITECTURE.md", "engine/ARCHITECTURE.md", "netsharp_lsp/cntk/ARCHITECTURE.md"),
            *("CONTRIBUTING.md", "DECISIONS.md", "bench/README.md"),
        )
    ]
    for page in (*PAGES, *pages):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
            assert (page.parent / target).exists(), f"{page}: {target}"


def test_a_run_that_is_killed_is_seen_to_go_on() -> None:
    """The time that it is given is ours: where epochs become faster, nothing would be killed."""
    killed = [
        block.text
        for page in PAGES
        for block in blocks(page.read_text(encoding="utf-8"))
        if any(command.startswith("timeout -s KILL ") for command in block.commands)
    ]
    assert len(killed) == 2
    for text in killed:
        assert "\nKilled\n" in text
        assert ": continues after epoch " in text
