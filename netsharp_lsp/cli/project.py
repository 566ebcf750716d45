"""Settings as commands ask for them: --config and --isolated, codes of flags that must exist."""

from __future__ import annotations

import os

from netsharp_lsp.diagnostics.selection import unknown_prefix
from netsharp_lsp.settings import Settings, SettingsFinder, read_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from netsharp_lsp.project.folders import Find


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


def validate_codes(codes: Iterable[str], known: Callable[[], tuple[str, ...]]) -> None:
    """Raise UsageError where a code or prefix of a flag names no rule."""
    given = tuple(codes)
    problem = unknown_prefix(given, known()) if given else None
    if problem is not None:
        raise UsageError(problem)
