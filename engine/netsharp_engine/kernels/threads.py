"""The number of threads of numpy's own matrix products, where it can be set.

It knows numpy's bundled OpenBLAS only; where that is not found nothing happens.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

_NAMES = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
)


@cache
def _setter() -> Callable[[int], Any] | None:
    home = Path(np.__file__).parent
    folders = (home.parent / "numpy.libs", home / ".libs", home / ".dylibs")
    for folder in folders:
        for path in sorted(folder.glob("*openblas*")):
            found = _from_library(path)
            if found is not None:
                return found
    return None


def _from_library(path: Path) -> Callable[[int], Any] | None:
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        return None
    for name in _NAMES:
        function = getattr(library, name, None)
        if function is not None:
            function.argtypes = [ctypes.c_int]
            function.restype = None
            return function  # type: ignore[no-any-return]
    return None


def limit_threads(count: int) -> bool:
    """Let matrix products use ``count`` threads, process-wide; False where it cannot be set."""
    setter = _setter()
    if setter is None:
        return False
    setter(count)
    return True
