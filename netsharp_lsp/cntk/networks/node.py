"""Nodes and networks as values; knows neither the node types nor the builders.

A shape is in CNTK's order, the fastest axis first.  An empty shape is not known yet, a dimension of
0 is to be inferred, and None is a shape that cannot be known (of a network that is loaded).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Shape = tuple[int, ...] | None
    #: The types of a node's attributes.
    Attribute = float | int | bool | str | tuple[int, ...] | tuple[bool, ...]
    #: A text's name and a span of its bytes.
    Where = tuple[str, int, int]

#: The operation of nodes about which nothing is known.
OPAQUE = "Opaque"
#: The operation of parameters, whose dimensions may be inferred from their use.
PARAMETER = "LearnableParameter"
GROUPS = ("feature", "label", "criterion", "evaluation", "output")
#: The names of two groups in older texts.
OLD_TAGS = {"criteria": "criterion", "eval": "evaluation"}
#: The name of the axis of all inputs that do not name one.
DEFAULT_AXIS = "*"


class Axis:
    """A dynamic axis: nodes share one only if it is the same object."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Calling:
    """A call of a function or macro in a text of the user's, and the call around it.

    `function` is empty for a name given to an expression; two calls are never equal.
    """

    __slots__ = ("function", "parent", "variable", "where")

    def __init__(self, function: str, variable: str, where: Where, parent: Calling | None) -> None:
        self.function = function
        self.variable = variable
        self.where = where
        self.parent = parent


class Node:
    """A node.  Building and inference fill it in; afterwards it does not change."""

    __slots__ = (
        "attributes",
        "axis",
        "call",
        "draw",
        "flaw",
        "inputs",
        "late",
        "loop",
        "name",
        "number",
        "operation",
        "saved",
        "shape",
        "tags",
        "where",
    )

    def __init__(self, operation: str, number: int, name: str = "") -> None:
        self.operation = operation
        #: The order of creation.
        self.number = number
        self.name = name
        self.inputs: tuple[Node, ...] = ()
        self.attributes: dict[str, Attribute] = {}
        self.tags: list[str] = []
        self.shape: Shape = ()
        self.axis: Axis | None = None
        self.loop: int | None = None
        #: The fault of the file with its initial values, empty if there is none.
        self.flaw = ""
        #: The model that its values come from and its name there; an empty model for a node of the
        #: same network, None if the values are its own.
        self.saved: tuple[str, str] | None = None
        #: The same object in nodes with the same initial values of their own.
        self.draw = object()
        self.where: Where = ("", 0, 0)
        #: The innermost call that it comes from.
        self.call: Calling | None = None
        #: Returns the inputs of a delay once all other nodes exist.
        self.late: Callable[[], tuple[Node, ...]] | None = None

    def integer(self, attribute: str, default: int = 0) -> int:
        """Return an attribute as an integer."""
        found = self.attributes.get(attribute, default)
        return int(found) if isinstance(found, int | float) else default

    def text(self, attribute: str, default: str = "") -> str:
        """Return an attribute that is a string."""
        found = self.attributes.get(attribute, default)
        return found if isinstance(found, str) else default

    def truth(self, attribute: str, default: bool = False) -> bool:
        """Return an attribute that is a boolean."""
        found = self.attributes.get(attribute, default)
        return found if isinstance(found, bool) else default

    def dimensions(self, attribute: str) -> tuple[int, ...]:
        """Return an attribute that is a shape or a list of booleans."""
        found = self.attributes.get(attribute, ())
        return found if isinstance(found, tuple) else ()

    @property
    def trainable(self) -> bool:
        """Return whether training changes it."""
        rate = self.attributes.get("learningRateMultiplier", 1.0)
        return self.operation == PARAMETER and rate != 0


class Trouble(NamedTuple):
    """A mismatch in a network: the node, a message, and a kind that identifies the cause: the
    family of the shape rule, `axis`, `dynamic-axis`, `size` or `file`.  `differ`: two shapes do not
    match.
    """

    node: Node
    message: str
    kind: str
    differ: bool = False


class Network(NamedTuple):
    """A network: its nodes by name in order of creation, and its node groups in order."""

    nodes: Mapping[str, Node]
    groups: Mapping[str, tuple[Node, ...]]
    loops: tuple[tuple[Node, ...], ...] = ()
    troubles: tuple[Trouble, ...] = ()


#: The count at which counting elements ends: CNTK's sizes are 64-bit integers.
UNCOUNTED = 2**63 - 1


def reached(roots: Iterable[Node]) -> dict[Node, None]:
    """Return roots and all nodes that they depend on, each once; of a node's inputs the last comes
    first.
    """
    found: dict[Node, None] = {}
    for root in roots:
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node not in found:
                found[node] = None
                waiting += node.inputs
    return found


def elements(shape: tuple[int, ...]) -> int:
    """Return the number of elements of a tensor; 0 as long as its shape is unknown.

    Counting ends at `UNCOUNTED`, because shapes computed from shapes could grow without limit.
    """
    if not shape:
        return 0
    product = 1
    for dimension in shape:
        product = min(product * dimension, UNCOUNTED)
    return product


def written(shape: Shape) -> str:
    """Return a shape as CNTK writes it."""
    return "?" if shape is None else " x ".join(map(str, shape))
