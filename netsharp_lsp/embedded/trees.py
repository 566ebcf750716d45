"""Trees of Python texts, kept so that the next version of a text costs what was changed in it.

The only module that knows parso's parser; a tree is only as good as until the next call.
"""

from __future__ import annotations

from parso.grammar import load_grammar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    # parso has no types for what a node's children are.
    Node: TypeAlias = Any

_GRAMMAR = load_grammar()
#: So many texts are followed at a time; an editor shows one or two.
_KEPT = 2
#: The tree of a longer text takes more memory than it is worth time; in characters.
_LONGEST = 500_000
#: The texts last read, by the name under which parso keeps their trees; the newest at the end.
_texts: dict[str, str] = {}


def read_tree(text: str) -> Node:
    """Return parso's tree of a text, right or wrong."""
    if len(text) > _LONGEST:
        return _GRAMMAR.parse(text)
    slot = _slot_for(text)
    _texts.pop(slot, None)
    tree = _GRAMMAR.parse(text, path=slot, diff_cache=True)
    _texts[slot] = text
    # parso takes over what it thinks unchanged; what it says must be the text all the same.
    return tree if tree.get_code() == text else _GRAMMAR.parse(text)


def _slot_for(text: str) -> str:
    """The name under which an earlier version of a text is kept, or one that is free or old."""
    half = len(text) // 2
    for slot, known in reversed(_texts.items()):
        if half and (known[:half] == text[:half] or known[-half:] == text[-half:]):
            return slot
    if len(_texts) < _KEPT:
        return f"embedded-{len(_texts)}.py"
    return next(iter(_texts))
