"""Modules of `bench/graphics`, which stand alone beside the engine."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"


@contextmanager
def bench():
    """Let imports find what lies in the folder of benchmarks."""
    sys.path.insert(0, str(BENCH))
    try:
        yield
    finally:
        sys.path.remove(str(BENCH))
