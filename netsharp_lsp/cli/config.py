"""`netsharp config`: show what a CNTK configuration evaluates to, and where each value is from."""

from __future__ import annotations

import os
import sys

from netsharp_lsp.cli.configuration_report import (
    as_text,
    effective_as_json,
    experiments_as_text,
    report_faults,
    value_as_json,
)
from netsharp_lsp.cli.project import (
    UsageError,
    add_settings_arguments,
    roots_for,
    settings_finder,
)
from netsharp_lsp.cli.terminal import complain, give, give_exactly, say
from netsharp_lsp.cntk.configuration.commands import Effective, command, commands, effective
from netsharp_lsp.cntk.configuration.configuration import resolve_items
from netsharp_lsp.cntk.configuration.items import Item, read_item
from netsharp_lsp.cntk.configuration.tree import Value
from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.settings import SettingsError
from netsharp_lsp.text.json_text import to_json
from netsharp_lsp.workspace import GivenFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from netsharp_lsp.cntk.configuration.configuration import Configuration

DONE, FAULTY, FAILED = 0, 1, 2
STDIN = "-"


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
    only.add_argument("--get", metavar="PATH", help="one value, looked up as the program does")
    only.add_argument("--command", metavar="NAME", help="what holds for one command")
    only.add_argument("--flatten", action="store_true", help="all layers as one file")
    only.add_argument("--list", metavar="DIR", help="the experiments below a folder")
    add("--exact", action="store_true", help="with --get: do not look further out")
    add("--stdin-filename", metavar="NAME", default="<stdin>", help="the name of what comes as -")
    add("--format", choices=("text", "json"), default="text", help="how to say it")
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Resolve and show; 1 where something is absent or faulty, 2 where it cannot be read."""
    problem = _usage_problem(args)
    if problem is not None:
        complain(problem)
        return FAILED
    if args.list is not None:
        return _list(args)
    try:
        configuration = _resolved(args)
    except SettingsError as error:
        complain(str(error))
        return FAILED
    configuration.values()  # Finds what is wrong with blocks and variables, too.
    faulty = report_faults(configuration)
    if faulty == FAILED:
        return FAILED
    if args.get is not None:
        code = _get(configuration, args)
    elif args.flatten:
        code = _flatten(configuration)
    else:
        code = _show(configuration, args)
    return max(code, faulty)


def _usage_problem(args: argparse.Namespace) -> str | None:
    """What is wrong with the arguments as such."""
    if args.cd and not os.path.isdir(args.cd):
        return f"{args.cd}: there is no such folder. Name one after --cd."
    if args.list is not None:
        if args.items:
            return "--list takes one folder and no items. Name the folder behind --list."
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


def _resolved(args: argparse.Namespace) -> Configuration:
    items: list[Item] = []
    named: list[str] = [args.cd] if args.cd else []
    given: dict[str, bytes] = {}
    for text in args.items:
        name = args.stdin_filename if text == STDIN else None
        items.append(read_item(text) if name is None else Item("files", name, (name,)))
        if name is not None and not given:
            given[os.path.join(args.cd, name)] = sys.stdin.buffer.read()
    folder = args.cd
    for item in items:
        if item.kind == "folder":
            folder = os.path.join(folder, item.paths[0])
            named.append(folder)
        named += [os.path.join(folder, path) for path in item.paths if item.kind == "files"]
    roots = roots_for(named, args)
    return resolve_items(items, DiskFiles(given=given, roots=roots), args.cd)


def _get(configuration: Configuration, args: argparse.Namespace) -> int:
    found = configuration.get(args.get, climb=not args.exact)
    if found is None:
        complain(f"{args.get}: there is no such value.")
        return FAULTY
    value = Value(args.get, found, args.get.count("."))
    if args.format == "json":
        _print_json(value_as_json(value))
        return DONE if value.value is not None else FAULTY
    if value.value is None:
        complain(f"{args.get}: {value.raw} has no value; a variable in it is not known.")
        return FAULTY
    give_exactly(f"{value.value}\n".encode("utf-8", "backslashreplace"))
    return DONE


def _flatten(configuration: Configuration) -> int:
    from netsharp_lsp.cntk.configuration.flattening import flattened, same_tree

    text = flattened(configuration)
    again = resolve_items([Item("files", "", ("flat",))], GivenFiles({"flat": text}))
    if not same_tree(configuration, again):
        complain("one file cannot say what these items say: an argument holds a '#'. Leave it out.")
        return FAULTY
    give_exactly(text)
    return DONE


def _show(configuration: Configuration, args: argparse.Namespace) -> int:
    if args.command is not None:
        one = command(configuration, args.command)
        if one.found is None:
            names = ", ".join(it.name for it in commands(configuration))
            complain(f"there is no block '{args.command}'. The commands are: {names}.")
            return FAULTY
        shown = effective(configuration, one)
    else:
        shown = [Effective(value) for value in configuration.values()]
    if args.format == "json":
        files = [source.name for source in configuration.layers.sources]
        marked = args.command is not None
        rows = [effective_as_json(one, marked) for one in shown]
        _print_json({"version": 1, "files": files, "values": rows})
    else:
        say(as_text(shown))
    return DONE


def _list(args: argparse.Namespace) -> int:
    from netsharp_lsp.project.experiments import experiments

    try:
        roots = roots_for([args.list, *([args.cd] if args.cd else [])], args)
        find = settings_finder(args, roots)
        excludes = find(os.path.abspath(args.list)).excludes
    except (SettingsError, UsageError) as error:
        complain(str(error))
        return FAILED
    listed = experiments(args.list, excludes, args.cd, roots)
    if args.format == "json":
        _print_json(listed)
    else:
        say(experiments_as_text(listed))
    return DONE


def _print_json(document: dict[str, Any]) -> None:
    give(f"{to_json(document, indent=2)}\n")
