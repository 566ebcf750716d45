"""Why a network cannot be written in a format: one value for all formats."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_engine.nodes import Node


class ExportError(Exception):
    """A network that a format cannot hold; the text is a sentence for a person.

    ``node`` is the operation in question, None where it is not one of them; ``differs`` says that
    the network was written, and answers otherwise than the engine.
    """

    def __init__(self, message: str, node: Node | None = None, *, differs: bool = False) -> None:
        super().__init__(message)
        self.node = node
        self.differs = differs


def refused(node: Node, reason: str) -> ExportError:
    """Return the error of a node, whose name and operation stand before the reason."""
    return ExportError(f"'{node.name}' is of type {node.op}: {reason}", node)
