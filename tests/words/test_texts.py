"""Every docstring, comment, message, page and document uses the words of the glossary."""

from __future__ import annotations

import tomllib

import pytest

from tests.words.glossary import HERE, faults
from tests.words.texts import DOCUMENTS, FOLDERS, PACKAGES, texts

EXCEPTIONS = HERE / "exceptions.toml"
PARTS = (*(f"{name}/" for name in (*PACKAGES, *FOLDERS, "grammar")), *DOCUMENTS)


def exceptions() -> set[tuple[str, str]]:
    """Return the paths and words that are listed, each with a reason."""
    listed = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8")).get("exception", [])
    assert all(one["reason"] for one in listed)
    return {(one["path"], one["words"]) for one in listed}


@pytest.mark.parametrize("part", PARTS)
def test_texts_follow_the_glossary(part: str) -> None:
    found = [one for one in faults(part) if (one.path, one.words) not in exceptions()]
    assert [str(one) for one in found] == []


def test_texts_of_every_kind_are_read() -> None:
    kinds = [one.kind for one in texts()]
    assert {kind: kinds.count(kind) > 100 for kind in set(kinds)} == dict.fromkeys(
        ("docstring", "description", "comment", "message", "page", "document"), True
    )
