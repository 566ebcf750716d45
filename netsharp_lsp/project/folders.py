"""Settings as they hold for the files of a folder; knows where they are, not who asks."""

from __future__ import annotations

import os

from netsharp_lsp.diagnostics.selection import unknown_prefix
from netsharp_lsp.settings import Settings, SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Find = Callable[[str], Settings]


def excluder(find: Find) -> Callable[[str], bool]:
    """Return whether settings exclude a file or folder, by its absolute path, from a walk."""
    return lambda path: find(os.path.dirname(path)).excludes(path)


def validate_settings(settings: Settings, known: Callable[[], tuple[str, ...]]) -> None:
    """Raise SettingsError where a code or prefix in settings names no rule."""
    per_file = [code for _, codes in settings.per_file_ignores for code in codes]
    given = (*settings.select, *settings.ignore, *per_file)
    problem = unknown_prefix(given, known()) if given else None
    if problem is not None:
        raise SettingsError(settings.file or "", None, problem)
