"""All bombs in one table, for tests and campaigns."""

from __future__ import annotations

from tests.bounds.bombs import BOMBS
from tests.bounds.data_bombs import DATA_BOMBS

EVERY = (*BOMBS, *DATA_BOMBS)
