"""The CNTK experiments below a folder: their commands, networks and data.

Reads configurations and checks whether the files they name exist; evaluates no rule.
"""

from __future__ import annotations

import os
import re

from netsharp_lsp.cntk.commands.listed_models import models_below
from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.items import Item
from netsharp_lsp.cntk.configuration.meaning.commands import commands
from netsharp_lsp.cntk.configuration.meaning.configuration import resolve_items
from netsharp_lsp.cntk.configuration.meaning.tree import BUILDERS
from netsharp_lsp.cntk.configuration.options import DATA_FILES, DEFAULT_READER
from netsharp_lsp.cntk.configuration.scope import Found
from netsharp_lsp.cntk.recognition import Foreign, language_of
from netsharp_lsp.cntk.run.references import INCLUDE, NETWORK_FILE, named_in
from netsharp_lsp.cntk.suffixes import SUFFIXES
from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.project.roots import ANYWHERE, LEADS_OUT
from netsharp_lsp.project.walk import specifications_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.configuration.scope import Scope
    from netsharp_lsp.project.roots import Roots

_READERS = (b"reader", b"cvReader")


def experiments(
    folder: str,
    excludes: Callable[[str], bool],
    directory: str = "",
    roots: Roots = ANYWHERE,
) -> dict[str, Any]:
    """Return the result of `netsharp config --list` for a folder, as a JSON value.

    `directory` is where CNTK would be started; a configuration's own folder is tried after it.
    """
    found, skipped = _files(folder, excludes, roots)
    listed = []
    referred: set[str] = set()
    for name in (name for name, language in found.items() if language == "cntk"):
        one = _Experiment(name, directory, roots)
        listed.append(one.described())
        referred |= one.referred
    others = {name: language for name, language in found.items() if language != "cntk"}
    _follow(others, referred, roots)
    unused = [
        {"file": name, "language": language}
        for name, language in others.items()
        if not _is_referred(name, referred)
    ]
    return {
        "version": 1,
        "configurations": listed,
        "models": models_below(folder, excludes, roots, listed, directory),
        "unused": unused,
        "skipped": skipped,
    }


def _files(
    folder: str, excludes: Callable[[str], bool], roots: Roots
) -> tuple[dict[str, str], list[dict[str, str]]]:
    found: dict[str, str] = {}
    skipped: list[dict[str, str]] = []

    def leave(path: str) -> None:
        skipped.append({"file": os.path.normpath(path), "reason": LEADS_OUT})

    for path in specifications_below(folder, excludes, tuple(SUFFIXES), roots, leave):
        name = os.path.normpath(path)
        language = language_of(name, DiskFiles(roots=roots).read(path) or b"")
        if isinstance(language, Foreign):
            skipped.append({"file": name, "reason": language.reason})
        else:
            found[name] = language
    return found, skipped


class _Experiment:
    """One configuration, resolved alone, with the network files that it names in `referred`.

    A file that exists is there by canonical path, others only by name.
    """

    __slots__ = ("_configuration", "_files", "_name", "_values", "referred")

    def __init__(self, name: str, directory: str, roots: Roots) -> None:
        self._name = name
        given = {name: DiskFiles(roots=roots).read(name) or b""}
        self._files = DiskFiles((directory, os.path.dirname(name)), given, roots)
        self._configuration = resolve_items([Item("files", name, (name,))], self._files)
        self._values = self._configuration.values()
        self.referred: set[str] = set()

    def described(self) -> dict[str, Any]:
        """Return the row of the list."""
        run = commands(self._configuration)
        rows = [self._command(one) for one in run if one.scope is not None]
        data = list(self._data())
        self._refer()
        faults = self._configuration.faults
        return {
            "file": self._name,
            "commands": rows,
            "data": data,
            "problems": [str(fault) for fault in faults if fault.severity == "error"],
        }

    def _command(self, one: Command) -> dict[str, Any]:
        assert one.scope is not None
        readers = [
            kind
            for key in _READERS
            if one.scope.look_up(key) is not None and (block := one.scope.block(key)) is not None
            for kind in _reader_types(block)
        ]
        model = one.scope.look_up(b"modelPath")
        return {
            "name": one.name,
            "actions": list(one.actions),
            "network": self._network(one),
            "readers": list(dict.fromkeys(readers)),
            "model": None if model is None or model.problem else _decoded(model.text.text),
        }

    def _network(self, one: Command) -> dict[str, Any] | None:
        builder = one.builder
        if builder is None or one.scope is None:
            return None
        text = _decoded(builder.text.text)
        files = [*INCLUDE.findall(text)] if builder.entry.key.lower() in BUILDERS else []
        if not files and builder.entry.key.lower() not in BUILDERS:
            files = NETWORK_FILE.findall(text)
        return {"builder": _decoded(builder.entry.key), "files": files}

    def _data(self) -> Iterator[dict[str, Any]]:
        """Yield the files of readers, each once; unknown where a variable is not defined."""
        seen = set()
        for text, known in self._data_files():
            if text not in seen:
                seen.add(text)
                known = known and not self._files.outside(text)
                present = self._files.find(text) is not None if known else None
                yield {"path": text, "present": present}

    def _data_files(self) -> Iterator[tuple[str, bool]]:
        """Yield the files in the keys of readers, and whether every variable in them is known."""
        for value in self._values:
            key = value.entry.key.lower()
            if not _in_reader(value.path):
                continue
            if key == b"deserializers":
                yield from _deserialized(value.found)
            elif key in DATA_FILES and value.kind in ("text", "string"):
                known = value.value is not None
                yield (value.value or "") if known else value.raw, known

    def _refer(self) -> None:
        for value in self._values:
            if value.kind != "flag":
                text = _decoded(value.found.text.text)
                for path in named_in(text):
                    self.referred.add(_known_as(path, self._files))


def _follow(others: dict[str, str], referred: set[str], roots: Roots) -> None:
    """Add the files that the referred files refer to, recursively."""
    waiting = [name for name in others if _is_referred(name, referred)]
    done: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in done:
            continue
        done.add(name)
        files = DiskFiles((os.path.dirname(name), ""), roots=roots)
        text = _decoded(DiskFiles(roots=roots).read(name) or b"")
        for path in named_in(text):
            referred.add(_known_as(path, files))
        waiting += [name for name in others if name not in done and _is_referred(name, referred)]


def _known_as(path: str, files: DiskFiles) -> str:
    found = files.find(path) or files.find(_base(path))
    return os.path.realpath(found) if found is not None else _base(path).lower()


def _is_referred(name: str, referred: set[str]) -> bool:
    return os.path.realpath(name) in referred or _base(name).lower() in referred


def _base(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


def _in_reader(path: str) -> bool:
    """Return whether a block on the path to a value is a reader."""
    return any("reader" in key.lower() or key.lower() == "inputs" for key in path.split(".")[:-1])


def _reader_types(block: Scope) -> list[str]:
    """Return the types of a reader block: those of its parts where it is composed."""
    composed = block.look_up(b"deserializers", climb=False)
    if composed is not None:
        return [part.option(b"type", "?") for part in _parts(composed)]
    listed = block.look_up(b"readers", climb=False)
    if listed is None:
        return [block.option(b"readerType", DEFAULT_READER)]
    names = [element.text for element in elements(listed.text) or ()]
    inside = [part for name in names if (part := block.block(name)) is not None]
    return [part.option(b"readerType", DEFAULT_READER) for part in inside]


def _parts(composed: Found) -> list[Scope]:
    """Return the blocks of a list of blocks."""
    parts = elements(composed.text) or ()
    return [composed.scope.inside(Found(composed.entry, composed.scope, part)) for part in parts]


def _deserialized(composed: Found) -> Iterator[tuple[str, bool]]:
    """Yield the data files of the readers that one is composed of."""
    for part in _parts(composed):
        for entry in part:
            if entry.key.lower() in DATA_FILES:
                found = Found(entry, part, part.resolved(entry))
                yield _decoded(found.text.text), found.problem is None


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
