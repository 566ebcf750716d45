"""One unit: all configurations joined by shared files, migrated wholly or not at all."""

from __future__ import annotations

from typing import NamedTuple

from netsharp_lsp.cntk.migration import around, assembly
from netsharp_lsp.cntk.migration.cases import Case, cases
from netsharp_lsp.cntk.migration.edits import Edit, Todo, applied
from netsharp_lsp.cntk.migration.network import Facts, MigratedNetwork
from netsharp_lsp.cntk.migration.overlay import Overlay, Texts
from netsharp_lsp.cntk.migration.proof import DIFFERENT, EQUAL, NONE, UNPROVEN, Result, proven
from netsharp_lsp.cntk.migration.renames import renaming
from netsharp_lsp.cntk.migration.rules import load
from netsharp_lsp.cntk.migration.texts import LOADED, MACROS, RUN, Text
from netsharp_lsp.cntk.migration.variables import put_members
from netsharp_lsp.text.decode import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from netsharp_lsp.cntk.configuration.scope import Entry, Found
    from netsharp_lsp.cntk.experiment import Experiment
    from netsharp_lsp.cntk.migration.cases import Builder
    from netsharp_lsp.workspace import Files


class Settings(NamedTuple):
    """What is asked: rules that are switched off, rules that are done only on request, and
    whether files of BrainScript that are there already are replaced.
    """

    disabled: frozenset[str] = frozenset()
    requested: frozenset[str] = frozenset()
    force: bool = False


class Plan:
    """What would become of a unit.  `texts` are the new texts of files in UTF-8, by their one
    names; nothing of them may be written if it `fails`.
    """

    def __init__(self) -> None:
        self.networks: list[Result] = []
        self.edits: list[Edit] = []
        self.todo: list[Todo] = []
        self.renames: dict[str, str] = {}
        self.texts: dict[str, bytes] = {}

    @property
    def fails(self) -> bool:
        """Whether something differs, or cannot be done without a person."""
        blocked = any(todo.blocks for todo in self.todo)
        return blocked or any(one.status not in ("equal", NONE) for one in self.networks)


class Unit:
    """The builders of a unit and the runs that they are met in."""

    def __init__(
        self,
        experiments: Sequence[Experiment],
        found: Sequence[Builder],
        files: Files,
        settings: Settings,
    ) -> None:
        self.experiments = experiments
        self.files = files
        self.settings = settings
        self.originals = Texts(files)
        self.plan = Plan()
        self.facts = Facts()
        self._kept, self._removed = _divided(found)
        self._moved = _moved(found)
        self._builders = list({one.place: one for one in self._kept}.values())
        self._edits: list[Edit] = []
        self._around: list[Edit] = []
        #: Edits that are told, and made by putting sections together.
        self._told: list[Edit] = []
        #: The file after which each new text is encoded.
        self._like: dict[str, str] = {}
        #: Whether node groups are written as arrays where tags make them.
        self._arrays = False
        self._texts: dict[tuple[str, int], Text] = {}
        self._cases: list[Case] = []
        self._networks: list[MigratedNetwork] = []

    @property
    def builders(self) -> list[Builder]:
        """The builders that stay, one for each command that finds them."""
        return self._kept

    @property
    def named(self) -> set[str]:
        """The files that the builders name, by their one names."""
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
        return list(self._texts.values())

    @property
    def inner_edits(self) -> list[Edit]:
        """What rules do within the texts of networks."""
        return self._edits

    @property
    def outer_edits(self) -> list[Edit]:
        """What is done to configurations, with the line ends of their files."""
        return [
            edit._replace(text=self._with_line_ends(edit.text, edit.file)) for edit in self._around
        ]

    def migrated(self) -> Plan:
        """Work everything out; nothing is written."""
        self._cases = [case for builder in self._kept for case in cases(builder)]
        self._note_layers()
        able = [case for case in self._cases if case.reason is None]
        self._note_unable()
        if not able and self._cases:
            return self.plan
        self._make_edits(able)
        results = self._attempt(able)
        if any(one.status == DIFFERENT for one in results) and self._is_on("MG22"):
            results = self._with_arrays(able, results)
        self.plan.networks += results
        self.plan.networks += [
            Result(one.place[0], one.command.name, None, NONE, 0) for one in self._removed
        ]
        self._note_existing()
        self._rename()
        return self.plan

    def _with_arrays(self, able: Sequence[Case], first: list[Result]) -> list[Result]:
        """Say node groups by arrays, since tags do not fill them in the same order in both."""
        edits = self._edits
        arrays = [edit for one in self._networks for edit in one.rewritten_arrays()]
        self._arrays = True
        self._edits = [*edits, *dict.fromkeys(arrays)]
        again = self._attempt(able)
        if _equal(again) > _equal(first):
            return again
        self._arrays, self._edits = False, edits
        return self._attempt(able)

    def _attempt(self, able: Sequence[Case]) -> list[Result]:
        """Put the texts together and compare."""
        self.plan.texts.clear()
        self.plan.todo = [todo for todo in self.plan.todo if todo.rule != "MG44"]
        self._around, self._told = [], []
        self._remove()
        self._compose()
        overlay = Overlay(self.files, self.plan.texts)
        return [proven(case, overlay) for case in able]

    def _note_layers(self) -> None:
        for builder in self._builders:
            if not builder.is_whole or builder.place[0] == "<command line>":
                message = (
                    "The builder is put together from several layers. Write it in one place first."
                )
                self.plan.todo.append(Todo("MG01", *builder.place, message, blocks=True))

    def _note_unable(self) -> None:
        for case in self._cases:
            if case.reason is not None:
                place = case.builder.place
                message = f"The network is not migrated, since it cannot be proven: {case.reason}"
                self.plan.todo.append(Todo("MG01", *place, message, blocks=True))
                self.plan.networks.append(
                    Result(place[0], case.builder.command.name, case.section, UNPROVEN, 0)
                )

    def _make_edits(self, able: Iterable[Case]) -> None:
        networks = self._networks = [self._network(case) for case in able]
        for network in networks:
            network.gather()
        for network in networks:
            network.rename()
        found: dict[Edit | Todo, None] = {}
        for network in networks:
            for text in network.names.texts:
                self._texts.setdefault(text.key, text)
            found.update(dict.fromkeys(self._worked(network)))
        self._edits = [one for one in found if isinstance(one, Edit) and self._changes(one)]
        self.plan.todo += [one for one in found if isinstance(one, Todo)]
        self._note_conflicts()

    def _changes(self, edit: Edit) -> bool:
        """Whether an edit gives another text than there is."""
        data = self.originals.data(edit.file)
        return data[edit.start : edit.end] != edit.text.encode()

    def _network(self, case: Case) -> MigratedNetwork:
        assert case.before is not None
        assert case.before.network is not None
        return MigratedNetwork(case.texts(), case.before.network, self.facts, case.builder.locate)

    def _is_on(self, code: str) -> bool:
        return code not in self.settings.disabled

    def _worked(self, network: MigratedNetwork) -> Iterator[Edit | Todo]:
        for one in load().values():
            wanted = not one.requested or one.code in self.settings.requested
            if wanted and self._is_on(one.code):
                yield from one.work(network)
        if self._is_on("MG43"):
            yield from put_members(network)

    def _note_conflicts(self) -> None:
        """The same words cannot become two things."""
        seen: dict[tuple[str, str, int, int], str] = {}
        for edit in self._edits:
            key = (edit.rule, edit.file, edit.start, edit.end)
            if edit.end > edit.start and seen.setdefault(key, edit.text) != edit.text:
                message = "Two networks need this text in two forms. Give each its own text."
                self.plan.todo.append(Todo(*key, message, blocks=True))

    # Files and builders.

    def _compose(self) -> None:
        by_file: dict[str, list[Text]] = {}
        for text in self._texts.values():
            if text.in_file:
                by_file.setdefault(text.key[0], []).append(text)
        for file, texts in by_file.items():
            self._new_file(file, texts)
        for builder in self._builders:
            self._new_builder(builder)
        changed = {edit.file for edit in self._around}
        for file in changed:
            data = self.originals.data(file)
            edits = [edit for edit in self._around if edit.file == file]
            self._put(file, file, applied(data, edits))

    def _put(self, file: str, like: str, text: bytes) -> None:
        """A new text with the line ends of another."""
        self._like[file] = like
        self.plan.texts[file] = self._with_line_ends(text.decode("utf-8"), like).encode()

    def _with_line_ends(self, text: str, like: str) -> str:
        return text.replace("\r\n", "\n").replace("\n", self.originals.source(like).line_end)

    def _inside(self, file: str) -> list[Edit]:
        return [edit for edit in self._edits if edit.file == file]

    def _section(self, text: Text) -> assembly.Section:
        file = text.key[0]
        data = self.originals.data(file)
        written = assembly.written(text, data, self._inside(file))
        return assembly.Section(text, assembly.joined([written, self._group_arrays(text)]))

    def _group_arrays(self, text: Text) -> str:
        """The node groups that tags make, as arrays, for the text that is run."""
        if not self._arrays or text.role != RUN:
            return ""
        return "\n".join(
            dict.fromkeys(
                line
                for network in self._networks
                if any(one.key == text.key for one in network.names.texts)
                for line in network.group_arrays()
            )
        )

    def _new_file(self, file: str, texts: list[Text]) -> None:
        data = self.originals.data(file)
        if not texts[0].section or not self._is_on("MG02"):
            written = applied(data, self._inside(file)).decode()
            written = f"{written.rstrip()}\n{self._group_arrays(texts[0])}"
            self._put(around.renamed_file(file), file, assembly.formatted_file(written).encode())
            return
        order = {MACROS: 0, LOADED: 0, RUN: 1}
        sections = [self._section(text) for text in sorted(texts, key=lambda one: order[one.role])]
        builder = next(one for one in self._builders if self._reads(one, file))
        self._told += around.unwrapped(builder.sections(), builder, sections)
        spans = [text.where(0, len(text.data))[1:] for text in texts]
        names = frozenset(text.section.lower() for text in texts)
        spare = assembly.spare(self._sections_of(builder, texts), names)
        told = assembly.comments_around(data, (0, len(data)), spans)
        pieces = [told, *self._record(sections, builder, in_file=True), spare]
        text = assembly.formatted_file(assembly.joined(pieces))
        self._put(around.renamed_file(file), file, text.encode())

    def _sections_of(self, builder: Builder, texts: list[Text]) -> list[Entry]:
        if texts[0].role == MACROS:
            return []
        return [entry for entry in builder.sections() if entry.kind == "block"]

    def _reads(self, builder: Builder, file: str) -> bool:
        mine = [case for case in self._cases if case.builder.place == builder.place]
        return any(text.key[0] == file for case in mine for text in case.texts())

    def _record(
        self, sections: Sequence[assembly.Section], builder: Builder, in_file: bool
    ) -> list[str]:
        """The pieces of a network: its sections one behind the other, or a selection."""
        chosen = [one for one in sections if one.role == RUN]
        if (builder.selecting is None and len(chosen) < 2) or not self._is_on("MG03"):
            return [one.written for one in sections]
        pure = [one.written for one in sections if one.role != RUN and one.pure]
        variable, told = self._selector(builder, [one.name for one in chosen], in_file)
        return [*pure, f"network = {assembly.selection(sections, variable, told)}"]

    def _selector(self, builder: Builder, names: list[str], in_file: bool) -> tuple[str, str]:
        """What a selection compares, and what is said where nothing is selected."""
        listed = f"one of {', '.join(names)}" if len(names) > 1 else f"only {names[0]}"
        name = builder.selecting or "run"
        if not in_file:
            return (
                f'"${name}$"',
                f"\"'{name}' selects no network: it is '${name}$', not {listed}.\"",
            )
        member = self.facts.member(name, True, builder.place[:2])
        return member, f"\"'{name}' selects no network: it is not {listed}.\""

    def _new_builder(self, builder: Builder) -> None:
        file, start, _ = builder.place
        data = self.originals.data(file)
        value = self._value(builder, data)
        margin = around.margin_of(data, start)
        text = assembly.formatted_builder(value, margin)
        if builder.place in self._moved:
            self._move(builder, value)
        else:
            self._change("MG01", builder.place, text)
        for edit in around.outside(builder, data):
            self._change(*_spread(edit))
        self.plan.todo += around.dropped(builder)

    def _move(self, builder: Builder, value: str) -> None:
        """Write a builder that stands around all blocks into the blocks that train."""
        file, start, end = builder.place
        span = around.line_of(self.originals.data(file), start, end)
        self._around.append(Edit("MG40", file, *span, ""))
        for one in self._moved[builder.place]:
            block = around.opening_of(one)
            data = self.originals.data(block[0])
            margin = around.margin_of(data, block[1]) + "    "
            text = f"\n{margin}{assembly.formatted_builder(value, margin)}"
            self._around.append(Edit("MG40", block[0], block[1], block[1], text))

    def _change(self, code: str, place: tuple[str, int, int], text: str) -> None:
        if self._is_on(code):
            self._around.append(Edit(code, *place, text))

    def _value(self, builder: Builder, data: bytes) -> str:
        """The value of a builder in BrainScript."""
        macros, described = builder.file(b"ndlMacros"), builder.file(b"networkDescription")
        files = around.included(macros) if macros is not None else []
        includes = "\n".join(f'include "{path}"' for path in files)
        mine = [case for case in self._cases if case.builder.place == builder.place]
        texts = {text.key: text for case in mine for text in case.texts()}
        used: dict[tuple[str, bool], str] = {}
        for text in texts.values():
            if text.in_file:
                used.update(self.facts.used.get(text.key, {}))
        spans = [text.where(0, len(text.data))[1:] for text in texts.values() if not text.in_file]
        entire = any(_is_whole_builder(one, builder) for one in texts.values())
        names = {text.section.lower() for text in texts.values()}
        names |= {variable.lower() for variable in used.values()}
        comments, spare = "", ""
        if not entire:
            comments = assembly.comments_around(data, builder.place[1:], spans)
            spare = assembly.spare(builder.scope, frozenset(names))
        before = [comments, assembly.members(self.facts.members, used, builder.scope), includes]
        if described is not None:
            return self._by_file(builder, before, described, spare)
        sections = [self._section(text) for text in texts.values() if not text.in_file]
        self._told += around.unwrapped(builder.scope, builder, sections)
        pieces = [*before, *self._record(sections, builder, in_file=False), spare]
        body = assembly.joined(pieces)
        if builder.selecting is not None and body.startswith("network = "):
            return f"({body.removeprefix('network = ')}\n)"
        if builder.selecting is not None:
            return f"({{\n{body}\n}}.network)"
        if includes:
            return f"({assembly.NETWORK} {{\n{body}\n}})"
        return f"{{\n{body}\n}}"

    def _by_file(self, builder: Builder, before: list[str], described: Found, spare: str) -> str:
        (path,) = around.included(described)[:1]
        chosen = self._chosen(builder, described)
        if chosen is not None:
            member = self.facts.member(builder.selecting or "run", True, builder.place[:2])
            before = [*before, f'{member} = "{chosen}"']
        body = assembly.joined([*before, f'include "{path}"', spare])
        if chosen is not None:
            return f"({{\n{body}\n}}.network)"
        return f"({assembly.NETWORK} {{\n{body}\n}})"

    def _chosen(self, builder: Builder, described: Found) -> str | None:
        """What a builder selects of a file that holds several networks; None for a single one."""
        if builder.selecting is not None:
            return f"${builder.selecting}$"
        file = builder.locate(described.text.text.decode("utf-8", "replace"))
        runs = {key for key, text in self._texts.items() if key[0] == file and text.role == RUN}
        run = builder.choice(b"run")
        if len(runs) < 2 or run is None:
            return None
        return run.text.text.decode("utf-8", "replace")

    def _remove(self) -> None:
        """Take builders out of blocks that do not train."""
        own = {one.place: one for one in self._removed if one.is_own}
        for builder in own.values():
            file, start, end = builder.place
            span = around.line_of(self.originals.data(file), start, end)
            self._change("MG40", (file, *span), "")

    def _note_existing(self) -> None:
        for file, text in self.plan.texts.items():
            there = self.files.read(file) if file.endswith(".bs") else None
            if there is not None and not self.settings.force and there != self.encoded(file, text):
                message = f"{file} exists and is different. Remove it, or pass --force."
                self.plan.todo.append(Todo("MG01", file, 0, 0, message, blocks=True))

    def changed(self) -> dict[str, bytes]:
        """The files that would be written: those whose bytes are not the same already."""
        found = {}
        for file, text in self.plan.texts.items():
            data = self.encoded(file, text)
            if self.files.read(file) != data:
                found[file] = data
        return found

    def encoded(self, file: str, text: bytes) -> bytes:
        """A text as it is written to its file."""
        return encode(self.originals.source(self._like.get(file, file)), text)

    def _rename(self) -> None:
        """Names of nodes that change are changed wherever the experiments use them."""
        told = [edit for edit in self._told if self._is_on(edit.rule)]
        self.plan.edits = [*self._edits, *dict.fromkeys(told), *self._around]
        if self.plan.fails or not self._is_on("MG45"):
            return
        found = renaming(self.experiments, self.plan.networks)
        self.plan.renames = found.renames
        self.plan.todo += found.todo
        self._around += found.edits
        self.plan.edits += found.edits
        for file in {edit.file for edit in found.edits}:
            edits = [edit for edit in self._around if edit.file == file]
            self._put(file, file, applied(self.originals.data(file), edits))


def _divided(found: Sequence[Builder]) -> tuple[list[Builder], list[Builder]]:
    """Builders that stay, and those that do not train what they build while others do."""
    trains = any(one.trains for one in found)
    kept: list[Builder] = []
    removed: list[Builder] = []
    for one in found:
        (kept if one.trains or not trains else removed).append(one)
    return kept, removed


def _moved(found: Sequence[Builder]) -> dict[tuple[str, int, int], list[Builder]]:
    """The builders around all blocks that more than training finds, with those that train."""
    users: dict[tuple[str, int, int], list[Builder]] = {}
    for one in found:
        users.setdefault(one.place, []).append(one)
    moved = {}
    for place, listed in users.items():
        training = {one.command.name: one for one in listed if one.trains}
        if training and len(training) < len({one.command.name for one in listed}):
            moved[place] = list(training.values())
    return moved


def _is_whole_builder(text: Text, builder: Builder) -> bool:
    """Whether the builder's block is itself the section that is run."""
    file, start, end = text.where(0, len(text.data))
    place = builder.place
    return file == place[0] and start >= place[1] and end == place[2] and bool(text.section)


def _equal(results: Sequence[Result]) -> int:
    return sum(one.status == EQUAL for one in results)


def _spread(edit: Edit) -> tuple[str, tuple[str, int, int], str]:
    return edit.rule, (edit.file, edit.start, edit.end), edit.text
