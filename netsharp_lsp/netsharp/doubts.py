"""Which parts of a text could not be read, so that rules stay quiet about what they hold.

One fault must not set off others: whatever stands in doubt is reported once, by the rules on
syntax, and findings about its meaning are withheld.
"""

from __future__ import annotations

import re

from netsharp_lsp.diagnostics.nearest import nearest
from netsharp_lsp.netsharp.characters import foreign_marks
from netsharp_lsp.netsharp.expressions import attributes_of, bundles_of
from netsharp_lsp.netsharp.findings import Finding, Place
from netsharp_lsp.netsharp.syntax import BundleItem, ConstantItem, LayerItem, Name, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.characters import Mark
    from netsharp_lsp.netsharp.syntax import (
        Attribute,
        Comment,
        Declaration,
        Fault,
        Item,
        Specification,
    )

SECTION_WORDS = ("const", "input", "hidden", "output", "share")
#: What translated pages of the guide and other habits put in a section keyword's place.
SECTION_ALIASES = {
    "constant": "const",
    "define": "const",
    "let": "const",
    "konstante": "const",
    "eingabe": "input",
    "entrada": "input",
    "verborgen": "hidden",
    "ausgeblendet": "hidden",
    "oculta": "hidden",
    "ausgabe": "output",
    "ausgang": "output",
    "salida": "output",
    "sortie": "output",
    "shared": "share",
}
#: Declarations that only broken text has.
DEBRIS = frozenset(("orphan", "error", "stray"))

#: Names people give to the attribute that Net# does not have.
ACTIVATION_ATTRIBUTES = ("activation", "function", "outputfunction")
KIND_WORDS = frozenset("all where convolve max mean response".split())  # noqa: SIM905
WORD_OPERATORS = {"or": "||", "and": "&&", "not": "!"}
WORD = re.compile(r"[^\W\d]\w*")
#: Findings that hold as long as their own words are readable; the others relate many places.
LOCAL_CODES = frozenset(
    f"NS{number:03}" for number in (*range(30, 51), 53, 61, 62) if number not in (33, 34, 36)
)
UNKNOWN_NAME_CODES = frozenset(("NS030", "NS035", "NS100", "NS103", "NS104"))
UNUSED_CODES = frozenset(("NS033", "NS058", "NS059"))
#: Findings about a name alone, whatever stands behind it.
NAME_CODES = frozenset(("NS030", "NS031", "NS034", "NS035", "NS036", "NS037", "NS051", "NS052"))
QUOTED = re.compile(r"'(\w+)'")
PRESENCE_CODES = frozenset(("NS051", "NS052", "NS116", "NS054", "NS101"))


def section_meant(word: str) -> str | None:
    """The section keyword that a word is a misspelling or translation of."""
    return SECTION_ALIASES.get(word.lower()) or nearest(word, SECTION_WORDS)


class Doubts:
    """The unreadable parts of one specification.  All spans are absolute.

    `marks`: foreign characters.  `regions`: spans of text that the parser could not place.
    `words`: every word in them.  `foreign`: nothing in the text is Net#.
    `covered`: declarations that only continue an earlier fault.
    `culprits`: continuations of a declaration that seemed to lack only its `;`.
    `continued`: declarations whose end is not where a `;` seems to be missing.
    `displaced`: groups interrupted by a declaration, with that one and the stray `}`.
    `curly`: layers whose size in curly brackets fell apart, with the size's span.
    """

    def __init__(self, specification: Specification) -> None:
        self.specification = specification
        self.marks: list[Mark] = foreign_marks(specification.data, specification.comments)
        self.regions: list[tuple[int, int]] = [(mark.start, mark.end) for mark in self.marks]
        self.covered: set[Declaration] = set()
        self.culprits: dict[Declaration, Declaration] = {}
        self.continued: set[Declaration] = set()
        self.words: set[str] = set()
        self.displaced: dict[Declaration, tuple[Declaration, Declaration]] = {}
        self.curly: dict[Declaration, tuple[int, int]] = {}
        self.swallowed = any(comment.kind == "unclosed" for comment in specification.comments)
        self.broken = bool(self.regions) or self.swallowed
        self.nameless = False
        for declaration in specification.declarations:
            if declaration.faults or declaration.kind in DEBRIS:
                self._note(declaration)
            if declaration.kind == "const":
                self._note_layers(declaration)
        for comment in specification.comments:
            self._note_swallowed(comment)
        self.vague = set(self._vague_names()) if self.broken else set()
        if self.broken:
            self._find_continuations()
            self._find_curly()
            self._find_displaced()
        self.foreign = self.broken and self._is_foreign()
        self.incomplete = self.broken or self._lacks_connections()

    # What is in doubt.

    def explained(self, declaration: Declaration) -> bool:
        """Whether what a declaration holds is told by a finding about the text before it."""
        return self.foreign or declaration in self.covered or declaration in self.culprits

    def marked(self, declaration: Declaration, piece: Node) -> bool:
        """Whether foreign characters, reported on their own, stand in or beside a piece."""
        base = self.specification.starts[declaration]
        start, end = base + piece.start, base + piece.end
        return any(mark.start <= end and start <= mark.end for mark in self.marks)

    def touches(self, declaration: Declaration, start: int, end: int) -> bool:
        """Whether a span of a declaration holds, or borders on, unreadable text."""
        base = self.specification.starts[declaration]
        return self.touches_text(base + start, base + end)

    def touches_text(self, start: int, end: int) -> bool:
        """Whether an absolute span holds, or borders on, unreadable text."""
        return any(first <= end and start <= last for first, last in self.regions)

    def swallows(self, declaration: Declaration, missing: Fault) -> bool:
        """Whether a missing mark may stand in a comment that took in code."""
        at = self.specification.starts[declaration] + missing.start
        data = self.specification.data
        return any(
            at <= comment.start
            and not data[at : comment.start].strip()
            and (comment.start, comment.end) in self.regions
            for comment in self.specification.comments
            if comment.kind in ("hash", "unclosed")
        )

    def withholds(self, finding: Finding) -> bool:
        """Whether a finding about meaning rests on text that could not be read."""
        code, declaration = finding.code, finding.place.declaration
        if code < "NS030":
            return False
        if code in ("NS030", "NS061", "NS063") and self._misplaced_attribute(finding):
            return True
        if code == "NS035" and names_no_source(finding):
            return True
        if code == "NS057" and has_bare_source(declaration):
            return True
        if not self.incomplete:
            return False
        if self.foreign or declaration in self.covered or declaration in self.culprits:
            return True
        if code in PRESENCE_CODES and self._presence_unknown(code):
            return True
        if declaration is not None and self._is_debris(declaration):
            return declaration.kind != "orphan"
        start, end = finding.place.offsets(self.specification)
        name = self.specification.data[start:end].decode("utf-8", "replace")
        if code in UNUSED_CODES:
            return code != "NS033" or name in self.words
        if code in UNKNOWN_NAME_CODES and (self.nameless or self.swallowed or name in self.words):
            return True
        if code == "NS036" and name in self.words:
            return True
        if code not in NAME_CODES and self.vague & {name, *QUOTED.findall(finding.message)}:
            return True
        return self._in_doubt(finding, code in LOCAL_CODES)

    def _in_doubt(self, finding: Finding, local: bool) -> bool:
        declaration = finding.place.declaration
        if declaration is None or not self.regions:
            return False
        span = (finding.place.start, finding.place.end)
        for piece in enclosing(declaration, *span, local):
            span = (min(span[0], piece.start), max(span[1], piece.end))
        return self.touches(declaration, span[0] - 1, span[1] + 1)

    def _misplaced_attribute(self, finding: Finding) -> bool:
        """Whether a finding is about `Activation = tanh` or a half-typed attribute."""
        declaration = finding.place.declaration
        if declaration is None:
            return False
        start, end = finding.place.start, finding.place.end
        for attribute in attributes_of(declaration):
            if finding.code == "NS063":
                unfinished = attribute.value is None and attribute.terminator == ""
                if unfinished and attribute.name.start >= start:
                    return True
            elif attribute.start <= start and end <= attribute.end:
                named = attribute.name.text.lower() in ACTIVATION_ATTRIBUTES
                named = named or lacks_from(attribute)
                return named or (attribute.value is None and finding.code == "NS061")
        return False

    def _presence_unknown(self, code: str) -> bool:
        lowered = {word.lower() for word in self.words}
        if self.swallowed or self.nameless or lowered & {"input", "output", "hidden"}:
            return True
        orphans = any(d.kind in ("orphan", "error") for d in self.specification.declarations)
        return orphans and code in ("NS051", "NS052")

    def last_resort(self) -> Finding | None:
        """A finding for the first fault, should no rule have told of any."""
        for declaration in self.specification.declarations:
            for fault in declaration.faults:
                place = Place.of(declaration, fault)
                return Finding("NS026", place, "The text cannot be read from here on.")
        return None

    # How it is found.

    def _note(self, declaration: Declaration) -> None:
        base = self.specification.starts[declaration]
        for fault in declaration.faults:
            end = fault.end
            if is_nameless(declaration, fault, self.specification):
                self.nameless = True
            if fault.kind == "unexpected":
                self.words.update(WORD.findall(fault.text))
                if unreadable_filter(fault):
                    end = declaration.end
            elif fault.text == ";":
                continue
            self.regions.append((base + fault.start, base + end))
        self.broken = True

    def _note_layers(self, declaration: Declaration) -> None:
        """Constants that were read as layers for want of a `=`."""
        for item in declaration.items:
            if isinstance(item, LayerItem):
                base = self.specification.starts[declaration]
                self.regions.append((base + item.start, base + item.end))
                self.words.add(item.name.text)
                self.broken = True

    def _note_swallowed(self, comment: Comment) -> None:
        """Code that a comment took in which should not be there."""
        if comment.kind not in ("hash", "unclosed"):
            return
        text = self.specification.data[comment.start : comment.end]
        if comment.kind == "unclosed" or any(mark in text for mark in b";{}]"):
            self.regions.append((comment.start, comment.end))
            self.words.update(WORD.findall(text.decode("utf-8", "replace")))
            self.broken = True

    def _vague_names(self) -> Iterator[str]:
        """Layers and constants whose size or value could not be read as a whole."""
        for declaration, item in self.specification.items():
            if not isinstance(item, LayerItem | ConstantItem):
                continue
            node = item.size if isinstance(item, LayerItem) else item.value
            if node is not None and self.touches(declaration, node.start - 1, node.end + 1):
                yield item.name.text

    def _find_continuations(self) -> None:
        data = self.specification.data
        before: Declaration | None = None
        open_end = False
        for declaration in self.specification.declarations:
            start = self.specification.starts[declaration]
            joined = False
            if before is not None and open_end and self._continues(before, declaration):
                end = self.specification.starts[before] + before.end
                joined = b"\n" not in data[end:start] and b"\r" not in data[end:start]
                joined = joined or lacks_source(before)
            if joined and before is not None:
                self.continued.add(before)
                chained = before in self.covered or before in self.culprits
                if lacks_only_end(before) and (not chained or is_word_operator(declaration)):
                    self.culprits[declaration] = before
                    end = self.specification.starts[before] + before.end
                    self.regions.append((end, end))
                else:
                    self.covered.add(declaration)
                text = data[start : start + declaration.end].decode("utf-8", "replace")
                self.words.update(WORD.findall(text))
            open_end = joined or self._ends_open(declaration)
            before = declaration

    def _find_curly(self) -> None:
        """Put `input Image {28, 28};` together again: a body, numbers, a stray `}`."""
        declarations = self.specification.declarations
        for position, declaration in enumerate(declarations[:-2]):
            numbers, brace = declarations[position + 1 : position + 3]
            item = declaration.items[-1] if declaration.items else None
            if not isinstance(item, LayerItem) or item.size is not None or item.body is None:
                continue
            if numbers.kind != "error" or not self._is_brace(brace) or item.bundles:
                continue
            if all(kind in ("number", ",", "identifier") for kind in token_kinds(numbers)):
                base = self.specification.starts[declaration] + item.body[0]
                self.curly[declaration] = (base, self.specification.starts[brace] + 1)
                rest = declarations[position + 3 : position + 4]
                self.covered.update((numbers, brace, *(d for d in rest if d.kind == "stray")))

    def _find_displaced(self) -> None:
        """Pair a group whose `}` is missing with a stray `}` further down."""
        opened: tuple[Declaration, list[Declaration]] | None = None
        for declaration in self.specification.declarations:
            if declaration in self.curly:
                continue
            if any(f.text == "}" and f.start == declaration.end for f in declaration.faults):
                opened = (declaration, [])
            elif opened is not None and self._is_brace(declaration):
                group, inside = opened
                if inside:
                    self.displaced[group] = (inside[0], declaration)
                    rest = (d for d in inside[1:] if d.kind in DEBRIS)
                    self.covered.update((declaration, *rest))
                opened = None
            elif opened is not None:
                opened[1].append(declaration)

    def _is_brace(self, declaration: Declaration) -> bool:
        start = self.specification.starts[declaration]
        end = start + declaration.end
        return declaration.kind == "stray" and self.specification.data[start:end] == b"}"

    def _is_debris(self, declaration: Declaration) -> bool:
        if declaration.kind != "unknown":
            return declaration.kind in DEBRIS
        return declaration.keyword is not None and section_meant(declaration.keyword.text) is None

    def _continues(self, before: Declaration, declaration: Declaration) -> bool:
        """Whether a declaration is but the rest of an unreadable one before it."""
        if self._is_debris(declaration):
            return True
        item = declaration.items[0] if declaration.items else None
        return before.kind == "error" and isinstance(item, LayerItem) and item.size is None

    def _ends_open(self, declaration: Declaration) -> bool:
        if declaration.kind == "error" or self._is_debris(declaration):
            return declaration.kind != "stray"
        for fault in declaration.faults:
            bracket = fault.text in ("]", ")") and fault.end >= declaration.end - 1
            if fault.kind in ("unexpected", "incomplete") or bracket:
                return True
        return lacks_only_end(declaration)

    def _is_foreign(self) -> bool:
        declarations = self.specification.declarations
        if not declarations or self.swallowed:
            return False
        known = any(
            d.kind in SECTION_WORDS or (d.kind == "unknown" and not self._is_debris(d))
            for d in declarations
        )
        if known or not any(d.faults for d in declarations):
            return False
        first = self.specification.starts[declarations[0]]
        text = self.specification.data[first : first + 40].decode("utf-8", "replace")
        return WORD.match(text) is not None and not any(
            word.lower() in SECTION_WORDS for d in declarations for word in lost_words(d)
        )

    def _lacks_connections(self) -> bool:
        """Whether a layer stands without `from`, so that reaching and being reached say nothing."""
        return any(
            isinstance(item, LayerItem)
            and not item.bundles
            and item.body is None
            and declaration.kind in ("hidden", "output")
            for declaration, item in self.specification.items()
        ) or any(d.kind in DEBRIS or d.kind == "unknown" for d in self.specification.declarations)


def is_nameless(declaration: Declaration, fault: Fault, specification: Specification) -> bool:
    """Whether a layer's name is missing: `hidden [5] from A all;`, `hidden` alone."""
    if fault.kind == "incomplete":
        return fault.text == "declaration"
    before = specification.text(declaration, 0, fault.start).strip().lower()
    return fault.kind == "unexpected" and before in SECTION_WORDS and fault.text[:1] == "["


def token_kinds(declaration: Declaration) -> Iterator[str]:
    """The kinds of the tokens that the parser could not place."""
    for fault in declaration.faults:
        for kind, _, _ in fault.tokens:
            yield kind


def lost_words(declaration: Declaration) -> Iterator[str]:
    """The words of a declaration that the parser could not place."""
    for fault in declaration.faults:
        if fault.kind == "unexpected":
            yield from WORD.findall(fault.text)


def lacks_only_end(declaration: Declaration) -> bool:
    """Whether a declaration breaks off where a `;` should be, and is readable up to there."""
    readable = not any(
        fault.text == "filter"
        or (fault.kind in ("unexpected", "incomplete") and fault.end >= declaration.end - 1)
        for fault in declaration.faults
    )
    return readable and any(is_open_end(declaration, fault) for fault in declaration.faults)


def is_unconnected(declaration: Declaration, item: LayerItem) -> bool:
    """Whether a sized layer that needs a connection has none."""
    trained = declaration.kind in ("hidden", "output", "unknown")
    return trained and not item.bundles and item.body is None and item.size is not None


def lacks_source(declaration: Declaration) -> bool:
    """Whether a declaration breaks off before the connection of its last layer."""
    last = declaration.items[-1] if declaration.items else None
    unconnected = isinstance(last, LayerItem) and is_unconnected(declaration, last)
    return unconnected and lacks_only_end(declaration)


def is_word_operator(declaration: Declaration) -> bool:
    """Whether a declaration is the rest of a condition behind `and` or `or`."""
    keyword = declaration.keyword
    return keyword is not None and keyword.text.lower() in WORD_OPERATORS


def unreadable_filter(fault: Fault) -> bool:
    """Whether the words of a filter could not be read, so that its condition means nothing."""
    return fault.text[:5].lower() == "where"


def is_open_end(declaration: Declaration, fault: Fault) -> bool:
    """Whether a fault is the `;` that a declaration lacks at its very end."""
    return fault.kind == "missing" and fault.text == ";" and fault.start == declaration.end


def enclosing(declaration: Declaration, start: int, end: int, local: bool) -> Iterator[Node]:
    """What a span stands in: the smallest piece if `local`, else the whole item."""
    for item in declaration.items:
        if not (item.start <= start and end <= item.end):
            continue
        yield from _smallest(item, start, end) if local else (item,)


def _smallest(item: Item, start: int, end: int) -> Iterator[Node]:
    bundles: tuple[BundleItem, ...] = ()
    if isinstance(item, LayerItem):
        bundles = item.bundles
        for attribute in _holding(item.attributes, start, end):
            yield Node(item.name.end, attribute.end)
        if item.size is not None:
            yield from _holding((item.size,), start, end)
    elif isinstance(item, BundleItem):
        bundles = (item,)
    for bundle in bundles:
        yield from _holding(bundle.attributes, start, end)
        if bundle.predicate is not None:
            yield from _holding((bundle.predicate,), start, end)


def lacks_from(attribute: Attribute) -> bool:
    """Whether an attribute is a connection without its `from`: `{ Data all; }`."""
    value = attribute.value
    words = not attribute.separator and isinstance(value, Name)
    return words and isinstance(value, Name) and value.text.lower() in KIND_WORDS


def has_bare_source(declaration: Declaration | None) -> bool:
    """Whether a body holds a connection without its `from`."""
    return declaration is not None and any(map(lacks_from, attributes_of(declaration)))


def names_no_source(finding: Finding) -> bool:
    """Whether an undefined layer is the kind of a connection whose source is missing."""
    declaration = finding.place.declaration
    if declaration is None:
        return False
    return any(
        bundle.kind is None
        and bundle.source.start == finding.place.start
        and (bundle.source.text in KIND_WORDS or bundle.source.text == "from")
        for bundle in bundles_of(declaration)
    )


def _holding(pieces: tuple[Node, ...], start: int, end: int) -> Iterator[Node]:
    for piece in pieces:
        if piece.start <= start and end <= piece.end:
            yield piece
