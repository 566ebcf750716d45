"""The documents show every limit as the code holds it."""

from __future__ import annotations

from pathlib import Path

from netsharp_engine.limits import Limit
from netsharp_lsp import limits

PAGE = Path(__file__).resolve().parents[2] / "docs" / "limits.md"
HEAD = """\
# Limits

netsharp reads any file in bounded time and memory: an input beyond one of these limits is refused,
or treated as the last column says, and the message names the limit.

Below the limits, time and memory grow in proportion to the input: `check` takes at most a minute of
CPU time and 1.6 GiB for any text of Net#. A service that checks files from others should also limit
the memory of the process (`ulimit -v`); if that is used up, a message says so.

The table is generated from the code (`pytest tests/house --update`), and a test compares the two.

| what is limited | at most | beyond the limit |
|---|---|---|
"""


def row(limit: Limit) -> str:
    return f"| {limit.what} | {limit} | {limit.beyond} |\n"


def test_the_documents_show_every_limit(update: bool) -> None:
    text = HEAD + "".join(map(row, limits.LIMITS))
    if update:
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text


def test_every_limit_is_in_the_table() -> None:
    held = {id(value) for value in vars(limits).values() if isinstance(value, Limit)}
    assert held <= set(map(id, limits.LIMITS))
    assert len(limits.LIMITS) == len({limit.what for limit in limits.LIMITS})
