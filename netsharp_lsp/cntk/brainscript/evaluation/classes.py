"""The objects that `new` builds, by class: nodes, shapes, functions on plain values, networks.
Knows no syntax.
"""

from __future__ import annotations

import math
import re

from netsharp_lsp.cntk.brainscript.evaluation import attributes, saved
from netsharp_lsp.cntk.brainscript.evaluation.attributes import ConstructorArguments, flattened
from netsharp_lsp.cntk.brainscript.evaluation.calls import call_of
from netsharp_lsp.cntk.brainscript.evaluation.evaluator import Evaluator
from netsharp_lsp.cntk.brainscript.evaluation.network_building import build_network
from netsharp_lsp.cntk.brainscript.evaluation.values import (
    Absent,
    Array,
    Record,
    Site,
    kind_of,
)
from netsharp_lsp.cntk.networks.node import PARAMETER, Node
from netsharp_lsp.cntk.networks.node_types import ALIASES, ANY, DELAYS, INPUTS, NODE_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_lsp.cntk.brainscript.evaluation.evaluator import Builder
    from netsharp_lsp.cntk.brainscript.evaluation.values import Thunk, Value
    from netsharp_lsp.cntk.networks.faults import Place

#: The text between `%` and the type in a format.
FORMAT = re.compile(r"[-+ #0]*\d{0,4}(\.\d{0,4})?")


def _node(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    """Build a node: its attributes, then its inputs, then its tag."""
    arguments = ConstructorArguments(run, scope, place)
    thunk = arguments.require("operation")
    written = thunk.force()
    if isinstance(written, Absent):
        return run.absent(path)
    operation = run.text(written, thunk.place)
    operation = ALIASES.get(operation, operation)
    node_type = NODE_TYPES.get(operation)
    if node_type is None:
        run.fail("unknown-operation", f"there is no node type '{operation}'.", thunk.place)
    node = Node(operation, 0, path)
    node.where = run.origin(Site(place, scope))
    node.call = call_of(scope, run.library)
    known = _attributes(arguments, node)
    node.number = run.next_number()
    if operation in DELAYS:
        node.late = lambda: _inputs(arguments, node)
    else:
        node.inputs = _inputs(arguments, node)
    tag = arguments.text("tag")
    if tag:
        node.tags.append(tag)
    if not known:
        node.shape = None
    return node


def _attributes(arguments: ConstructorArguments, node: Node) -> bool:
    """Set the attributes of a node; return whether its shape can be inferred."""
    if node.operation == PARAMETER:
        attributes.parameter(arguments, node)
        return True
    if node.operation in INPUTS:
        attributes.data_input(arguments, node)
        return True
    known = attributes.ordinary(arguments, node, NODE_TYPES[node.operation].attributes)
    if node.operation in DELAYS:
        node.shape = tuple(int(size) for size in node.dimensions("shape"))
        node.attributes.pop("shape", None)
    return known


def _inputs(arguments: ConstructorArguments, node: Node) -> tuple[Node, ...]:
    """Return the inputs of a node, as many as its type takes."""
    inputs = arguments.nodes("inputs") or ()
    node_type = NODE_TYPES[node.operation]
    if not node_type.fewest <= len(inputs) <= node_type.most:
        expected = _counted(node_type.fewest, node_type.most)
        arguments.run.fail(
            "inputs",
            f"{node.operation} takes {expected}, and {len(inputs)}"
            f" {'is' if len(inputs) == 1 else 'are'} given.",
            arguments.place,
        )
    return inputs


def _counted(fewest: int, most: int) -> str:
    if most == ANY:
        return f"at least {fewest} input"
    numbers = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return f"{numbers} input{'s' * (most != 1)}"


def _tensor_shape(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    thunk = ConstructorArguments(run, scope, place).require("dims")
    return attributes.dimensions(run, thunk.force(), thunk.place)


def _bool_vector(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    thunk = ConstructorArguments(run, scope, place).require("items")
    return attributes.truths(run, thunk.force(), thunk.place)


def _whole_vector(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    thunk = ConstructorArguments(run, scope, place).require("items")
    return attributes.dimensions(run, thunk.force(), thunk.place)


def _string_function(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    arguments = ConstructorArguments(run, scope, place)
    what = arguments.text("what")
    value = arguments.value("arg")
    if isinstance(value, Absent):
        return run.absent(path)
    where = arguments.require("arg").place
    if what == "Format":
        return _formatted(run, value, arguments.text("how"), where)
    if what == "Chr":
        code = run.whole(run.number(value, where) // 1, where)
        return chr(code) if 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    text = run.text(value, where)
    if what == "Substr":
        begin, count = (run.whole(arguments.value(name), place) for name in ("pos", "chars"))
        start = min(len(text) + begin if begin < 0 else begin, len(text))
        return text[max(start, 0) :][: count if count >= 0 else None]
    if what == "Replace":
        old, new = (arguments.text(name) for name in ("replacewhat", "withwhat"))
        return _replaced(run, (text, old, new), where)
    return _no_function(run, arguments, what)


def _replaced(run: Evaluator, texts: tuple[str, str, str], place: Place) -> str:
    """Return a string with replacements, after checking the length of the result."""
    text, old, new = texts
    if not old:
        return text
    run.grow(len(text) + text.count(old) * (len(new) - len(old)), place)
    return text.replace(old, new)


def _no_function(run: Evaluator, arguments: ConstructorArguments, what: str) -> Value:
    run.fail(
        "unknown-function", f"'{what}' is not a function here.", arguments.require("what").place
    )


def _formatted(run: Evaluator, value: Value, how: str, place: Place) -> str:
    if not FORMAT.fullmatch(how):
        run.fail(
            "format", f"'{how}' is not a format: it is the text between % and the type.", place
        )
    if isinstance(value, str):
        return f"%{how}s" % value
    if isinstance(value, float):
        whole = math.isfinite(value) and value == int(value)
        return f"%{how}d" % int(value) if whole else f"%{how}f" % value
    if isinstance(value, Array):
        named = [("", item) for item in value.items]
        return f"({_nested(run, named, how, place)})"
    if isinstance(value, Record):
        named = [(f"{name} = ", one) for name, one in sorted(value.members.items())]
        return f"[{_nested(run, named, how, place)}]"
    return value.name if isinstance(value, Node) else kind_of(value)


def _nested(run: Evaluator, named: list[tuple[str, Thunk]], how: str, place: Place) -> str:
    """Return the contents of an array or a record, one per line."""
    with run.within(place):
        items = [f"{name}{_formatted(run, one.force(), how, one.place)}" for name, one in named]
    run.grow(sum(len(item) for item in items), place)
    text = "\n".join(items).replace("\n", "\n  ")
    return f"\n  {text}\n" if items else ""


def _numeric_function(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    arguments = ConstructorArguments(run, scope, place)
    what = arguments.text("what")
    if what in ("Floor", "Length"):
        value, where = arguments.value("arg"), arguments.require("arg").place
        if isinstance(value, Absent):
            return run.absent(path)
        if what == "Floor":
            number = run.number(value, where)
            return float(math.floor(number)) if math.isfinite(number) else number
        if isinstance(value, str):
            return float(len(value))
        return float(len(_from_zero(run, value, where).items))
    if what not in ("Mod", "IntDiv"):
        return _no_function(run, arguments, what)
    pair = flattened(run, arguments.value("args"), place)
    if any(isinstance(value, Absent) for value, _ in pair):
        return run.absent(path)
    left, right = (run.whole(value, where) for value, where in pair)
    if right == 0:
        run.fail("zero", "this divides by zero.", place)
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return float(quotient if what == "IntDiv" else left - quotient * right)


def _from_zero(run: Evaluator, value: Value, place: Place) -> Array:
    """Return an array, after checking that its first index is 0, as most of CNTK expects."""
    if not isinstance(value, Array):
        run.expected("array", value, place)
    if value.first != 0 and value.items:
        run.fail("first-index", "this array has to begin with index 0.", place)
    return value


def _compare_function(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    arguments = ConstructorArguments(run, scope, place)
    what = arguments.text("what")
    value = arguments.value("args")
    if what == "IsSameObject":
        if not isinstance(value, Array) or len(value.items) != 2:
            run.fail("arity", "two values are compared.", place)
        one, other = (item.force() for item in value.items)
        return one is other
    if what == "IsArray":
        return isinstance(value, Array)
    if what == "IsDouble":
        return isinstance(value, float)
    if what == "IsBool":
        return isinstance(value, bool)
    return _no_function(run, arguments, what)


def _print_action(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    value = ConstructorArguments(run, scope, place).value("what")
    _formatted(run, value, "", place)
    return None


def _fail_action(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    thunk = ConstructorArguments(run, scope, place).require("what")
    value = thunk.force()
    run.fail("failed", str(value) if isinstance(value, str) else "this fails.", thunk.place)


def _debug(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    return ConstructorArguments(run, scope, place).value("value")


def _opaque(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    return run.absent(path)


#: Classes by name: whether their members are a record of its own, and their builders.
CLASSES: Mapping[str, tuple[bool, Builder]] = {
    "ComputationNetwork": (True, build_network),
    "ComputationNetworkFromFile": (True, saved.load),
    "ComputationNetworkWithEdits": (True, saved.edit),
    "CloneFunctionConfigLambda": (False, saved.clone),
    "ComputationNode": (True, _node),
    "TensorShape": (False, _tensor_shape),
    "BoolVector": (False, _bool_vector),
    "IntVector": (False, _whole_vector),
    "SizeVector": (False, _whole_vector),
    "StringFunction": (False, _string_function),
    "NumericFunction": (False, _numeric_function),
    "CompareFunction": (False, _compare_function),
    "PrintAction": (False, _print_action),
    "FailAction": (False, _fail_action),
    "Debug": (False, _debug),
    "SGDOptimizer": (False, _opaque),
    "TrainAction": (False, _opaque),
    "DataReaderPlugin": (False, _opaque),
}
