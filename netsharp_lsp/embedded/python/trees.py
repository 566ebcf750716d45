"""Trees of Python texts, kept so that parsing the next version costs only what changed in it.

The only module that knows parso's parser; a tree is valid only until the next call.
"""

from __future__ import annotations

from parso.cache import parser_cache
from parso.grammar import load_grammar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    # parso has no types for what a node's children are.
    Node: TypeAlias = Any

_GRAMMAR = load_grammar()
#: The number of texts that are followed at a time; an editor shows one or two.
_KEPT = 2
#: A shorter text is parsed from the start rather than compared; in characters.
_SHORTEST = 150
#: The tree of a longer text takes more memory than it is worth time; in characters.
_LONGEST = 500_000
#: The texts last read, by the name under which parso keeps their trees; the newest at the end.
_texts: dict[str, str] = {}


def read_tree(text: str) -> Node:
    """Return parso's tree of a text, with or without syntax errors."""
    if not _SHORTEST <= len(text) <= _LONGEST:
        return _GRAMMAR.parse(text)
    slot = _version_of(text)
    if slot is None:
        slot = _free_slot()
        _forget_tree(slot)
    _texts.pop(slot, None)
    tree = _GRAMMAR.parse(text, path=slot, diff_cache=True)
    _texts[slot] = text
    # parso reuses what it considers unchanged; its tree must still have this text.
    return tree if tree.get_code() == text else _GRAMMAR.parse(text)


def _version_of(text: str) -> str | None:
    """Return the key of an earlier version of a text, None where there is none."""
    half = len(text) // 2
    for slot, known in reversed(_texts.items()):
        if known[:half] == text[:half] or known[-half:] == text[-half:]:
            return slot
    return None


def _free_slot() -> str:
    """Return a key for a text that is not a version of another: a free one, or the oldest."""
    if len(_texts) < _KEPT:
        return f"embedded-{len(_texts)}.py"
    return next(iter(_texts))


def _forget_tree(slot: str) -> None:
    """Have parso parse the next text of a key from the start: a comparison costs more."""
    for trees in parser_cache.values():
        trees.pop(slot, None)
