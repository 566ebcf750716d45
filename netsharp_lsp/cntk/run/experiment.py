"""One run of CNTK: its configuration, commands and the networks that they build.

Everything is computed on first use and kept. Files come from a reader that is passed in; faults are
values. An experiment may also be a single file of a network.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain

from netsharp_lsp.cntk.configuration.meaning.commands import commands, unlisted
from netsharp_lsp.cntk.configuration.meaning.configuration import resolve
from netsharp_lsp.cntk.configuration.meaning.usage import visits
from netsharp_lsp.cntk.configuration.sources import Source, read_text
from netsharp_lsp.cntk.run.building import Builders, builder_language
from netsharp_lsp.cntk.run.edits import RunEdits, edit_alone, is_edit
from netsharp_lsp.cntk.run.elsewhere import builder_of_result, held_by
from netsharp_lsp.cntk.run.files import RunFiles
from netsharp_lsp.cntk.run.neighbours import Neighbours
from netsharp_lsp.cntk.run.programs import (
    ReadPrograms,
    inline_text,
    network_texts,
    programs_of,
    text_of_file,
)
from netsharp_lsp.cntk.run.texts import NetworkText
from netsharp_lsp.cntk.run.versions import (
    version_of,
    words_of_ndl,
    words_of_options,
    words_of_texts,
)
from netsharp_lsp.cntk.versions import ALWAYS
from netsharp_lsp.workspace import NO_PREMISES, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.configuration.meaning.configuration import Configuration
    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.ndl.syntax import NdlScript
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.edits import Edit
    from netsharp_lsp.cntk.run.programs import BrainScriptProgram, ReadProgram
    from netsharp_lsp.cntk.run.versions import Version
    from netsharp_lsp.cntk.versions import Releases
    from netsharp_lsp.workspace import Files, Folders, Premises


class Experiment:
    """One run. `library` replaces our BrainScript library; `given` are the settings for all
    runs.
    """

    def __init__(
        self,
        run: Run,
        files: Files,
        library: bytes | None = None,
        given: Premises = NO_PREMISES,
        neighbours: Neighbours[Experiment] | None = None,
    ) -> None:
        self.run = run
        self.files = RunFiles(files, run)
        self._given_files = files
        self.library = library
        self.given = given
        self._neighbours = neighbours
        self._networks_of: dict[Command, BuiltNetwork] = {}

    def over(self, change: Callable[[Files], Files]) -> Experiment:
        """Return the same run with other files in place of its own."""
        return Experiment(self.run, change(self._given_files), self.library, self.given)

    def among(self, files: Folders) -> Experiment:
        """Return itself, with the runs of the configurations in its folder beside it."""
        if self._neighbours is None:
            self._neighbours = Neighbours(self, files, self._begun)
        return self

    def _begun(self, run: Run, neighbours: Neighbours[Experiment]) -> Experiment:
        return Experiment(run, self._given_files, self.library, self.given, neighbours)

    def beside(self, path: str) -> Iterator[tuple[str, Experiment]]:
        """Yield the runs beside it that may write a model, each with its name for users."""
        if self._neighbours is not None:
            yield from self._neighbours.writing(path, self)

    @property
    def read_beside(self) -> list[str]:
        """Return the canonical paths of the texts beside it that determine it."""
        return [] if self._neighbours is None else sorted(self._neighbours.read)

    @property
    def first_read(self) -> list[str]:
        """Return the files that it begins with, by the paths of the command line."""
        _ = self.configuration
        return list(self.files.texts)

    @cached_property
    def configuration(self) -> Configuration:
        """Return the layers and assignments of the run, resolved."""
        return resolve(self.run.items, self.files, self.run.holes, self.files.started)

    @cached_property
    def commands(self) -> list[Command]:
        """Return the commands in the order in which CNTK runs them, then the blocks that are like
        commands and that it does not run.
        """
        return [*commands(self.configuration), *unlisted(self.configuration)]

    @cached_property
    def visits(self) -> list[Visit]:
        """Return the blocks that the commands read, with the options that are looked up in each."""
        return visits(self.commands, self.configuration.root)

    @cached_property
    def builders(self) -> Builders:
        """Return the builders of the networks."""
        return Builders(
            self.files, self.library, self.configuration, lambda: self.version.has_later_library
        )

    @cached_property
    def networks(self) -> list[BuiltNetwork]:
        """Return the networks that the commands build, in order; a command may build none."""
        return list(self._networks())

    @cached_property
    def programs(self) -> list[BrainScriptProgram]:
        """Return the texts of BrainScript that the networks are built of, with what they
        include.
        """
        return programs_of(self.networks, self.files, self.builders, self._read)

    @cached_property
    def read_programs(self) -> list[ReadProgram]:
        """Return the same texts without the networks: nothing is evaluated for them."""
        texts = list(self._builder_texts())
        if not texts:
            return []  # The library is not used.
        around = self.builders.surroundings
        return list(dict.fromkeys(self._read.of(one, around) for one in texts))

    @cached_property
    def version(self) -> Version:
        """Return the release of CNTK that the run is for, and the words that determine it."""
        texts = (
            self._read.of(one, self.builders.first_surroundings) for one in self._builder_texts()
        )
        words = chain(
            words_of_options(self.visits, self.configuration.root),
            words_of_texts(texts),
            words_of_ndl(self._ndl_scripts()),
        )
        return version_of(self.given.version, words)

    def has(self, known: Releases) -> bool:
        """Return whether the release that it is for knows a word."""
        return known is ALWAYS or known.by(self.version.name)

    def may_have(self, known: Releases) -> bool:
        """Return whether a word may be proposed: the settings name no release, or that one knows
        the word.
        """
        return not self.given.version or known.by(self.given.version)

    @cached_property
    def _read(self) -> ReadPrograms:
        """Return the texts of BrainScript, analysed."""
        return ReadPrograms()

    def _builder_texts(self) -> Iterator[NetworkText]:
        """Yield the texts of BrainScript that the commands build their networks of."""
        for command in self.commands:
            found = command.builder
            if command.scope is not None and found is not None:
                key = found.entry.key.decode("utf-8", "replace")
                if builder_language(key) == "brainscript":
                    yield inline_text(found.text)

    def _ndl_scripts(self) -> Iterator[NdlScript]:
        """Yield the scripts of NDL that the commands build their networks of; nothing is built."""
        for command in self.commands:
            found = command.builder
            if command.scope is not None and found is not None:
                key = found.entry.key.decode("utf-8", "replace")
                if builder_language(key) == "ndl":
                    yield from (part.script for part in self._built(command).parts)

    @cached_property
    def edits(self) -> list[Edit]:
        """Return the edits of models in MEL, in the order of the commands; where no command edits,
        no network is built to know what an edit would find.
        """
        if not any(is_edit(command) for command in self.commands):
            return []
        return self.edits_before(len(self.commands))

    def edits_before(self, place: int) -> list[Edit]:
        """Return at least the edits in MEL of the commands before a place."""
        return self._edits.before(place)

    @cached_property
    def _edits(self) -> RunEdits:
        return RunEdits(
            self.commands, self.files, self.network_of, lambda path: builder_of_result(path, self)
        )

    def network_of(self, command: str) -> BuiltNetwork | None:
        """Return the network of a command by its name, case-insensitively."""
        found = self._builders.get(command.lower())
        return None if found is None else self._built(found)

    @cached_property
    def _builders(self) -> dict[str, Command]:
        """Return the first command of each name that builds a network."""
        return {
            one.name.lower(): one
            for one in reversed(self.commands)
            if one.scope is not None and one.builder is not None
        }

    def _built(self, command: Command) -> BuiltNetwork:
        """Return the result of a command's builder, computed once: others may depend on it."""
        if command not in self._networks_of:
            built = self.builders.build(command, lambda path: held_by(path, command, self))
            self._networks_of[command] = built
        return self._networks_of[command]

    def texts(self, language: str) -> list[NetworkText]:
        """Return the texts of a language ("brainscript", "ndl", "mel") that the run reads, each
        once.
        """
        return [text for text in self._texts if text.language == language]

    @property
    def ndl_texts(self) -> list[NetworkText]:
        """Return the texts of NDL; nothing is evaluated for them, nor for other texts."""
        found = (
            self._built(command)
            for command in self.commands
            if command.scope is not None
            and command.builder is not None
            and builder_language(command.builder.entry.key.decode("utf-8", "replace")) == "ndl"
        )
        return [text for text in network_texts((), found) if text.language == "ndl"]

    @cached_property
    def _texts(self) -> list[NetworkText]:
        edited = {(edit.text.name, edit.text.data): edit.text for edit in self.edits}
        return [*network_texts(self.programs, self.networks), *edited.values()]

    def _networks(self) -> Iterator[BuiltNetwork]:
        for command in self.commands:
            if command.scope is not None and command.builder is not None:
                yield self._built(command)


class SingleFile(Experiment):
    """A `.bs`, `.ndl` or `.mel` file alone, in no configuration."""

    def __init__(
        self,
        name: str,
        language: str,
        files: Files,
        library: bytes | None = None,
        given: Premises = NO_PREMISES,
    ) -> None:
        super().__init__(Run((), declared=False), files, library, given)
        self.name = name
        self.language = language

    def over(self, change: Callable[[Files], Files]) -> Experiment:
        """Return the same file among other files than its own."""
        return SingleFile(
            self.name, self.language, change(self._given_files), self.library, self.given
        )

    @property
    def first_read(self) -> list[str]:
        """Return the path of the file."""
        return [self.name]

    def network_of(self, command: str) -> BuiltNetwork | None:
        """Return the network of the file, which has no command."""
        return next(iter(self.networks), None) if not command else None

    def _networks(self) -> Iterator[BuiltNetwork]:
        data = self.files.read(self.name)
        if data is not None and self.language != "mel":
            yield self.builders.build_file(self.name, self.language, data)

    def _builder_texts(self) -> Iterator[NetworkText]:
        text = text_of_file(self.name, self.files) if self.language == "brainscript" else None
        if text is not None:
            yield text

    def _ndl_scripts(self) -> Iterator[NdlScript]:
        for built in self.networks if self.language == "ndl" else ():
            yield from (part.script for part in built.parts)

    @property
    def ndl_texts(self) -> list[NetworkText]:
        """Return the text of the file, where it is NDL."""
        return self.texts("ndl") if self.language == "ndl" else []

    @cached_property
    def edits(self) -> list[Edit]:
        """Return the edit of a file of MEL."""
        return edit_alone(self.name, self.files) if self.language == "mel" else []

    @cached_property
    def _texts(self) -> list[NetworkText]:
        return network_texts(self.programs, self.networks) or self._alone()

    def _alone(self) -> list[NetworkText]:
        source = read_text(self.name, self.files.read(self.name) or b"")
        if not isinstance(source, Source):
            return []
        return [NetworkText(self.language, self.name, source.text)]
