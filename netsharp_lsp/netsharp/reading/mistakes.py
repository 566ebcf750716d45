"""Common mistakes in Net#: tables of words, and predicates on a single broken piece of syntax.

Pure functions of syntax; nothing here knows of findings.
"""

from __future__ import annotations

from netsharp_engine.activations import NAMES
from netsharp_lsp.diagnostics.nearest import nearest
from netsharp_lsp.netsharp.reading.expressions import attributes_of
from netsharp_lsp.netsharp.reading.syntax import (
    FIRST_KIND_WORDS,
    ConstantItem,
    LayerItem,
    Name,
)
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Attribute, Declaration, Fault, Item

SECTION_WORDS = ("const", "input", "hidden", "output", "share")
#: Words in place of section keywords, from translated pages of the guide and other languages.
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
#: Reserved words, which cannot name a layer or a constant.
KEYWORDS = frozenset(
    (
        *SECTION_WORDS,
        *"from all where convolve max mean pool response norm auto true false".split(),  # noqa: SIM905
        *NAMES,
    )
)
#: Features of other frameworks that Net# does not have, by their letters in lower case.
LACKING = {
    **dict.fromkeys(
        ("dropout", "dropoutd", "spatialdropout", "alphadropout"),
        "Net# has no dropout: leave it out.",
    ),
    **dict.fromkeys(
        ("batchnorm", "batchnormd", "batchnormalization", "layernorm", "layernormalization"),
        "Net# has no batch normalization: its only norm is 'response norm'.",
    ),
    "flatten": "Net# has no flatten: 'all' reads a layer of any shape.",
    **dict.fromkeys(
        ("lstm", "gru", "rnn", "simplernn", "embedding", "attention", "transformer"),
        "Net# has no layers over time, and no embeddings: data flow from inputs to outputs once.",
    ),
}
WORD_OPERATORS = {"or": "||", "and": "&&", "not": "!"}
#: How far from its keyword a layer may lack its name, in bytes.
FARTHEST = 512
WORD = late(r"[^\W\d]\w*")


def lacking(word: str) -> str | None:
    """Return the sentence about a feature of other frameworks that Net# lacks."""
    return LACKING.get("".join(letter for letter in word.lower() if letter.isalpha()))


def section_meant(word: str) -> str | None:
    """Return the section keyword that a word is a misspelling or translation of."""
    return SECTION_ALIASES.get(word.lower()) or nearest(word, SECTION_WORDS)


def is_misspelt_share(declaration: Declaration) -> bool:
    """Return whether it is a share except for its keyword: its body was parsed as a layer."""
    keyword = declaration.keyword
    unknown = declaration.kind == "unknown" and keyword is not None
    return unknown and section_meant(keyword.text if keyword else "") == "share"


def is_debris(declaration: Declaration) -> bool:
    """Return whether it is a stray mark, an item without keyword or an unknown word."""
    if declaration.kind != "unknown":
        return declaration.kind in DEBRIS
    return declaration.keyword is not None and section_meant(declaration.keyword.text) is None


def is_nameless(declaration: Declaration, fault: Fault, specification: Specification) -> bool:
    """Return whether a layer's name is missing: `hidden [5] from A all;`, `hidden` alone."""
    if fault.kind == "incomplete":
        return fault.text == "declaration"
    if fault.kind != "unexpected" or fault.text[:1] != "[" or fault.start > FARTHEST:
        return False
    return specification.text(declaration, 0, fault.start).strip().lower() in SECTION_WORDS


def lost_words(declaration: Declaration) -> Iterator[str]:
    """Yield the words of a declaration that the parser could not place."""
    for fault in declaration.faults:
        if fault.kind == "unexpected":
            yield from WORD.findall(fault.text)


def token_kinds(declaration: Declaration) -> Iterator[str]:
    """Yield the kinds of the tokens that the parser could not place."""
    for fault in declaration.faults:
        for kind, _, _ in fault.tokens:
            yield kind


def lacks_only_end(declaration: Declaration) -> bool:
    """Return whether a declaration ends where a `;` should be, and is valid up to there."""
    readable = not any(
        fault.text == "filter"
        or (fault.kind in ("unexpected", "incomplete") and fault.end >= declaration.end - 1)
        for fault in declaration.faults
    )
    return readable and any(is_open_end(declaration, fault) for fault in declaration.faults)


def is_misnamed(item: Item) -> bool:
    """Return whether the name of a layer or constant is invalid: a keyword, or digits first."""
    if not isinstance(item, LayerItem | ConstantItem):
        return False
    return item.name.text in KEYWORDS or item.name.text[:1].isdigit()


def is_unconnected(declaration: Declaration, item: LayerItem) -> bool:
    """Return whether a sized layer that needs a connection has none."""
    trained = declaration.kind in ("hidden", "output", "unknown")
    return trained and not item.bundles and item.body is None and item.size is not None


def lacks_source(declaration: Declaration) -> bool:
    """Return whether a declaration ends before the connection of its last layer."""
    last = declaration.items[-1] if declaration.items else None
    unconnected = isinstance(last, LayerItem) and is_unconnected(declaration, last)
    return unconnected and lacks_only_end(declaration)


def is_word_operator(declaration: Declaration) -> bool:
    """Return whether a declaration is the rest of a condition after `and` or `or`."""
    keyword = declaration.keyword
    return keyword is not None and keyword.text.lower() in WORD_OPERATORS


def is_open_end(declaration: Declaration, fault: Fault) -> bool:
    """Return whether a fault is the `;` that a declaration lacks at its very end."""
    return fault.kind == "missing" and fault.text == ";" and fault.start == declaration.end


def unreadable_filter(fault: Fault) -> bool:
    """Return whether the words of a filter were not parsed, so that its condition is unknown."""
    return fault.text[:5].lower() == "where"


def lacks_from(attribute: Attribute) -> bool:
    """Return whether an attribute is a connection without its `from`: `{ Data all; }`."""
    value = attribute.value
    words = not attribute.separator and isinstance(value, Name)
    return words and isinstance(value, Name) and value.text.lower() in FIRST_KIND_WORDS


def is_half_typed(attribute: Attribute) -> bool:
    """Return whether an attribute ends after its name: `{ Ker`."""
    return attribute.value is None and not attribute.terminator


def has_bare_source(declaration: Declaration | None) -> bool:
    """Return whether a body contains a connection without its `from`."""
    return declaration is not None and any(map(lacks_from, attributes_of(declaration)))
