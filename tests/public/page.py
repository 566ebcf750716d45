"""The page of the Python interface: its text, and parts of it that are made."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def replaced(text: str, name: str, part: str) -> str:
    """The text with the part between the marks `<!-- name -->` and `<!-- /name -->` replaced."""
    form = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    assert len(form.findall(text)) == 1
    return form.sub(lambda match: f"{match[1]}\n{part}\n{match[2]}", text)
