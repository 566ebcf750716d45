"""Declarations of a Net# specification, and their parts, as immutable values; knows neither
tree-sitter nor meaning.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.reading.syntax.expressions import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.netsharp.reading.syntax.expressions import (
        Expression,
        Keyword,
        Name,
        Number,
    )


class Tokens:
    """The unplaced leaves of a long text, as (type, start, end); 16 bytes for each."""

    __slots__ = ("_kinds", "_spans")

    def __init__(self, tokens: Iterable[tuple[str, int, int]]) -> None:
        from array import array

        self._kinds: list[str] = []
        self._spans = array("I")
        for token in tokens:
            self.append(token)

    def append(self, token: tuple[str, int, int]) -> None:
        """Append a leaf."""
        self._kinds.append(token[0])
        self._spans.extend(token[1:])

    def __len__(self) -> int:
        return len(self._kinds)

    def __iter__(self) -> Iterator[tuple[str, int, int]]:
        spans = iter(self._spans)
        return zip(self._kinds, spans, spans, strict=True)

    def __getitem__(self, index: int) -> tuple[str, int, int]:
        start, end = 2 * index, 2 * index + 1
        return self._kinds[index], self._spans[start], self._spans[end]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokens):
            return NotImplemented
        return self._kinds == other._kinds and self._spans == other._spans

    __hash__ = None  # type: ignore[assignment]


class Fault(Node):
    """Text that the parser did not expect, or missed.

    `kind` "missing": `text` is the absent mark, `opener` the span of its partner or None. `kind`
    "unexpected": `text` is what is there, `tokens` its leaves as (type, start, end). `kind`
    "incomplete": `text` is what was begun: a declaration, constant, source, filter, attribute or
    operand. `kind` "idle": a comma with no value after it. `kind` "separator": `;` between share
    items.
    """

    __slots__ = ("kind", "opener", "text", "tokens")

    def __init__(
        self,
        start: int,
        end: int,
        kind: str,
        text: str,
        opener: tuple[int, int] | None = None,
        tokens: tuple[tuple[str, int, int], ...] | Tokens = (),
    ) -> None:
        self.start = start
        self.end = end
        self.kind = kind
        self.text = text
        self.opener = opener
        self.tokens = tokens


class Attribute(Node):
    """`Name = value;` in an attribute block or a layer's body.

    `separator` and `terminator` are as written: "=", ":", ":=", "" and ";", ",", "".
    """

    __slots__ = ("name", "separator", "separator_span", "terminator", "terminator_span", "value")

    def __init__(
        self,
        start: int,
        end: int,
        name: Name,
        separator: str,
        separator_span: tuple[int, int],
        value: Expression | None,
        terminator: str,
        terminator_span: tuple[int, int],
    ) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.separator = separator
        self.separator_span = separator_span
        self.value = value
        self.terminator = terminator
        self.terminator_span = terminator_span


class Predicate(Node):
    """`(source, destination) => condition` of a filtered bundle."""

    __slots__ = ("condition", "destination", "source")

    def __init__(
        self, start: int, end: int, source: Name, destination: Name, condition: Expression
    ) -> None:
        self.start = start
        self.end = end
        self.source = source
        self.destination = destination
        self.condition = condition


class BundleItem(Node):
    """`from source kind ...`.

    `kind` is one of KINDS, None where it is missing or unknown; `kind_span` covers its words
    (empty, after the source, where there are none) and `kind_text` is as written. `attributes` has
    the block's entries; `block` is the block's span, None without one.
    """

    __slots__ = (
        "attributes",
        "block",
        "keyword",
        "kind",
        "kind_span",
        "kind_text",
        "misplaced",
        "predicate",
        "source",
    )

    def __init__(
        self,
        start: int,
        end: int,
        keyword: Keyword,
        source: Name,
        kind: str | None,
        kind_text: str,
        kind_span: tuple[int, int],
        predicate: Predicate | None,
        attributes: tuple[Attribute, ...],
        block: tuple[int, int] | None,
        misplaced: Name | None,
    ) -> None:
        self.start = start
        self.end = end
        self.keyword = keyword
        self.source = source
        self.kind = kind
        self.kind_text = kind_text
        self.kind_span = kind_span
        self.predicate = predicate
        self.attributes = attributes
        self.block = block
        self.misplaced = misplaced


class Auto(Node):
    """The size `auto`."""

    __slots__ = ()


class LayerItem(Node):
    """One layer: `name size activation` and its bundles, in a body or not.

    `attributes` has the body's own entries (`Biases = ...;`); `body` is the body's span.
    """

    __slots__ = ("activation", "attributes", "body", "bundles", "name", "size")

    def __init__(
        self,
        start: int,
        end: int,
        name: Name,
        size: Auto | Expression | None,
        activation: Name | None,
        bundles: tuple[BundleItem, ...],
        attributes: tuple[Attribute, ...],
        body: tuple[int, int] | None,
    ) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.size = size
        self.activation = activation
        self.bundles = bundles
        self.attributes = attributes
        self.body = body


class ConstantItem(Node):
    """One constant: `name = value;`."""

    __slots__ = ("name", "value")

    def __init__(self, start: int, end: int, name: Name, value: Expression | None) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.value = value


class ShareItem(Node):
    """`H1`, `Source => H1` (`source` a Name) or `1 => H1` (`source` a Number)."""

    __slots__ = ("name", "source")

    def __init__(self, start: int, end: int, source: Name | Number | None, name: Name) -> None:
        self.start = start
        self.end = end
        self.source = source
        self.name = name


class WordItem(Node):
    """A lone word with a `;` at top level; only broken text has it."""

    __slots__ = ("word",)

    def __init__(self, start: int, end: int, word: Name) -> None:
        self.start = start
        self.end = end
        self.word = word


Item = LayerItem | ConstantItem | ShareItem | WordItem | BundleItem

#: The kinds of a declaration: five keywords; "unknown" has a misspelt one, "orphan" none; "stray"
#: is a lone `;` or `}`, "error" is text that is not a declaration at all.
DECLARATION_KINDS = (
    "const",
    "input",
    "hidden",
    "output",
    "share",
    "unknown",
    "orphan",
    "stray",
    "error",
)


class Declaration(Node):
    """One top-level declaration; `start` is 0, and the snapshot has its offset.

    `group` is the span of the braces of `keyword { ... }`, None without; `keywords` lists every
    keyword written inside (also `auto`, `from`, `all`, ...) for the rule on odd case; `semicolons`
    the spans of `;` that end nothing. `doubtful`: it has faults or no keyword of Net#, or a layer
    among constants, or one that no connection leads to. `misnamed`: a name in it is invalid.
    `odd_digits`: an expression in it has a malformed number or a name that starts with a digit.
    `bulk`: the number of its nodes in the parser's tree. `torn`: the parser had to skip or insert
    text. `astray`: it has other faults than marks that the scanner supplies because of the next
    token, or than superfluous marks.
    """

    __slots__ = (
        "astray",
        "bulk",
        "doubtful",
        "faults",
        "group",
        "items",
        "keyword",
        "keywords",
        "kind",
        "misnamed",
        "odd_digits",
        "semicolons",
        "torn",
    )

    def __init__(
        self,
        end: int,
        kind: str,
        keyword: Name | None,
        items: tuple[Item, ...],
        group: tuple[int, int] | None,
        keywords: tuple[Keyword, ...],
        semicolons: tuple[tuple[int, int], ...],
        faults: tuple[Fault, ...],
        misnamed: bool,
        odd_digits: bool,
        bulk: int,
        torn: bool,
    ) -> None:
        self.start = 0
        self.end = end
        self.kind = kind
        self.keyword = keyword
        self.items = items
        self.group = group
        self.keywords = keywords
        self.semicolons = semicolons
        self.faults = faults
        self.bulk = bulk
        self.torn = torn
        odd = _is_odd(kind, items)
        self.doubtful = bool(faults) or odd
        self.astray = torn or odd or any(one.kind not in _MARKS for one in faults)
        self.misnamed = misnamed
        self.odd_digits = odd_digits


#: Faults that are a mark more or less, where the parser continues as in valid text.
_MARKS = frozenset(("missing", "idle", "separator"))


def _is_odd(kind: str, items: tuple[Item, ...]) -> bool:
    """Return whether the items of a declaration do not suit its keyword."""
    if kind in ("hidden", "output"):
        return any(
            isinstance(item, LayerItem) and not item.bundles and item.body is None for item in items
        )
    if kind == "const":
        return any(isinstance(item, LayerItem) for item in items)
    return kind not in ("input", "share")


class Comment(Node):
    """A comment with absolute offsets; `kind` is "line", "block", "unclosed", "hash" or "html"."""

    __slots__ = ("kind",)

    def __init__(self, start: int, end: int, kind: str) -> None:
        self.start = start
        self.end = end
        self.kind = kind


KINDS = ("all", "where", "convolve", "max pool", "mean pool", "response norm")
#: Their words, and those that a kind begins with.
KIND_WORDS = frozenset(word for kind in KINDS for word in kind.split())
FIRST_KIND_WORDS = frozenset(kind.split()[0] for kind in KINDS)
