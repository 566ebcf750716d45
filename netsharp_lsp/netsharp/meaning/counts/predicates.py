"""The edges of a filtered bundle, counted exactly in plain Python; knows no rule.

A condition is a conjunction of terms.  Terms that share no index are independent, so each group
of indices is walked alone and the counts multiply: `s[0] == d[0] && s[1] == d[1]` between two
layers [100, 100] costs 20,000 evaluations and not 10^8.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Finding, RelativeSpan, Repair
from netsharp_lsp.netsharp.meaning.conditions.edges import Edges
from netsharp_lsp.netsharp.meaning.conditions.terms import (
    Term,
    called,
    entry,
    grouped,
    infixed,
    literal,
    picked,
    prefixed,
    whole,
)
from netsharp_lsp.netsharp.meaning.values import faults
from netsharp_lsp.netsharp.meaning.values.evaluate import (
    UndefinedValueError,
    binary_value,
    call_fault,
    call_value,
    is_number,
    type_name,
    unary_value,
)
from netsharp_lsp.netsharp.reading.syntax import Binary, Broken, Call, Deep, Index, Name, Unary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.netsharp.meaning.counts.surroundings import Values
    from netsharp_lsp.netsharp.meaning.model import Bundle
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value
    from netsharp_lsp.netsharp.meaning.values.faults import ValueFault
    from netsharp_lsp.netsharp.reading.syntax import Expression, Predicate

    Shape = tuple[int, ...]

#: More evaluations than this are left to `describe` (NS111).
EVALUATION_LIMIT = 10**6


def count_edges(bundle: Bundle, network: Values, limit: int = EVALUATION_LIMIT) -> Edges | None:
    """Return the edges of a filtered bundle; None while a size is unknown.

    Above `EVALUATION_LIMIT` pairs the groups stay unwalked and `count` None unless ``limit`` is
    higher and enough of it is left by the other conditions of the network. The result is kept, so a
    later call with a higher limit walks what an earlier one left.
    """
    predicate = bundle.item.predicate
    source, destination = bundle.source, bundle.layer
    if predicate is None or source is None or source.shape is None or destination.shape is None:
        return None
    if predicate.source.text == predicate.destination.text:
        return None
    edges = bundle.edges
    if edges is None:
        edges = bundle.edges = Edges(source.shape, destination.shape)
        Translator(bundle, predicate, network, edges).translate_condition()
        edges.evaluations = sum(
            group.evaluations(edges.source, edges.destination) for group in edges.groups
        )
        edges.few = edges.evaluations <= EVALUATION_LIMIT
    if edges.count is not None or not edges.sound:
        return edges
    place = RelativeSpan.of(bundle.declaration, predicate.condition)
    if edges.few:
        walk(edges, place, edges.count_pairs)
    elif limit > max(EVALUATION_LIMIT, edges.beyond):
        walk(edges, place, lambda: count_in_blocks(edges, network, limit))
    return edges


def count_in_blocks(edges: Edges, network: Values, limit: int) -> None:
    """Count edges within the remainder of the limit for all conditions of a network.

    Edges that would be counted pair by pair are counted in blocks too, which take a little more at
    the worst; what is beyond that may be easy in blocks, and gets half of what is left.
    """
    left = limit - network.evaluated
    afforded = edges.evaluations <= left
    spent = edges.count_blocks(2 * edges.evaluations if afforded else left // 2)
    network.evaluated += min(spent, edges.evaluations)
    if edges.count is None:
        edges.beyond = limit


def walk(edges: Edges, place: RelativeSpan, count: Callable[[], None]) -> None:
    """Count edges; an exception for a pair without a value becomes a fault."""
    try:
        count()
    except UndefinedValueError as undefined:
        edges.faults.append(Finding(undefined.fault.code, place, undefined.message))
    except OverflowError:
        message = "The condition's arithmetic goes out of range."
        edges.faults.append(Finding(faults.OUT_OF_RANGE.code, place, message))


class Translator:
    """Translates a predicate into groups of terms; its faults go to ``edges.faults``."""

    def __init__(self, bundle: Bundle, predicate: Predicate, network: Values, edges: Edges) -> None:
        self.bundle = bundle
        self.predicate = predicate
        self.network = network
        self.edges = edges
        self.shapes = {
            predicate.destination.text: ("d", edges.destination),
            predicate.source.text: ("s", edges.source),
        }

    def fault(
        self, fault: ValueFault, node: Expression, message: str, repair: Repair | None = None
    ) -> None:
        """Note a fault at a part of the condition."""
        place = RelativeSpan.of(self.bundle.declaration, node)
        self.edges.faults.append(Finding(fault.code, place, message, repair=repair))

    def translate_condition(self) -> None:
        """Split the condition at `&&` and group its terms by the indices they share."""
        terms = []
        for node in conjuncts(self.predicate.condition):
            term = self.translate(node)
            if term is None:
                continue
            if not isinstance(term.sample, bool):
                self.not_a_condition(node, term.sample)
                continue
            terms.append(term)
        if self.edges.sound:
            self.edges.groups = grouped(terms)

    def not_a_condition(self, node: Expression, sample: Value) -> None:
        """Report NS048, with `== 0` as the fix for a number."""
        repair = None
        if is_number(sample):
            place = RelativeSpan.of(self.bundle.declaration, node)
            repair = Repair("Compare with 0", [Change(place.after(), " == 0")], safe=False)
        message = f"The condition must be true or false, found {type_name(sample)}."
        self.fault(faults.NO_CONDITION, node, message, repair)

    def translate(self, node: Expression) -> Term | None:
        """Return a term, None where it has a fault."""
        if isinstance(node, Name) and node.text in self.shapes:
            return self.whole_index(node)
        if isinstance(node, Index):
            return self.index(node)
        if isinstance(node, Unary):
            return self.apply(node, unary_value, node.operator, (node.operand,))
        if isinstance(node, Binary):
            return self.apply(node, binary_value, node.operator, (node.left, node.right))
        if isinstance(node, Call):
            return self.call(node)
        return self.constant(node)

    def constant(self, node: Expression) -> Term | None:
        """Return a literal or a constant of the specification."""
        if isinstance(node, Broken) and not isinstance(node, Deep):
            self.edges.known = False
            return None
        value = self.network.evaluate(self.bundle.declaration, node, self.edges.faults.append)
        if value is None:
            self.edges.known = False
            return None
        return literal(value)

    def whole_index(self, node: Name) -> Term:
        """Return the parameter itself: a tuple of all its indices."""
        side, shape = self.shapes[node.text]
        return whole(side, len(shape))

    def index(self, node: Index) -> Term | None:
        """Return `s[0]`; an index that is itself an expression reads all dimensions."""
        target, position = self.translate(node.target), self.translate(node.position)
        if target is None or position is None:
            return None
        if not isinstance(target.sample, tuple):
            message = f"Only tuples can be indexed, not {type_name(target.sample)}."
            self.fault(faults.NO_TUPLE, node.target, message)
            return None
        if isinstance(position.sample, bool) or not isinstance(position.sample, int):
            message = f"An index must be a whole number, found {type_name(position.sample)}."
            self.fault(faults.WRONG_TYPE, node.position, message)
            return None
        if not position.uses:
            return self.fixed_index(node, target, position.sample)
        return picked(target, position, 0)

    def fixed_index(self, node: Index, target: Term, at: int) -> Term | None:
        """Return an index known beforehand, which reads one dimension only."""
        sample = target.sample
        assert isinstance(sample, tuple)
        if not 0 <= at < len(sample):
            self.outside(node, len(sample), at)
            return None
        if isinstance(node.target, Name) and node.target.text in self.shapes:
            side, _shape = self.shapes[node.target.text]
            return entry(side, at)
        if not target.uses:
            return literal(sample[at])
        return picked(target, literal(at), sample[at])

    def outside(self, node: Index, rank: int, at: int) -> None:
        """Report NS046."""
        message = f"Index {at} is outside the {rank} values of the tuple."
        if isinstance(node.target, Name) and node.target.text in self.shapes:
            side = self.shapes[node.target.text][0]
            layer = self.bundle.source if side == "s" else self.bundle.layer
            name = layer.name if layer is not None else ""
            dimensions = "1 dimension" if rank == 1 else f"{rank} dimensions"
            message = f"Index {at} is outside the {dimensions} of layer '{name}'."
        self.fault(faults.NO_ENTRY, node.position, message)

    def call(self, node: Call) -> Term | None:
        """Return a function; its name and number of arguments are checked as everywhere."""
        fault = call_fault(node, self.bundle.declaration)
        if fault is not None:
            self.edges.faults.append(fault)
            return None
        return self.apply(node, call_value, node.function.text, node.arguments)

    def apply(
        self,
        node: Expression,
        operation: Callable[..., Value],
        name: str,
        operands: tuple[Expression, ...],
    ) -> Term | None:
        """Return an operation on terms; its type is found by evaluating it on samples."""
        terms = [self.translate(operand) for operand in operands]
        known = [term for term in terms if term is not None]
        if len(known) < len(terms):
            return None
        uses = frozenset().union(*(term.uses for term in known))
        try:
            sample = operation(name, *(term.sample for term in known))
        except UndefinedValueError as undefined:
            if not uses or not undefined.fault.of_value:
                at = node if undefined.operand is None else operands[undefined.operand]
                self.fault(undefined.fault, at, undefined.message)
                return None
            sample = 1
        except OverflowError:
            if not uses:
                self.fault(faults.OUT_OF_RANGE, node, "The value is not finite or out of range.")
                return None
            sample = 1
        if not uses:
            return literal(sample)
        if operation is unary_value:
            return prefixed(name, known[0], sample)
        if operation is call_value:
            return called(name, known, sample)
        left, right = known
        return infixed(name, left, right, sample)


def conjuncts(node: Expression) -> list[Expression]:
    """Return the terms of a conjunction, from left to right."""
    terms: list[Expression] = []
    while isinstance(node, Binary) and node.operator == "&&":
        terms.append(node.right)
        node = node.left
    terms.append(node)
    return terms[::-1]
