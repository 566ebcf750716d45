"""The parts of a text that are networks of NDL, and the kinds of names in them by place."""

from __future__ import annotations

import re
from bisect import bisect_right

from netsharp_lsp.cntk.configuration.meaning.tree import network_sections
from netsharp_lsp.cntk.ide.meanings.words import INITS, LAYOUTS, SPECIAL, TAGS
from netsharp_lsp.cntk.ide.places.text import glued_macros, nodes_in
from netsharp_lsp.cntk.networks.node import OLD_TAGS
from netsharp_lsp.cntk.reading.syntax import Assignment, Block, Macro
from netsharp_lsp.cntk.run.neighbours import alone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.reading.syntax import Document, List
    from netsharp_lsp.ide.answers import Range

#: Words that are values of named arguments, in lower case.
_WORDS = frozenset(
    word.lower().encode() for table in (TAGS, OLD_TAGS, INITS, LAYOUTS) for word in table
)
#: What a text that names sections to be loaded says, itself or by a file or a variable.
_MAY_LOAD = re.compile(rb"run|load|include=|\$\w*[ \t]*=", re.IGNORECASE)
#: Keys that are not names of nodes, in networks too.
KEYS = frozenset(("run", "load", "networkdescription", "ndlmacros"))


class Networks:
    """The networks of a text or a part of it, and the macros there, as far as a document of its
    records contains them.
    """

    def __init__(self, edited: Edited, data: bytes, document: Document) -> None:
        self._data = data
        nodes = list(nodes_in(document.records))
        macros = [(node.parameters, node.end) for node in nodes if isinstance(node, Macro)]
        macros += [(one.call.arguments, one.body.end) for one in glued_macros(document.records)]
        self._macros = sorted(macros, key=lambda macro: macro[0].start)
        self._starts = [parameters.start for parameters, _ in self._macros]
        self._parameters = [
            {word.lower() for word in _words(data, parameters)} for parameters, _ in self._macros
        ]
        self._spans = sorted(_spans(edited, data, nodes))

    def meaning(self, kind: str, start: int, end: int) -> str:
        """Return the kind of a key in a network; empty for other keys."""
        if kind != "key":
            return ""
        at = bisect_right(self._spans, (start, len(self._data))) - 1
        if at < 0 or end > self._spans[at][1]:
            return ""
        word = self._data[start:end].lower().decode("utf-8", "replace")
        if word in KEYS or word in SPECIAL:
            return "property"
        return "variable declaration"

    def name(self, word: bytes, start: int, named: bool) -> str:
        """Return the kind of a bare word in a value; `named`: it is passed by name."""
        if named and word.lower() in _WORDS:
            return "enumMember"
        at = bisect_right(self._starts, start) - 1
        if at < 0 or start >= self._macros[at][1]:
            return "variable"
        if start < self._macros[at][0].end:
            return "parameter declaration"
        return "parameter" if word.lower() in self._parameters[at] else "variable"


def _words(data: bytes, parameters: List) -> Iterator[bytes]:
    for one in parameters.elements:
        yield data[one.start : one.end].strip()


def _may_load(edited: Edited) -> bool:
    """Return whether a section may be loaded as a network; a text that is run alone is complete."""
    around = edited.workspace
    single = alone(around.name)
    for run in around.runs[:1]:
        started = run.assigning(around.assignments)
        if (started.items, started.directory) != (single.items, single.directory):
            return True
    return _MAY_LOAD.search(edited.data) is not None


def _spans(edited: Edited, data: bytes, nodes: Sequence[object]) -> Iterator[Range]:
    """Yield the spans of networks: the whole of a file of NDL or MEL, else sections of a
    configuration.
    """
    if edited.language != "cntk":
        yield 0, len(data)
        return
    sections = network_sections(edited.main.configuration.root) if _may_load(edited) else ()
    for node in nodes:
        if not isinstance(node, Assignment) or not isinstance(node.value, Block):
            continue
        name = node.name.text.lower()
        if name.encode() in sections:
            yield node.value.start, node.value.end
        elif name == "ndlnetworkbuilder":
            for inner in node.value.records:
                if isinstance(inner, Assignment) and isinstance(inner.value, Block):
                    yield inner.value.start, inner.value.end
