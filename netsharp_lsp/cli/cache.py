"""`netsharp cache`: the prepared tables that runs have kept, listed or removed.

Knows where they lie and what they were made of, not what is in them.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from netsharp_engine.data.storage.places import (
    BESIDE,
    KeptTable,
    cleared,
    folder_for,
    listed,
    remove_leftovers_in,
)
from netsharp_engine.memory import shown_bytes
from netsharp_lsp.cli.console.terminal import complain, say
from netsharp_lsp.text.json_text import to_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

DONE, FAILED = 0, 2
ACTIONS = ("list", "clear")
#: Units of age, the largest first, in seconds.
UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
#: The most files of a table that are named.
MOST_NAMED = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp cache` understands."""
    add = parser.add_argument
    add(
        "words",
        metavar="[list|clear] PLACE",
        nargs="*",
        help="list (default) or clear, then folders, or models in them (default: the current "
        "folder and the user's own)",
    )
    add(
        "--stale",
        action="store_true",
        help="only tables that are damaged, or whose source files have changed",
    )
    add("--format", choices=("text", "json"), default="text", help="the format of the list")


def run(args: argparse.Namespace) -> int:
    """List tables, or remove them; 0 done, 2 could not."""
    action, places = ACTIONS[0], args.words
    if places and places[0] in ACTIONS:
        action, *places = places
    missing = next((place for place in places if not os.path.exists(place)), None)
    if missing is not None:
        complain(f"There is no folder {missing}. Name one that holds a model, or none.")
        return FAILED
    folders = _folders(places)
    found = [
        table
        for folder in folders
        for table in listed(folder)
        if not args.stale or table.state != "usable"
    ]
    if action == "clear":
        return _clear(found, folders)
    if args.format == "json":
        say([to_json([_as_json(table) for table in found])])
    else:
        say(_shown(found))
    return DONE


def _folders(places: Sequence[str]) -> list[str]:
    """Return the folders of tables that places mean, each once."""
    if not places:
        return [os.path.abspath(BESIDE), folder_for(None)]
    meant = [place if os.path.isdir(place) else os.path.dirname(place) for place in places]
    whole = [os.path.abspath(each) for each in meant]
    return list(
        dict.fromkeys(
            each if os.path.basename(each) == BESIDE else os.path.join(each, BESIDE)
            for each in whole
        )
    )


def _clear(found: Sequence[KeptTable], folders: Sequence[str]) -> int:
    """Remove tables and remains of killed runs, and report what could not be removed."""
    failed = False
    size = 0
    for table in found:
        try:
            cleared(table)
            size += table.size
        except OSError as error:
            failed = True
            complain(f"{table.path}: cannot be removed: {error.strerror}.")
    for folder in folders:
        remove_leftovers_in(folder)
    if not failed:
        say([f"{_counted(len(found), 'table')} removed, {shown_bytes(size)}."])
    return FAILED if failed else DONE


def _shown(found: Sequence[KeptTable]) -> Iterator[str]:
    """Yield a line or two for each table, and a sum."""
    now = time.time()
    for table in found:
        named = ", ".join(map(_near, table.sources[:MOST_NAMED])) or "of unknown files"
        more = len(table.sources) - MOST_NAMED
        named += f" and {more:,} more" if more > 0 else ""
        yield f"{named}: {shown_bytes(table.size)}, {_age(now - table.written)}, {table.state}"
        yield f"  {_near(table.path)}"
    yield f"{_counted(len(found), 'table')}, {shown_bytes(sum(table.size for table in found))}."


def _near(path: str) -> str:
    """Return a path as it is seen from here where it lies below."""
    here = os.path.join(os.getcwd(), "")
    return path.removeprefix(here)


def _as_json(table: KeptTable) -> dict[str, object]:
    return {
        "path": table.path,
        "sources": list(table.sources),
        "bytes": table.size,
        "written": table.written,
        "state": table.state,
    }


def _age(seconds: float) -> str:
    """Return a time span as text, in the largest unit that is not 0."""
    unit, size = next((each for each in UNITS if seconds >= each[1]), UNITS[-1])
    return f"{_counted(int(max(seconds, 0) // size), unit)} old"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
