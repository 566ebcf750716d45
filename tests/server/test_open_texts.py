"""The texts of open documents stand over the disk, which is asked where they are once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from netsharp_lsp.server.surroundings.experiments import _OpenTexts

MANY = 200


def test_a_look_up_asks_for_no_other_document() -> None:
    asked: list[str] = []

    def locate(path: str) -> str:
        asked.append(path)
        return path

    documents = {f"file:///a/{n}.bs": SimpleNamespace(text=b"x = %d" % n) for n in range(MANY)}
    connection: Any = SimpleNamespace(documents=documents)
    texts = _OpenTexts(connection, locate)
    for number in range(MANY):
        assert texts[f"/a/{number}.bs"] == b"x = %d" % number
        assert "/a/other.bs" not in texts
    assert len(asked) == MANY
    documents["file:///a/3.bs"] = SimpleNamespace(text=b"typed")
    assert texts["/a/3.bs"] == b"typed"
    assert len(asked) == MANY
    documents["file:///a/new.bs"] = SimpleNamespace(text=b"new")
    assert texts["/a/new.bs"] == b"new"
    assert len(asked) == 2 * MANY + 1
    texts.forget()
    assert len(texts) == MANY + 1
    assert len(asked) == 3 * MANY + 2
