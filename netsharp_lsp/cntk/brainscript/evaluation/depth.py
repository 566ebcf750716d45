"""Raises the recursion limit during an evaluation, and only then.

Frames of Python take no C stack; code that recurses in C, such as comparing nested values, must not
run with the raised limit.
"""

from __future__ import annotations

import sys
from threading import Lock

#: Frames of Python that one nested expression takes, and some for the caller.
FRAMES, SPARE = 10, 1_000


class DeepRecursion:
    """Raises the recursion limit as long as any thread is inside."""

    _lock = Lock()
    _inside = 0
    _before = 0

    def __init__(self, deepest: int) -> None:
        self.limit = deepest * FRAMES + SPARE

    def __enter__(self) -> None:
        with DeepRecursion._lock:
            if DeepRecursion._inside == 0:
                DeepRecursion._before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self.limit, DeepRecursion._before))
            DeepRecursion._inside += 1

    def __exit__(self, *problem: object) -> None:
        with DeepRecursion._lock:
            DeepRecursion._inside -= 1
            if DeepRecursion._inside == 0:
                sys.setrecursionlimit(DeepRecursion._before)
