"""The options that CNTK's programs read: one table for rules, completion, hover and `config`.

A block of a configuration has a table by its reader. Look-up climbs: an option may be in any block
around the one where it is looked up, unless its row says `here`.
"""

from __future__ import annotations

from functools import lru_cache

from netsharp_lsp.cntk.configuration.options.table import Block, Option, Span
from netsharp_lsp.cntk.configuration.options.tables import (
    ACTIONS,
    BLOCKS,
    BUILDERS,
    DEFAULT_READER,
    EVALUATING,
    FOREIGN,
    JOINED,
    MODULES,
    OLD_ACTIONS,
    READERS,
    SECTIONS,
    TOP,
    TRAINING,
)
from netsharp_lsp.diagnostics.nearest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ACTIONS",
    "BLOCKS",
    "BUILDERS",
    "DATA_FILES",
    "DEFAULT_READER",
    "EVALUATING",
    "FOREIGN",
    "JOINED",
    "MODULES",
    "OLD_ACTIONS",
    "READERS",
    "TOP",
    "TRAINING",
    "Block",
    "Option",
    "Span",
    "block",
    "command_block",
    "find",
    "inside",
    "names_within",
    "nearest_option",
    "reader_block",
    "within",
]

#: What stands for the table of a reader of any type in `Option.inside`.
READER = "reader"
#: Keys of a reader that name files, in any of its blocks.
DATA_FILES = frozenset(
    option.name.lower().encode()
    for one in (*READERS.values(), *SECTIONS)
    for option in one
    if option.kind == "input"
) | {b"inputfile"}


def block(name: str) -> Block | None:
    """Return the table of a kind of block by its name, case-insensitively."""
    return BLOCKS.get(name.lower())


def command_block(names: Iterable[str]) -> Block:
    """Return the table of a command by its actions: the options that any of them reads, `train`
    where none is named.

    For an unknown action these are the options of the one with the most similar name, or, where
    none is similar, those of all actions.
    """
    listed = list(names) or ["train"]
    meant = [name if name in ACTIONS else nearest(name, ACTIONS) for name in listed]
    known = [ACTIONS[name] for name in dict.fromkeys(meant) if name is not None]
    if None in meant:
        return _anything()
    if len(known) == 1:
        return known[0]
    rows: dict[str, Option] = {}
    for one in known:
        for option in one:
            before = rows.setdefault(option.name.lower(), option)
            if option.required and not before.required:
                rows[option.name.lower()] = option
    return Block("command", "Runs several actions.", rows.values())


@lru_cache(maxsize=1)
def _anything() -> Block:
    """Return the options of all actions, none of them required."""
    rows = (option for one in ACTIONS.values() for option in one)
    return Block("command", "Runs an unknown action.", (it._replace(required=False) for it in rows))


def reader_block(kind: str | None, composed: bool = False) -> Block | None:
    """Return the table of a reader by its `readerType`; `composed`: it has deserializers."""
    if kind is None:
        kind = "CompositeDataReader" if composed else DEFAULT_READER
    return READERS.get(kind.lower())


def inside(outer: Block, key: str, reader_type: str | None = None) -> Block | None:
    """Return the table of the block that is the value of a key in another block, None where it is
    not a block.
    """
    option = outer.find(key)
    if option is None:
        return block(outer.any_name) if outer.any_name else None
    if option.inside == READER:
        return reader_block(reader_type)
    return block(option.inside) if option.inside else None


@lru_cache(maxsize=64)
def within(outer: Block) -> tuple[Option, ...]:
    """Return every option that may be in a block: its own, and those of inner blocks that climb."""
    rows = {option.name.lower(): option for option in outer}
    waiting, seen = [outer], {outer.name}
    while waiting:
        for below in _below(waiting.pop()):
            if below.name in seen:
                continue
            seen.add(below.name)
            waiting.append(below)
            for option in below:
                if not option.here:
                    rows.setdefault(option.name.lower(), option)
    return tuple(rows.values())


@lru_cache(maxsize=64)
def names_within(outer: Block) -> frozenset[str]:
    """Return the names in lower case of every option that may be in a block."""
    return frozenset(option.name.lower() for option in within(outer))


def _below(outer: Block) -> list[Block]:
    if outer is JOINED:
        return list(READERS.values())
    found = [block(outer.any_name)] if outer.any_name else []
    for option in outer:
        if option.inside == READER:
            found += READERS.values()
        elif option.inside:
            found.append(block(option.inside))
    return [one for one in found if one is not None]


@lru_cache(maxsize=1024)
def find(key: str) -> tuple[tuple[Block, Option], ...]:
    """Return every row of a key, with its block."""
    rows = ((one, one.find(key)) for one in BLOCKS.values())
    return tuple((one, option) for one, option in rows if option is not None)


def nearest_option(key: str, among: Iterable[Option]) -> str | None:
    """Return the option whose name is most similar to a key."""
    return nearest(key, (option.name for option in among))
