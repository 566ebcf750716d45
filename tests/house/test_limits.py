"""The documents show every limit as the code holds it."""

from __future__ import annotations

from pathlib import Path

from netsharp_engine.limits import Limit
from netsharp_lsp import limits

PAGE = Path(__file__).resolve().parents[2] / "docs" / "limits.md"
HEAD = """\
# What is refused for its size

Whatever a file holds, netsharp answers in bounded time and memory, or says in one sentence which of
these limits it passed. The table is made from the code (`pytest tests/house --update`).

Up to a limit, time and memory grow in proportion: `check` answers any text of Net# within a minute
of a processor's time and 1.6 GiB. A service that checks what others send gives the process a bound
of its own (`ulimit -v`); beyond that it says that memory ran out.

| what | at most | beyond it |
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
