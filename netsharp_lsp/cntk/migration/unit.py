"""One unit: all configurations joined by shared files, migrated completely or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.migration.composing.composition import Composition, Given
from netsharp_lsp.cntk.migration.editing.cases import Case, cases
from netsharp_lsp.cntk.migration.editing.edits import Edit, Todo, applied
from netsharp_lsp.cntk.migration.editing.overlay import Overlay, Texts
from netsharp_lsp.cntk.migration.editing.texts import MACROS, Text
from netsharp_lsp.cntk.migration.networks.names import Names
from netsharp_lsp.cntk.migration.networks.network import Facts, MigratedNetwork
from netsharp_lsp.cntk.migration.networks.variables import use_members
from netsharp_lsp.cntk.migration.proof import DIFFERENT, EQUAL, NONE, UNPROVEN, Result, proven
from netsharp_lsp.cntk.migration.renames import renaming
from netsharp_lsp.cntk.migration.rules import NETWORK, RULES
from netsharp_lsp.text.decode import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from netsharp_lsp.cntk.migration.editing.cases import Builder
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.workspace import Files


class MigrationSettings(NamedTuple):
    """The settings of a migration: rules that are switched off, rules that are applied only on
    request, and whether existing files of BrainScript are replaced.
    """

    disabled: frozenset[str] = frozenset()
    requested: frozenset[str] = frozenset()
    force: bool = False


class Plan:
    """The result of a unit's migration. `texts` are the new texts of files in UTF-8, by canonical
    path; none of them may be written if it `fails`.
    """

    def __init__(self) -> None:
        self.networks: list[Result] = []
        self.edits: list[Edit] = []
        self.todo: list[Todo] = []
        self.renames: dict[str, str] = {}
        self.texts: dict[str, bytes] = {}

    @property
    def fails(self) -> bool:
        """Return whether a network differs, or something has to be done by hand first."""
        blocked = any(todo.blocks for todo in self.todo)
        return blocked or any(one.status not in ("equal", NONE) for one in self.networks)


class Unit:
    """The builders of a unit and the runs in which they occur."""

    def __init__(
        self,
        experiments: Sequence[Experiment],
        found: Sequence[Builder],
        files: Files,
        settings: MigrationSettings,
    ) -> None:
        self.experiments = experiments
        self.files = files
        self.settings = settings
        self.originals = Texts(files)
        self.plan = Plan()
        self.facts = Facts()
        self._kept, self._removed = _divided(found)
        stay = {one.place: one for one in self._kept}
        self._given = Given(self.facts, self.originals, settings.disabled)
        self._given.stay = list(stay.values())
        self._given.removed = self._removed
        self._given.moved = _moved(found)
        self._edits: list[Edit] = []
        self._composition = Composition.of(
            Given(self.facts, self.originals, frozenset()), (), False
        )

    @property
    def builders(self) -> list[Builder]:
        """The builders that stay, one for each command that finds them."""
        return self._kept

    @property
    def named(self) -> set[str]:
        """Return the canonical paths of the files that the builders name."""
        found = set()
        for builder in self._kept:
            for key in (b"networkDescription", b"ndlMacros"):
                files = builder.file(key)
                text = files.text.text.decode("utf-8", "replace") if files is not None else ""
                found |= {builder.locate(path) for path in text.split("+") if path}
        return found

    @property
    def texts(self) -> list[Text]:
        """The texts of the networks."""
        return list(self._given.texts.values())

    @property
    def inner_edits(self) -> list[Edit]:
        """Return the edits within the texts of networks."""
        return self._edits

    @property
    def outer_edits(self) -> list[Edit]:
        """Return the edits of configurations, with the line ends of their files."""
        return [
            edit._replace(text=self.originals.with_line_ends(edit.text, edit.file))
            for edit in self._composition.around
        ]

    def migrated(self) -> Plan:
        """Migrate the unit; nothing is written."""
        found = [case for builder in self._kept for case in cases(builder)]
        self._given.cases = found
        self._note_layers()
        able = [case for case in found if case.is_able]
        self._note_unable()
        if not able and found:
            return self.plan
        self._make_edits(able)
        results = self._attempt(able)
        if any(one.status == DIFFERENT for one in results) and self._is_on("MG22"):
            results = self._with_arrays(able, results)
        none = [Result(one.place[0], one.command.name, None, NONE, 0) for one in self._removed]
        self.plan.networks += [*results, *none]
        self.plan.todo += self._composition.todo
        self._keep_existing(able)
        self._note_existing()
        self._rename()
        return self.plan

    def _with_arrays(self, able: Sequence[Case], first: list[Result]) -> list[Result]:
        """Write node groups as arrays, since tags do not fill them in the same order in both
        languages.
        """
        edits, composition = self._edits, self._composition
        arrays = [edit for one in self._given.networks for edit in one.rewritten_arrays()]
        self._edits = [*edits, *dict.fromkeys(arrays)]
        again = self._attempt(able, arrays=True)
        if _equal(again) > _equal(first):
            return again
        self._edits, self._composition = edits, composition
        self.plan.texts = composition.texts
        return first

    def _attempt(self, able: Sequence[Case], arrays: bool = False) -> list[Result]:
        """Compose the texts and compare the networks."""
        self._composition = Composition.of(self._given, self._edits, arrays)
        self.plan.texts = self._composition.texts
        overlay = Overlay(self.files, self.plan.texts)
        return [proven(case, overlay) for case in able]

    def _note_layers(self) -> None:
        for builder in self._given.stay:
            if not builder.is_whole or builder.place[0] == "<command line>":
                message = (
                    "The builder is put together from several layers. Write it in one place first."
                )
                self.plan.todo.append(Todo("MG01", *builder.place, message, blocks=True))

    def _note_unable(self) -> None:
        for case in self._given.cases:
            if not case.is_able:
                place = case.builder.place
                self.plan.todo.append(_unable(case))
                self.plan.networks.append(
                    Result(place[0], case.builder.command.name, case.section, UNPROVEN, 0)
                )

    def _make_edits(self, able: Iterable[Case]) -> None:
        networks = self._given.networks = [self._network(case) for case in able]
        for network in networks:
            network.gather()
        for network in networks:
            network.rename()
        found: dict[Edit | Todo, None] = {}
        for network in networks:
            found.update(dict.fromkeys(self._edits_of(network)))
        self._edits = [one for one in found if isinstance(one, Edit) and self._changes(one)]
        self.plan.todo += [one for one in found if isinstance(one, Todo)]
        self._note_conflicts()

    def _changes(self, edit: Edit) -> bool:
        """Return whether an edit changes the text."""
        data = self.originals.data(edit.file)
        return data[edit.start : edit.end] != edit.text.encode()

    def _network(self, case: Case) -> MigratedNetwork:
        assert case.before is not None
        assert case.before.network is not None
        names = Names.of(case.texts())
        return MigratedNetwork(names, case.before.network, self.facts, case.builder.locate)

    def _is_on(self, code: str) -> bool:
        return code not in self.settings.disabled

    def _edits_of(self, network: MigratedNetwork) -> Iterator[Edit | Todo]:
        for one in RULES.on(NETWORK):
            wanted = not one.traits.requested or one.code in self.settings.requested
            if wanted and self._is_on(one.code):
                yield from one.check(network)
        if self._is_on("MG43"):
            yield from use_members(network)

    def _note_conflicts(self) -> None:
        """Note edits that would give the same text two forms."""
        seen: dict[tuple[str, str, int, int], str] = {}
        for edit in self._edits:
            key = (edit.rule, edit.file, edit.start, edit.end)
            if edit.end > edit.start and seen.setdefault(key, edit.text) != edit.text:
                message = "Two networks need this text in two forms. Give each its own text."
                self.plan.todo.append(Todo(*key, message, blocks=True))

    def _note_existing(self) -> None:
        for file, text in self.plan.texts.items():
            there = self.files.read(file) if file.endswith(".bs") else None
            if there is not None and not self.settings.force and there != self.encoded(file, text):
                self.plan.todo.append(
                    Todo("MG01", file, 0, 0, self._about_existing(file), blocks=True)
                )

    def _about_existing(self, file: str) -> str:
        """Return a sentence on what to do about a BrainScript file that exists already."""
        original = self._composition.like[file]
        if not self._is_shared(file):
            return f"{file} exists and is different. Remove it, or pass --force."
        mine = " ".join(dict.fromkeys(one.place[0] for one in self.builders))
        return (
            f"{file} exists and is different: another configuration that reads {original} was "
            "migrated before, without this one. Restore that configuration, and migrate all "
            f"that read {original} in one call: netsharp migrate --write {mine} and the others."
        )

    def _is_shared(self, file: str) -> bool:
        """Return whether a file comes from one of macros, which several configurations may read."""
        original = self._composition.like.get(file)
        return any(one.role == MACROS and one.key[0] == original for one in self.texts)

    def _keep_existing(self, able: Sequence[Case]) -> None:
        """Keep files of macros as they were written for other configurations, where they serve the
        networks of this unit as well.
        """
        others = {
            file: text
            for file, text in self.plan.texts.items()
            if not self._is_shared(file) or self.files.read(file) is None
        }
        if self.settings.force or len(others) == len(self.plan.texts):
            return
        after = Overlay(self.files, others)
        if all(proven(case, after).status == EQUAL for case in able):
            self.plan.texts = others

    def changed(self) -> dict[str, bytes]:
        """Return the files to write: those whose bytes differ."""
        found = {}
        for file, text in self.plan.texts.items():
            data = self.encoded(file, text)
            if self.files.read(file) != data:
                found[file] = data
        return found

    def encoded(self, file: str, text: bytes) -> bytes:
        """Return the bytes of a text as it is written to its file."""
        return encode(self.originals.source(self._composition.like.get(file, file)), text)

    def _rename(self) -> None:
        """Change the names of nodes wherever the experiments use them."""
        joining = [edit for edit in self._composition.joining if self._is_on(edit.rule)]
        self.plan.edits = [*self._edits, *dict.fromkeys(joining), *self._composition.around]
        if self.plan.fails or not self._is_on("MG45"):
            return
        found = renaming(self.experiments, self.plan.networks)
        self.plan.renames = found.renames
        self.plan.todo += found.todo
        self._composition.around += found.edits
        self.plan.edits += found.edits
        for file in {edit.file for edit in found.edits}:
            edits = [edit for edit in self._composition.around if edit.file == file]
            self._composition.put(file, applied(self.originals.data(file), edits))


def _unable(case: Case) -> Todo:
    """Return why a network is not migrated, with the fault to fix."""
    refusal = case.refusal
    if refusal is None:
        message = f"The network is not migrated, since it cannot be proven: {case.reason}"
        return Todo("MG01", *case.builder.place, message, blocks=True)
    message = f"CNTK refuses the network, so it is not migrated. {refusal.code}: {refusal.message}"
    place = refusal.place
    file = case.builder.locate(place.source)
    return Todo("MG01", file, place.start, place.end, message, blocks=True)


def _divided(found: Sequence[Builder]) -> tuple[list[Builder], list[Builder]]:
    """Return the builders to keep, and those that do not train their network while others do."""
    trains = any(one.trains for one in found)
    kept: list[Builder] = []
    removed: list[Builder] = []
    for one in found:
        (kept if one.trains or not trains else removed).append(one)
    return kept, removed


def _moved(found: Sequence[Builder]) -> dict[tuple[str, int, int], list[Builder]]:
    """Return the builders outside all blocks that not only training finds, with those that
    train.
    """
    users: dict[tuple[str, int, int], list[Builder]] = {}
    for one in found:
        users.setdefault(one.place, []).append(one)
    moved = {}
    for place, listed in users.items():
        training = {one.command.name: one for one in listed if one.trains}
        if training and len(training) < len({one.command.name for one in listed}):
            moved[place] = list(training.values())
    return moved


def _equal(results: Sequence[Result]) -> int:
    return sum(one.status == EQUAL for one in results)
