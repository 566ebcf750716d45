"""Cases of laws are drawn: there are tens of thousands of them."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the laws."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("drawn")
