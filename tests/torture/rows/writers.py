"""Several at once: commands and an editor write the same files, and nothing is lost or half."""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path

from tests.torture.campaign import Report, Row, Try
from tests.torture.process import contents, faults, leftovers, netsharp, start, torn
from tests.torture.workshop import REWRITING, UGLY, rewritten, shelf

#: What an editor's user adds while a command works on a text that takes it a while.
LINE = "// A line of somebody who writes here, too.\n"
LONG = "".join(UGLY.replace("Full", f"Full{n}").format(number=n, nodes=9) for n in range(500))
ALONE = (("fmt", "long.nn"), ("check", "--fix", "--isolated", "long.nn"))
INSTANT = 5_000_000
WRITERS = 3


def attempt(one: Try) -> Report:
    """Several commands on the same files, or a command and a user who adds lines."""
    return Report(1, (_together if one.number % 2 else _beside_an_editor)(one))


def _together(one: Try) -> list[str]:
    command = list(REWRITING)[one.chance.randrange(len(REWRITING))]
    done, before, after = rewritten(command)
    REWRITING[command](one.folder)
    children = []
    for _ in range(one.chance.randint(2, WRITERS)):
        children.append(start(*command, cwd=one.folder))
        time.sleep(one.chance.uniform(0, 0.15))
    found = [fault for child in children for fault in faults(child.end(), {0, 1, 2, done.code})]
    found += torn(before, after, one.folder)
    now = contents(one.folder)
    for name, data in after.items():
        if now.get(name) != data and all(child.end().code in (0, 1) for child in children):
            found.append(f"{name}: not as it becomes, and nobody says so")
    return found + leftovers(one.folder, before, after)


def _beside_an_editor(one: Try) -> list[str]:
    """A line is added to a text while it is rewritten: it is there in the end."""
    command = one.chance.choice(ALONE)
    path = one.folder / "long.nn"
    path.write_text(LONG, encoding="utf-8")
    child = start(*command, cwd=one.folder)
    if not child.passed(one.chance.uniform(0.0, _duration(command))):
        return faults(child.end(), {0, 1})
    _append(path, LINE)
    at = time.time_ns()
    ended = child.end()
    found = faults(ended, {0, 1, 2})
    # Between the last look at a file and its replacement is a moment that no system closes.
    if LINE not in path.read_text(encoding="utf-8") and path.stat().st_ctime_ns - at > INSTANT:
        found.append(f"{ended}: a line of somebody else's is lost")
    return found + leftovers(one.folder, (path.name,))


@cache
def _duration(command: tuple[str, ...]) -> float:
    """The seconds that a command takes where nothing else writes."""
    folder = shelf() / f"alone-{ALONE.index(command)}"
    folder.mkdir()
    (folder / "long.nn").write_text(LONG, encoding="utf-8")
    return netsharp(*command, cwd=folder).wall


def _append(path: Path, line: str) -> None:
    """Save as an editor does: write the whole text aside and put it in place at once."""
    text = path.read_bytes() + line.encode()
    aside = path.with_name(f"{path.name}.edited")
    aside.write_bytes(text)
    os.replace(aside, path)


ROW = Row(
    "writers",
    "two or three of fmt, check --fix and migrate --write on the same files at once, or one beside "
    "somebody who adds lines: nothing lost, nothing half, nothing left over",
    attempt,
)
