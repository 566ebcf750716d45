"""The results of `netsharp config`: values, one file for all layers, experiments.

Reads disk; knows no terminal.
"""

from __future__ import annotations

import os

from netsharp_lsp.cntk.commands.configuration_report import (
    as_text,
    effective_as_json,
    experiments_as_text,
    faults_of,
    value_as_json,
)
from netsharp_lsp.cntk.commands.settings import declared_in
from netsharp_lsp.cntk.configuration.items import Item, read_item
from netsharp_lsp.cntk.configuration.meaning.commands import Effective, command, commands, effective
from netsharp_lsp.cntk.configuration.meaning.configuration import resolve_items
from netsharp_lsp.cntk.configuration.meaning.tree import Value
from netsharp_lsp.cntk.run.files import RunFiles
from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.questions import Answer
from netsharp_lsp.workspace import GivenFiles, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.cntk.configuration.meaning.configuration import Configuration
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.questions import Lookup
    from netsharp_lsp.settings import Settings

DONE, FAULTY, FAILED = 0, 1, 2
STDIN = "-"


def resolve(request: Lookup) -> Answer:
    """Resolve items and return the answer; exit code 1 where something is absent or faulty, 2 where
    it cannot be read.
    """
    configuration, settings = _resolved(request)
    configuration.values()  # Finds what is wrong with blocks and variables, too.
    sentences, faulty = faults_of(configuration)
    if faulty == FAILED:
        return Answer(FAILED, sentences)
    if request.path is not None:
        answer = _get(configuration, request, request.path)
    elif request.flat:
        answer = _flatten(configuration)
    else:
        answer = _show(configuration, request, settings)
    answer.complaints = (*sentences, *answer.complaints)
    answer.code = max(answer.code, faulty)
    return answer


def listed(folder: str, excludes: Callable[[str], bool], directory: str, roots: Roots) -> Answer:
    """Return the experiments below a folder."""
    from netsharp_lsp.cntk.commands.listing import experiments

    found = experiments(folder, excludes, directory, roots)
    return Answer(document=found, lines=experiments_as_text(found))


def _resolved(request: Lookup) -> tuple[Configuration, Settings]:
    items: list[Item] = []
    named: list[str] = [request.folder] if request.folder else []
    given: dict[str, bytes] = {}
    for text in request.items:
        name = request.stdin_name if text == STDIN else None
        items.append(read_item(text) if name is None else Item("files", name, (name,)))
        if name is not None and not given:
            given[os.path.join(request.folder, name)] = request.stdin()
    folder = request.folder
    for item in items:
        if item.kind == "folder":
            folder = os.path.join(folder, item.paths[0])
            named.append(folder)
        named += [os.path.join(folder, path) for path in item.paths if item.kind == "files"]
    roots = request.roots_for(named)
    first = next((path for item in items if item.kind == "files" for path in item.paths), "")
    beside = os.path.dirname(os.path.abspath(os.path.join(folder, first)))
    settings = request.settings_for(beside, roots)
    run = Run(tuple(request.items), request.folder)
    files = RunFiles(DiskFiles(given=given, roots=roots), run)
    return resolve_items(items, files, files.started), settings


def _get(configuration: Configuration, request: Lookup, path: str) -> Answer:
    found = configuration.get(path, climb=not request.exact)
    if found is None:
        return Answer(FAULTY, (f"{path}: no such value exists.",))
    value = Value(path, found, path.count("."))
    if request.json:
        return Answer(DONE if value.value is not None else FAULTY, document=value_as_json(value))
    if value.value is None:
        unknown = f"{path}: {value.raw} has no value; a variable in it is unknown."
        return Answer(FAULTY, (unknown,))
    return Answer(text=f"{value.value}\n".encode("utf-8", "backslashreplace"))


def _flatten(configuration: Configuration) -> Answer:
    from netsharp_lsp.cntk.configuration.meaning.flattening import flattened, same_tree

    text = flattened(configuration)
    again = resolve_items([Item("files", "", ("flat",))], GivenFiles({"flat": text}))
    if not same_tree(configuration, again):
        sign = "these items cannot be written as one file: an argument contains a '#'. Remove it."
        return Answer(FAULTY, (sign,))
    return Answer(text=text)


def _show(configuration: Configuration, request: Lookup, settings: Settings) -> Answer:
    if request.command is not None:
        one = command(configuration, request.command)
        if one.found is None:
            names = ", ".join(it.name for it in commands(configuration))
            absent = f"no block '{request.command}' exists. The commands are: {names}."
            return Answer(FAULTY, (absent,))
        shown = effective(configuration, one)
    else:
        shown = [Effective(value) for value in configuration.values()]
    if not request.json:
        lines = as_text(shown)
        return Answer(lines=lines if request.command is not None else (*lines, _release(settings)))
    files = [source.name for source in configuration.layers.sources]
    rows = [effective_as_json(one, request.command is not None) for one in shown]
    version = declared_in(settings).given.version or None
    release = {"name": version, "origin": settings.file if version is not None else None}
    document = {"version": 1, "files": files, "values": rows, "release": release}
    return Answer(document=document)


def _release(settings: Settings) -> str:
    """Return the release of CNTK that is used, and where it is set."""
    version = declared_in(settings).given.version
    if version:
        return f"[cntk] version = {version}  ({settings.file})"
    return "[cntk] version is not set  (the lowest release that knows every word of a run is used)"
