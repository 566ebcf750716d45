"""The programs of BrainScript in a run: each builder's text with what it includes, analysed.

Inner places are those of the parser; `outside` maps them to the files that users see.
"""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.analysis.program import analysed, library_of
from netsharp_lsp.cntk.brainscript.evaluation.includes import Includes
from netsharp_lsp.cntk.brainscript.evaluation.values import Failure
from netsharp_lsp.cntk.brainscript.reading.parser import parse
from netsharp_lsp.cntk.configuration.sources import read_text
from netsharp_lsp.cntk.networks.faults import Place
from netsharp_lsp.cntk.run.texts import INLINE, NetworkText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.cntk.brainscript.evaluation.program import Surroundings
    from netsharp_lsp.cntk.brainscript.reading.syntax import Entry, Include
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.run.building import Builders, BuiltNetwork
    from netsharp_lsp.cntk.run.files import RunFiles


class ReadProgram:
    """A builder's text with the files that it includes, analysed; nothing is built of it.

    `cycles` are includes that lead back, `refused` the places of those beyond the limit, which
    evaluation reports.
    """

    def __init__(self, text: NetworkText, around: Surroundings) -> None:
        splicing = _Splicing(Includes(around.read, around.folders, around.is_outside))
        self.text = text
        self.program = analysed(text.script, library_of(around.library), splicing.splice)
        self.included = splicing.included
        self.cycles = splicing.cycles
        self.refused = splicing.refused

    @property
    def texts(self) -> list[NetworkText]:
        """Return the text of the builder and every file that it includes."""
        return [self.text, *self.included.values()]

    def outside(self, place: Place) -> Place:
        """Return a place in the files that users see."""
        return _outside(self.text, place)

    def data(self, source: str) -> bytes:
        """Return the text that places of a source are in."""
        if source == self.text.name:
            return self.text.data
        found = self.included.get(source)
        return found.data if found is not None else b""


class ReadPrograms:
    """The texts of builders, each analysed once with one library."""

    def __init__(self) -> None:
        self._known: dict[object, ReadProgram] = {}

    def of(self, text: NetworkText, around: Surroundings) -> ReadProgram:
        """Return an analysed text, or the same one as analysed before."""
        at = text.place(0, len(text.data))
        key = (text.name, at, text.data, id(around.library))
        if key not in self._known:
            self._known[key] = ReadProgram(text, around)
        return self._known[key]


def _outside(text: NetworkText, place: Place) -> Place:
    if place.source == text.name:
        return text.place(place.start, place.end)
    return place


class BrainScriptProgram(ReadProgram):
    """One builder's text as analysed, and the network that it built."""

    def __init__(self, built: BuiltNetwork, read: ReadProgram) -> None:
        self.text = read.text
        self.built = built
        self.program = read.program
        self.included = read.included
        self.cycles = read.cycles
        self.refused = read.refused

    @property
    def alone(self) -> bool:
        """Return whether it is a file without a configuration, which another text may include."""
        return self.built.found is None

    @property
    def left_open(self) -> set[Place]:
        """Return the includes, as users see them, whose paths have a variable without a value."""
        uses = self.built.text.uses if self.built.text is not None else ()
        unknown = [use.at for use in uses if use.problem is not None]
        return {
            self.outside(entry.place)
            for entry in self.program.survey.missing
            if entry.place.source == self.text.name
            and any(entry.place.start <= at < entry.place.end for at in unknown)
        }

    def in_library(self, place: Place) -> bool:
        """Return whether a place is in a text of the library."""
        return place.source in self.program.library.sources


class _Splicing:
    """The files that one text includes, in the order of the analysis."""

    def __init__(self, includes: Includes) -> None:
        self.included: dict[str, NetworkText] = {}
        self.cycles: list[Include] = []
        self.refused: set[Place] = set()
        self._includes = includes

    def splice(self, entry: Include) -> tuple[Entry, ...] | None:
        """Return the entries of an included file, None where they are unknown."""
        try:
            name, text = self._includes.open(entry)
        except Failure as failure:
            if failure.fault.kind == "include-cycle":
                self.cycles.append(entry)
                return ()
            if failure.fault.kind == "too-much":
                self.refused.add(entry.place)
            return None
        if isinstance(text, bytes):
            return None
        found = NetworkText("brainscript", name, text.text)
        if name in self.included:
            # A text that is included twice is a separate part each time.
            return parse(text.text, name).entries
        self.included[name] = found
        return found.script.entries


def programs_of(
    networks: Iterable[BuiltNetwork], files: RunFiles, builders: Builders, read: ReadPrograms
) -> list[BrainScriptProgram]:
    """Return the programs of networks; a text that several commands build only once for each
    outcome.
    """
    found: dict[object, BrainScriptProgram] = {}
    for built in networks:
        text = _program_text(built, files)
        if text is not None:
            key = (built.place, text.data, built.command if built.faults else "")
            if key not in found:
                found[key] = BrainScriptProgram(built, read.of(text, builders.surroundings))
    return list(found.values())


def network_texts(
    programs: Iterable[BrainScriptProgram], networks: Iterable[BuiltNetwork]
) -> list[NetworkText]:
    """Return every text of a network in a run, in the order in which the run reads them."""
    found: dict[object, NetworkText] = {}
    for program in programs:
        for text in program.texts:
            found.setdefault((text.place(0, len(text.data)), text.data), text)
    for built in networks:
        for text in map(NetworkText.of_part, built.parts):
            found.setdefault((text.place(0, len(text.data)), text.data), text)
    return list(found.values())


def _program_text(built: BuiltNetwork, files: RunFiles) -> NetworkText | None:
    if built.language != "brainscript":
        return None
    if built.text is not None:
        return inline_text(built.text)
    return text_of_file(built.place.source, files)


def inline_text(text: Traced) -> NetworkText:
    """Return the text of a builder in a configuration."""
    return NetworkText("brainscript", INLINE, text.text, text)


def text_of_file(name: str, files: RunFiles) -> NetworkText | None:
    """Return the text of a file without a configuration, None where it cannot be read."""
    data = files.read(name)
    source = read_text(name, data) if data is not None else ""
    return None if isinstance(source, str) else NetworkText("brainscript", name, source.text)
