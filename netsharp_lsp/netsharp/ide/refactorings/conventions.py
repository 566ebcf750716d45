"""Renames layers and constants in the guide's spelling: `Conv1`, `InputSize`."""

from __future__ import annotations

import re

from netsharp_lsp.ide.answers import Action, Refusal
from netsharp_lsp.netsharp.ide.navigation.names import is_declaration
from netsharp_lsp.netsharp.ide.rename import rename

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.ide.refactorings.site import Site

KIND = "refactor.rewrite.convention"
WORDS = re.compile(r"[^_]+")
#: An underscore stays before a digit, as in the guide's `Weights_1`.
DIVIDER = re.compile(r"_+(?=[A-Za-z]|\Z)")


def conventional_names(site: Site) -> Iterator[Action]:
    """Yield the rename of the name declared at a site, if the guide would spell it otherwise."""
    node_path = site.node_path
    name = node_path.name
    if name is None or node_path.role not in ("layer", "constant") or not is_declaration(node_path):
        return
    new = conventional(name.text)
    if new == name.text:
        return
    edits = rename(site.network, site.start, new)
    if not isinstance(edits, Refusal) and edits:
        yield Action(f"Rename '{name.text}' to '{new}', as the guide writes names", KIND, (*edits,))


def conventional(name: str) -> str:
    """Return a name whose words begin with a capital and have no underscores between them."""
    words = WORDS.sub(lambda word: _capitalised(word[0], "_" in name), name.lstrip("_"))
    return DIVIDER.sub("", words) or name


def _capitalised(word: str, divided: bool) -> str:
    shouted = divided and len(word) > 1 and word.isupper()
    return word[:1].upper() + (word[1:].lower() if shouted else word[1:])
