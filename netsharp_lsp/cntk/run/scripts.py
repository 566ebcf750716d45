"""Runs of CNTK as scripts start them: every command with `configFile=`. Executes nothing; scripts
that others take in come through a reader that is passed in.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.run.batch import batch_commands
from netsharp_lsp.cntk.run.shell import OPEN, ScriptPart, shell_commands
from netsharp_lsp.workspace import Hole, Run, StartedAt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from netsharp_lsp.cntk.run.shell import ScriptWord, Started

_CONFIG = re.compile(r"configFile=", re.IGNORECASE)
_FOLDER = re.compile(r"currentDirectory=", re.IGNORECASE)
_ASSIGNS = re.compile(r"[A-Za-z_]\w*=")
_TAKES_IN = re.compile(r"(?m)^[ \t]*(?:\.|source)[ \t]")
_LEADING = re.compile(rf"{OPEN}[/\\]*")
#: What is started by these is only shown.
_SHOWING = frozenset(("echo", "printf", "@echo", "rem", "test", "["))


def _nothing(path: str) -> str | None:
    return None


def script_runs(name: str, text: str, read: Callable[[str], str | None] = _nothing) -> list[Run]:
    """Find the runs in a script, by the name of its file.

    Variables of the script are put in where it says their value; `read` gives the text of a script
    that this one takes in. A run that gets arguments of the script's own is only supposed.
    """
    batch = name.lower().endswith((".cmd", ".bat"))
    if _CONFIG.search(text) is None and (batch or _TAKES_IN.search(text) is None):
        return []
    if batch:
        commands = batch_commands(text)
    else:
        commands = shell_commands(text, lambda parts: read(path_of(parts)))
    runs = (_run(command, name, text) for command in commands)
    return list({run.key: run for run in runs if run is not None}.values())


def path_of(parts: Sequence[ScriptPart]) -> str:
    """A path as far as it is known: one in a folder that is not is taken from the script's own."""
    guessed = "".join(part.guess for part in parts)
    opened = _LEADING.match(guessed)
    return (guessed[opened.end() :] if opened is not None else guessed).replace(OPEN, "?")


def _run(command: Started, name: str, text: str) -> Run | None:
    words = command.words
    first = next((n for n, word in enumerate(words) if _CONFIG.match(word.text)), None)
    if first is None or words[0].text.lower() in _SHOWING:
        return None
    # Assignments may stand before the first file; the program's own name has no '='.
    while first > 0 and _ASSIGNS.match(words[first - 1].text):
        first -= 1
    given = words[first:]
    items = [word for word in given if "=" in word.text]
    texts: list[str] = []
    holes: list[Hole] = []
    for number, word in enumerate(items):
        if _CONFIG.match(word.text):
            texts.append(_files(word))
            continue
        texts.append(word.text)
        holes += _holes(number, word)
    unknown = {part.name: None for word in items for part in word.parts if part.name}
    spans = [(len(text[: it.span[0]].encode()), len(text[: it.span[1]].encode())) for it in items]
    origin = StartedAt(name, text.count("\n", 0, items[0].span[0]) + 1, tuple(spans))
    return Run(
        tuple(texts),
        command.folder or ".",
        tuple(unknown),
        declared=not any("=" not in word.text and not word.is_known for word in given),
        holes=tuple(holes),
        origin=origin,
    )


def _holes(number: int, word: ScriptWord) -> Iterator[Hole]:
    at = 0
    for part in word.parts:
        if part.name:
            yield Hole(number, at, at + len(part.text), part.name)
        at += len(part.text)


def _files(word: ScriptWord) -> str:
    """The item that names configurations, their folders as far as they are known."""
    first, *rest = word.parts
    begin = first.text.index("=") + 1
    paths = map(path_of, _parted([ScriptPart(first.text[begin:]), *rest], "+"))
    return first.text[:begin] + "+".join(paths)


def _parted(parts: Sequence[ScriptPart], sign: str) -> list[list[ScriptPart]]:
    """Parts cut where what is known has a sign."""
    found: list[list[ScriptPart]] = [[]]
    for part in parts:
        if part.name:
            found[-1].append(part)
            continue
        for number, piece in enumerate(part.text.split(sign)):
            if number:
                found.append([])
            if piece:
                found[-1].append(ScriptPart(piece))
    return found
