"""Standard input as a data file: kept aside on disk, since tables are read more than once."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from functools import cache

from netsharp_engine.data.errors import KNOWN_AS, DataError

NAME = "-"


@cache
def spooled_input() -> str:
    """Return the path of a file with all of standard input; it is removed when the program ends.
    DataError where it cannot be kept.
    """
    folder = tempfile.mkdtemp(prefix="netsharp-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "stdin")
    KNOWN_AS[path] = "standard input"
    try:
        with open(path, "wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
    except OSError as error:
        raise DataError(f"Standard input cannot be kept in {folder}: {error.strerror}.") from None
    return path
