"""Which parts of a text could not be read, so that rules stay quiet about what they hold.

One fault must not set off others: whatever stands in doubt is reported once, by the rules on
syntax, and findings about its meaning are withheld.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from netsharp_lsp.netsharp.findings import Finding, Place
from netsharp_lsp.netsharp.reading.characters import replacement
from netsharp_lsp.netsharp.reading.debris import Debris
from netsharp_lsp.netsharp.reading.expressions import attributes_of, bundles_of
from netsharp_lsp.netsharp.reading.slips import (
    ACTIVATION_ATTRIBUTES,
    DEBRIS,
    SECTION_WORDS,
    WORD,
    has_bare_source,
    is_debris,
    is_nameless,
    lacks_from,
    lost_words,
    unreadable_filter,
)
from netsharp_lsp.netsharp.reading.syntax import (
    FIRST_KIND_WORDS,
    BundleItem,
    ConstantItem,
    LayerItem,
    Node,
)
from netsharp_lsp.text.spans import Spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.reading.characters import Mark
    from netsharp_lsp.netsharp.reading.syntax import (
        Attribute,
        Comment,
        Declaration,
        Fault,
        Item,
        Specification,
    )

BLANKS = re.compile(rb"\s*")
#: How far from unreadable text a rule may still look for it: CR LF and a byte.
MARGIN = 3
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


class Doubts:
    """The unreadable parts of one specification.  All spans are absolute.

    `marks`: foreign characters.  `regions`: text that the parser could not place, and `words` in
    it.  `unread`: the part of it that stands there unexpectedly.  `debris`: what belongs to an
    earlier fault.  `foreign`: nothing in the text is Net#.  `broken`: anything of all this.
    All this is found from what the text holds of doubtful declarations, odd comments and foreign
    characters, so that long sound texts cost nothing.
    """

    def __init__(self, specification: Specification) -> None:
        self.specification = specification
        self.marks: list[Mark] = specification.marks
        self.mark_spans = Spans((mark.start, mark.end) for mark in self.marks)
        self.regions = Spans((mark.start, mark.end) for mark in self.marks)
        self.unread = Spans()
        self._words: set[str] = set()
        self._unread_comments: list[bytes] = []
        for mark in self.marks:
            self._words.update(WORD.findall(replacement(mark.text)))
        odd_comments = specification.comments.odd()
        self.swallowed = any(comment.kind == "unclosed" for comment in odd_comments)
        self.swallowing: set[int] = set()
        self.broken = bool(self.regions) or self.swallowed
        self.nameless = False
        self._attributes_of: dict[Declaration, list[Attribute]] = {}
        #: Where the bundles of a declaration name a source that may be their kind.
        self._sourceless: dict[Declaration, set[int]] = {}
        for declaration in specification.doubtful:
            if declaration.faults or declaration.kind in DEBRIS:
                self._note(declaration)
            if declaration.kind == "const":
                self._note_layers(declaration)
        for comment in odd_comments:
            self._note_swallowed(comment)
        self.vague = set(self._vague_names())
        self.debris = Debris(specification, self.broken)
        self._words |= self.debris.words
        for end in self.debris.ends:
            self.regions.add(end, end)
        self.foreign = self.broken and self._is_foreign()
        self.incomplete = self.broken or bool(specification.doubtful)
        self._near: frozenset[Declaration] | None = None

    # What is in doubt.

    @property
    def words(self) -> set[str]:
        """Every word in text that could not be read."""
        while self._unread_comments:
            text = self._unread_comments.pop().decode("utf-8", "replace")
            self._words.update(WORD.findall(text))
        return self._words

    @property
    def near(self) -> frozenset[Declaration]:
        """The declarations in or beside which anything stands in doubt, be it but their names.

        Of all others a rule that looks at one declaration says the same whatever is in doubt
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

    def explained(self, declaration: Declaration) -> bool:
        """Whether what a declaration holds is told by a finding about the text before it."""
        told = declaration in self.debris.covered or declaration in self.debris.culprits
        return self.foreign or told

    def marked(self, declaration: Declaration, piece: Node) -> bool:
        """Whether foreign characters, reported on their own, stand in or beside a piece."""
        base = self.specification.starts[declaration]
        return self.mark_spans.touches(base + piece.start, base + piece.end)

    def touches(self, declaration: Declaration, start: int, end: int) -> bool:
        """Whether a span of a declaration holds, or borders on, unreadable text."""
        base = self.specification.starts[declaration]
        return self.touches_text(base + start, base + end)

    def touches_text(self, start: int, end: int) -> bool:
        """Whether an absolute span holds, or borders on, unreadable text."""
        data = self.specification.data
        # CR LF is one line end: a margin of one byte goes round both.
        start -= data[max(start - 1, 0) : start + 1] == b"\r\n"
        end += data[max(end - 1, 0) : end + 1] == b"\r\n"
        return self.regions.touches(start, end)

    def swallows(self, declaration: Declaration, missing: Fault) -> bool:
        """Whether a missing mark may stand in a comment that took in code."""
        if not self.swallowing:
            return False
        at = self.specification.starts[declaration] + missing.start
        rest = BLANKS.match(self.specification.data, at)
        return rest is not None and rest.end() in self.swallowing

    def withholds(self, finding: Finding) -> bool:
        """Whether a finding about meaning rests on text that could not be read."""
        code, declaration = finding.code, finding.place.declaration
        if code < "NS030":
            return False
        if code in ("NS030", "NS061", "NS063") and self._misplaced_attribute(finding):
            return True
        if code == "NS035" and self._names_no_source(finding):
            return True
        if code == "NS057" and has_bare_source(declaration):
            return True
        if not self.incomplete:
            return False
        if self.foreign or (declaration is not None and self.explained(declaration)):
            return True
        if code in PRESENCE_CODES and self._presence_unknown(code):
            return True
        if declaration is not None and is_debris(declaration):
            return declaration.kind != "orphan" or code not in LOCAL_CODES
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
        if finding.code == "NS063":
            later = (one for one in self._attributes(declaration) if one.name.start >= start)
            return any(one.value is None and not one.terminator for one in later)
        before = bisect_right(self._attributes(declaration), start, key=lambda one: one.start)
        attribute = self._attributes(declaration)[before - 1] if before else None
        if attribute is None or end > attribute.end:
            return False
        if attribute.name.text.lower() in ACTIVATION_ATTRIBUTES or lacks_from(attribute):
            return True
        return attribute.value is None and finding.code == "NS061"

    def _names_no_source(self, finding: Finding) -> bool:
        """Whether an undefined layer is the kind of a connection whose source is missing."""
        declaration = finding.place.declaration
        if declaration is None:
            return False
        if declaration not in self._sourceless:
            self._sourceless[declaration] = {
                bundle.source.start
                for bundle in bundles_of(declaration)
                if bundle.kind is None
                and (bundle.source.text in FIRST_KIND_WORDS or bundle.source.text == "from")
            }
        return finding.place.start in self._sourceless[declaration]

    def _attributes(self, declaration: Declaration) -> list[Attribute]:
        """The attributes of a declaration in the order of its text."""
        if declaration not in self._attributes_of:
            found = sorted(attributes_of(declaration), key=lambda attribute: attribute.start)
            self._attributes_of[declaration] = found
        return self._attributes_of[declaration]

    def _presence_unknown(self, code: str) -> bool:
        if self.marks or self.swallowed or self.nameless:
            return True
        if {word.lower() for word in self.words} & {"input", "output", "hidden"}:
            return True
        orphans = any(d.kind in ("orphan", "error") for d in self.specification.doubtful)
        return orphans and code in ("NS051", "NS052")

    def last_resort(self) -> Finding | None:
        """A finding for the first fault, should no rule have told of any."""
        for declaration in self.specification.doubtful:
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
                self._words.update(WORD.findall(fault.text))
                self.unread.add(base + fault.start, base + fault.end)
                if unreadable_filter(fault):
                    end = declaration.end
            elif fault.text == ";":
                continue
            self.regions.add(base + fault.start, base + end)
        self.broken = True

    def _note_layers(self, declaration: Declaration) -> None:
        """Constants that were read as layers for want of a `=`."""
        for item in declaration.items:
            if isinstance(item, LayerItem):
                base = self.specification.starts[declaration]
                self.regions.add(base + item.start, base + item.end)
                self._words.add(item.name.text)
                self.broken = True

    def _note_swallowed(self, comment: Comment) -> None:
        """Code that a comment took in which should not be there."""
        if comment.kind not in ("hash", "unclosed"):
            return
        text = self.specification.data[comment.start : comment.end]
        if comment.kind == "unclosed" or any(mark in text for mark in b";{}]"):
            self.regions.add(comment.start, comment.end)
            self.swallowing.add(comment.start)
            self._unread_comments.append(text)
            self.broken = True

    def _vague_names(self) -> Iterator[str]:
        """Layers and constants whose size or value could not be read as a whole."""
        for declaration in self._beside(self.regions):
            for item in declaration.items:
                if not isinstance(item, LayerItem | ConstantItem):
                    continue
                node = item.size if isinstance(item, LayerItem) else item.value
                if node is not None and self.touches(declaration, node.start - 1, node.end + 1):
                    yield item.name.text

    def _beside(self, spans: Spans) -> set[Declaration]:
        """The declarations that spans stand in or beside."""
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


def _holding(pieces: tuple[Node, ...], start: int, end: int) -> Iterator[Node]:
    for piece in pieces:
        if piece.start <= start and end <= piece.end:
            yield piece
