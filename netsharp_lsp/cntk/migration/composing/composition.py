"""Composition of the files and builders of a unit: the new text of each file of NDL and the
replacement of each builder. Proves nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.migration.composing import around, assembly
from netsharp_lsp.cntk.migration.editing.comments import comments_within, with_comments
from netsharp_lsp.cntk.migration.editing.edits import Edit, Todo, applied
from netsharp_lsp.cntk.migration.editing.texts import LOADED, MACROS, RUN, Text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netsharp_lsp.cntk.configuration.entries import Entry
    from netsharp_lsp.cntk.configuration.scope import Found, Scope
    from netsharp_lsp.cntk.migration.editing.cases import Builder, Case
    from netsharp_lsp.cntk.migration.editing.overlay import Texts
    from netsharp_lsp.cntk.migration.networks.network import Facts, MigratedNetwork

    Place = tuple[str, int, int]


class _Record(NamedTuple):
    """The span of a record with the comments about it, and these comments."""

    span: tuple[int, int]
    comments: str


class Given:
    """The input of a composition: the networks that were evaluated, the builders that `stay`, those
    that are `removed`, and those that are `moved` into the blocks of other builders' commands.
    """

    __slots__ = ("cases", "disabled", "facts", "moved", "networks", "originals", "removed", "stay")

    def __init__(self, facts: Facts, originals: Texts, disabled: frozenset[str]) -> None:
        self.facts = facts
        self.originals = originals
        self.disabled = disabled
        self.cases: Sequence[Case] = ()
        self.networks: Sequence[MigratedNetwork] = ()
        self.stay: Sequence[Builder] = ()
        self.removed: Sequence[Builder] = ()
        self.moved: Mapping[Place, Sequence[Builder]] = {}

    @property
    def texts(self) -> dict[tuple[str, int], Text]:
        """Return the texts of the networks, each once."""
        found: dict[tuple[str, int], Text] = {}
        for network in self.networks:
            for text in network.names.texts:
                found.setdefault(text.key, text)
        return found


class Composition:
    """The texts that result from some edits.

    `texts` are the new texts of files; `like` is the file after which each is encoded; `around` are
    the edits of configurations, `joining` those that joining the sections adds.
    """

    def __init__(self, given: Given, edits: Sequence[Edit], arrays: bool) -> None:
        self.texts: dict[str, bytes] = {}
        self.like: dict[str, str] = {}
        self.around: list[Edit] = []
        self.joining: list[Edit] = []
        self.todo: list[Todo] = []
        self._given = given
        self._texts = given.texts
        self._edits = edits
        #: Whether node groups are written as arrays where tags make them.
        self._arrays = arrays

    @classmethod
    def of(cls, given: Given, edits: Sequence[Edit], arrays: bool) -> Composition:
        """Compose the texts."""
        composition = cls(given, edits, arrays)
        composition._remove()
        composition._compose()
        return composition

    def _is_on(self, code: str) -> bool:
        return code not in self._given.disabled

    def put(self, file: str, text: bytes) -> None:
        """Edit a configuration again."""
        self._put(file, file, text)

    def _compose(self) -> None:
        by_file: dict[str, list[Text]] = {}
        for text in self._texts.values():
            if text.in_file:
                by_file.setdefault(text.key[0], []).append(text)
        for file, texts in by_file.items():
            self._new_file(file, texts)
        for builder in self._given.stay:
            self._new_builder(builder)
        changed = {edit.file for edit in self.around}
        for file in changed:
            data = self._given.originals.data(file)
            edits = [edit for edit in self.around if edit.file == file]
            self._put(file, file, applied(data, edits))

    def _put(self, file: str, like: str, text: bytes) -> None:
        """Store a new text with the line ends of another file."""
        self.like[file] = like
        self.texts[file] = self._given.originals.with_line_ends(text.decode("utf-8"), like).encode()

    def _inside(self, file: str) -> list[Edit]:
        return [edit for edit in self._edits if edit.file == file]

    def _records(self, scope: Scope, builder: Builder, file: str) -> dict[bytes, _Record]:
        """Return the records of a scope that are in a file, by key, with their comments."""
        data = self._given.originals.data(file)
        found = {}
        for entry in scope:
            where, start, end = around.record_of(entry, builder)
            if where == file:
                span = with_comments(data, start, end)
                comments = comments_within(data, span, [(start, end)])
                found[entry.key.lower()] = _Record(span, comments)
        return found

    def _section(self, text: Text, records: Mapping[bytes, _Record]) -> assembly.Section:
        file = text.key[0]
        data = self._given.originals.data(file)
        written = assembly.written(text, data, self._inside(file))
        written = assembly.joined([written, self._group_arrays(text)])
        comments = _comments_of(records).get(text.section.lower().encode(), "")
        return assembly.Section(text, assembly.comments_above(comments, written))

    def _group_arrays(self, text: Text) -> str:
        """Return the node groups that tags form, as arrays, for the text that is run."""
        if not self._arrays or text.role != RUN:
            return ""
        return "\n".join(
            dict.fromkeys(
                line
                for network in self._given.networks
                if any(one.key == text.key for one in network.names.texts)
                for line in network.group_arrays()
            )
        )

    def _new_file(self, file: str, texts: list[Text]) -> None:
        data = self._given.originals.data(file)
        if not texts[0].section or not self._is_on("MG02"):
            written = applied(data, self._inside(file)).decode()
            written = f"{written.rstrip()}\n{self._group_arrays(texts[0])}"
            self._put(around.renamed_file(file), file, assembly.formatted_file(written).encode())
            return
        order = {MACROS: 0, LOADED: 0, RUN: 1}
        builder = next(one for one in self._given.stay if self._reads(one, file))
        records = self._records(builder.sections(), builder, file)
        sections = [
            self._section(text, records) for text in sorted(texts, key=lambda one: order[one.role])
        ]
        self.joining += around.unwrapped(builder.sections(), builder, sections)
        spans = [text.where(0, len(text.data))[1:] for text in texts]
        names = frozenset(text.section.lower() for text in texts)
        listed = self._sections_of(builder, texts)
        commented_out = assembly.commented_out(listed, names, _comments_of(records))
        gone = {entry.key.lower() for entry in listed} | {b"load", b"run"}
        spans += [one.span for key, one in records.items() if key in gone]
        comments = comments_within(data, (0, len(data)), spans)
        pieces = [comments, *self._record(sections, builder, in_file=True), commented_out]
        text = assembly.formatted_file(assembly.joined(pieces))
        self._put(around.renamed_file(file), file, text.encode())

    def _sections_of(self, builder: Builder, texts: list[Text]) -> list[Entry]:
        if texts[0].role == MACROS:
            return []
        return [entry for entry in builder.sections() if entry.kind == "block"]

    def _reads(self, builder: Builder, file: str) -> bool:
        mine = [case for case in self._given.cases if case.builder.place == builder.place]
        return any(text.key[0] == file for case in mine for text in case.texts())

    def _record(
        self, sections: Sequence[assembly.Section], builder: Builder, in_file: bool
    ) -> list[str]:
        """Return the pieces of a network: its sections in order, or a selection."""
        chosen = [one for one in sections if one.role == RUN]
        if (builder.selecting is None and len(chosen) < 2) or not self._is_on("MG03"):
            return [one.written for one in sections]
        pure = [one.written for one in sections if one.role != RUN and one.pure]
        variable, message = self._selector(builder, [one.name for one in chosen], in_file)
        return [*pure, f"network = {assembly.selection(sections, variable, message)}"]

    def _selector(self, builder: Builder, names: list[str], in_file: bool) -> tuple[str, str]:
        """Return what a selection compares, and the message if nothing is selected."""
        listed = f"one of {', '.join(names)}" if len(names) > 1 else f"only {names[0]}"
        name = builder.selecting or "run"
        if not in_file:
            return (
                f'"${name}$"',
                f"\"'{name}' selects no network: it is '${name}$', not {listed}.\"",
            )
        member = self._given.facts.member(name, True, builder.place[:2])
        return member, f"\"'{name}' selects no network: it is not {listed}.\""

    def _new_builder(self, builder: Builder) -> None:
        file, start, _ = builder.place
        data = self._given.originals.data(file)
        value = self._value(builder, data)
        margin = around.margin_of(data, start)
        text = assembly.formatted_builder(value, margin)
        if builder.place in self._given.moved:
            self._move(builder, value)
        else:
            self._change("MG01", builder.place, text)
        for edit in around.outside(builder, data):
            self._change(*_spread(edit))
        self.todo += around.dropped(builder)

    def _move(self, builder: Builder, value: str) -> None:
        """Write a builder that is outside all blocks into the blocks that train."""
        file, start, end = builder.place
        span = around.line_of(self._given.originals.data(file), start, end)
        self.around.append(Edit("MG40", file, *span, ""))
        for one in self._given.moved[builder.place]:
            block = around.opening_of(one)
            data = self._given.originals.data(block[0])
            margin = around.margin_of(data, block[1]) + "    "
            text = f"\n{margin}{assembly.formatted_builder(value, margin)}"
            self.around.append(Edit("MG40", block[0], block[1], block[1], text))

    def _change(self, code: str, place: tuple[str, int, int], text: str) -> None:
        if self._is_on(code):
            self.around.append(Edit(code, *place, text))

    def _value(self, builder: Builder, data: bytes) -> str:
        """Return the value of a builder in BrainScript."""
        mine = [case for case in self._given.cases if case.builder.place == builder.place]
        texts = list({text.key: text for case in mine for text in case.texts()}.values())
        macros, described = builder.file(b"ndlMacros"), builder.file(b"networkDescription")
        files = around.included(macros) if macros is not None else []
        records = self._records(builder.scope, builder, builder.place[0])
        includes = "\n".join(f'include "{path}"' for path in files)
        includes = assembly.comments_above(_comments_of(records).get(b"ndlmacros", ""), includes)
        used = self._used(texts)
        members = assembly.members(self._given.facts.members, used, builder.scope)
        comments, commented_out = self._kept(builder, texts, used, records)
        before = [comments, members, includes]
        if described is not None:
            above = _comments_of(records).get(b"networkdescription", "")
            return self._by_file(builder, before, (described, above), commented_out)
        sections = [self._section(text, records) for text in texts if not text.in_file]
        self.joining += around.unwrapped(builder.scope, builder, sections)
        record = self._record(sections, builder, in_file=False)
        body = assembly.joined([*before, *record, commented_out])
        return _enclosed(body, builder.selecting is not None, includes=bool(includes))

    def _used(self, texts: Sequence[Text]) -> dict[tuple[str, bool], str]:
        """Return the variables that a builder's files use."""
        used: dict[tuple[str, bool], str] = {}
        for text in texts:
            if text.in_file:
                used.update(self._given.facts.used.get(text.key, {}))
        return used

    def _kept(
        self,
        builder: Builder,
        texts: Sequence[Text],
        used: Mapping[tuple[str, bool], str],
        records: Mapping[bytes, _Record],
    ) -> tuple[str, str]:
        """Return the comments and the unused sections of a builder's block."""
        if any(_is_whole_builder(one, builder) for one in texts):
            return "", ""
        spans = [text.where(0, len(text.data))[1:] for text in texts if not text.in_file]
        names = {text.section.lower() for text in texts}
        members = {variable.lower().encode() for variable in used.values()}
        names |= {name.decode() for name in members}
        spans += [one.span for key, one in records.items() if key not in members]
        data = self._given.originals.data(builder.place[0])
        comments = comments_within(data, builder.place[1:], spans)
        return comments, assembly.commented_out(
            builder.scope, frozenset(names), _comments_of(records)
        )

    def _by_file(
        self, builder: Builder, before: list[str], file: tuple[Found, str], commented_out: str
    ) -> str:
        described, above = file
        (path,) = around.included(described)[:1]
        chosen = self._chosen(builder, described)
        if chosen is not None:
            member = self._given.facts.member(builder.selecting or "run", True, builder.place[:2])
            before = [*before, f'{member} = "{chosen}"']
        include = assembly.comments_above(above, f'include "{path}"')
        body = assembly.joined([*before, include, commented_out])
        return _enclosed(body, chosen is not None, includes=True)

    def _chosen(self, builder: Builder, described: Found) -> str | None:
        """Return the name that a builder selects from a file with several networks; None for one
        network.
        """
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
        own = {one.place: one for one in self._given.removed if one.is_own}
        for builder in own.values():
            file, start, end = builder.place
            data = self._given.originals.data(file)
            span = around.line_of(data, *with_comments(data, start, end))
            self._change("MG40", (file, *span), "")


def _comments_of(records: Mapping[bytes, _Record]) -> dict[bytes, str]:
    """Return the comments about each record, by key."""
    return {key: one.comments for key, one in records.items() if one.comments}


def _enclosed(body: str, selects: bool, includes: bool) -> str:
    """Return the members of a network as the value of a builder."""
    if selects and body.startswith("network = "):
        return f"({body.removeprefix('network = ')}\n)"
    if selects:
        return f"({{\n{body}\n}}.network)"
    if includes:
        return f"({assembly.NETWORK} {{\n{body}\n}})"
    return f"{{\n{body}\n}}"


def _is_whole_builder(text: Text, builder: Builder) -> bool:
    """Return whether the builder's block is itself the section that is run."""
    file, start, end = text.where(0, len(text.data))
    place = builder.place
    return file == place[0] and start >= place[1] and end == place[2] and bool(text.section)


def _spread(edit: Edit) -> tuple[str, tuple[str, int, int], str]:
    return edit.rule, (edit.file, edit.start, edit.end), edit.text
