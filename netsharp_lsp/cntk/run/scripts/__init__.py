"""Runs of CNTK as scripts start them: every command with `configFile=`. Executes nothing; scripts
that others source come through a reader that is passed in.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import accumulate

from netsharp_lsp.cntk.run.scripts.batch import batch_commands
from netsharp_lsp.cntk.run.scripts.shell import shell_commands
from netsharp_lsp.cntk.run.scripts.words import OPEN, ScriptPart, ScriptWord
from netsharp_lsp.limits import SCRIPT_DEPTH
from netsharp_lsp.workspace import Hole, Run, StartedAt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from netsharp_engine.limits import Limit
    from netsharp_lsp.cntk.run.scripts.words import Started

_CONFIG = re.compile(r"configFile=", re.IGNORECASE)
_FOLDER = re.compile(r"currentDirectory=", re.IGNORECASE)
_ASSIGNS = re.compile(r"[A-Za-z_]\w*=")
_TAKES_IN = re.compile(r"(?m)^[ \t]*(?:\.|source)[ \t]")
_LEADING = re.compile(rf"{OPEN}[/\\]*")
#: The number of characters that are counted together.
_STRETCH = 1 << 10
#: What is started by these is only shown.
_SHOWING = frozenset(("echo", "printf", "@echo", "rem", "test", "["))


class ScriptRuns:
    """The runs that a script starts, and the limits at which it was not followed to its end."""

    __slots__ = ("passed", "runs")

    def __init__(self, runs: list[Run], passed: Sequence[Limit]) -> None:
        self.runs = runs
        self.passed = passed


def _nothing(path: str) -> str | None:
    return None


def starts_runs(text: str) -> bool:
    """Return whether a script names a configuration where it starts something."""
    return _CONFIG.search(text) is not None


def script_runs(name: str, text: str, read: Callable[[str], str | None] = _nothing) -> ScriptRuns:
    """Find the runs in a script, by the name of its file.

    Variables of the script are substituted where their values are known; `read` returns the text of
    a script that this one sources. A run that gets the script's own arguments is only assumed.
    """
    batch = name.lower().endswith((".cmd", ".bat"))
    starting = starts_runs(text)
    if not starting and (batch or _TAKES_IN.search(text) is None):
        return ScriptRuns([], ())

    def taken_in(parts: Sequence[ScriptPart], followed: Sequence[str]) -> str | None:
        nonlocal starting
        found = _other_script(parts, followed, read)
        starting = starting or (found is not None and starts_runs(found))
        return found

    passed: dict[Limit, None] = {}
    if batch:
        commands = batch_commands(text, passed.setdefault)
    else:
        commands = shell_commands(text, taken_in, passed.setdefault)
    places = _Places(text)
    runs = (_run(command, name, places) for command in commands)
    found = {run.key: run for run in runs if run is not None}
    return ScriptRuns(list(found.values()), tuple(passed) if starting else ())


def _other_script(
    parts: Sequence[ScriptPart], followed: Sequence[str], read: Callable[[str], str | None]
) -> str | None:
    """Return the text of a script that another sources. In an unknown folder it is not one of those
    that are being followed, but one of that name further up.
    """
    path = path_of(parts)
    found = read(path)
    if not parts or not parts[0].guess.startswith(OPEN):
        return found
    for _ in range(SCRIPT_DEPTH.most):
        if found is None or found not in followed:
            return found
        path = f"../{path}"
        found = read(path)
    return None


def path_of(parts: Sequence[ScriptPart]) -> str:
    """Return a path as far as it is known: one in an unknown folder is relative to the script's
    own.
    """
    guessed = "".join(part.guess for part in parts)
    opened = _LEADING.match(guessed)
    return (guessed[opened.end() :] if opened is not None else guessed).replace(OPEN, "?")


class _Places:
    """The positions of characters of a script, in bytes and lines; each query takes constant
    time.
    """

    __slots__ = ("_before", "_ends", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = [found.start() for found in re.finditer("\n", text)]
        starts = range(0, len(text), _STRETCH)
        sizes = (len(text[start : start + _STRETCH].encode()) for start in starts)
        self._before = list(accumulate(sizes, initial=0))

    def byte(self, at: int) -> int:
        """Return the bytes before a character."""
        stretch = at // _STRETCH
        return self._before[stretch] + len(self._text[stretch * _STRETCH : at].encode())

    def line(self, at: int) -> int:
        """Return the line of a character, from 1."""
        return bisect_left(self._ends, at) + 1


def _run(command: Started, name: str, places: _Places) -> Run | None:
    words = command.words
    first = next((n for n, word in enumerate(words) if _CONFIG.match(word.text)), None)
    if first is None or words[0].text.lower() in _SHOWING:
        return None
    # Assignments may precede the first file; CNTK's own name has no '='.
    while first > 0 and _ASSIGNS.match(words[first - 1].text):
        first -= 1
    given = words[first:]
    items = _with_folders([word for word in given if "=" in word.text], command.folder)
    texts: list[str] = []
    holes: list[Hole] = []
    for number, word in enumerate(items):
        if _CONFIG.match(word.text):
            texts.append(_files(word))
            continue
        texts.append(word.text)
        holes += _holes(number, word)
    unknown = {part.name: None for word in items for part in word.parts if part.name}
    spans = [(places.byte(it.span[0]), places.byte(it.span[1])) for it in items]
    origin = StartedAt(name, places.line(items[0].span[0]), tuple(spans))
    return Run(
        tuple(texts),
        command.folder or ".",
        tuple(unknown),
        declared=not any("=" not in word.text and not word.is_known for word in given),
        holes=tuple(holes),
        origin=origin,
    )


def _with_folders(items: list[ScriptWord], folder: str) -> list[ScriptWord]:
    """Substitute the folder of configurations, where only its name is known: a run is used only
    where they are found in the folder of the script.
    """
    named = [
        part for word in items if _CONFIG.fullmatch(word.parts[0].text) for part in word.parts[1:2]
    ]
    folders = {
        part.name: ScriptPart(f".{part.guess[1:]}")
        for part in named
        if part.guess.startswith(OPEN) and OPEN not in part.guess[1:]
    }
    if folder or not folders:
        return items
    return [
        word
        if _CONFIG.match(word.text)
        else ScriptWord([folders.get(part.name, part) for part in word.parts], word.span)
        for word in items
    ]


def _holes(number: int, word: ScriptWord) -> Iterator[Hole]:
    at = 0
    for part in word.parts:
        if part.name:
            yield Hole(number, at, at + len(part.text), part.name)
        at += len(part.text)


def _files(word: ScriptWord) -> str:
    """Return the item that names configurations, their folders as far as they are known."""
    first, *rest = word.parts
    begin = first.text.index("=") + 1
    paths = map(path_of, _parted([ScriptPart(first.text[begin:]), *rest], "+"))
    return first.text[:begin] + "+".join(paths)


def _parted(parts: Sequence[ScriptPart], sign: str) -> list[list[ScriptPart]]:
    """Return parts split at the signs of the known text."""
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
