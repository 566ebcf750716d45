"""The networks that a migration has to preserve: each builder of NDL, once for every section that
it can select.
"""

from __future__ import annotations

import re
from functools import cached_property

from netsharp_lsp.cntk.checking.check import refusals
from netsharp_lsp.cntk.configuration.faults import TextFaults
from netsharp_lsp.cntk.configuration.named_files import file_text
from netsharp_lsp.cntk.configuration.scope import Scope
from netsharp_lsp.cntk.configuration.sources import read_text
from netsharp_lsp.cntk.migration.editing.texts import LOADED, MACROS, RUN, Text
from netsharp_lsp.cntk.ndl.syntax import HOLE
from netsharp_lsp.cntk.networks.node import OPAQUE
from netsharp_lsp.cntk.run.experiment import Experiment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.entries import Entry
    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.cntk.rules.findings import Finding
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.workspace import Files

#: Actions that build a network to train it.
TRAINING = frozenset(("train", "trainrnn", "adapt"))
#: Faults of NDL after which the network is uncertain, although there is one.
_UNCERTAIN = frozenset(
    (
        "deep",
        "empty-value",
        "macro-without-body",
        "missing-file",
        "missing-section",
        "no-statement",
        "option-missing",
        "option-value",
        "outside",
        "reassigned",
        "repeat",
        "several-files",
        "too-much",
        "unclosed",
        "unmatched",
        "unreadable",
    )
)
#: A variable without a value, as NDL's texts hold it.
_HOLE = re.compile(f"{HOLE}(.*?){HOLE}".encode())
_ROLES = {"macros": MACROS, "load": LOADED}


class Builder:
    """One block that builds with NDL, as one command of one run finds it."""

    def __init__(self, experiment: Experiment, command: Command, files: Files) -> None:
        self.experiment = experiment
        self.command = command
        self.files = files
        found = command.builder
        assert found is not None
        assert command.scope is not None
        self.found: Found = found
        self.scope = command.scope.inside(found)

    def locate(self, name: str) -> str:
        """Return the canonical path of a file."""
        return self.experiment.files.locate(name)

    @property
    def place(self) -> tuple[str, int, int]:
        """Return the builder's file and span, from its key to the end of its value."""
        record = self.found.entry.parts[-1].record
        key, whole = record.text.place(*record.key), record.text.place(*record.whole)
        return self.locate(key.source.name), key.start, whole.end

    @property
    def is_whole(self) -> bool:
        """Return whether it is written in one piece, and not in layers."""
        return len(self.found.entry.parts) == 1

    @property
    def trains(self) -> bool:
        """Return whether its command trains the network that it builds."""
        return any(action.lower() in TRAINING for action in self.command.actions)

    @property
    def is_own(self) -> bool:
        """Return whether it is in its command's own block."""
        return self.found.scope is self.command.scope

    def file(self, key: bytes) -> Found | None:
        """Return the value of `networkDescription` or `ndlMacros`, None where it is missing or
        empty.
        """
        found = self.scope.look_up(key)
        return found if found is not None and found.text.text else None

    def sections(self) -> Scope:
        """Return the record of the sections: the file's, or the builder's with its enclosing
        scopes.
        """
        described = self.file(b"networkDescription")
        if described is None:
            return self.scope
        path = described.text.text.decode("utf-8", "replace")
        source = read_text(path, self.experiment.files.read(path) or b"")
        if isinstance(source, str):
            return self.scope
        return Scope(file_text(source, self.scope), TextFaults())

    def choice(self, key: bytes) -> Found | None:
        """Return the value of `run` or `load`: the builder's own, else that of its file."""
        return self.scope.look_up(key) or self.sections().look_up(key)

    @property
    def selecting(self) -> str | None:
        """The variable that selects the section, if one does."""
        run = self.choice(b"run")
        if run is None:
            return None
        whole = [use for use in run.text.uses if (use.at, use.end) == (0, len(run.text))]
        return whole[0].name if whole else None

    def assignment(self, section: str) -> str:
        """Return the command-line argument that selects a section."""
        assert self.selecting is not None
        owner = self.scope.owner(self.selecting.encode())
        if owner is not None and owner is self.command.scope:
            return f"{self.command.name}=[{self.selecting}={section}]"
        return f"{self.selecting}={section}"

    def candidates(self) -> list[Entry]:
        """Return the sections that could be run."""
        load = self.choice(b"load")
        loaded = b"" if load is None else load.text.text.lower()
        names = {name.strip() for name in loaded.split(b":")}
        return [
            entry
            for entry in self.sections()
            if entry.kind == "block" and entry.key.lower() not in names
        ]


class Case:
    """One network: of a builder, with the section that is run if a variable selects it."""

    def __init__(self, builder: Builder, section: str | None) -> None:
        self.builder = builder
        self.section = section
        self.run = builder.experiment.run
        if section is not None and builder.selecting is not None:
            self.run = self.run.followed_by((builder.assignment(section),))

    @cached_property
    def before(self) -> BuiltNetwork | None:
        """Return the network that its command builds from the unchanged files."""
        return self._experiment.network_of(self.builder.command.name)

    @cached_property
    def _experiment(self) -> Experiment:
        return self.experiment_with(self.builder.files)

    @cached_property
    def refusal(self) -> Finding | None:
        """Return why CNTK rejects the network, as `check` reports it."""
        if self.before is None:
            return None
        return next(refusals(self.before, self._experiment), None)

    @property
    def is_able(self) -> bool:
        """Return whether it can be migrated: CNTK builds it, and the network is known."""
        return self.refusal is None and self.reason is None

    def experiment_with(self, files: Files) -> Experiment:
        """Return its experiment, reading other files."""
        original = self.builder.experiment
        return Experiment(self.run, files, original.library, original.given)

    @property
    def reason(self) -> str | None:
        """Return why the network cannot be determined, None if it can."""
        built = self.before
        if built is None or built.network is None:
            faults = built.faults if built is not None else ()
            fault = next((one for one in faults if one.kind != "no-features"), None)
            if fault is not None:
                return fault.message
            return "the builder gives no network." if built is None else built.why_not
        missing = next(
            filter(None, (_HOLE.search(one.script.text.text) for one in built.parts)), None
        )
        if missing is not None:
            name = missing.group(1).decode("utf-8", "replace")
            return f"the variable '{name}' has no value. Give it one with --set {name}=..."
        uncertain = next((one for one in built.faults if one.kind in _UNCERTAIN), None)
        if uncertain is not None:
            return uncertain.message
        unknown = [
            node
            for node in built.network.nodes.values()
            if node.operation == OPAQUE or node.shape is None
        ]
        return _why_unknown(unknown[0], built) if unknown else None

    def texts(self) -> list[Text]:
        """Return the texts of the network."""
        assert self.before is not None
        in_file = self.builder.file(b"networkDescription") is not None
        return [
            Text(
                part.script,
                _ROLES.get(part.role, RUN),
                part.name,
                self.builder.locate,
                in_file or part.role == "macros",
            )
            for part in self.before.parts
        ]


def _why_unknown(node: Node, built: BuiltNetwork) -> str:
    """Return why a node is unknown: a mismatch in the network, or an earlier fault."""
    assert built.network is not None
    network = built.network.troubles
    reasons = [one.message for one in network if one.node is node]
    reasons += [one.message for one in network] + [one.message for one in built.faults]
    return f"'{node.name}' is unknown: {next(iter(reasons), 'its size is not given.')}"


def builders(experiment: Experiment, files: Files) -> Iterator[Builder]:
    """Yield a builder for each command that builds with NDL."""
    for command in experiment.commands:
        found = command.builder if command.scope is not None else None
        if found is not None and found.entry.key.lower() == b"ndlnetworkbuilder":
            yield Builder(experiment, command, files)


def cases(builder: Builder) -> list[Case]:
    """Return the networks of a builder: one, or one for each section that can be selected."""
    if builder.selecting is None:
        run = builder.choice(b"run")
        return [Case(builder, None if run is None else run.text.text.decode("utf-8", "replace"))]
    found = [Case(builder, entry.key.decode("utf-8", "replace")) for entry in builder.candidates()]
    return [case for case in found if case.before is not None and case.before.network is not None]
