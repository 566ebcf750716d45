"""A text that is being edited with the runs that use it; every feature takes one of these.

Runs are evaluated when they are first needed. Knows no feature and no disk.
"""

from __future__ import annotations

from functools import cached_property

from netsharp_lsp.cntk.checking.analysis import NAMELESS, NOT_FILES, Over
from netsharp_lsp.cntk.ide.naming.occurrences import declarations, occurrences
from netsharp_lsp.cntk.ide.places.text import EditedText
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.cntk.run.neighbours import alone
from netsharp_lsp.workspace import GivenFiles, Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from netsharp_lsp.cntk.ide.naming.occurrence import Occurrence
    from netsharp_lsp.cntk.ide.places.stretches import TextPieces
    from netsharp_lsp.cntk.networks.faults import Place
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.programs import BrainScriptProgram, ReadProgram
    from netsharp_lsp.context import Context
    from netsharp_lsp.workspace import Run


#: Kinds of names that a text near an offset knows of the whole by their names alone.
FAR = ("member", "node", "model")


class Edited:
    """One version of a text. `name` is the canonical path of its file; `others` are texts of other
    files that differ from the workspace's. `before` is an earlier version whose networks are known,
    `pieces` are those of an earlier version.
    """

    def __init__(
        self,
        language_id: str,
        data: bytes,
        context: Context,
        others: Mapping[str, bytes] | None = None,
        before: Edited | None = None,
        pieces: TextPieces | None = None,
    ) -> None:
        self.context = context
        self._before = before
        #: Names at the top of a whole text of which this is a part; None for a whole one.
        self.far: Sequence[Occurrence] | None = None
        self.text = EditedText(language_id, data, pieces)
        around = context.workspace or Workspace(NAMELESS, GivenFiles({NAMELESS: data}))
        self.name = around.files.locate(around.name)
        self.workspace = around
        self.files = Over(around.files, {**(others or {}), self.name: data})

    @property
    def last_evaluated(self) -> Edited:
        """Return this version, or an earlier one where only that one's networks are known.

        For numbers beside names during typing, for which no network is evaluated.
        """
        if self._before is not None and self._is_evaluated:
            self._before = None
        return self._before or self

    @property
    def _is_evaluated(self) -> bool:
        """Return whether the networks of the main run are known."""
        if "experiments" not in vars(self) or "networks" not in vars(self.main):
            return False
        return all(one.is_evaluated for one in self.main.networks)

    def next_version(self, data: bytes) -> Edited:
        """Return the text after an edit."""
        known = self.last_evaluated
        before = known if known._is_evaluated else None
        pieces = self.text.known_pieces
        return Edited(self.language, data, self.context, before=before, pieces=pieces)

    def shortened(self, data: bytes, names: Sequence[Occurrence]) -> Edited:
        """Return a part of the text that knows the top-level names of the whole."""
        part = Edited(self.language, data, self.context, before=self.last_evaluated)
        part.far = names
        return part

    @property
    def data(self) -> bytes:
        """The text."""
        return self.text.data

    @property
    def language(self) -> str:
        """The id of its language."""
        return self.text.language

    @cached_property
    def experiments(self) -> list[Experiment]:
        """Return the runs that use the text, evaluated; the text alone where there is none."""
        runs = self.workspace.runs
        if not runs and self.language == "cntk":
            runs = (alone(self.workspace.name),)
        if not runs:
            around = self.workspace
            single = (around.name, self.language, self.files, around.library, around.given)
            return [SingleFile(*single)]
        return [self._experiment(run) for run in runs]

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        """Return every name in the files of the runs."""
        return occurrences(self.experiments)

    @cached_property
    def declarations(self) -> list[Occurrence]:
        """Return the names that declare parts of networks; no network is evaluated for them."""
        found = declarations(self.experiments)
        if self.far is None:
            return found
        here = [one for one in found if one.kind not in FAR or one.file != self.name]
        return [*here, *self.far]

    def occurrence_at(self, offset: int) -> Occurrence | None:
        """Return the shortest name of the text that contains an offset or ends at it."""
        here = (one for one in self.occurrences if one.file == self.name)
        found = [one for one in here if one.start <= offset <= one.end]
        return min(found, key=lambda one: (one.end - one.start, one.key[0] == "key"), default=None)

    def same(self, occurrence: Occurrence) -> list[Occurrence]:
        """Return every place with the same declaration, in order of files and places."""
        found = [one for one in self.occurrences if one.key == occurrence.key]
        return sorted(found, key=lambda one: (one.file != self.name, one.file, one.start))

    @property
    def main(self) -> Experiment:
        """Return the run whose numbers are shown where runs differ: the first."""
        return self.experiments[0]

    def read(self, file: str) -> bytes | None:
        """Return the bytes of a file, by canonical path."""
        return self.files.read(file)

    def is_here(self, experiment: Experiment, source: str) -> bool:
        """Return whether a source of places in a run is this text."""
        return not source.startswith(NOT_FILES) and experiment.files.locate(source) == self.name

    def file_of(self, experiment: Experiment, source: str) -> str | None:
        """Return the canonical path of a source that is another file; None for this text, and where
        it is not a file.
        """
        if source.startswith(NOT_FILES):
            return None
        located = experiment.files.locate(source)
        return None if located == self.name else located

    def networks(self) -> Iterator[tuple[Experiment, BuiltNetwork]]:
        """Yield every network that the runs build, with its run."""
        for experiment in self.experiments:
            for built in experiment.networks:
                yield experiment, built

    def programs(self) -> Iterator[tuple[Experiment, BrainScriptProgram]]:
        """Yield every program of BrainScript in the runs, with its run."""
        for experiment in self.experiments:
            for program in experiment.programs:
                yield experiment, program

    def inside(self, offset: int) -> Iterator[tuple[Experiment, ReadProgram, str, int]]:
        """Yield the programs that contain an offset: run, program, source and offset in its text.

        No network is evaluated for them.
        """
        for experiment in self.experiments:
            for program in experiment.read_programs:
                for text in program.texts:
                    source = text.name if text.traced is None else text.place(0, 0).source
                    if self.is_here(experiment, source):
                        at = text.offset(source, offset)
                        if at is not None:
                            yield experiment, program, text.name, at

    def inner(self, experiment: Experiment, program: ReadProgram, place: Place) -> Place | None:
        """Return the place of a part of a program in this text; None where it is elsewhere."""
        outside = program.outside(place)
        return outside if self.is_here(experiment, outside.source) else None

    def _experiment(self, run: Run) -> Experiment:
        run = run.assigning(self.workspace.assignments)
        around = self.workspace
        return Experiment(run, self.files, around.library, around.given).among(self.files)
