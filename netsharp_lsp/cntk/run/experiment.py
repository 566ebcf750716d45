"""One run of the program: its configuration, commands and the networks that they build.

Everything is worked out at the first use and kept.  Files come from a reader that is passed in;
what is wrong is a value.  An experiment may be a single file of a network, too.
"""

from __future__ import annotations

from functools import cached_property

from netsharp_lsp.cntk.configuration.commands import commands, unlisted
from netsharp_lsp.cntk.configuration.configuration import resolve
from netsharp_lsp.cntk.configuration.sources import Source, read_text
from netsharp_lsp.cntk.configuration.usage import visits
from netsharp_lsp.cntk.run.building import Builders
from netsharp_lsp.cntk.run.edits import edit_alone, edits_of
from netsharp_lsp.cntk.run.files import RunFiles
from netsharp_lsp.cntk.run.programs import network_texts, programs_of
from netsharp_lsp.cntk.run.texts import NetworkText
from netsharp_lsp.workspace import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.commands import Command
    from netsharp_lsp.cntk.configuration.configuration import Configuration
    from netsharp_lsp.cntk.configuration.usage import Visit
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.edits import Edit
    from netsharp_lsp.cntk.run.programs import BrainScriptProgram
    from netsharp_lsp.workspace import Files


class Experiment:
    """What one run is.  `library` is read in place of our BrainScript library; `defines` are
    names of variables that somebody else defines.
    """

    def __init__(
        self,
        run: Run,
        files: Files,
        library: bytes | None = None,
        defines: frozenset[str] = frozenset(),
    ) -> None:
        self.run = run
        self.files = RunFiles(files, run)
        self.library = library
        self.defines = defines

    @cached_property
    def configuration(self) -> Configuration:
        """The layers and assignments of the run, resolved."""
        return resolve(self.run.items, self.files, self.run.holes)

    @cached_property
    def commands(self) -> list[Command]:
        """The commands in the order in which the program runs them, then the blocks that are
        like commands and that it does not run.
        """
        return [*commands(self.configuration), *unlisted(self.configuration)]

    @cached_property
    def visits(self) -> list[Visit]:
        """The blocks that the commands read, and the options that are looked for in each."""
        return visits(self.commands, self.configuration.root)

    @cached_property
    def builders(self) -> Builders:
        """What builds the networks."""
        return Builders(self.files, self.library, self.configuration)

    @cached_property
    def networks(self) -> list[BuiltNetwork]:
        """The networks that the commands build, in their order; a command may build none."""
        return list(self._networks())

    @cached_property
    def programs(self) -> list[BrainScriptProgram]:
        """The texts of BrainScript that the networks are built of, with what they include."""
        return programs_of(self.networks, self.files, self.builders)

    @cached_property
    def edits(self) -> list[Edit]:
        """The edits of models in MEL, in the order of the commands."""
        return edits_of(self.commands, self.files, self.network_of)

    def network_of(self, command: str) -> BuiltNetwork | None:
        """The network of a command by its name, compared without case."""
        return self._by_command.get(command.lower())

    @cached_property
    def _by_command(self) -> dict[str, BuiltNetwork]:
        """The first network of each name."""
        return {one.command.lower(): one for one in reversed(self.networks)}

    def texts(self, language: str) -> list[NetworkText]:
        """The texts of a language ("brainscript", "ndl", "mel") that the run reads, each once."""
        return [text for text in self._texts if text.language == language]

    @cached_property
    def _texts(self) -> list[NetworkText]:
        edited = {(edit.text.name, edit.text.data): edit.text for edit in self.edits}
        return [*network_texts(self.programs, self.networks), *edited.values()]

    def _networks(self) -> Iterator[BuiltNetwork]:
        for command in self.commands:
            if command.scope is not None and command.builder is not None:
                yield self.builders.build(command)


class SingleFile(Experiment):
    """A `.bs`, `.ndl` or `.mel` file for itself, in no configuration."""

    def __init__(
        self, name: str, language: str, files: Files, library: bytes | None = None
    ) -> None:
        super().__init__(Run((), declared=False), files, library)
        self.name = name
        self.language = language

    def _networks(self) -> Iterator[BuiltNetwork]:
        data = self.files.read(self.name)
        if data is not None and self.language != "mel":
            yield self.builders.build_file(self.name, self.language, data)

    @cached_property
    def edits(self) -> list[Edit]:
        """The edit that a file of MEL is."""
        return edit_alone(self.name, self.files) if self.language == "mel" else []

    @cached_property
    def _texts(self) -> list[NetworkText]:
        return network_texts(self.programs, self.networks) or self._alone()

    def _alone(self) -> list[NetworkText]:
        source = read_text(self.name, self.files.read(self.name) or b"")
        if not isinstance(source, Source):
            return []
        return [NetworkText(self.language, self.name, source.text)]
