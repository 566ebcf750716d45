"""The evaluator: how deep it is, which calls led there, and what it has found fault with.

How each form of expression is evaluated and what `new` builds is passed in.  Paths are
the names that nodes get: every expression knows the way that led to it, as the original builds it.
"""

from __future__ import annotations

from contextlib import contextmanager

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
from netsharp_lsp.giving_way import go_on
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
    #: Builds what `new` names, from its arguments, under a path.
    Builder = Callable[["Evaluator", Record, str, Place], Value]
    #: The network of a model by its path: a sentence for what cannot be one, None where it cannot
    #: be known.
    Model = Callable[[str], Network | str | None]
    #: Replaces includes by what they hold.
    Splicer = Callable[[Iterable[Entry]], list[Member]]

#: Expressions within expressions that are followed; every one takes a few frames of Python.
DEEPEST = 30_000
#: An expression is a step, and so are so many characters of a path, which grow with every call
#: within another.
CHARACTERS_OF_STEP = 256
#: Characters that a text may grow to.
LONGEST_TEXT = 1_000_000
#: Calls that a fault names.
CALLS_SHOWN = 10
NOWHERE = Place("", 0, 0)


def not_held(path: str) -> Network | None:
    """Return that nothing can be known of a model."""
    return None


class Evaluator:
    """One evaluation: how deep it is, and which calls led there.

    `forms` evaluate, by the class of the syntax; `classes` is what `new` builds, by name.
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
        #: What files of numbers hold.
        self.measure: Measure = not_measured
        #: The networks of models.
        self.model: Model = not_held
        #: The names of the texts that are no user's.
        self.library: frozenset[str] = frozenset()
        self.depth = 0
        self.calls: list[Place] = []
        self.created = 0
        self.steps = 0
        self.exhausted: BuildingFault | None = None
        self.faults: list[BuildingFault] = []
        self.seen: set[tuple[str, Place]] = set()

    def fail(self, kind: str, message: str, place: Place, word: str = "") -> NoReturn:
        """Give up on the value at a place."""
        raise Failure(BuildingFault(kind, message, place, self.way(), word))

    def way(self) -> tuple[Place, ...]:
        """The innermost calls, and before them that of the user where these are all inside."""
        shown = tuple(self.calls[-CALLS_SHOWN:])
        if any(one.source not in self.library for one in shown):
            return shown
        outer = [one for one in self.calls if one.source not in self.library]
        return (*outer[-1:], *shown)

    def note(self, fault: BuildingFault) -> None:
        """Keep a fault, once."""
        key = (fault.message, fault.place)
        if key not in self.seen:
            self.seen.add(key)
            self.faults.append(fault)

    def next_number(self) -> int:
        """Counts what is created."""
        self.created += 1
        return self.created

    def absent(self, name: str) -> Absent:
        """A value that only a run would know."""
        return Absent(self.next_number(), name)

    def evaluate(self, expression: Expression, scope: Record, path: str) -> Value:
        """The value of an expression in a scope."""
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
        """One level deeper, as within an expression, for values that hold each other."""
        self.spend(1, place)
        if self.depth >= DEEPEST:
            self._stop(place)
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def spend(self, steps: int, place: Place) -> None:
        """Count what takes time and memory although no expression is evaluated."""
        self.steps += steps
        if self.steps > EVALUATION_STEPS.most:
            self._stop(place)

    def _stop(self, place: Place) -> NoReturn:
        """Give up on what goes too deep or takes too much; of the latter is told only once."""
        if self.exhausted is not None:
            raise Failure(self.exhausted)
        if self.steps <= EVALUATION_STEPS.most:
            message = (
                "this recursion has no end in sight:"
                f" it went {DEEPEST:,} expressions deep, and no further."
            )
            self.fail("too-deep", message, place)
        message = (
            "this calculation has no end in sight:"
            f" the network was given up after {EVALUATION_STEPS} of it."
        )
        self.exhausted = BuildingFault("too-much", message, place, self.way())
        raise Failure(self.exhausted)

    def thunk(self, expression: Expression, scope: Record, path: str) -> Thunk:
        """The value of an expression at its first use."""

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
        """The result of a function for arguments, under a path."""
        go_on()
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
        """Whether every function of the library takes such an argument, by what releases say."""
        return name in TAKEN_BY_ALL and function.source in self.library

    def origin(self, site: Site) -> Place:
        """Where a text of the user asks for what happens at a site, maybe within the library."""
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
        """A value that has to be a text."""
        if not isinstance(value, str):
            self.expected("string", value, place)
        return value

    def grow(self, length: int, place: Place) -> None:
        """Count the characters of a text that is about to be made of others."""
        if length > LONGEST_TEXT:
            message = f"a text of {length:,} characters is too long: {LONGEST_TEXT:,} are the most."
            self.fail("too-long", message, place)
        self.spend(length // CHARACTERS_OF_STEP, place)

    def number(self, value: Value, place: Place) -> float:
        """A value that has to be a number."""
        if not isinstance(value, float):
            self.expected("number", value, place)
        return value

    def whole(self, value: Value, place: Place) -> int:
        """A value that has to be a whole number."""
        number = self.number(value, place)
        if number != number // 1:
            self.expected("integer", value, place)
        return int(number)

    def expected(self, what: str, value: Value, place: Place) -> NoReturn:
        """Give up on a value of the wrong kind."""
        self.fail(
            "kind", f"a value of type '{what}' is expected, and this is {a_kind(value)}.", place
        )


def desugared(member: Member) -> Expression:
    """What a member stores: a function where it has parameters, an array where it has a range."""
    index = member.index_range
    parameters = member.parameters
    if index is not None:
        parameters = (Parameter(index.name_place, index.name, None), *(parameters or ()))
        function = Lambda(member.place, parameters, member.value)
        return ArrayConstructor(member.place, index.first, index.last, function)
    if parameters is None:
        return member.value
    return Lambda(member.place, parameters, member.value)
