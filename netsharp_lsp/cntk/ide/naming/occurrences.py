"""The names in the files of runs, with their places and the declarations that they mean.

Does not know which text is edited; the meaning of names is determined by their evaluators.
"""

from __future__ import annotations

import re
from functools import cached_property

from netsharp_lsp.cntk.brainscript.analysis.scopes import GIVEN
from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.ide.naming.mel_names import mel_occurrences
from netsharp_lsp.cntk.ide.naming.ndl_names import NdlNames
from netsharp_lsp.cntk.ide.naming.occurrence import Key, Occurrence
from netsharp_lsp.cntk.library import PREFIX
from netsharp_lsp.cntk.networks.node_types import INPUTS
from netsharp_lsp.cntk.reading.reader import read
from netsharp_lsp.cntk.reading.syntax import Assignment, Block
from netsharp_lsp.cntk.vocabulary import VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.cntk.configuration.meaning.tree import Value
    from netsharp_lsp.cntk.configuration.sources import SourcePlace
    from netsharp_lsp.cntk.networks.faults import Place
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.cntk.run.programs import ReadProgram

#: Options that list names of nodes.
NODE_LISTS = frozenset(
    (
        b"outputnodenames",
        b"evalnodenames",
        b"traincriterionnodename",
        b"evalcriterionnodename",
        b"nodename",
        b"tracenodenamesreal",
        b"tracenodenamescategory",
        b"tracenodenamessparse",
    )
)
#: Options of an NDL builder that list sections.
SECTION_LISTS = frozenset((b"run", b"load"))
_WORD = re.compile(rb"[A-Za-z_]\w*")


def occurrences(experiments: Iterable[Experiment]) -> list[Occurrence]:
    """Return all names in runs, each once."""
    return _each_once(one for run in experiments for one in _Finder(run).all())


def declarations(experiments: Iterable[Experiment]) -> list[Occurrence]:
    """Return the names that declare parts of networks; no network is evaluated for them."""
    found = (one for run in experiments for one in _Finder(run, uses=False).all())
    return _each_once(one for one in found if one.declares)


def _each_once(names: Iterable[Occurrence]) -> list[Occurrence]:
    found: dict[tuple[str, int], Occurrence] = {}
    for one in names:
        found.setdefault((one.file, one.start), one)
    return list(found.values())


class _Finder:
    """The names of one run; without `uses` only those needed for declarations."""

    def __init__(self, experiment: Experiment, *, uses: bool = True) -> None:
        self.experiment = experiment
        self._uses = uses
        self._located: dict[str, str] = {}

    def all(self) -> Iterator[Occurrence]:
        """Yield names of networks first: a name that is both of a network and a key is counted as
        the first.
        """
        nodes: dict[tuple[str, str], Occurrence] = {}
        names = NdlNames(self.experiment, self._file, uses=self._uses)
        for one in (*self._brainscript(), *names.all()):
            if one.declares and one.kind in ("member", "node"):
                nodes.setdefault((one.name.lower(), one.kind), one)
            yield one
        members = {name: one for (name, kind), one in nodes.items() if kind == "member"}
        yield from mel_occurrences(self.experiment, names, members)
        if not self._uses:
            return
        yield from self._sections()
        if self._is_alone:
            return
        known = {name: one for (name, _), one in nodes.items()}
        values = self.experiment.configuration.values()
        keys = {id(value.entry): self._key_of(value) for value in values}
        yield from self._node_names(values, known)
        yield from self._keys(values, keys)
        yield from self._variables(values, keys)
        yield from self._blocks(values, keys)

    @property
    def _is_alone(self) -> bool:
        return not self.experiment.run.items

    def _file(self, source: str) -> str:
        """Return the canonical path of a source."""
        if source not in self._located:
            inside = source.startswith(PREFIX)
            self._located[source] = source if inside else self.experiment.files.locate(source)
        return self._located[source]

    def _brainscript(self) -> Iterator[Occurrence]:
        for program in self.experiment.read_programs:

            def at(place: Place, program: ReadProgram = program) -> tuple[str, int, int]:
                outside = program.outside(place)
                return self._file(outside.source), outside.start, outside.end

            for declaration in program.program.declarations:
                file, start, end = at(declaration.place)
                if end > start:
                    key = ("brainscript", file, start)
                    yield Occurrence(
                        key, declaration.name, declaration.kind, file, start, end, True
                    )
            for use in program.program.uses if self._uses else ():
                declared = use.declaration
                if declared is None or declared.kind == GIVEN:
                    continue
                where = at(declared.place)
                kind = "library" if declared.library else declared.kind
                yield Occurrence(
                    ("brainscript", where[0], where[1]), use.name, kind, *at(use.place), False
                )

    def _sections(self) -> Iterator[Occurrence]:
        """Yield names of sections in files of NDL, and in their `run` and `load`."""
        files = {}
        for text in self.experiment.ndl_texts:
            source = text.place(0, 0).source
            data = self.experiment.files.texts.get(source)
            if data is not None and self._file(source) not in self._configurations:
                files[self._file(source)] = data
        for file, data in files.items():
            records = [one for one in read(data).records if isinstance(one, Assignment)]
            keys: dict[str, Key] = {}
            for one in records:
                if isinstance(one.value, Block):
                    key = keys.setdefault(one.name.text.lower(), ("section", file, one.name.start))
                    span = (one.name.start, one.name.end)
                    yield Occurrence(key, one.name.text, "section", file, *span, True)
            for one in records:
                if one.name.text.lower().encode() not in SECTION_LISTS or one.value is None:
                    continue
                for match in _WORD.finditer(data, one.value.start, one.value.end):
                    words = match.group().decode()
                    if words.lower() in keys:
                        key = keys[words.lower()]
                        yield Occurrence(key, words, "section", file, *match.span(), False)

    @property
    def _configurations(self) -> set[str]:
        """Return the files that are layers of the run."""
        if self._is_alone:
            return set()
        return {self._file(one.name) for one in self.experiment.configuration.layers.sources}

    def _key_of(self, value: Value) -> Key:
        place = value.entry.assignments[0].key
        return ("key", self._file(place.source.name), place.start)

    def _keys(self, values: list[Value], keys: dict[int, Key]) -> Iterator[Occurrence]:
        for value in values:
            for assignment in value.entry.assignments:
                yield self._occurrence(assignment.key, keys[id(value.entry)], "key", True)

    def _variables(self, values: list[Value], keys: dict[int, Key]) -> Iterator[Occurrence]:
        """Yield names between dollar signs, in every text that the run reads."""
        defined = {}
        by_value = {
            (one.value.source.name, one.value.start): keys[id(value.entry)]
            for value in values
            for one in value.entry.assignments
        }
        for value in values:
            for use in value.variables:
                place = use.definition
                if place is not None:
                    key = by_value.get((place.source.name, place.start))
                    if key is not None:
                        defined[use.name.lower().encode()] = key
        root = self.experiment.configuration.root
        for name, data in list(self.experiment.files.texts.items()):
            if data is None:
                continue
            file = self._file(name)
            for match in VARIABLE.finditer(data):
                key = defined.get(match.group(1).lower())
                if key is None and (entry := root.here(match.group(1))) is not None:
                    place = entry.assignments[0].key
                    key = ("key", self._file(place.source.name), place.start)
                if key is not None:
                    words = match.group(1).decode("utf-8", "replace")
                    yield Occurrence(key, words, "key", file, match.start(1), match.end(1), False)

    def _blocks(self, values: list[Value], keys: dict[int, Key]) -> Iterator[Occurrence]:
        """Yield names of blocks in `command`, and of sections in `run` and `load`."""
        named = {
            value.entry.key.lower(): keys[id(value.entry)] for value in values if value.depth == 0
        }
        for value in values:
            name = value.entry.key.lower()
            if name == b"command" or name in SECTION_LISTS:
                yield from self._listed(value, named)

    def _listed(self, value: Value, named: dict[bytes, Key]) -> Iterator[Occurrence]:
        for element in elements(value.found.text) or ():
            key = named.get(element.text.lower())
            place = element.place(0, len(element))
            if key is not None and place.text == element.text:
                yield self._occurrence(place, key, "key", False)

    def _node_names(
        self, values: list[Value], nodes: dict[str, Occurrence]
    ) -> Iterator[Occurrence]:
        """Yield nodes that options list, and the streams of readers that have the name of an
        input.
        """
        for value in values:
            name = value.entry.key.lower()
            if name in NODE_LISTS:
                for element in elements(value.found.text) or ():
                    node = nodes.get(element.text.decode("utf-8", "replace").lower())
                    place = element.place(0, len(element))
                    if node is not None and place.text == element.text:
                        yield self._occurrence(place, node.key, node.kind, False)
            words = name.decode("utf-8", "replace")
            if words in nodes and in_reader(value.path) and words in self._inputs:
                for assignment in value.entry.assignments:
                    yield self._occurrence(
                        assignment.key, nodes[words].key, nodes[words].kind, False
                    )

    @cached_property
    def _inputs(self) -> set[str]:
        """Return the names of inputs in lower case; the networks are evaluated for them."""
        return {
            node.name.lower()
            for built in self.experiment.networks
            if built.network is not None
            for node in built.network.nodes.values()
            if node.operation in INPUTS
        }

    def _occurrence(self, place: SourcePlace, key: Key, kind: str, declares: bool) -> Occurrence:
        words = place.text.decode("utf-8", "replace")
        file = self._file(place.source.name)
        return Occurrence(key, words, kind, file, place.start, place.end, declares)


def in_reader(path: str) -> bool:
    """Return whether a block on the path to a key is a reader."""
    return any("reader" in key.lower() for key in path.split(".")[:-1])
