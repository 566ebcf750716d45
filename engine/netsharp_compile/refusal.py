"""Why a network cannot become integers: one error for every step that leads there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node


class CompileError(ValueError):
    """A network, data or settings that cannot become integers; the text is a sentence.

    Since
    -----
    0.1
    """


def refused(node: Node, reason: str) -> CompileError:
    """Return the error of a node, with its place in the specification before the reason."""
    place = "" if node.origin is None else f"{node.origin}: "
    name = f"'{node.name}'" if node.name else f"the {node.op} bundle"
    return CompileError(f"{place}{name} cannot be compiled yet: {reason}")
