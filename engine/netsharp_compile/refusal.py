"""Why a network cannot become integers: one error for every step that leads there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.excerpt import excerpt

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node


class CompileError(ValueError):
    """A network, data or settings that cannot become integers; the text is a sentence.

    Since
    -----
    0.1
    """


def named_at(name: str, origin: str) -> str:
    """Return a layer's name after its place in the specification, as in "line 2: 'H'"; an origin
    that has the name itself, as in "'H' in net.dnn", is all of it.
    """
    shown = f"'{excerpt(name)}'"
    if origin.startswith(f"'{name}' in "):
        return origin
    return f"{origin}: {shown}" if origin else shown


def refused(node: Node, reason: str) -> CompileError:
    """Return the error of a node, with its place in the specification before the reason."""
    origin = "" if node.origin is None else str(node.origin)
    if node.name:
        named = named_at(node.name, origin)
    else:
        named = f"{origin}: the {node.op} bundle" if origin else f"the {node.op} bundle"
    return CompileError(f"{named} cannot be compiled yet: {reason}")
