"""The lazy evaluation of each form of expression: names, calls, arrays, choices, operators.

A form gets the values of its parts from the evaluator and has no state.
"""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.evaluation import operators
from netsharp_lsp.cntk.brainscript.evaluation.operator_nodes import on_nodes, run_node
from netsharp_lsp.cntk.brainscript.evaluation.values import (
    Absent,
    Array,
    Built,
    Function,
    Record,
    Site,
    Thunk,
    a_kind,
    joined,
)
from netsharp_lsp.cntk.brainscript.reading.syntax import (
    Argument,
    ArrayConstructor,
    ArrayLiteral,
    Binary,
    BrainScriptCall,
    Broken,
    Choice,
    Elements,
    Index,
    Lambda,
    Name,
    New,
    Number,
    RecordLiteral,
    Select,
    Text,
    Truth,
    Unary,
    Variable,
)
from netsharp_lsp.cntk.networks.faults import Place
from netsharp_lsp.cntk.networks.node import Node, elements
from netsharp_lsp.cntk.networks.starting import is_open
from netsharp_lsp.diagnostics.nearest import suggestion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    from netsharp_lsp.cntk.brainscript.evaluation.evaluator import Evaluator, Form
    from netsharp_lsp.cntk.brainscript.evaluation.values import Value
    from netsharp_lsp.cntk.brainscript.reading.syntax import Expression

#: The most elements of one array.
LONGEST = 1_000_000


def _number(run: Evaluator, e: Number, scope: Record, path: str) -> Value:
    return e.value


def _text_itself(run: Evaluator, e: Text, scope: Record, path: str) -> Value:
    return e.value


def _truth(run: Evaluator, e: Truth, scope: Record, path: str) -> Value:
    return e.value


def _variable(run: Evaluator, e: Variable, scope: Record, path: str) -> Value:
    return run.absent(f"${e.name}$")


def _broken(run: Evaluator, e: Broken, scope: Record, path: str) -> Value:
    return run.absent(path)


def _name(run: Evaluator, e: Name, scope: Record, path: str) -> Value:
    found = scope.find(e.name)
    if found is None:
        run.fail("unknown-name", f"'{e.name}' is not defined.", e.place)
    return found.force()


def _select(run: Evaluator, e: Select, scope: Record, path: str) -> Value:
    holder = run.evaluate(e.record, scope, path)
    if not e.name:
        return run.absent(path)
    return member_of(run, holder, e.name, e)


def member_of(run: Evaluator, holder: Value, name: str, e: Select) -> Value:
    """Return a member of a record, a network or a node."""
    if isinstance(holder, Record):
        found = holder.find(name)
        if found is None:
            run.fail("unknown-member", f"there is no member '{name}' here.", e.name_place)
        return found.force()
    if isinstance(holder, Absent):
        if name not in holder.known:
            holder.known[name] = run.absent(joined(holder.name, name))
        return holder.known[name]
    if isinstance(holder, Node):
        return _node_member(run, holder, name, e.name_place)
    if not isinstance(holder, Built):
        run.expected("record", holder, e.record.place)
    node = holder.network.nodes.get(name) or holder.named.get(name)
    if node is None:
        run.fail("unknown-member", _no_node(holder, name), e.name_place)
    return node


def _no_node(holder: Built, name: str) -> str:
    what = f"model '{holder.model}'" if holder.model else "network"
    return f"the {what} has no node '{name}'.{suggestion(name, holder.named)}"


def _node_member(run: Evaluator, node: Node, name: str, place: Place) -> Value:
    if name == "name":
        return node.name
    if name == "operation":
        return node.operation
    if name in ("inputs", f"{node.operation}Args"):
        return Array(0, [Thunk.of(one, place) for one in node.inputs])
    if name != "dim":
        run.fail(
            "unknown-member",
            f"a node has no member '{name}': it has 'name', 'operation', 'dim', 'inputs'.",
            place,
        )
    if node.shape is None or is_open(node):
        return run.absent(joined(node.name, name))
    if not elements(node.shape):
        run.fail(
            "unknown-dimension",
            f"the dimensions of '{node.name or node.operation}' are not known at this point.",
            place,
        )
    return float(elements(node.shape))


def _record(run: Evaluator, e: RecordLiteral, scope: Record, path: str) -> Value:
    record = Record(scope)
    run.fill(record, e.entries, path)
    return record


def _elements(run: Evaluator, e: Elements | ArrayLiteral, scope: Record, path: str) -> Value:
    items = [run.thunk(one, scope, f"{path}[{number}]") for number, one in enumerate(e.items)]
    return Array(0, items)


def _array(run: Evaluator, e: ArrayConstructor, scope: Record, path: str) -> Value:
    bounds: list[int | None] = []
    for bound, name in ((e.first, "array_first"), (e.last, "array_last")):
        value = run.evaluate(bound, scope, joined(path, name))
        bounds.append(None if isinstance(value, Absent) else run.whole(value, bound.place))
    return _filled(run, e, scope, (path, bounds))


def _call(run: Evaluator, e: BrainScriptCall, scope: Record, path: str) -> Value:
    function = run.evaluate(e.function, scope, path)
    if isinstance(function, Absent):
        return run.absent(path)
    if not isinstance(function, Function):
        run.expected("function", function, e.function.place)
    positional = [one.value for one in e.arguments if not one.name]
    names = (*function.parameters, *[""] * len(positional))
    given = [
        run.thunk(value, scope, joined(path, name))
        for value, name in zip(positional, names, strict=False)
    ]
    named = _named(run, e.arguments, scope, path)
    return run.apply(function, given, named, (path, Site(e.place, scope, _called(e.function))))


def _called(function: Expression) -> str:
    """Return the name of a called function, also if a call returns the function."""
    while isinstance(function, BrainScriptCall | Index):
        function = function.function if isinstance(function, BrainScriptCall) else function.target
    return function.name if isinstance(function, Name | Select) else ""


def _named(
    run: Evaluator, arguments: tuple[Argument, ...], scope: Record, path: str
) -> dict[str, Thunk]:
    named: dict[str, Thunk] = {}
    for one in arguments:
        if one.name in named:
            run.fail("duplicate-argument", f"the argument '{one.name}' is given twice.", one.place)
        if one.name:
            named[one.name] = run.thunk(one.value, scope, joined(path, one.name))
    return named


def _lambda(run: Evaluator, e: Lambda, scope: Record, path: str) -> Value:
    required = tuple(one.name for one in e.parameters if one.default is None)
    defaults = {
        one.name: run.thunk(one.default, scope, joined(path, one.name))
        for one in e.parameters
        if one.default is not None
    }

    def body(given: list[Thunk], named: dict[str, Thunk], caller: str, site: Site) -> Value:
        inner = Record(scope, site)
        inner.members.update(zip(required, given, strict=True))
        inner.members.update(named)
        return run.evaluate(e.body, inner, caller)

    return Function(required, defaults, body, e.place.source)


def _choice(run: Evaluator, e: Choice, scope: Record, path: str) -> Value:
    condition = run.evaluate(e.condition, scope, joined(path, "if"))
    if isinstance(condition, bool):
        return run.evaluate(e.consequence if condition else e.alternative, scope, path)
    if isinstance(condition, Absent):
        return run.absent(path)
    if not isinstance(condition, Node):
        run.expected("boolean", condition, e.condition.place)
    chosen = run.evaluate(e.consequence, scope, joined(path, "then"))
    otherwise = run.evaluate(e.alternative, scope, joined(path, "else"))
    return on_nodes(run, "if", [condition, chosen, otherwise], (path, Site(e.place, scope)))


def _index(run: Evaluator, e: Index, scope: Record, path: str) -> Value:
    array = run.evaluate(e.target, scope, joined(path, "_vector"))
    if isinstance(array, Absent):
        return run.absent(path)
    if not isinstance(array, Array):
        run.expected("array", array, e.target.place)
    position = run.evaluate(e.position, scope, joined(path, "_index"))
    if isinstance(position, Absent):
        return run.absent(path)
    index = run.whole(position, e.position.place)
    if not array.first <= index < array.first + len(array.items):
        last = array.first + len(array.items) - 1
        run.fail(
            "index", f"index {index} is out of bounds [{array.first}..{last}].", e.position.place
        )
    return array.items[index - array.first].force()


def _unary(run: Evaluator, e: Unary, scope: Record, path: str) -> Value:
    step = {"+": "", "-": "_negate", "!": "_not"}[e.operator]
    operand = run.evaluate(e.operand, scope, joined(path, step))
    if isinstance(operand, Absent):
        return operand if e.operator == "+" else run.absent(path)
    if isinstance(operand, Node):
        if e.operator == "+":
            return operand
        if e.operator == "-":
            return run_node(run, "Negate", [operand], (path, Site(e.place, scope)))
        return run_node(run, "Minus", [1.0, operand], (path, Site(e.place, scope)))
    if e.operator == "!" and isinstance(operand, bool):
        return not operand
    if e.operator == "!" or not isinstance(operand, float):
        what = a_kind(operand)
        run.fail("operator", f"'{e.operator}' cannot be applied to {what}.", e.place)
    return operand if e.operator == "+" else -operand


def _binary(run: Evaluator, e: Binary, scope: Record, path: str) -> Value:
    name = operators.PATH_NAMES[e.operator]
    left = run.evaluate(e.left, scope, joined(path, f"{name}Args[0]"))
    right = run.evaluate(e.right, scope, joined(path, f"{name}Args[1]"))
    try:
        if isinstance(left, float) and isinstance(right, float):
            return operators.on_numbers(e.operator, left, right)
        if isinstance(left, str) and isinstance(right, str):
            if e.operator in operators.COMPARISONS and operators.is_open(left, right):
                return run.absent(path)
            run.grow(len(left) + len(right), e.place)
            return operators.on_texts(e.operator, left, right)
        if isinstance(left, bool) and isinstance(right, bool):
            return operators.on_truths(e.operator, left, right)
    except operators.Inapplicable:
        _inapplicable(run, e, left, right)
    if e.operator == ">>" and isinstance(left, Function) and isinstance(right, Function):
        return _composed(run, left, right)
    if operators.is_absent([left, right]):
        return run.absent(path)
    if operators.concerns_nodes([left, right]):
        return on_nodes(run, e.operator, [left, right], (path, Site(e.place, scope)))
    if e.operator != "<<" or not isinstance(left, Array) or not isinstance(right, float):
        _inapplicable(run, e, left, right)
    return Array(0, left.items[max(run.whole(right // 1, e.right.place), 0) :])


def _inapplicable(run: Evaluator, e: Binary, left: Value, right: Value) -> NoReturn:
    if e.operator == "with":
        run.fail("with", "'with' is parsed, but not implemented in CNTK.", e.place)
    run.fail(
        "operator",
        f"'{e.operator}' cannot be applied to {a_kind(left)} and {a_kind(right)}.",
        e.place,
    )


def _composed(run: Evaluator, first: Function, second: Function) -> Value:
    """Return the second function applied to the first; it has the parameters of the first."""
    for default in first.defaults.values():
        default.force()

    def body(given: list[Thunk], named: dict[str, Thunk], caller: str, site: Site) -> Value:
        inner = run.apply(first, given, named, (joined(caller, "arg"), site))
        return run.apply(second, [Thunk.of(inner, site.place)], {}, (caller, site))

    return Function(first.parameters, first.defaults, body)


def _filled(
    run: Evaluator, e: ArrayConstructor, scope: Record, under: tuple[str, list[int | None]]
) -> Value:
    path, (first, last) = under
    function = run.evaluate(e.element, scope, joined(path, "_initializer"))
    if first is None or last is None or isinstance(function, Absent):
        return run.absent(path)
    if not isinstance(function, Function):
        run.expected("function", function, e.element.place)
    if len(function.parameters) != 1:
        run.fail(
            "arity",
            f"the elements of an array are a function of one index, but this takes"
            f" {len(function.parameters)}.",
            e.element.place,
        )
    if last - first >= LONGEST:
        count = f"{last - first + 1:,} elements"
        message = f"an array of {count} is too long: the limit is {LONGEST:,}."
        run.fail("too-long", message, e.place)
    run.spend(max(0, last - first), e.place)
    site = Site(e.place, scope)
    return Array(
        first, [_element(run, function, at, (path, site)) for at in range(first, last + 1)]
    )


def _element(run: Evaluator, function: Function, at: int, under: tuple[str, Site]) -> Thunk:
    path, site = under
    named = f"{path}[{at}]" if path else ""

    def compute() -> Value:
        return run.apply(function, [Thunk.of(float(at), site.place)], {}, (named, site))

    return Thunk(compute, site.place, named)


def _new(run: Evaluator, e: New, scope: Record, path: str) -> Value:
    if not e.class_name:
        return run.absent(path)
    found = run.classes.get(e.class_name)
    if found is None:
        run.fail("unknown-class", f"there is no class '{e.class_name}'.", e.class_place)
    is_record, build = found
    arguments = run.evaluate(e.arguments, scope, "" if is_record else path)
    if isinstance(arguments, Absent):
        return run.absent(path)
    if not isinstance(arguments, Record):
        run.expected("record", arguments, e.arguments.place)
    return build(run, arguments, path, e.place)


#: The evaluation of each form, by the class of its syntax.
FORMS: Mapping[type, Form] = {
    Number: _number,
    Text: _text_itself,
    Truth: _truth,
    Name: _name,
    Variable: _variable,
    Broken: _broken,
    Unary: _unary,
    Binary: _binary,
    Elements: _elements,
    ArrayLiteral: _elements,
    ArrayConstructor: _array,
    Choice: _choice,
    Lambda: _lambda,
    BrainScriptCall: _call,
    Index: _index,
    Select: _select,
    New: _new,
    RecordLiteral: _record,
}
