"""Finds the scripts of an NDL network: sections that `load` and `run` name, in the builder or in
files, and files of macros.  Evaluates nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.faults import TextFaults
from netsharp_lsp.cntk.configuration.named_files import file_text
from netsharp_lsp.cntk.configuration.scope import Scope
from netsharp_lsp.cntk.configuration.sources import Source, SourcePlace, read_text
from netsharp_lsp.cntk.configuration.traced import Weaver
from netsharp_lsp.cntk.ndl.evaluation import Part
from netsharp_lsp.cntk.ndl.reading import read_script
from netsharp_lsp.cntk.ndl.syntax import HOLE, NdlScript, place_of
from netsharp_lsp.cntk.networks.faults import BuildingFault, Place
from netsharp_lsp.limits import CNTK_WORDS
from netsharp_lsp.text.extent import words_of
from netsharp_lsp.workspace import outside

if TYPE_CHECKING:
    from typing import Protocol

    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.cntk.configuration.traced import Traced

    class Files(Protocol):
        """A reader of files."""

        def read(self, path: str) -> bytes | None:
            """Return the bytes of a file, None if it does not exist."""
            ...

        def outside(self, path: str) -> bool:
            """Return whether a file is unknown, because it is outside the allowed folders."""
            ...


_LOAD, _RUN = b"load", b"run"
#: Faults of brackets, which are also reported for the surrounding text.
_BRACKETS = frozenset(("unclosed", "unmatched"))


class Program(NamedTuple):
    """The scripts of a network in the order in which they are read, and what is missing.

    `candidates` are the sections of a file for which no run is known.
    """

    parts: tuple[Part, ...]
    faults: tuple[BuildingFault, ...]
    candidates: tuple[Part, ...] = ()


class Choice(NamedTuple):
    """The value of `load` or `run`: the text and its place."""

    text: Traced
    place: Place


def program_of_builder(found: Found, command_scope: Scope, files: Files) -> Program:
    """Return the scripts that a builder block names."""
    scope = command_scope.inside(found)
    collected = _Collected(files, scope)
    description = scope.look_up(b"networkDescription")
    macros = scope.look_up(b"ndlMacros")
    if macros is not None:
        collected.macros(macros)
    if description is not None and description.text.text:
        collected.described(description, _choice(scope, _LOAD), _choice(scope, _RUN))
    else:
        collected.inline(scope, found)
    return collected.program


def program_of_file(source: Source) -> Program:
    """Return the scripts of a file alone: its variables have no values."""
    faults = TextFaults()
    collected = _Collected(None, Scope(Weaver().done(), faults))
    collected.file(collected.put(source), None, None)
    unknown: dict[str, BuildingFault] = {}
    for one in faults:
        if one.kind == "undefined" and one.place is not None:
            fault = BuildingFault("undefined-variable", one.message, _at(one.place))
            unknown.setdefault(one.message, fault)
    return collected.program._replace(faults=(*collected.faults, *unknown.values()))


def program_of_macros(source: Source, scope: Scope) -> Program:
    """Return the scripts of a file of macros that a command names."""
    collected = _Collected(None, scope)
    collected.file(collected.put(source), None, None, role="macros")
    return collected.program


def plugged(text: Traced) -> Traced:
    """Return a text in which variables without a value are marked without `$`, which would be a
    separator in a call.
    """
    mark = HOLE.encode()
    weaver = Weaver()
    at = 0
    for use in text.uses:
        if use.problem is None or use.at < at or use.end <= use.at:
            continue
        weaver.take(text, at, use.at)
        weaver.add_placeholder(mark + use.name.encode() + mark, text.place(use.at, use.end))
        at = use.end
    if not at:
        return text
    weaver.take(text, at, len(text))
    return weaver.done()


class _Collected:
    """The scripts found so far."""

    def __init__(self, files: Files | None, scope: Scope) -> None:
        self._files = files
        self._scope = scope
        self.parts: list[Part] = []
        self.candidates: list[Part] = []
        self.faults: list[BuildingFault] = []
        self._words = 0

    @property
    def program(self) -> Program:
        """Return the results."""
        return Program(tuple(self.parts), tuple(self.faults), tuple(self.candidates))

    def put(self, source: Source) -> Traced:
        """Return a file's text with its variables substituted."""
        return plugged(file_text(source, self._scope))

    def _fault(self, kind: str, message: str, place: Place) -> None:
        self.faults.append(BuildingFault(kind, message, place))

    def macros(self, found: Found) -> None:
        """Collect the files that `ndlMacros` names, each by itself."""
        if found.entry.kind == "block":
            message = (
                "'ndlMacros' names files of macros, but is given a block, whose text CNTK"
                " reads as a path. Give the section another name."
            )
            self._fault("missing-file", message, _whole(found.text))
            return
        for path in filter(None, _decoded(found.text).split("+")):
            text = self._read(path, found)
            if text is not None:
                self.file(text, None, None, role="macros")

    def described(self, found: Found, load: Choice | None, run: Choice | None) -> None:
        """Collect the file that `networkDescription` names; `load` and `run` next to it apply to
        it.
        """
        path = _decoded(found.text)
        if "+" in path:
            message = (
                f"'networkDescription' names one file, but '{path}' is read as several. Name"
                " files of macros in 'ndlMacros'."
            )
            self._fault("several-files", message, _whole(found.text))
            return
        text = self._read(path, found)
        if text is not None:
            self.file(text, load, run)

    def _read(self, path: str, found: Found) -> Traced | None:
        if HOLE in path or found.problem is not None or self._files is None:
            return None
        data = self._files.read(path)
        if data is None and self._files.outside(path):
            self._fault("outside", outside(path), _whole(found.text))
            return None
        if data is None:
            message = f"{path}: there is no such file. Paths are relative to the working directory."
            self._fault("missing-file", message, _whole(found.text))
            return None
        source = read_text(path, data)
        if isinstance(source, str):
            self._fault("unreadable", f"{path}: {source}", _whole(found.text))
            return None
        self._words += words_of(source.text)
        if self._words > CNTK_WORDS.most:
            message = (
                f"'{path}' is not read: the files of a network have at most {CNTK_WORDS} together."
            )
            self._fault("too-much", message, _whole(found.text))
            return None
        return self.put(source)

    def inline(self, scope: Scope, found: Found) -> None:
        """Collect the sections in the builder or around it: one each."""
        load, run = _choice(scope, _LOAD), _choice(scope, _RUN)
        if load is not None:
            self._section(scope, load, "load")
        if run is None and found.problem is not None:
            # The substituted variables may name it.
            return
        if run is None:
            message = (
                "an NDLNetworkBuilder needs 'run = section' or 'networkDescription = file':"
                " without one there is no network."
            )
            self._fault("no-run", message, _whole(found.text))
            return
        self._section(scope, run, "run")

    def _section(self, scope: Scope, choice: Choice, role: str) -> None:
        """Collect one section by its name, which is not split here."""
        name = _decoded(choice.text)
        if HOLE in name or _has_hole(choice.text):
            return
        found = scope.look_up(name.encode())
        if found is None:
            split = elements(choice.text) or ()
            note = ""
            if len(split) > 1:
                note = " In a configuration only one section can be named; in a file, several."
            message = f"'{role} = {name}' names no section here or in a block around it.{note}"
            self._fault("missing-section", message, choice.place)
            return
        self._add(role, name, plugged(found.text))

    def _add(self, role: str, name: str, text: Traced) -> None:
        """Parse a script; faults of its brackets are those of the surrounding text."""
        script = read_script(text)
        # If brackets do not match, later faults are misplaced.
        broken = any(fault.kind in _BRACKETS for fault in script.faults)
        rest = () if broken else script.faults
        self.parts.append(Part(role, name, NdlScript(text, script.statements, rest)))

    def file(
        self, text: Traced, load: Choice | None, run: Choice | None, role: str = "run"
    ) -> None:
        """Collect the sections of a file that it, or the builder, loads and runs; otherwise all of
        it.
        """
        faults = TextFaults()
        sections = Scope(text, faults)
        load, run = load or _choice(sections, _LOAD), run or _choice(sections, _RUN)
        for one in faults:
            if one.kind in _BRACKETS and one.place is not None:
                self._fault(one.kind, one.message, _at(one.place))
        if load is None and run is None:
            self._whole_file(text, "whole" if role == "run" else role)
            return
        if load is not None:
            self._listed(sections, load, "load" if role == "run" else role)
        if run is not None:
            self._listed(sections, run, role)

    def _whole_file(self, text: Traced, role: str) -> None:
        """Collect a file without sections as one script."""
        weaver = Weaver()
        start, end = text.place(0, 0), text.place(len(text), len(text))
        weaver.add_placeholder(b"[ ", SourcePlace(start.source, start.start, start.start))
        weaver.take(text, 0, len(text))
        weaver.add_placeholder(b" ]", SourcePlace(end.source, end.end, end.end))
        self._add(role, "", weaver.done())

    def _listed(self, sections: Scope, choice: Choice, role: str) -> None:
        if _has_hole(choice.text):
            self._unknown(sections, role)
            return
        for name in elements(choice.text) or ():
            found = sections.look_up(name.text)
            if found is not None and found.text.text:
                self._add(role, _decoded(name), found.text)
                continue
            known = [entry.key.decode("utf-8", "replace") for entry in sections]
            blocks = [one for one in known if one.lower() not in ("load", "run")]
            message = f"there is no section '{_decoded(name)}' in the file"
            listed = f"; it has {', '.join(blocks[:5])}." if blocks else "."
            self._fault("missing-section", message + listed, place_of(name, 0, len(name)))

    def _unknown(self, sections: Scope, role: str) -> None:
        """Collect all sections as candidates if it is unknown which one is run."""
        for entry in sections:
            if entry.kind == "block":
                name = entry.key.decode("utf-8", "replace")
                text = sections.resolved(entry)
                self.candidates.append(Part(role, name, read_script(text)))


def _choice(scope: Scope, key: bytes) -> Choice | None:
    found = scope.look_up(key)
    if found is None:
        return None
    text = plugged(found.text)
    return Choice(text, _whole(text))


def _has_hole(text: Traced) -> bool:
    return HOLE.encode() in text.text


def _decoded(text: Traced) -> str:
    return text.text.decode("utf-8", "replace")


def _whole(text: Traced) -> Place:
    return place_of(text, 0, len(text))


def _at(place: SourcePlace) -> Place:
    return Place(place.source.name, place.start, place.end)
