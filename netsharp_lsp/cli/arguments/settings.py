"""Settings as commands ask for them: --config and --isolated, codes of flags that must exist."""

from __future__ import annotations

import os

from netsharp_lsp.cli.console.terminal import complain
from netsharp_lsp.diagnostics.selection import unknown_prefix
from netsharp_lsp.project.roots import own_roots, roots_around
from netsharp_lsp.settings import Settings, SettingsError, SettingsFinder, read_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from netsharp_lsp.project.folders import Find
    from netsharp_lsp.project.roots import Roots


class UsageError(Exception):
    """Arguments without which a command cannot start, as a sentence."""


def add_settings_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say where settings come from."""
    group = parser.add_argument_group("settings").add_mutually_exclusive_group()
    group.add_argument("--config", metavar="FILE", help="read settings only from this file")
    group.add_argument("--isolated", action="store_true", help="read no settings")
    add_root_argument(parser)


def add_root_argument(parser: argparse.ArgumentParser) -> None:
    """Add the flag by which a person lets files lead to other folders."""
    parser.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        help="also allow files to refer to files in this folder; may be repeated",
    )


def roots_for(names: Iterable[str], args: argparse.Namespace) -> Roots:
    """Return the roots of the files that a command line names, with those that the user adds.

    SettingsError where the person's own settings cannot be used.
    """
    alone = getattr(args, "isolated", False) or getattr(args, "config", None) is not None
    added = [*args.root, *(() if alone else own_roots())]
    for folder in args.root:
        if not os.path.isdir(folder):
            raise SettingsError(folder, None, "there is no such folder. Name one after --root.")
    if getattr(args, "config", None) is not None:
        added.append(os.path.dirname(os.path.abspath(args.config)))
    return roots_around([one for name in names for one in _files_of(name)], added)


def _files_of(name: str) -> list[str]:
    """Return the files that an argument means: FILE, A+B, HOST::NAME or REVISION:FILE."""
    if os.path.exists(name):
        return [name]
    name = name.partition("::")[0]
    revision, colon, path = name.partition(":")
    name = path if colon and len(revision) > 1 else name
    return [one for one in name.split("+") if one] if not os.path.exists(name) else [name]


def settings_finder(args: argparse.Namespace, roots: Roots) -> Find:
    """Return the function that gives a folder's settings; it may raise SettingsError."""
    if args.isolated:
        defaults = Settings()
        return lambda _: defaults
    if args.config is not None:
        given = read_settings(os.path.abspath(args.config))
        return lambda _: given
    return SettingsFinder(roots.leads_out, complain).find


def validate_codes(codes: Iterable[str], known: Callable[[], tuple[str, ...]]) -> None:
    """Raise UsageError where a code or prefix of a flag names no rule."""
    given = tuple(codes)
    problem = unknown_prefix(given, known()) if given else None
    if problem is not None:
        raise UsageError(problem)
