"""The evaluator: its depth, the calls in progress, and the faults found.

The evaluation of each form of expression and the classes of `new` are passed in.  Paths are the
names that nodes get: every expression knows the path that leads to it, as in CNTK.
"""

from __future__ import annotations

from contextlib import contextmanager

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.cntk.brainscript.evaluation.values import (
    Absent,
    Failure,
    Function,
    Record,
    Site,
    Thunk,
    a_kind,
    joined,
)
from netsharp_lsp.cntk.brainscript.reading.syntax import (
    ArrayConstructor,
    Lambda,
    Member,
    Parameter,
)
from netsharp_lsp.cntk.networks.faults import BuildingFault, Place
from netsharp_lsp.cntk.networks.starting import not_measured
from netsharp_lsp.cntk.vocabulary import TAKEN_BY_ALL
from netsharp_lsp.limits import EVALUATION_STEPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, NoReturn

    from netsharp_lsp.cntk.brainscript.evaluation.values import Value
    from netsharp_lsp.cntk.brainscript.reading.syntax import Entry, Expression
    from netsharp_lsp.cntk.networks.node import Network
    from netsharp_lsp.cntk.networks.starting import Measure

    #: Evaluates one form of expression in a scope, under a path.
    Form = Callable[["Evaluator", Any, Record, str], Value]
    #: Builds an object of a class from its arguments, under a path.
    Builder = Callable[["Evaluator", Record, str, Place], Value]
    #: The network of a model by its path: a message if it is not a model, None if it is unknown.
    Model = Callable[[str], Network | str | None]
    #: Replaces includes by the members of their files.
    Splicer = Callable[[Iterable[Entry]], list[Member]]

#: The deepest nesting of expressions; each one takes a few frames of Python.
DEEPEST = 30_000
#: An expression is a step, and so is this number of characters of a path, which grows with every
#: nested call.
CHARACTERS_OF_STEP = 256
#: The most characters of a string.
LONGEST_TEXT = 1_000_000
#: The most calls that a fault names.
CALLS_SHOWN = 10
NOWHERE = Place("", 0, 0)


def not_held(path: str) -> Network | None:
    """Return None: the network of any model is unknown."""
    return None


class Evaluator:
    """One evaluation: its depth, and the calls in progress.

    `forms` evaluate expressions, by the class of their syntax; `classes` are those of `new`, by
    name.
    """

    def __init__(
        self,
        forms: Mapping[type, Form],
        classes: Mapping[str, tuple[bool, Builder]],
        splice: Splicer,
    ) -> None:
        self._forms = forms
        self.classes = classes
        self.splice = splice
        #: Measures files of numbers.
        self.measure: Measure = not_measured
        #: Returns the networks of models.
        self.model: Model = not_held
        #: The names of the texts that are not the user's.
        self.library: frozenset[str] = frozenset()
        self.depth = 0
        self.calls: list[Place] = []
        self.created = 0
        self.steps = 0
        self.exhausted: BuildingFault | None = None
        self.faults: list[BuildingFault] = []
        self.seen: set[tuple[str, Place]] = set()

    def fail(self, kind: str, message: str, place: Place, word: str = "") -> NoReturn:
        """Raise Failure with a fault at a place."""
        raise Failure(BuildingFault(kind, message, place, self.way(), word))

    def way(self) -> tuple[Place, ...]:
        """Return the innermost calls, preceded by the user's call if all of these are in the
        library.
        """
        shown = tuple(self.calls[-CALLS_SHOWN:])
        if any(one.source not in self.library for one in shown):
            return shown
        outer = [one for one in self.calls if one.source not in self.library]
        return (*outer[-1:], *shown)

    def note(self, fault: BuildingFault) -> None:
        """Record a fault, once."""
        key = (fault.message, fault.place)
        if key not in self.seen:
            self.seen.add(key)
            self.faults.append(fault)

    def next_number(self) -> int:
        """Return the next number of creation."""
        self.created += 1
        return self.created

    def absent(self, name: str) -> Absent:
        """Return an unknown value, which only a run would determine."""
        return Absent(self.next_number(), name)

    def evaluate(self, expression: Expression, scope: Record, path: str) -> Value:
        """Return the value of an expression in a scope."""
        self.steps += 1 + len(path) // CHARACTERS_OF_STEP
        if self.depth >= DEEPEST or self.steps > EVALUATION_STEPS.most:
            self._stop(expression.place)
        self.depth += 1
        try:
            return self._forms[type(expression)](self, expression, scope, path)
        finally:
            self.depth -= 1

    @contextmanager
    def within(self, place: Place) -> Iterator[None]:
        """Enter one level of nesting, as within an expression, for values that contain each
        other.
        """
        self.spend(1, place)
        if self.depth >= DEEPEST:
            self._stop(place)
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def spend(self, steps: int, place: Place) -> None:
        """Count steps for time and memory spent without evaluating an expression."""
        self.steps += steps
        if self.steps > EVALUATION_STEPS.most:
            self._stop(place)

    def _stop(self, place: Place) -> NoReturn:
        """Raise Failure for a value that is too deep or takes too many steps; the latter is
        reported only once.
        """
        if self.exhausted is not None:
            raise Failure(self.exhausted)
        if self.steps <= EVALUATION_STEPS.most:
            message = (
                "this recursion does not end:"
                f" it was stopped at a depth of {DEEPEST:,} expressions."
            )
            self.fail("too-deep", message, place)
        message = f"this calculation does not end: it was stopped after {EVALUATION_STEPS}."
        self.exhausted = BuildingFault("too-much", message, place, self.way())
        raise Failure(self.exhausted)

    def thunk(self, expression: Expression, scope: Record, path: str) -> Thunk:
        """Return the lazy value of an expression."""

        def compute() -> Value:
            return self.evaluate(expression, scope, path)

        return Thunk(compute, expression.place, path)

    def apply(
        self,
        function: Function,
        given: list[Thunk],
        named: dict[str, Thunk],
        under: tuple[str, Site],
    ) -> Value:
        """Return the result of a function for arguments, under a path."""
        raise_if_cancelled()
        path, site = under
        self._check_arguments(function, given, named, site.place)
        self.calls.append(site.place)
        try:
            return function.body(given, {**function.defaults, **named}, path, site)
        except Failure as failure:
            if not failure.fault.calls:
                failure.fault = failure.fault._replace(calls=self.way())
            raise
        finally:
            self.calls.pop()

    def _check_arguments(
        self, function: Function, given: list[Thunk], named: dict[str, Thunk], place: Place
    ) -> None:
        expected, count = len(function.parameters), len(given)
        if count != expected:
            self.fail(
                "arity",
                f"this function takes {expected} argument{'s' * (expected != 1)} by position,"
                f" and {count} {'are' if count != 1 else 'is'} given.",
                place,
            )
        for name, value in named.items():
            if name not in function.defaults and not self._is_of_all(function, name):
                known = ", ".join(f"'{one}'" for one in sorted(function.defaults)) or "none"
                self.fail(
                    "unknown-argument",
                    f"this function has no optional parameter '{name}'; it has {known}.",
                    value.place,
                )

    def _is_of_all(self, function: Function, name: str) -> bool:
        """Return whether every library function accepts such an argument, whatever its
        parameters.
        """
        return name in TAKEN_BY_ALL and function.source in self.library

    def origin(self, site: Site) -> Place:
        """Return the place in the user's text that leads to a site, which may be in the library."""
        place, scope, _ = site
        while place.source in self.library and scope is not None:
            if scope.site is None:
                scope = scope.parent
            else:
                place, scope, _ = scope.site
        return site.place if place.source in self.library else place

    def fill(self, record: Record, entries: Iterable[Entry], path: str) -> None:
        """Add members to a record; a name may be defined once."""
        for entry in self.splice(entries):
            if not entry.name:
                continue
            if entry.name in record.members:
                self.note(
                    BuildingFault(
                        "duplicate",
                        f"'{entry.name}' is defined twice in this record.",
                        entry.name_place,
                    )
                )
                continue
            record.members[entry.name] = self.thunk(
                desugared(entry), record, joined(path, entry.name)
            )

    def text(self, value: Value, place: Place) -> str:
        """Return a value that has to be a string."""
        if not isinstance(value, str):
            self.expected("string", value, place)
        return value

    def grow(self, length: int, place: Place) -> None:
        """Count the characters of a string before it is built."""
        if length > LONGEST_TEXT:
            message = (
                f"a string of {length:,} characters is too long: the limit is {LONGEST_TEXT:,}."
            )
            self.fail("too-long", message, place)
        self.spend(length // CHARACTERS_OF_STEP, place)

    def number(self, value: Value, place: Place) -> float:
        """Return a value that has to be a number."""
        if not isinstance(value, float):
            self.expected("number", value, place)
        return value

    def whole(self, value: Value, place: Place) -> int:
        """Return a value that has to be an integer."""
        number = self.number(value, place)
        if number != number // 1:
            self.expected("integer", value, place)
        return int(number)

    def expected(self, what: str, value: Value, place: Place) -> NoReturn:
        """Raise Failure for a value of the wrong type."""
        self.fail(
            "kind", f"a value of type '{what}' is expected, but this is {a_kind(value)}.", place
        )


def desugared(member: Member) -> Expression:
    """Return the expression that a member stores: a function if it has parameters, an array if it
    has a range.
    """
    index = member.index_range
    parameters = member.parameters
    if index is not None:
        parameters = (Parameter(index.name_place, index.name, None), *(parameters or ()))
        function = Lambda(member.place, parameters, member.value)
        return ArrayConstructor(member.place, index.first, index.last, function)
    if parameters is None:
        return member.value
    return Lambda(member.place, parameters, member.value)
