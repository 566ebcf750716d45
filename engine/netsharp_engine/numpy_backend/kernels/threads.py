"""The number of threads of numpy's own matrix products, where it can be set.

It knows numpy's bundled OpenBLAS only; where that is not found nothing happens.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

_NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)


Pair = tuple[Callable[[int], Any], Callable[[], int]]


@cache
def _functions() -> Pair | None:
    """Return the library's setter and getter of its number of threads."""
    home = Path(np.__file__).parent
    folders = (home.parent / "numpy.libs", home / ".libs", home / ".dylibs")
    paths = (path for folder in folders for path in sorted(folder.glob("*openblas*")))
    return next((pair for pair in map(_pair, paths) if pair is not None), None)


def _pair(path: Path) -> Pair | None:
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        return None
    for name in _NAMES:
        setter = getattr(library, name.format("set"), None)
        getter = getattr(library, name.format("get"), None)
        if setter is not None and getter is not None:
            setter.argtypes, setter.restype = [ctypes.c_int], None
            getter.argtypes, getter.restype = [], ctypes.c_int
            return setter, getter
    return None


def limit_threads(count: int) -> int | None:
    """Let matrix products use ``count`` threads, in the whole process.

    Returns the number before, or None where it cannot be set.
    """
    functions = _functions()
    if functions is None:
        return None
    setter, getter = functions
    before = getter()
    setter(count)
    return before


@contextmanager
def thread_limit(count: int) -> Iterator[None]:
    """Limit the threads of matrix products inside a ``with`` block, and restore them after."""
    before = limit_threads(count)
    try:
        yield
    finally:
        if before is not None:
            limit_threads(before)
