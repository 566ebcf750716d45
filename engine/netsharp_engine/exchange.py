"""Exchanges the names of two files in one step, where the system can do that; it must not know
their contents.
"""

from __future__ import annotations

import os
import sys

#: For paths that are absolute, `renameat2` wants some number of a folder.
_ANY_FOLDER = -100
_SWAP = 2


def exchange(one: str, other: str) -> bool:
    """Give each of two files the other's name; False, and nothing done, where that fails."""
    try:
        import ctypes

        system = ctypes.CDLL(None)
        first, second = os.fsencode(one), os.fsencode(other)
        if sys.platform == "darwin":
            return bool(system.renamex_np(first, second, _SWAP) == 0)
        return bool(system.renameat2(_ANY_FOLDER, first, _ANY_FOLDER, second, _SWAP) == 0)
    except (ImportError, OSError, TypeError, AttributeError):  # no such call in this system
        return False
