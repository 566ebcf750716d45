"""Values that were measured or chosen, as files of JSON in a folder; a damaged file counts as none.

It must not know what the values mean.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from netsharp_engine import stored
from netsharp_engine.atomic_files import AtomicFile
from netsharp_engine.data.storage.places import made_folder
from netsharp_engine.data.storage.stores import StoreError
from netsharp_engine.plain_files import open_plain

SUFFIX = ".json"
#: A file of more bytes is not one of ours.
MOST_BYTES = 1 << 20


def path_of_key(folder: str, key: object) -> str | None:
    """Return the file of a key, which JSON can write; None for a folder that is relative to the
    working directory.
    """
    if not os.path.isabs(folder):
        return None
    name = blake2b(json.dumps(key).encode(), digest_size=16).hexdigest()
    return os.path.join(folder, name + SUFFIX)


def read_values(path: str, version: int) -> dict[str, Any] | None:
    """Return the values in a file; None where it is missing, damaged or of another version."""
    try:
        with open_plain(path) as stream:
            text = stream.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            return None
        values = json.loads(text)
        if isinstance(values, dict) and stored.whole(values, "version") == version:
            return values
    except (OSError, ValueError, RecursionError):
        pass
    return None


def write_values(path: str, version: int, values: Mapping[str, Any]) -> None:
    """Write values; nothing where there is no room, or no right to write."""
    folder = os.path.dirname(path)
    with suppress(OSError, StoreError):
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        made_folder(folder)
        with AtomicFile(path) as aside:
            aside.stream.write(json.dumps({"version": version, **values}).encode())
            aside.commit()
