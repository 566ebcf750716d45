"""The unparsed parts of a text, for which rules report nothing further.

One fault must not cause others: an unparsed part is reported once, by the rules on syntax, and
findings about its meaning are withheld.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property

from netsharp_lsp.netsharp.findings import Finding, RelativeSpan, Rests
from netsharp_lsp.netsharp.reading.characters import replacement
from netsharp_lsp.netsharp.reading.debris import Debris
from netsharp_lsp.netsharp.reading.mistakes import (
    DEBRIS,
    SECTION_WORDS,
    WORD,
    is_debris,
    is_nameless,
    lost_words,
    unreadable_filter,
)
from netsharp_lsp.netsharp.reading.syntax import (
    FIRST_KIND_WORDS,
    BundleItem,
    LayerItem,
    Node,
)
from netsharp_lsp.text.expressions import late
from netsharp_lsp.text.spans import Spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from netsharp_lsp.netsharp.reading.characters import Mark
    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Comment, Declaration, Fault, Item

BLANKS = late(rb"\s*")
#: How far from unreadable text a rule may still look for it: CR LF and a byte.
MARGIN = 3
#: How many declarations on each side a rule may look at where only marks are missing.
BESIDE = 4
#: Words of which one that could not be read may have been a layer, or a connection.
LAYER_WORDS = frozenset(("input", "hidden", "output"))
CONNECTION_WORDS = frozenset(("from", *FIRST_KIND_WORDS))


class Doubts:
    """The unparsed parts of one specification. All spans are absolute.

    `marks`: foreign characters. `regions`: text that the parser could not place, and `words` in it.
    `unread`: the part of it that is unexpected. `debris`: what belongs to an earlier fault.
    `foreign`: nothing in the text is Net#. `broken`: anything of all this. All this is found from
    the text's doubtful declarations, odd comments and foreign characters, so that long valid texts
    cost nothing.
    """

    def __init__(self, specification: Specification) -> None:
        self.specification = specification
        self.marks: list[Mark] = specification.marks
        self.mark_spans = Spans((mark.start, mark.end) for mark in self.marks)
        self.regions = Spans((mark.start, mark.end) for mark in self.marks)
        self.unread = Spans()
        self._words: set[str] = set()
        self._unread_comments: list[bytes] = []
        self.swallowed = False
        self.swallowing: set[int] = set()
        self.broken = bool(self.marks)
        self.nameless = False
        self.debris = Debris(specification)
        self.foreign = False
        self.incomplete = False
        self._near: frozenset[Declaration] | None = None

    @classmethod
    def of(cls, specification: Specification) -> Doubts:
        """Find the unparsed parts of a specification."""
        doubts = cls(specification)
        doubts._note_all(specification.comments.odd())
        if doubts.broken:
            doubts._join(Debris.of(specification))
            doubts.foreign = doubts._is_foreign()
        doubts.incomplete = doubts.broken or bool(specification.doubtful)
        return doubts

    # The uncertain parts.

    @property
    def words(self) -> set[str]:
        """Return every word in unparsed text."""
        while self._unread_comments:
            text = self._unread_comments.pop().decode("utf-8", "replace")
            self._words.update(WORD.findall(text))
        return self._words

    @property
    def near(self) -> frozenset[Declaration]:
        """Return the declarations in or beside which any text is unparsed, or a name invalid.

        For all others a rule that checks one declaration has the same findings whatever is unparsed
        elsewhere, unless the whole text is `foreign`.
        """
        if self._near is None:
            declarations = self.specification.declarations
            near = self._beside(self.regions) | self.debris.covered
            for group in self.debris.displaced.values():
                near.update(group)
            near.update(self.specification.misnamed)
            for doubtful in self.specification.doubtful:
                position = self.specification.index(doubtful)
                near.update(declarations[max(position - 1, 0) : position + 2])
            self._near = frozenset(near)
        return self._near

    @property
    def entangled(self) -> frozenset[Declaration]:
        """Return those of them for which a rule may read what is further away than `BESIDE`.

        Near the others marks are missing or superfluous at most, which are reported in place.
        """
        if self.marks or self.swallowed or self.swallowing or self.foreign:
            return self.near
        debris, specification = self.debris, self.specification
        tangled = {one for one in specification.doubtful if one.astray}
        tangled |= debris.covered | debris.continued | debris.culprits.keys() | debris.curly.keys()
        for pairs in (debris.displaced, debris.interrupting):
            tangled.update(pairs)
            tangled.update(one for pair in pairs.values() for one in pair)
        tangled.update(debris.culprits.values())
        found: set[Declaration] = set()
        for position in map(specification.index, tangled):
            low, high = max(0, position - BESIDE), position + BESIDE + 1
            found.update(specification.declarations[low:high])
        return self.near & found

    @property
    def touched(self) -> frozenset[Declaration]:
        """Return the declarations whose local findings may be withheld; all of a foreign text."""
        return self.near.union(self.debris.culprits)

    def explained(self, declaration: Declaration) -> bool:
        """Return whether a finding about the text before a declaration explains its faults."""
        in_debris = declaration in self.debris.covered or declaration in self.debris.culprits
        return self.foreign or in_debris

    def marked(self, declaration: Declaration, piece: Node) -> bool:
        """Return whether foreign characters, reported on their own, are in or beside a piece."""
        base = self.specification.starts[declaration]
        return self.mark_spans.touches(base + piece.start, base + piece.end)

    def touches(self, declaration: Declaration, start: int, end: int) -> bool:
        """Return whether a span of a declaration contains, or borders on, unparsed text."""
        base = self.specification.starts[declaration]
        return self.touches_text(base + start, base + end)

    def touches_text(self, start: int, end: int) -> bool:
        """Return whether an absolute span contains, or borders on, unparsed text."""
        data = self.specification.data
        # CR LF is one line end: a margin of one byte goes round both.
        start -= data[max(start - 1, 0) : start + 1] == b"\r\n"
        end += data[max(end - 1, 0) : end + 1] == b"\r\n"
        return self.regions.touches(start, end)

    def may_hide(self, declaration: Declaration, missing: Fault) -> bool:
        """Return whether a missing mark may be in a comment that includes code."""
        if not self.swallowing:
            return False
        at = self.specification.starts[declaration] + missing.start
        rest = BLANKS.match(self.specification.data, at)
        return rest is not None and rest.end() in self.swallowing

    def suppresses(self, finding: Finding, rests: Rests) -> bool:
        """Return whether a finding depends on unparsed text."""
        if rests is Rests.TEXT or not self.incomplete:
            return False
        place = finding.place
        declaration = place.declaration
        if self.foreign or (declaration is not None and self.explained(declaration)):
            return True
        if declaration is not None and is_debris(declaration):
            return declaration.kind != "orphan" or rests not in OWN_WORDS
        unknown = BEYOND_ITS_PLACE.get(rests)
        if unknown is not None and unknown(self, place):
            return True
        if any(self._in_doubt(other, local=False) for other in finding.also):
            return True
        return self._in_doubt(place, local=rests in OWN_WORDS)

    def _in_doubt(self, place: RelativeSpan, *, local: bool) -> bool:
        declaration = place.declaration
        if declaration is None or not self.regions:
            return False
        span = (place.start, place.end)
        for piece in enclosing(declaration, *span, local):
            span = (min(span[0], piece.start), max(span[1], piece.end))
        return self.touches(declaration, span[0] - 1, span[1] + 1)

    def is_uncertain(self, declaration: Declaration, piece: Node) -> bool:
        """Return whether a size or a value was not parsed as a whole.

        One in brackets ends with them; without any it may continue in unparsed text.
        """
        if not self.regions:
            return False
        margin = 0 if self.specification.text(declaration, piece.end - 1, piece.end) == "]" else 1
        return self.touches(declaration, piece.start - margin, piece.end + margin)

    def _may_be_declared(self, place: RelativeSpan) -> bool:
        """Return whether unparsed text may declare the name at a place."""
        return self.nameless or self.swallowed or self._may_be_named(place)

    def _may_hold_layers(self, _place: RelativeSpan) -> bool:
        """Return whether unparsed text may contain layers."""
        return self._holes or not LAYER_WORDS.isdisjoint(self._lowered)

    @cached_property
    def may_connect(self) -> bool:
        """Return whether unparsed text may contain a connection of which no name is left."""
        holes = self._holes or self.has_orphans
        return holes or not CONNECTION_WORDS.isdisjoint(self._lowered)

    @cached_property
    def has_orphans(self) -> bool:
        """Return whether an item of the text lacks its keyword."""
        return any(one.kind in ("orphan", "error") for one in self.specification.doubtful)

    @property
    def _holes(self) -> bool:
        return bool(self.marks) or self.swallowed or self.nameless

    @cached_property
    def _lowered(self) -> frozenset[str]:
        return frozenset(word.lower() for word in self.words)

    def _may_be_named(self, place: RelativeSpan) -> bool:
        """Return whether the name at a place occurs in unparsed text."""
        start, end = place.offsets(self.specification)
        return self.specification.data[start:end].decode("utf-8", "replace") in self.words

    # How it is found.

    def _note_all(self, odd_comments: Sequence[Comment]) -> None:
        for mark in self.marks:
            self._words.update(WORD.findall(replacement(mark.text)))
        self.swallowed = any(comment.kind == "unclosed" for comment in odd_comments)
        self.broken = self.broken or self.swallowed
        for declaration in self.specification.doubtful:
            if declaration.faults or declaration.kind in DEBRIS:
                self._note(declaration)
            if declaration.kind == "const":
                self._note_layers(declaration)
        for comment in odd_comments:
            self._note_swallowed(comment)

    def _join(self, debris: Debris) -> None:
        """Add the pieces that belong to an earlier fault."""
        self.debris = debris
        self._words |= debris.words
        for end in debris.ends:
            self.regions.add(end, end)

    def _note(self, declaration: Declaration) -> None:
        base = self.specification.starts[declaration]
        for fault in declaration.faults:
            end = fault.end
            if is_nameless(declaration, fault, self.specification):
                self.nameless = True
            if fault.kind == "unexpected":
                self._words.update(WORD.findall(fault.text))
                self.unread.add(base + fault.start, base + fault.end)
                if unreadable_filter(fault):
                    end = declaration.end
            elif fault.text == ";":
                continue
            self.regions.add(base + fault.start, base + end)
        self.broken = True

    def _note_layers(self, declaration: Declaration) -> None:
        """Note constants that were parsed as layers because they lack a `=`."""
        for item in declaration.items:
            if isinstance(item, LayerItem):
                base = self.specification.starts[declaration]
                self.regions.add(base + item.start, base + item.end)
                self._words.add(item.name.text)
                self.broken = True

    def _note_swallowed(self, comment: Comment) -> None:
        """Note code that a comment includes by mistake."""
        if comment.kind not in ("hash", "unclosed"):
            return
        text = self.specification.data[comment.start : comment.end]
        if comment.kind == "unclosed" or any(mark in text for mark in b";{}]"):
            self.regions.add(comment.start, comment.end)
            self.swallowing.add(comment.start)
            self._unread_comments.append(text)
            self.broken = True

    def _beside(self, spans: Spans) -> set[Declaration]:
        """Return the declarations that spans are in or beside."""
        declarations, offsets = self.specification.declarations, self.specification.offsets
        found: set[Declaration] = set()
        for start, end in spans:
            first = bisect_left(offsets, start) - 1
            while first > 0 and not declarations[first].end:
                first -= 1
            last = bisect_right(offsets, end + MARGIN)
            found.update(declarations[max(first, 0) : last + 1])
        return found

    def _is_foreign(self) -> bool:
        declarations = self.specification.declarations
        if not declarations or self.swallowed:
            return False
        known = any(
            d.kind in SECTION_WORDS or (d.kind == "unknown" and not is_debris(d))
            for d in declarations
        )
        if known or not any(d.faults for d in declarations):
            return False
        first = self.specification.starts[declarations[0]]
        text = self.specification.data[first : first + 40].decode("utf-8", "replace")
        return WORD.match(text) is not None and not any(
            word.lower() in SECTION_WORDS for d in declarations for word in lost_words(d)
        )


def enclosing(declaration: Declaration, start: int, end: int, local: bool) -> Iterator[Node]:
    """Yield what encloses a span: the smallest piece if `local`, else the whole item."""
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


def _holding(pieces: tuple[Node, ...], start: int, end: int) -> Iterator[Node]:
    for piece in pieces:
        if piece.start <= start and end <= piece.end:
            yield piece


#: Findings that depend on little more than the words they mark.
OWN_WORDS = (Rests.WORDS, Rests.NAME, Rests.UNDECLARED)
#: Faults that suppress a finding wherever in the text it is.
BEYOND_ITS_PLACE: dict[Rests, Callable[[Doubts, RelativeSpan], bool]] = {
    Rests.NAME: Doubts._may_be_named,
    Rests.UNDECLARED: Doubts._may_be_declared,
    Rests.LAYERS: Doubts._may_hold_layers,
}
