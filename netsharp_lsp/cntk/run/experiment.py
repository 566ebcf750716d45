"""One run of the program: its configuration, commands and the networks that they build.

Everything is worked out at the first use and kept.  Files come from a reader that is passed in;
what is wrong is a value.  An experiment may be a single file of a network, too.
"""

from __future__ import annotations

import os
from functools import cached_property

from netsharp_lsp.cntk.configuration.commands import commands, unlisted
from netsharp_lsp.cntk.configuration.configuration import resolve
from netsharp_lsp.cntk.configuration.sources import Source, read_text
from netsharp_lsp.cntk.configuration.usage import visits
from netsharp_lsp.cntk.run.building import build, build_file
from netsharp_lsp.cntk.run.edits import edit_alone, edits_of
from netsharp_lsp.cntk.run.programs import programs_of
from netsharp_lsp.cntk.run.texts import NetworkText, network_texts
from netsharp_lsp.workspace import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.commands import Command
    from netsharp_lsp.cntk.configuration.configuration import Configuration
    from netsharp_lsp.cntk.configuration.usage import Visit
    from netsharp_lsp.cntk.networks.faults import Outcome
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.edits import Edit
    from netsharp_lsp.cntk.run.programs import BrainScriptProgram
    from netsharp_lsp.workspace import Files


class RunFiles:
    """The files of one run: paths are relative to the folder it is started in, else to those
    where its files are looked for, too.

    `texts` keeps what was read, by the path as it was asked for; None for what is not there.
    """

    __slots__ = ("_files", "_folders", "texts")

    def __init__(self, files: Files, run: Run) -> None:
        self._files = files
        self._folders = ["" if one == "." else one for one in (run.directory, *run.also)]
        self.texts: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where there is none that can be read."""
        if path not in self.texts:
            found = (self._files.read(os.path.join(one, path)) for one in self._folders)
            self.texts[path] = next((data for data in found if data is not None), None)
        return self.texts[path]

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of that name; reads nothing."""
        return any(self._files.exists(os.path.join(one, path)) for one in self._folders)

    def outside(self, path: str) -> bool:
        """Whether nothing can be known of a file, which then is nowhere else.

        Where it is only looked for besides tells nothing about where it should be.
        """
        return self._files.outside(os.path.join(self._folders[0], path)) and not self.exists(path)

    def locate(self, path: str) -> str:
        """Return the one name of a file, however a path to it is spelt."""
        places = [os.path.join(one, path) for one in self._folders]
        return self._files.locate(next(filter(self._files.exists, places), places[0]))


class Experiment:
    """What one run is.  `library` is read in place of our BrainScript library; `defines` are
    names of variables that somebody else defines.  `evaluated` keeps what builders gave.
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
        self.evaluated: dict[object, Outcome] = {}

    @cached_property
    def configuration(self) -> Configuration:
        """The layers and assignments of the run, resolved."""
        return resolve(self.run.items, self.files)

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
    def networks(self) -> list[BuiltNetwork]:
        """The networks that the commands build, in their order; a command may build none."""
        return list(self._networks())

    @cached_property
    def programs(self) -> list[BrainScriptProgram]:
        """The texts of BrainScript that the networks are built of, with what they include."""
        return programs_of(self)

    @cached_property
    def edits(self) -> list[Edit]:
        """The edits of models in MEL, in the order of the commands."""
        return edits_of(self)

    def network_of(self, command: str) -> BuiltNetwork | None:
        """The network of a command by its name, compared without case."""
        wanted = command.lower()
        return next((one for one in self.networks if one.command.lower() == wanted), None)

    def texts(self, language: str) -> list[NetworkText]:
        """The texts of a language ("brainscript", "ndl", "mel") that the run reads, each once."""
        return [text for text in self._texts if text.language == language]

    @cached_property
    def _texts(self) -> list[NetworkText]:
        edited = {(edit.text.name, edit.text.data): edit.text for edit in self.edits}
        return [*network_texts(self), *edited.values()]

    def _networks(self) -> Iterator[BuiltNetwork]:
        for command in self.commands:
            if command.scope is not None and command.builder is not None:
                yield build(command, self)


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
            yield build_file(self.name, self.language, data, self)

    @cached_property
    def edits(self) -> list[Edit]:
        """The edit that a file of MEL is."""
        return edit_alone(self.name, self) if self.language == "mel" else []

    @cached_property
    def _texts(self) -> list[NetworkText]:
        return network_texts(self) or self._alone()

    def _alone(self) -> list[NetworkText]:
        source = read_text(self.name, self.files.read(self.name) or b"")
        if not isinstance(source, Source):
            return []
        return [NetworkText(self.language, self.name, source.text)]
