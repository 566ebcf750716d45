"""Small blocks, and what tables are read for."""

from __future__ import annotations

from typing import Any

import pytest

from netsharp_engine.data.storage import stores
from netsharp_engine.train.loading import load as loading


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of few rows, so that small tables have many."""
    monkeypatch.setattr(stores, "BLOCK_NUMBERS", 300)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What tables are read for: an entry for each."""
    seen: list[str] = []
    read = loading.read_table

    def counting(files: list[str], *args: Any, **keywords: Any) -> Any:
        seen.append(files[0])
        return read(files, *args, **keywords)

    monkeypatch.setattr(loading, "read_table", counting)
    return seen
