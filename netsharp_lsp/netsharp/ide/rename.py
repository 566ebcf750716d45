"""Renames a layer, a constant or a condition's parameter; the network stays the same.

A rename that would change what a name refers to is refused with a sentence.
"""

from __future__ import annotations

import re

from netsharp_engine.activations import NAMES
from netsharp_lsp.ide.answers import Refusal, Renaming
from netsharp_lsp.netsharp.ide.navigation.names import (
    DECLARED,
    definition_of,
    is_declaration,
    places_of,
)
from netsharp_lsp.netsharp.ide.places.node_paths import (
    ROLES,
    comment_at,
    node_path_at,
    occurrences,
    parameters_of,
)
from netsharp_lsp.netsharp.reading.expressions import names_in
from netsharp_lsp.netsharp.reading.mistakes import KEYWORDS
from netsharp_lsp.netsharp.reading.syntax import Number, Predicate
from netsharp_lsp.text.edits import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.ide.places.node_paths import NodePath
    from netsharp_lsp.netsharp.meaning.network import Network

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)
#: Words that are read as keywords in any case where a name is also possible.
WORDS = KEYWORDS - frozenset(NAMES)
#: What begins the bytes of trained weights, inside brackets.
BLOB = "floats_from_bytes"


def renaming_at(network: Network, offset: int) -> Renaming | Refusal:
    """Return the name at an offset if it can be renamed, else why not."""
    node_path = _renamable(network, offset)
    if isinstance(node_path, Refusal):
        return node_path
    name = node_path.name
    assert name is not None
    return Renaming(*node_path.span(name), name.text)


def rename(network: Network, offset: int, name: str) -> list[Edit] | Refusal:
    """Return the edits that rename all occurrences of the name at an offset, or a refusal."""
    node_path = _renamable(network, offset)
    if isinstance(node_path, Refusal):
        return node_path
    old = node_path.name
    assert old is not None
    if name == old.text:
        return []
    objection = name_fault(name) or _clash(network, node_path, name)
    if objection:
        return Refusal(objection)
    if is_later_declaration(network, node_path):
        return [Edit(*node_path.span(old), name)]
    own = definition_of(network, node_path)
    return [
        Edit(place.start, place.end, name)
        for place in places_of(network, node_path)
        if place.kind == "read" or (own is not None and place.start == own.name_start)
    ]


def name_fault(name: str) -> str:
    """Return why a word cannot be a name, empty if it can."""
    if name in KEYWORDS or name == BLOB:
        return f"'{name}' is a keyword and cannot be a name."
    if name.lower() in WORDS:
        return f"'{name}' may be read as the keyword '{name.lower()}'; choose another name."
    if not IDENTIFIER.match(name):
        return (
            f"'{name}' cannot be a name: names have letters, digits and '_' "
            "and do not begin with a digit."
        )
    return ""


def _renamable(network: Network, offset: int) -> NodePath | Refusal:
    """Return the node at an offset, if it has a declared name of its own."""
    comment = comment_at(network.specification, offset)
    if comment is not None and comment.start < offset:
        return Refusal("This is a comment; there is no name to rename.")
    node_path = node_path_at(network.specification, offset)
    word = None if node_path is None else _keyword_at(node_path, offset)
    if word is not None:
        return Refusal(f"'{word}' is a keyword of the language and cannot be renamed.")
    if node_path is None or node_path.name is None:
        number = node_path is not None and isinstance(node_path.leaf, Number)
        thing = "A number has no name." if number else "There is no name here."
        return Refusal(f"{thing} Layers, constants and parameters of conditions can be renamed.")
    name, role = node_path.name.text, node_path.role
    if role not in DECLARED:
        what = ROLES.get(role, "no name")
        return Refusal(f"'{name}' is {what} of the language and cannot be renamed.")
    if definition_of(network, node_path) is None:
        return Refusal(f"'{name}' is not defined, so there is nothing to rename.")
    return node_path


def _keyword_at(node_path: NodePath, offset: int) -> str | None:
    """Return the keyword at an offset that is not a node: a connection's kind, `auto`, `true`."""
    at = offset - node_path.base
    if node_path.name is not None:
        return None
    words = node_path.declaration.keywords
    return next((word.text for word in words if word.start <= at <= word.end), None)


def is_later_declaration(network: Network, node_path: NodePath) -> bool:
    """Return whether an earlier declaration has the name: then all uses mean that one."""
    if node_path.role == "parameter":
        predicate = node_path.holding(Predicate)
        return node_path.leaf is predicate.destination and len(set(parameters_of(predicate))) == 1
    own = definition_of(network, node_path)
    here = node_path.base + node_path.leaf.start
    return is_declaration(node_path) and own is not None and own.name_start != here


def _clash(network: Network, node_path: NodePath, name: str) -> str:
    if node_path.role == "parameter":
        return _clash_in_condition(node_path, name)
    if name in network.layers:
        return f"There is a layer '{name}' already."
    if name in network.constants:
        return f"There is a constant '{name}' already."
    if node_path.role == "constant" and _would_be_captured(network, node_path, name):
        return f"A condition that uses the constant has a parameter '{name}'."
    return ""


def _clash_in_condition(node_path: NodePath, name: str) -> str:
    predicate = node_path.holding(Predicate)
    if name in parameters_of(predicate):
        return f"The other parameter is called '{name}' already."
    if any(used.text == name for used in names_in(predicate.condition)):
        return f"The condition uses a constant '{name}'."
    return ""


def _would_be_captured(network: Network, node_path: NodePath, name: str) -> bool:
    """Return whether a condition would read a constant's new name as its own parameter."""
    assert node_path.name is not None
    for found in occurrences(network.specification, node_path.name.text):
        predicate = found.holding(Predicate) if found.role == "constant" else None
        if predicate is not None and name in parameters_of(predicate):
            return True
    return False
