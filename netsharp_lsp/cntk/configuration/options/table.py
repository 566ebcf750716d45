"""The row of an option, and a block of such rows; knows no option."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.versions import ALWAYS, Releases
from netsharp_lsp.diagnostics.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: What the value of an option can be.
KINDS = frozenset(
    (
        *("number", "integer", "truth", "text", "choice", "input", "output", "nodes", "names"),
        *("block", "blocks"),
    )
)


class Span(NamedTuple):
    """The values that a number may have: from `low` to `high`, which `below` excludes."""

    low: float | None = None
    high: float | None = None
    below: bool = False

    def holds(self, value: float) -> bool:
        """Return whether a value is in it."""
        if self.low is not None and value < self.low:
            return False
        if self.high is None:
            return True
        return value < self.high if self.below else value <= self.high

    def __str__(self) -> str:
        if self.high is None:
            return f"at least {self.low:g}"
        if self.low is None:
            return f"at most {self.high:g}"
        return f"from {self.low:g} to {'below ' if self.below else ''}{self.high:g}"


class Option(NamedTuple):
    """One option.

    `kind`: the kind of its value, one of KINDS; "input" and "output" are paths, "nodes" are names
    of nodes, "names" lists other keys, "blocks" is an array of blocks. `default` is None where
    there is none. `values` are the words of a choice, or those that a value may be besides its
    kind; they are case-insensitive unless `cased`. `each`: the value is a list, mostly one value
    per epoch. `here`: CNTK looks in this block only, not further out. `instead`: what to write
    today. `old`: values that only older texts have. `inside`: the table of the block. `known`: the
    releases that read it, `words` those that know a value by its word in lower case.
    """

    name: str
    kind: str
    default: str | None
    description: str
    values: tuple[str, ...] = ()
    old: tuple[str, ...] = ()
    span: Span | None = None
    each: bool = False
    required: bool = False
    here: bool = False
    cased: bool = False
    instead: str = ""
    inside: str = ""
    known: Releases = ALWAYS
    words: tuple[tuple[str, Releases], ...] = ()

    @property
    def is_versioned(self) -> bool:
        """Return whether releases differ in it."""
        return self.known != ALWAYS or bool(self.words)

    def word(self, word: str) -> Releases:
        """Return the releases that know a value."""
        return dict(self.words).get(word.lower(), ALWAYS)


class Block:
    """The options of one kind of block.

    `any_name` is the table of blocks in it with user-defined names: streams. `keys` are the options
    with their names as look-up compares them, `holders` those whose values are blocks, `versioned`
    those in which releases differ.
    """

    __slots__ = (
        "_by_name",
        "any_name",
        "description",
        "holders",
        "keys",
        "name",
        "options",
        "versioned",
    )

    def __init__(
        self, name: str, description: str, options: Iterable[Option], any_name: str = ""
    ) -> None:
        self.name = name
        self.description = description
        self.any_name = any_name
        # A row of its own comes after those that it shares with others, and counts.
        self._by_name = {option.name.lower(): option for option in options}
        self.options = tuple(self._by_name.values())
        self.keys = tuple((name.encode(), option) for name, option in self._by_name.items())
        self.versioned = tuple((key, option) for key, option in self.keys if option.is_versioned)
        self.holders = tuple((key, option) for key, option in self.keys if option.inside)

    def __iter__(self) -> Iterator[Option]:
        return iter(self.options)

    def find(self, key: str) -> Option | None:
        """Return the option of a key, case-insensitively."""
        return self._by_name.get(key.lower())

    @property
    def required(self) -> tuple[Option, ...]:
        """Return the options without which CNTK stops."""
        return tuple(option for option in self.options if option.required)

    def nearest(self, key: str) -> str | None:
        """Return the option whose name is most similar to an unknown key."""
        return nearest(key, (option.name for option in self.options))
