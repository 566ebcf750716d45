"""Room for deep recursion while something is evaluated, and only then.

Frames of Python cost no C stack; what recurses in C, such as comparing nested values, must not
find the limit raised.
"""

from __future__ import annotations

import sys
from threading import Lock

#: Frames of Python that one expression within another takes, and some for the caller.
FRAMES, SPARE = 10, 1_000


class DeepRecursion:
    """Raises the limit of recursion for as long as anybody, in any thread, is within."""

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
