"""The keys of settings that families of languages bring; knows no family and no file.

The registry fills the table, and settings look their keys up in it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: What reads the value of a key and returns what settings keep of it; ValueError, a sentence
#: without the key, where it cannot be used.
READERS: dict[str, Callable[[object], object]] = {}
