"""The terms of a filter's condition as Python expressions, and the walk that runs them.

A walk evaluates a condition up to a million times, so it is compiled once. Its code is written from
operators, numbered indices and values alone: no word of a specification gets into it. Knows neither
findings nor syntax.
"""

from __future__ import annotations

import math
from itertools import product as grid

from netsharp_engine.geometry import product
from netsharp_lsp.netsharp.meaning.values import faults
from netsharp_lsp.netsharp.meaning.values.evaluate import (
    CALLS,
    UndefinedValueError,
    divide,
    power,
    remainder,
)
from netsharp_lsp.text.remembered import Remembered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from netsharp_lsp.netsharp.meaning.values.evaluate import Value

    Shape = tuple[int, ...]
    #: ("s", i) or ("d", i): one index of the source or of the destination.
    Variable = tuple[str, int]

#: Python reads at most 200 levels of parentheses; deeper terms are compiled in parts.
DEEPEST_CODE = 50
#: Operations that count as one evaluation: a condition of more costs more.
OPERATIONS = 8
#: What a call counts in operations of Python's own.
CALL = 4
#: Functions without parts of their own, by their code, with a limit in characters.
_COMPILED: Remembered[Callable[..., Any]] = Remembered(1 << 14)


def pick(values: tuple[Value, ...], at: Value) -> Value:
    """Return an entry of a tuple by an index known at run time only."""
    if not (isinstance(at, int) and 0 <= at < len(values)):
        raise UndefinedValueError(
            faults.NO_ENTRY, f"Index {at} is outside {len(values)} dimensions"
        )
    return values[at]


#: Operators that are Python's own; the others are functions.
INFIX = {sign: sign for sign in ("+", "-", "*", "<", "<=", ">", ">=", "==", "!=")}
INFIX.update({"&&": "and", "||": "or"})
FUNCTIONS = {"/": "divide", "%": "remainder", "^": "power"}
PREFIX = {"-": "-", "+": "", "!": "not "}
NAMES: dict[str, object] = {
    "__builtins__": {"range": range},
    "divide": divide,
    "remainder": remainder,
    "power": power,
    "pick": pick,
    "inf": math.inf,
    "nan": math.nan,
    **{f"call_{name}": function for name, function in CALLS.items()},
}


class Term:
    """A part of a condition: its code, in which `s0` and `d1` are indices, and which it reads.

    `sample` is a value of the type it has; where `uses` is empty, it is the value itself. `parts`
    are functions and tuples that the code names, `depth` how deep its parentheses nest, `weight`
    how many operations it takes, and `factors` how many numbers a product in it has.
    """

    __slots__ = ("code", "depth", "factors", "parts", "sample", "uses", "weight")

    def __init__(
        self,
        sample: Value,
        uses: frozenset[Variable],
        code: str,
        operands: Iterable[Term] = (),
        weight: int = 1,
    ) -> None:
        self.sample = sample
        self.uses = uses
        self.code = code
        self.depth = 0
        self.weight = weight
        self.factors = 1
        self.parts: dict[str, object] = {}
        for operand in operands:
            self.weight += operand.weight
            self.factors = max(self.factors, operand.factors)
            self.depth = max(self.depth, operand.depth + 1)
            self.parts.update(operand.parts)
        if self.depth > DEEPEST_CODE:
            self._set_apart()

    def _set_apart(self) -> None:
        names = ", ".join(f"{side}{i}" for side, i in sorted(self.uses))
        function = compiled(names, self.code, self.parts)
        name = f"part{id(function)}"
        self.code, self.depth, self.parts = f"{name}({names})", 0, {name: function}


def compiled(parameters: str, code: str, parts: dict[str, object]) -> Callable[..., Any]:
    """Return a function of indices from the code of terms.

    Compiling takes longer than most walks, and conditions of a network are much alike.
    """
    known = None if parts else _COMPILED.find((parameters, code))
    if known is not None:
        return known
    function: Callable[..., Any] = eval(f"lambda {parameters}: {code}", {**NAMES, **parts})
    if not parts:
        _COMPILED.keep((parameters, code), function, len(code))
    return function


def literal(value: Value) -> Term:
    """Return a value known beforehand; a tuple is passed by name, however deep it is."""
    if not isinstance(value, tuple):
        return Term(value, frozenset(), f"({value!r})")
    name = f"value{id(value)}"
    term = Term(value, frozenset(), name)
    term.parts[name] = value
    return term


def whole(side: str, rank: int) -> Term:
    """Return all indices of one side, as a tuple."""
    uses = frozenset((side, i) for i in range(rank))
    code = "(" + "".join(f"{side}{i}," for i in range(rank)) + ")"
    return Term((0,) * rank, uses, code, weight=rank)


def entry(side: str, at: int) -> Term:
    """Return one index of one side."""
    return Term(0, frozenset({(side, at)}), f"{side}{at}")


def prefixed(operator: str, operand: Term, sample: Value) -> Term:
    """Return `-x`, `+x`, `!x`."""
    return Term(sample, operand.uses, f"({PREFIX[operator]}{operand.code})", (operand,))


def infixed(operator: str, left: Term, right: Term, sample: Value) -> Term:
    """Return an operator between two terms whose types suit it."""
    if operator in FUNCTIONS:
        code, weight = f"{FUNCTIONS[operator]}({left.code}, {right.code})", CALL
    else:
        code, weight = f"({left.code} {INFIX[operator]} {right.code})", 1
    # Long products are long numbers, which take the longer to multiply.
    if operator == "*":
        weight += left.factors * right.factors // OPERATIONS
    term = Term(sample, left.uses | right.uses, code, (left, right), weight)
    if operator == "*":
        term.factors = left.factors + right.factors
    return term


def called(function: str, arguments: list[Term], sample: Value) -> Term:
    """Return a function of terms."""
    uses = frozenset().union(*(argument.uses for argument in arguments))
    listed = ", ".join(argument.code for argument in arguments)
    return Term(sample, uses, f"call_{function}({listed})", arguments, CALL)


def picked(target: Term, position: Term, sample: Value) -> Term:
    """Return an entry of a tuple."""
    code = f"pick({target.code}, {position.code})"
    return Term(sample, target.uses | position.uses, code, (target, position), CALL)


class Group:
    """The terms over one set of indices, and which source is connected to which destination.

    `rows` maps the destination's part of the indices to the source's parts that connect, once they
    are walked to be kept.
    """

    __slots__ = ("destinations", "rows", "sources", "terms")

    def __init__(self, sources: list[int], destinations: list[int], terms: list[Term]) -> None:
        self.sources = sources
        self.destinations = destinations
        self.terms = terms
        self.rows: dict[Shape, list[Shape]] = {}

    def evaluations(self, source: Shape, destination: Shape) -> int:
        """Return the number of evaluations of the terms; terms of many operations count more than
        once.
        """
        sizes = [source[i] for i in self.sources] + [destination[i] for i in self.destinations]
        return product(tuple(sizes)) * self.cost

    @property
    def cost(self) -> int:
        """Return the number of evaluations that one pair counts as."""
        return max(1, sum(term.weight for term in self.terms) // OPERATIONS)

    def keep(self, source: Shape, destination: Shape) -> int:
        """Fill the rows; return the number of connected pairs. Raises as `walk` does."""
        self.rows = dict(self.walk(source, destination))
        return sum(map(len, self.rows.values()))

    def walk(self, source: Shape, destination: Shape) -> Iterator[tuple[Shape, list[Shape]]]:
        """Yield each part of the destination's indices with the source's parts that connect.

        Raises `UndefinedValueError`, which names the indices, and `OverflowError`.
        """
        row_of = self.row_finder()
        ranges = [range(source[i]) for i in self.sources]
        for part in grid(*(range(destination[i]) for i in self.destinations)):
            try:
                row = row_of(*part, *ranges)
            except UndefinedValueError:
                raise self.first_fault(part, ranges, len(source), len(destination))[1] from None
            yield part, row

    def row_finder(self) -> Callable[..., list[Shape]]:
        """Return a function of a part of the destination's indices and of ranges of the source's.

        It returns the source's parts that connect, and raises as any of the pairs does.
        """
        indices = "".join(f"s{i}, " for i in self.sources)
        loops = " ".join(f"for s{i} in r{i}" for i in self.sources)
        return self._compiled(f"[({indices}) {loops or 'for _ in (0,)'} if {self.condition}]", "r")

    @property
    def condition(self) -> str:
        """Return the code of all terms together."""
        return " and ".join(term.code for term in self.terms)

    def _compiled(self, code: str, side: str) -> Callable[..., Any]:
        """Return a function of the destination's indices, and of the source's or their ranges."""
        names = [f"d{i}" for i in self.destinations] + [f"{side}{i}" for i in self.sources]
        parts = {name: part for term in self.terms for name, part in term.parts.items()}
        return compiled(", ".join(names), code, parts)

    def first_fault(
        self, part: Shape, ranges: Sequence[range], source: int, destination: int
    ) -> tuple[Shape, Exception]:
        """Return the first pair of a row without a value, with its indices, and its exception.

        ``source`` and ``destination`` are the numbers of dimensions.
        """
        holds = self._compiled(self.condition, "s")
        for candidate in grid(*ranges):
            try:
                holds(*part, *candidate)
            except UndefinedValueError as undefined:
                s = filled(source, self.sources, candidate)
                d = filled(destination, self.destinations, part)
                message = f"{undefined.message.rstrip('.')} for s = {s}, d = {d}."
                return candidate, UndefinedValueError(undefined.fault, message)
            except OverflowError as overflow:
                return candidate, overflow
        raise AssertionError("every pair of the row has a value")


def filled(rank: int, dimensions: list[int], part: Shape) -> list[int]:
    """Return an index of which a part is known, 0 elsewhere."""
    index = [0] * rank
    for dimension, at in zip(dimensions, part, strict=True):
        index[dimension] = at
    return index


def grouped(terms: list[Term]) -> list[Group]:
    """Join the terms that share an index, directly or through others."""
    clusters: list[tuple[set[Variable], list[Term]]] = []
    for term in terms:
        uses, members = set(term.uses), [term]
        apart = []
        for cluster in clusters:
            if uses & cluster[0]:
                uses |= cluster[0]
                members = cluster[1] + members
            else:
                apart.append(cluster)
        clusters = [*apart, (uses, members)]
    return [
        Group(
            sorted(i for side, i in uses if side == "s"),
            sorted(i for side, i in uses if side == "d"),
            members,
        )
        for uses, members in clusters
    ]
