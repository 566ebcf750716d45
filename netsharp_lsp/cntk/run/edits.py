"""The edits of models that a run makes in MEL, with the networks in the files that each loads and
writes.

A file has the network of the command that writes it, if an earlier command does.
"""

from __future__ import annotations

import posixpath
import re
from functools import cached_property

from netsharp_lsp.cancellation import WorkCancelled
from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.faults import TextFaults
from netsharp_lsp.cntk.configuration.named_files import file_text
from netsharp_lsp.cntk.configuration.options import TRAINING
from netsharp_lsp.cntk.configuration.records import records
from netsharp_lsp.cntk.configuration.scope import Scope
from netsharp_lsp.cntk.configuration.sources import Source, read_text
from netsharp_lsp.cntk.configuration.traced import Weaver
from netsharp_lsp.cntk.mel.surroundings import Known, Surroundings
from netsharp_lsp.cntk.ndl.functions import function_of
from netsharp_lsp.cntk.ndl.syntax import NdlAssignment, NdlCall
from netsharp_lsp.cntk.networks.copying import loaded_from
from netsharp_lsp.cntk.networks.faults import Outcome, Place
from netsharp_lsp.cntk.networks.freezing import with_statistics
from netsharp_lsp.cntk.networks.node import OPAQUE
from netsharp_lsp.cntk.run.building import BuiltNetwork
from netsharp_lsp.cntk.run.texts import NetworkText
from netsharp_lsp.cntk.vocabulary import TRUE
from netsharp_lsp.limits import CNTK_WORDS
from netsharp_lsp.text.extent import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.mel.evaluation import Edited
    from netsharp_lsp.cntk.mel.faults import EditFault
    from netsharp_lsp.cntk.mel.surroundings import Dumped, Revised
    from netsharp_lsp.cntk.ndl.evaluation import Part
    from netsharp_lsp.cntk.ndl.syntax import Definition
    from netsharp_lsp.cntk.networks.node import Network
    from netsharp_lsp.cntk.run.files import RunFiles

    #: The network of a command by its name.
    NetworkOf = Callable[[str], BuiltNetwork | None]
    #: What built the network of a model that no command of the run writes: a sentence where that
    #: is not known, None where nothing writes it.
    HeldBeside = Callable[[str], BuiltNetwork | str | None]

#: Keys of commands that name a model which the command writes.
WRITTEN = ("modelPath", "outputModelPath", "newModelPath")
#: The one of them that names what the action bnstat writes.
RENEWED = WRITTEN[2]
#: Actions that write nothing to `modelPath`.
_READERS = frozenset(
    ("test", "eval", "cv", "write", "edit", "bnstat", "dumpnode", "dumpnodes", "plot", "svd")
)
#: Macros within macros deeper than that are not followed.
_DEEPEST = 50
_EPOCH = re.compile(r"\.\d+\Z")


class Edit:
    """One text of MEL as one command runs it; the command's name is empty for a file alone.

    `macros` are the scripts of the files that `ndlMacros` names.
    """

    def __init__(
        self,
        command: str,
        text: NetworkText,
        follow: Callable[[], Edited],
        macros: tuple[Part, ...] = (),
    ) -> None:
        self.command = command
        self.text = text
        self.macros = macros
        self._follow = follow

    @cached_property
    def _edited(self) -> Edited:
        """Return the result of evaluating the text, on first use: names do not need it."""
        return self._follow()

    @property
    def faults(self) -> list[EditFault]:
        """Return the faults of the text."""
        return self._edited.faults

    @property
    def is_sure(self) -> bool:
        """Return whether it is certain to write no other file."""
        return self._edited.is_sure

    @cached_property
    def written(self) -> dict[str, BuiltNetwork | None]:
        """Return the networks that it writes by path, None where they are unknown."""
        return {
            normal(path): None if known.network is None else self._built(known.network)
            for path, known in self._edited.saved.items()
        }

    @property
    def dumped(self) -> list[Dumped]:
        """Return the nodes that it writes as texts, in order."""
        return self._edited.dumped

    @property
    def revised(self) -> list[Revised]:
        """Return the parameters that take numbers from files, in order."""
        return self._edited.revised

    def _built(self, network: Network) -> BuiltNetwork:
        outcome = Outcome(network, ())
        return BuiltNetwork(self.command, "", "mel", Place(self.text.name, 0, 0), lambda: outcome)


def is_edit(command: Command) -> bool:
    """Return whether a command edits models."""
    return "edit" in (action.lower() for action in command.actions)


def keeps(command: Command) -> bool:
    """Return whether a command trains a model, but not if that already exists."""
    if command.scope is None or not any(action in TRAINING for action in command.actions):
        return False
    block = command.scope.block(b"SGD") or command.scope
    return block.option(b"makeMode", "true") in TRUE


def edit_alone(name: str, files: RunFiles) -> list[Edit]:
    """Return the edit of a file without a configuration."""
    text = _network_text(name, files, Scope(Weaver().done(), TextFaults()))
    if text is None or text.traced is None:
        return []
    alone = RunEdits((), files, lambda command: None, lambda path: None)
    around = alone.around({})._replace(loaded=lambda path: Known(None, ""), complete=False)
    return [Edit("", text, lambda: _evaluated(text, around))]


class RunEdits:
    """The edits of commands, evaluated in order and only as far as needed: the network of a command
    may depend on earlier ones.
    """

    def __init__(
        self,
        commands: Sequence[Command],
        files: RunFiles,
        network_of: NetworkOf,
        builder_of_result: HeldBeside,
    ) -> None:
        self._commands = commands
        self._files = files
        self._network_of = network_of
        self._held_beside = builder_of_result
        self._begin()
        #: Networks that were loaded, by their paths: as they were held, and as they are taken.
        self._taken: dict[str, tuple[Network, Network]] = {}

    def _begin(self) -> None:
        """Reset to the state before the first command."""
        self._found: list[Edit] = []
        self._next = 0
        #: What is known of files that were written, by their paths.
        self._written: dict[str, Known] = {}
        #: The commands whose models are taken from their files, and by which keys, by their paths.
        self._kept: dict[str, tuple[Command, str]] = {}

    def around(self, macros: dict[str, Definition] | None) -> Surroundings:
        """Return the surroundings of an edit; without macros where not all of them are known."""
        known = macros or {}
        return Surroundings(
            self._loaded,
            self._sections,
            lambda name: _made(name, known),
            self._files.outside,
            macros is not None,
            measure=self._files.matrix,
        )

    def before(self, place: int) -> list[Edit]:
        """Return the edits of the commands before a place."""
        try:
            while self._next < min(place, len(self._commands)):
                command = self._commands[self._next]
                self._next += 1
                if command.scope is not None:
                    self._found += self._edit(command, command.scope)
                    self._note(command, command.scope)
        except WorkCancelled:
            # The command counts as followed, and its output is partly known.
            self._begin()
            raise
        return self._found

    def _edit(self, command: Command, scope: Scope) -> Iterator[Edit]:
        found = scope.look_up(b"editPath")
        if not is_edit(command) or found is None:
            return
        text = _network_text(found.text.text.decode("utf-8", "replace"), self._files, scope)
        if text is None or text.traced is None:
            return
        parts = self._macros(scope)
        around = self.around(None if parts is None else _defined(parts))
        around = around._replace(macros=tuple(parts or ()))
        edited = _evaluated(text, around)
        # The file may hold what this edit made of it when it was run before.
        replaced = {normal(path) for path in edited.saved} & self._kept.keys()
        for path in replaced:
            writer, key = self._kept.pop(path)
            del self._written[path]
            self._written[path] = self._known(writer, key, path)
        if replaced:
            edited = _evaluated(text, around)
        for path, known in edited.saved.items():
            origin = f"the edit '{command.name}' writes the model"
            self._written.pop(normal(path), None)
            self._written[normal(path)] = known._replace(origin=origin)
        yield Edit(command.name, text, lambda: edited, tuple(parts or ()))

    def _macros(self, scope: Scope) -> list[Part] | None:
        """Return the scripts of the files that `ndlMacros` names; None where one cannot be read, or
        they are too long together.
        """
        found = scope.look_up(b"ndlMacros")
        parts: list[Part] = []
        words = 0
        paths = "" if found is None else found.text.text.decode("utf-8", "replace")
        for path in filter(None, paths.split("+")):
            source = _source(path, self._files)
            words += 0 if source is None else words_of(source.text)
            if source is None or words > CNTK_WORDS.most:
                return None
            from netsharp_lsp.cntk.ndl.containers import program_of_macros

            parts += program_of_macros(source, scope).parts
        return parts

    def _note(self, command: Command, scope: Scope) -> None:
        """Record what a command writes."""
        for key, path in _writes(command, scope):
            there = self._there(path) if keeps(command) else None
            if there is not None:
                self._kept[path] = (command, key)
            self._written[path] = there or self._known(command, key, path)

    def _known(self, command: Command, key: str, path: str) -> Known:
        """Return the network that a command writes: training resumes from a model of an epoch where
        there is one.
        """
        origin = f"the command '{command.name}' writes the model"
        if key == RENEWED:
            return self._renewed(command)._replace(origin=origin)
        begun = [known for file, known in self._written.items() if _EPOCH.sub("", file) == path]
        if begun:
            return begun[-1]._replace(origin=origin)
        return _known(self._network_of(command.name) if key == WRITTEN[0] else None, origin)

    def _renewed(self, command: Command) -> Known:
        """Return the network that the action bnstat of a command derives from the model that it
        reads.
        """
        scope = command.scope if "bnstat" in command.actions else None
        source = None if scope is None else scope.look_up(WRITTEN[0].encode())
        path = "" if source is None else source.text.text.decode("utf-8", "replace")
        before = self._held(path) if path else None
        if before is None or before.network is None:
            return before or Known(None, "")
        return before._replace(network=with_statistics(before.network, [evaluated_nodes(command)]))

    def _loaded(self, path: str) -> Known | None:
        known = self._held(path)
        if known is None or known.network is None:
            return known
        name = normal(path)
        before = self._taken.get(name)
        if before is None or before[0] is not known.network:
            before = self._taken[name] = (known.network, loaded_from(known.network, path))
        return known._replace(network=before[1])

    def _held(self, path: str) -> Known | None:
        """Return the network in a file when it is loaded."""
        spellings = (normal(path), _EPOCH.sub("", normal(path)))
        for spelt in spellings:
            if spelt in self._written:
                return self._written[spelt]
        there = self._there(path)
        if there is not None:
            return there
        for spelt in spellings:
            if spelt in self._later:
                return Known(None, f"the command '{self._later[spelt]}' writes the model")
        beside = self._held_beside(path)
        if beside is not None:
            built = None if isinstance(beside, str) else beside
            return _known(built, "a configuration beside this one trains the model")
        return Known(None, "") if self._files.exists(path) else None

    def _there(self, path: str) -> Known | None:
        """Return the network in the file of a model; None where no file can be used."""
        network = self._files.network(path) if self._files.exists(path) else None
        if network is None or network.troubles:
            return None
        names = {name: node.operation for name, node in network.nodes.items()}
        return Known(names, "the network is read from the model's file", network)

    @cached_property
    def _later(self) -> dict[str, str]:
        """Return the commands that write a file at any time: some are not run, or not in this
        order.
        """
        return {
            path: command.name
            for command in self._commands
            if command.scope is not None
            for _, path in _writes(command, command.scope)
        }

    def _sections(self, path: str) -> dict[str, Traced] | None:
        source = _source(path, self._files)
        if source is None:
            return None
        found = records(file_text(source, None), TextFaults())
        return {
            record.name.decode("utf-8", "replace"): record.content
            for record in found
            if record.kind == "block"
        }


def _evaluated(text: NetworkText, around: Surroundings) -> Edited:
    """Return a text of MEL, evaluated; imported here, since few runs have one."""
    from netsharp_lsp.cntk.mel.evaluation import evaluate

    return evaluate(text.mel, around)


def _known(built: BuiltNetwork | None, origin: str) -> Known:
    """Return the network of a model whose builder is known."""
    # Where a builder has faults its network lacks nodes that it would have without them.
    if built is None or built.network is None or not is_complete(built):
        return Known(None, origin)
    nodes = built.network.nodes
    # What comes from a saved model is known by the names that the text asks for alone.
    if any(node.operation == OPAQUE for node in nodes.values()):
        return Known(None, origin)
    names = {name: node.operation for name, node in nodes.items()}
    return Known(names, origin, None if built.network.troubles else built.network)


def is_complete(built: BuiltNetwork) -> bool:
    """Return whether the network is complete, as CNTK builds it."""
    if built.language != "ndl" or not built.faults:
        return not built.faults
    from netsharp_lsp.cntk.ndl.assembly import HARMLESS

    return all(fault.kind in HARMLESS for fault in built.faults)


def _writes(command: Command, scope: Scope) -> Iterator[tuple[str, str]]:
    """Yield the keys that name files which a command writes, with the files."""
    reads = all(action.lower() in _READERS for action in command.actions)
    for key in WRITTEN[1:] if reads else WRITTEN:
        found = scope.look_up(key.encode())
        if found is not None:
            yield key, normal(found.text.text.decode("utf-8", "replace"))
    if "bnstat" in command.actions and scope.look_up(RENEWED.encode()) is None:
        source = scope.look_up(WRITTEN[0].encode())
        if source is not None:
            yield RENEWED, normal(f"{source.text.text.decode('utf-8', 'replace')}.PBN")


def evaluated_nodes(command: Command) -> tuple[str, ...]:
    """Return the names of nodes below which the action bnstat of a command recomputes
    statistics.
    """
    found = None if command.scope is None else command.scope.look_up(b"evalNodeNames")
    names = [] if found is None else elements(found.text) or []
    return tuple(one.text.decode("utf-8", "replace") for one in names)


def normal(path: str) -> str:
    """Return a path in normal form."""
    return posixpath.normpath(path.replace("\\", "/"))


def _source(path: str, files: RunFiles) -> Source | None:
    data = files.read(path)
    source = None if data is None else read_text(path, data)
    return source if isinstance(source, Source) else None


def _network_text(path: str, files: RunFiles, scope: Scope) -> NetworkText | None:
    source = _source(path, files)
    if source is None:
        return None
    traced = file_text(source, scope)
    return NetworkText("mel", path, traced.text, traced)


def _defined(parts: list[Part]) -> dict[str, Definition]:
    """Return the macros of scripts by name in lower case."""
    definitions = [one for part in parts for one in part.script.definitions()]
    return {one.name.text.lower(): one for one in definitions}


def _made(
    name: str, macros: dict[str, Definition], prefix: str = "", depth: int = 0
) -> dict[str, str] | None:
    """Return the nodes that a call creates, with their operations, by the suffix of their names.

    None where the function is unknown.
    """
    function = function_of(name)
    if function is not None:
        return {prefix: function.operation}
    macro = macros.get(name.lower())
    if macro is None or macro.body is None or depth > _DEEPEST:
        return None
    made: dict[str, str] = {}
    for statement in macro.body.statements:
        if not isinstance(statement, NdlAssignment) or not isinstance(statement.value, NdlCall):
            continue
        key = f"{prefix}.{statement.name.text}" if statement.name is not None else prefix
        inner = _made(statement.value.name.text, macros, key, depth + 1)
        if inner is None:
            return None
        made.update(inner)
    return made
