"""`netsharp config`: show what a CNTK configuration evaluates to, and where each value is from."""

from __future__ import annotations

import os
import sys

from netsharp_lsp.cli.arguments.settings import (
    UsageError,
    add_settings_arguments,
    roots_for,
    settings_finder,
)
from netsharp_lsp.cli.console.terminal import complain, give, give_exactly, say
from netsharp_lsp.language import family_with
from netsharp_lsp.questions import Lookup
from netsharp_lsp.settings import SettingsError
from netsharp_lsp.text.json_text import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from netsharp_lsp.family import Configurations
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.questions import Answer
    from netsharp_lsp.settings import Settings

FAILED = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp config` understands."""
    add = parser.add_argument
    add(
        "items",
        metavar="ITEM",
        nargs="*",
        help="in order: FILE, A+B, KEY=VALUE, configFile=A+B, currentDirectory=DIR",
    )
    add("--cd", metavar="DIR", default="", help="the folder that paths are relative to")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--get", metavar="PATH", help="one value, looked up as the toolkit does")
    only.add_argument("--command", metavar="NAME", help="the settings in effect for one command")
    only.add_argument("--flatten", action="store_true", help="print all files merged into one")
    only.add_argument("--list", metavar="DIR", help="list the experiments below a folder")
    add("--exact", action="store_true", help="with --get: do not look in enclosing blocks")
    add("--stdin-filename", metavar="NAME", default="<stdin>", help="the file name to report for -")
    add("--format", choices=("text", "json"), default="text", help="the format of the output")
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Resolve and show; 1 where something is absent or faulty, 2 where it cannot be read."""
    problem = _usage_problem(args)
    if problem is not None:
        complain(problem)
        return FAILED
    configurations = family_with(lambda family: family.configurations)
    try:
        answer = (_resolved if args.list is None else _listed)(configurations, args)
    except (SettingsError, UsageError) as error:
        complain(str(error))
        return FAILED
    for sentence in answer.complaints:
        complain(sentence)
    if answer.text is not None:
        give_exactly(answer.text)
    elif args.format == "json" and answer.document is not None:
        give(f"{to_json(answer.document, indent=2)}\n")
    else:
        say(answer.lines)
    return answer.code


def _usage_problem(args: argparse.Namespace) -> str | None:
    """Return a sentence about arguments that contradict each other, None where none do."""
    if args.cd and not os.path.isdir(args.cd):
        return f"{args.cd}: there is no such folder. Name one after --cd."
    if args.list is not None:
        if args.items:
            return "--list takes one folder and no items. Name the folder after --list."
        if not os.path.isdir(args.list):
            return f"{args.list}: there is no such folder. Name one after --list."
        return None
    if args.exact and args.get is None:
        return "--exact goes with --get PATH."
    if not args.items:
        return "no configuration is named. Give at least one file, or --list DIR."
    folders = [it for it in args.items if os.path.isdir(os.path.join(args.cd, it))]
    if folders:
        return f"{folders[0]}: is a folder. Name a file, or --list the folder."
    return None


def _resolved(configurations: Configurations, args: argparse.Namespace) -> Answer:
    def stdin() -> bytes:
        return sys.stdin.buffer.read()

    def settings_for(folder: str, roots: Roots) -> Settings:
        return settings_finder(args, roots)(folder)

    def around(named: Iterable[str]) -> Roots:
        return roots_for(named, args)

    name = args.stdin_filename
    request = Lookup(args.items, args.cd, around, settings_for, stdin, name)
    request.path, request.exact = args.get, args.exact
    request.command, request.flat = args.command, args.flatten
    request.json = args.format == "json"
    return configurations.resolve(request)


def _listed(configurations: Configurations, args: argparse.Namespace) -> Answer:
    roots = roots_for([args.list, *([args.cd] if args.cd else [])], args)
    excludes = settings_finder(args, roots)(os.path.abspath(args.list)).excludes
    return configurations.listed(args.list, excludes, args.cd, roots)
