"""Reads the parameters of a node's constructor from the scopes around it, by name.  Knows no
syntax.
"""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.evaluation.values import Absent, Array
from netsharp_lsp.cntk.networks.node import Node
from netsharp_lsp.cntk.networks.starting import fit_start, literal_lines, measure_start
from netsharp_lsp.cntk.vocabulary import LAYOUTS, RANDOM_STARTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from netsharp_lsp.cntk.brainscript.evaluation.evaluator import Evaluator
    from netsharp_lsp.cntk.brainscript.evaluation.values import Record, Thunk, Value
    from netsharp_lsp.cntk.networks.faults import Place

OLD_GRADIENT = ("needsGradient", "needGradient", "computeGradient")
#: Dimensions from here on are rejected: CNTK reads them as 64-bit floating-point numbers.
LARGEST = 2**53
#: Steps that an array costs for each array around it.
LEVEL = 5


class ConstructorArguments:
    """The parameters that a constructor finds, for one object."""

    def __init__(self, run: Evaluator, scope: Record, place: Place) -> None:
        self.run = run
        self.scope = scope
        self.place = place

    def find(self, name: str) -> Thunk | None:
        """Return a parameter here or in a scope around, or None."""
        return self.scope.find(name)

    def require(self, name: str) -> Thunk:
        """Return a required parameter; fail if it is missing."""
        found = self.scope.find(name)
        if found is None:
            self.run.fail("missing-parameter", f"the parameter '{name}' is missing.", self.place)
        return found

    def value(self, name: str) -> Value:
        """Return the value of a required parameter."""
        return self.require(name).force()

    def read(self, name: str, kind: str) -> Value:
        """Return the value of a parameter as an attribute; None if it is unknown."""
        if kind.endswith("?") and self.scope.find(name) is None:
            return None
        thunk = self.require(name)
        value = thunk.force()
        if isinstance(value, Absent) or (kind.endswith("?") and _is_none(value)):
            return None
        return READERS[kind.rstrip("?")](self, value, thunk.place)

    def text(self, name: str) -> str:
        """Return a parameter that is a string."""
        read = self.read(name, "text")
        return read if isinstance(read, str) else ""

    def nodes(self, name: str) -> tuple[Node, ...] | None:
        """Return a parameter that is a node or a list of nodes; None if it is absent."""
        thunk = self.find(name)
        if thunk is None:
            return None
        value = thunk.force()
        if isinstance(value, Node):
            return (value,)
        if not isinstance(value, Array):
            self.run.expected("array", value, thunk.place)
        # Comprehensions call no C function on the way down, so that depth costs no C stack.
        return tuple([self._node(item) for item in value.items])

    def _node(self, item: Thunk) -> Node:
        value = item.force()
        if not isinstance(value, Node):
            self.run.expected("ComputationNode", value, item.place)
        return value


def _is_none(value: Value) -> bool:
    """Return whether a value stands for an absent one."""
    return isinstance(value, Array) and not value.items


def flattened(
    run: Evaluator, value: Value, place: Place, around: tuple[Array, ...] = ()
) -> list[tuple[Value, Place]]:
    """Return a value, or the elements of nested arrays, with their places; `around` are the
    enclosing arrays: an array that contains itself is not flattened.
    """
    if not isinstance(value, Array) or any(one is value for one in around):
        return [(value, place)]
    found: list[tuple[Value, Place]] = []
    run.spend(len(value.items) + LEVEL * len(around), place)
    for item in value.items:
        found += flattened(run, item.force(), item.place, (*around, value))
    return found


def _whole(arguments: ConstructorArguments, value: Value, place: Place) -> Value:
    return arguments.run.whole(value, place)


def _real(arguments: ConstructorArguments, value: Value, place: Place) -> Value:
    return arguments.run.number(value, place)


def _text_attribute(arguments: ConstructorArguments, value: Value, place: Place) -> Value:
    return arguments.run.text(value, place)


def _truth(arguments: ConstructorArguments, value: Value, place: Place) -> Value:
    if not isinstance(value, bool):
        arguments.run.expected("boolean", value, place)
    return value


def _shape(arguments: ConstructorArguments, value: Value, place: Place) -> Value:
    if isinstance(value, tuple) or value is None:
        return value
    return dimensions(arguments.run, value, place)


def _truths(arguments: ConstructorArguments, value: Value, place: Place) -> Value:
    if isinstance(value, tuple) or value is None:
        return value
    return truths(arguments.run, value, place)


READERS: dict[str, Callable[[ConstructorArguments, Value, Place], Value]] = {
    "whole": _whole,
    "real": _real,
    "text": _text_attribute,
    "truth": _truth,
    "shape": _shape,
    "truths": _truths,
}


def dimensions(run: Evaluator, value: Value, place: Place) -> tuple[int, ...] | None:
    """Return a shape of numbers; None if one of them is unknown."""
    items = flattened(run, value, place)
    if any(isinstance(one, Absent) for one, _ in items):
        return None
    found = tuple(run.whole(one, where) for one, where in items)
    if any(not 0 <= size < LARGEST for size in found):
        run.fail("dimension", "a dimension is an integer from 0 to 2^53.", place)
    return found


def truths(run: Evaluator, value: Value, place: Place) -> tuple[bool, ...] | None:
    """Return a list of booleans; None if one of them is unknown."""
    found = []
    for one, where in flattened(run, value, place):
        if isinstance(one, Absent):
            return None
        if not isinstance(one, bool):
            run.expected("boolean", one, where)
        found.append(one)
    return tuple(found)


def parameter(arguments: ConstructorArguments, node: Node) -> None:
    """Set the attributes of a learnable parameter: shape, learning rate multiplier,
    initialization.
    """
    node.shape = _shape_or_none(arguments.read("shape", "shape"), arguments)
    if node.shape is not None:
        node.attributes["shape"] = node.shape
    if arguments.find("learningRateMultiplier") is not None:
        _keep(arguments, node, "learningRateMultiplier", "real")
    elif any(arguments.find(name) is not None for name in OLD_GRADIENT):
        arguments.run.fail(
            "old-gradient",
            "'needsGradient' and similar names do not exist here; use 'learningRateMultiplier'.",
            arguments.place,
        )
    init = _initialization(arguments)
    node.attributes["init"] = init
    if init in RANDOM_STARTS:
        _keep(arguments, node, "randomSeed", "whole")
        _keep(arguments, node, "initValueScale", "real")
        _keep(arguments, node, "initFilterRank", "whole")
        _keep(arguments, node, "initOutputRank", "whole")
        _keep(arguments, node, "initOnCPUOnly", "truth")
        return
    _fixed(arguments, node, init)


def _shape_or_none(value: Value, arguments: ConstructorArguments) -> tuple[int, ...] | None:
    if isinstance(value, tuple):
        return tuple(int(size) for size in value)
    return None


def _initialization(arguments: ConstructorArguments) -> str:
    """Return the initialization that the given parameters select."""
    named = arguments.text("init")
    path = arguments.text("initFromFilePath")
    thunk = arguments.require("initValue")
    value = thunk.force()
    if named:
        return named
    if path:
        return "fromFile"
    if isinstance(value, Array):
        arguments.run.fail(
            "init-array", "an array as 'initValue' is not supported yet.", thunk.place
        )
    if value == "":
        return "uniform"
    if isinstance(value, Absent):
        return "fromValue"
    if not isinstance(value, float):
        arguments.run.expected("number", value, thunk.place)
    return "fromValue"


def _fixed(arguments: ConstructorArguments, node: Node, init: str) -> None:
    """Set an initialization that is not random."""
    if init == "zero":
        node.attributes.update(init="fromValue", initValue=0.0)
    elif init == "fromValue":
        _keep(arguments, node, "initValue", "real")
    elif init == "fixedValue":
        node.attributes["init"] = "fromValue"
        value = arguments.read("value", "real")
        if isinstance(value, float):
            node.attributes["initValue"] = value
    elif init == "fromFile":
        _keep(arguments, node, "initFromFilePath", "text")
        if not node.text("initFromFilePath"):
            arguments.run.fail("init", "'fromFile' needs 'initFromFilePath'.", arguments.place)
        measure_start(node, arguments.run.measure)
    elif init == "fromLiteral":
        _literal(arguments, node)
    elif init == "bilinear":
        _keep(arguments, node, "kernelWidth", "whole?")
        _keep(arguments, node, "kernelHeight", "whole?")
    else:
        message = f"'{init}' is not a way to initialize a parameter."
        arguments.run.fail("init", message, arguments.require("init").place, init)


def _literal(arguments: ConstructorArguments, node: Node) -> None:
    """Set a matrix literal: a line for each row."""
    text = arguments.text("initFromLiteral")
    if not text.strip():
        arguments.run.fail("init", "'fromLiteral' needs 'initFromLiteral'.", arguments.place)
    from netsharp_lsp.text.matrices import matrix_of

    node.attributes["initFromLiteral"] = text
    fit_start(node, "initFromLiteral", matrix_of((literal_lines(text),)))


def _keep(arguments: ConstructorArguments, node: Node, name: str, kind: str) -> None:
    """Set a parameter as an attribute, unless it is unknown."""
    value = arguments.read(name, kind)
    if isinstance(value, float | int | str | bool | tuple):
        node.attributes[name] = value


def data_input(arguments: ConstructorArguments, node: Node) -> None:
    """Set the attributes of an input: a shape or an image, and its dynamic axis."""
    axis = arguments.find("dynamicAxis")
    value = axis.force() if axis is not None else ""
    name = value.name if isinstance(value, Node) else value
    node.attributes["dynamicAxis"] = name if isinstance(name, str) else ""
    if arguments.read("isImage", "truth") is not True:
        node.shape = _shape_or_none(arguments.read("shape", "shape"), arguments)
        if node.shape is not None:
            node.attributes["shape"] = node.shape
        return
    sides = [arguments.read(f"image{side}", "whole") for side in ("Width", "Height", "Channels")]
    image = tuple(side for side in sides if isinstance(side, int))
    chw = layout(arguments) == "CHW"
    node.shape = None if len(image) < 3 else image if chw else (image[2], *image[:2])
    if node.shape is not None:
        node.attributes["shape"] = node.shape


def layout(arguments: ConstructorArguments) -> str:
    """Return the image layout by its current name."""
    thunk = arguments.require("imageLayout")
    value = thunk.force()
    if isinstance(value, Absent):
        return "CHW"
    name = arguments.run.text(value, thunk.place)
    if name not in LAYOUTS:
        arguments.run.fail(
            "layout", f"'{name}' is not an image layout; there are CHW and HWC.", thunk.place
        )
    return LAYOUTS[name]


def ordinary(arguments: ConstructorArguments, node: Node, kinds: Mapping[str, str]) -> bool:
    """Set the attributes of any other type; return whether all of them are known."""
    known = True
    for name, kind in kinds.items():
        if name == "imageLayout":
            node.attributes[name] = layout(arguments)
            continue
        value = arguments.read(name, kind)
        if isinstance(value, float | int | str | bool | tuple):
            node.attributes[name] = value
        elif not kind.endswith("?"):
            known = False
    return known
