"""Settings as commands use them: --config and --isolated, exclusion, codes that must exist."""

from __future__ import annotations

import os

from netsharp_lsp.diagnostics.selection import unknown_prefix
from netsharp_lsp.settings import Settings, SettingsError, SettingsFinder, read_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    Find = Callable[[str], Settings]


class UsageError(Exception):
    """Arguments without which a command cannot start, as a sentence."""


def add_settings_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say where settings come from."""
    group = parser.add_argument_group("settings").add_mutually_exclusive_group()
    group.add_argument("--config", metavar="FILE", help="read settings from this file alone")
    group.add_argument("--isolated", action="store_true", help="read no settings")


def settings_finder(args: argparse.Namespace) -> Find:
    """Return the function that gives a folder's settings; it may raise SettingsError."""
    if args.isolated:
        defaults = Settings()
        return lambda _: defaults
    if args.config is not None:
        given = read_settings(os.path.abspath(args.config))
        return lambda _: given
    return SettingsFinder().find


def excluder(find: Find) -> Callable[[str], bool]:
    """Return whether settings exclude a file or folder, by its absolute path, from a walk."""
    return lambda path: find(os.path.dirname(path)).excludes(path)


def validate_codes(codes: Iterable[str], known: Callable[[], tuple[str, ...]]) -> None:
    """Raise UsageError where a code or prefix of a flag names no rule."""
    given = tuple(codes)
    problem = unknown_prefix(given, known()) if given else None
    if problem is not None:
        raise UsageError(problem)


def validate_settings(settings: Settings, known: Callable[[], tuple[str, ...]]) -> None:
    """Raise SettingsError where a code or prefix in settings names no rule."""
    per_file = [code for _, codes in settings.per_file_ignores for code in codes]
    given = (*settings.select, *settings.ignore, *per_file)
    problem = unknown_prefix(given, known()) if given else None
    if problem is not None:
        raise SettingsError(settings.file or "", None, problem)
