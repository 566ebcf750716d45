"""The programs of BrainScript in a run: each builder's text with what it includes, analysed.

Places within are those of the parser; `outside` leads to the files that people see.
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

    from netsharp_lsp.cntk.brainscript.analysis.program import Program
    from netsharp_lsp.cntk.brainscript.evaluation.program import Surroundings
    from netsharp_lsp.cntk.brainscript.reading.syntax import Entry, Include
    from netsharp_lsp.cntk.run.building import Builders, BuiltNetwork
    from netsharp_lsp.cntk.run.files import RunFiles


class BrainScriptProgram:
    """One builder's text with the files that it includes; `cycles` are includes that lead back.

    `refused` are the places of those that were one too many: evaluation says so.
    """

    def __init__(
        self, text: NetworkText, built: BuiltNetwork, program: Program, spliced: _Splicing
    ) -> None:
        self.text = text
        self.built = built
        self.program = program
        self.included = spliced.included
        self.cycles = spliced.cycles
        self.refused = spliced.refused

    @classmethod
    def of(cls, text: NetworkText, built: BuiltNetwork, around: Surroundings) -> BrainScriptProgram:
        """Analyse a builder's text with the files that it includes."""
        splicing = _Splicing(Includes(around.read, around.folders, around.is_outside))
        program = analysed(text.script, library_of(around.library), splicing.splice)
        return cls(text, built, program, splicing)

    @property
    def texts(self) -> list[NetworkText]:
        """The text of the builder and every file that it includes."""
        return [self.text, *self.included.values()]

    @property
    def alone(self) -> bool:
        """Whether it is a file for itself, which another text may include."""
        return self.built.found is None

    def outside(self, place: Place) -> Place:
        """Where something stands in the files that people see."""
        if place.source == self.text.name:
            return self.text.place(place.start, place.end)
        return place

    @property
    def left_open(self) -> set[Place]:
        """The includes, as people see them, whose paths have a variable without a value."""
        uses = self.built.text.uses if self.built.text is not None else ()
        unknown = [use.at for use in uses if use.problem is not None]
        return {
            self.outside(entry.place)
            for entry in self.program.survey.missing
            if entry.place.source == self.text.name
            and any(entry.place.start <= at < entry.place.end for at in unknown)
        }

    def in_library(self, place: Place) -> bool:
        """Whether a place is in a text that is no user's."""
        return place.source in self.program.library.sources

    def data(self, source: str) -> bytes:
        """The text that places of a source are in."""
        if source == self.text.name:
            return self.text.data
        found = self.included.get(source)
        return found.data if found is not None else b""


class _Splicing:
    """The files that one text includes, as the analysis comes to them."""

    def __init__(self, includes: Includes) -> None:
        self.included: dict[str, NetworkText] = {}
        self.cycles: list[Include] = []
        self.refused: set[Place] = set()
        self._includes = includes

    def splice(self, entry: Include) -> tuple[Entry, ...] | None:
        """The entries of an included file, None where they cannot be known."""
        try:
            name, data = self._includes.open(entry)
        except Failure as failure:
            if failure.fault.kind == "include-cycle":
                self.cycles.append(entry)
                return ()
            if failure.fault.kind == "too-much":
                self.refused.add(entry.place)
            return None
        text = read_text(name, data)
        if isinstance(text, str):
            return None
        found = NetworkText("brainscript", name, text.text)
        if name in self.included:
            # The same text a second time is another part of the program.
            return parse(text.text, name).entries
        self.included[name] = found
        return found.script.entries


def programs_of(
    networks: Iterable[BuiltNetwork], files: RunFiles, builders: Builders
) -> list[BrainScriptProgram]:
    """The programs of networks, a text that several commands build only once for each outcome."""
    found: dict[object, BrainScriptProgram] = {}
    for built in networks:
        text = _program_text(built, files)
        if text is not None:
            key = (built.place, text.data, built.command if built.faults else "")
            if key not in found:
                found[key] = BrainScriptProgram.of(text, built, builders.surroundings)
    return list(found.values())


def network_texts(
    programs: Iterable[BrainScriptProgram], networks: Iterable[BuiltNetwork]
) -> list[NetworkText]:
    """Every text of a network in a run, in the order in which the run comes to it."""
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
        return NetworkText("brainscript", INLINE, built.text.text, built.text)
    name = built.place.source
    data = files.read(name)
    source = read_text(name, data) if data is not None else ""
    return None if isinstance(source, str) else NetworkText("brainscript", name, source.text)
