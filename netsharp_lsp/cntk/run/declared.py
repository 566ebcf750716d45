"""Runs of CNTK as settings declare them and as scripts start them; executes and reads nothing."""

from __future__ import annotations

import re

from netsharp_lsp.diagnostics.nearest import suggestion
from netsharp_lsp.workspace import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_CONFIG = re.compile(r"configFile=", re.IGNORECASE)
#: A word of a command line with its quotes, or what ends the command.
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|\\.|[^\s"'|&;<>])+|[|&;<>]+""")
_BATCH_WORD = re.compile(r"""(?:"[^"]*"|[^\s"|&<>])+|[|&<>]+""")
_OPERATORS = frozenset("|&;<>")
#: A word that may stand for further arguments: nobody knows for which.
_OPEN = re.compile(r"\$[@*0-9{A-Za-z_]|%[*0-9A-Za-z_~]")
_SHELL_SETS = re.compile(
    r"\s*(?:export\s+)?([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s;&|]*)\s*;?\s*\Z"
)
_BATCH_SETS = re.compile(r"\s*@?set\s+\"?([A-Za-z_]\w*)=([^\"\r\n]*?)\"?\s*\Z", re.IGNORECASE)
_SHELL_NAME = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*)(?!\w*\$))")
_BATCH_NAME = re.compile(r"%([A-Za-z_]\w*)%")
_KEYS = ("files", "set", "directory")


def declared_runs(table: object) -> list[Run] | str:
    """Read the value of `cntk.run` in settings; a sentence what is wrong with it."""
    if not isinstance(table, list):
        return "cntk.run must be tables: write [[cntk.run]]."
    runs = []
    for row in table:
        run = _declared(row)
        if isinstance(run, str):
            return run
        runs.append(run)
    return runs


def _declared(row: object) -> Run | str:
    if not isinstance(row, dict):
        return "cntk.run must be tables: write [[cntk.run]]."
    for key in row:
        if key not in _KEYS:
            return f"cntk.run has no key '{key}'.{suggestion(key, _KEYS) or ''}"
    for key in ("files", "set"):
        given = row.get(key, [])
        if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
            return f"cntk.run.{key} must be a list of strings."
    if not row.get("files"):
        return "cntk.run needs files: the configurations in the order in which they are layered."
    directory = row.get("directory", ".")
    if not isinstance(directory, str):
        return "cntk.run.directory must be a string."
    items = [f"configFile={name}" for name in row["files"]]
    return Run((*items, *row.get("set", [])), directory)


def script_runs(name: str, text: str) -> list[Run]:
    """Find the runs in a script, by the name of its file: every command with `configFile=`.

    Variables of the script are put in where it says their value in a line of its own. A run that
    gets arguments of the script's own is only supposed.
    """
    batch = not name.lower().endswith(".sh")
    known: dict[str, str] = {}
    runs: list[Run] = []
    for number, line in _lines(text, "^" if batch else "\\"):
        code = line.lstrip()
        if code.startswith("::" if batch else "#") or (batch and code.lower().startswith("rem ")):
            continue
        sets = (_BATCH_SETS if batch else _SHELL_SETS).match(line)
        if sets is not None:
            known[_folded(sets.group(1), batch)] = sets.group(2).strip("\"'")
        elif _CONFIG.search(line):
            runs += _runs_of(line, number, batch, known)
    return runs


def _lines(text: str, joins: str) -> Iterator[tuple[int, str]]:
    """Lines by their number; those that one continues are a part of it."""
    begun, start = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        if not begun:
            start = number
        if line.rstrip().endswith(joins):
            begun += line.rstrip()[: -len(joins)] + " "
            continue
        yield start, begun + line
        begun = ""
    if begun:
        yield start, begun


def _runs_of(line: str, number: int, batch: bool, known: dict[str, str]) -> Iterator[Run]:
    for words in _commands(line, batch):
        first = next((n for n, word in enumerate(words) if _CONFIG.match(_bare(word))), None)
        if first is None:
            continue
        # Assignments may stand before the first file; the program's own name has no '='.
        while first > 0 and re.match(r"[A-Za-z_]\w*=", _bare(words[first - 1])):
            first -= 1
        unknown: dict[str, None] = {}
        items = [_put(word, batch, known, unknown) for word in words[first:]]
        declared = not any("=" not in item and _OPEN.search(item) for item in items)
        items = [item for item in items if "=" in item]
        yield Run(tuple(items), line=number, unknown=tuple(unknown), declared=declared)


def _commands(line: str, batch: bool) -> Iterator[list[str]]:
    """The words of each command of a line; what a command's streams go to is left out."""
    words: list[str] = []
    skips = False
    for found in (_BATCH_WORD if batch else _WORD).finditer(line):
        word = found.group()
        if not set(word) <= _OPERATORS:
            if not skips and not (word.isdigit() and line[found.end() :].startswith(">")):
                words.append(word)
            skips = False
        elif word[0] in "<>":
            skips = True
        else:
            yield words
            words = []
    yield words


def _put(word: str, batch: bool, known: dict[str, str], unknown: dict[str, None]) -> str:
    """A word without its quotes, with the script's variables in place."""
    if not batch and word.startswith("'"):
        return _bare(word)

    def value(found: re.Match[str]) -> str:
        name = next(filter(None, found.groups()))
        folded = _folded(name, batch)
        if folded not in known:
            unknown[name] = None
            return found.group()
        return known[folded]

    return (_BATCH_NAME if batch else _SHELL_NAME).sub(value, _bare(word))


def _bare(word: str) -> str:
    """A word as the program gets it: quotes of the shell are gone."""
    return re.sub(r"\"([^\"]*)\"|'([^']*)'", lambda m: m.group(1) or m.group(2) or "", word)


def _folded(name: str, batch: bool) -> str:
    return name.lower() if batch else name
