"""A whole evaluation: the library, CNTK's own variables, includes, and the value of a builder in
any of its forms.  Remembers nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.brainscript.evaluation.classes import CLASSES
from netsharp_lsp.cntk.brainscript.evaluation.depth import DeepRecursion
from netsharp_lsp.cntk.brainscript.evaluation.evaluator import DEEPEST, NOWHERE, Evaluator, not_held
from netsharp_lsp.cntk.brainscript.evaluation.forms import FORMS
from netsharp_lsp.cntk.brainscript.evaluation.includes import Includes
from netsharp_lsp.cntk.brainscript.evaluation.outermost import Outermost
from netsharp_lsp.cntk.brainscript.evaluation.values import (
    Absent,
    Built,
    Failure,
    Record,
    Thunk,
)
from netsharp_lsp.cntk.brainscript.reading.known import parsed
from netsharp_lsp.cntk.brainscript.reading.parser import parse
from netsharp_lsp.cntk.brainscript.reading.syntax import New, RecordLiteral
from netsharp_lsp.cntk.networks.faults import BuildingFault, Outcome, Place
from netsharp_lsp.cntk.networks.starting import not_measured

if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.cntk.brainscript.evaluation.evaluator import Model
    from netsharp_lsp.cntk.brainscript.evaluation.includes import Reader
    from netsharp_lsp.cntk.brainscript.evaluation.values import Value
    from netsharp_lsp.cntk.brainscript.reading.syntax import Expression, Script
    from netsharp_lsp.cntk.networks.starting import Measure


def nothing_outside(path: str) -> bool:
    """Return False: a file that cannot be read does not exist."""
    return False


class Surroundings(NamedTuple):
    """The context of an evaluation: a reader of files, the texts that come before, and the folders
    in which includes are searched, in this order.  `is_outside` returns whether a file is outside
    the allowed folders, `measure` the size of a file of numbers, `model` the network of a model.
    """

    read: Reader
    library: tuple[Script, ...]
    folders: tuple[str, ...] = ()
    is_outside: Callable[[str], bool] = nothing_outside
    precision: str = "float"
    device: float = -1.0
    trace_level: float = 0.0
    measure: Measure = not_measured
    model: Model = not_held


def evaluate_builder(data: bytes, source: str, around: Surroundings) -> Outcome:
    """Return the network of a builder's value: `{...}`, `[...]`, `(...)` or `new
    ComputationNetwork`.
    """
    script = parsed(data, source)
    if script.built is None:
        fault = BuildingFault(
            "builder",
            "a network is described by a record in { } or an expression in ( ).",
            Place(source, 0, len(data)),
        )
        return Outcome(None, (fault,))
    return evaluate_network(script.built, around)


def evaluate_file(data: bytes, source: str, around: Surroundings) -> Outcome:
    """Return the network of a `.bs` file: its members are those of the network that includes it."""
    script = parsed(data, source)
    built = script.built or RecordLiteral(script.place, script.entries)
    return evaluate_network(built, around)


def evaluate_network(built: Expression, around: Surroundings) -> Outcome:
    """Return the network of an expression; a plain record is the network of its members."""
    run = _evaluator(around)
    if isinstance(built, RecordLiteral):
        built = New(built.place, "ComputationNetwork", built.place, built)
    try:
        with DeepRecursion(DEEPEST):
            value = run.evaluate(built, outer_scope(run, around), "network")
        return _outcome(run, value, built)
    except Failure as failure:
        run.note(failure.fault)
        return Outcome(None, tuple(run.faults))


def evaluate_member(
    data: bytes, source: str, name: str, around: Surroundings
) -> Value | BuildingFault:
    """Return the value of one member of a text that is a list of members."""
    run = _evaluator(around)
    script = parse(data, source)
    try:
        with DeepRecursion(DEEPEST):
            inner = Record(outer_scope(run, around))
            run.fill(inner, script.entries, "")
            found = inner.find(name)
            if found is None:
                return BuildingFault("unknown-name", f"'{name}' is not defined.", script.place)
            return found.force()
    except Failure as failure:
        return failure.fault


def _evaluator(around: Surroundings) -> Evaluator:
    includes = Includes(around.read, around.folders, around.is_outside)
    run = Evaluator(FORMS, CLASSES, includes.spliced)
    run.measure = around.measure
    run.model = around.model
    return run


def outer_scope(run: Evaluator, around: Surroundings) -> Record:
    """Return the scope around every network: the library and what CNTK defines."""
    values: dict[str, Value] = {
        "deviceId": around.device,
        "traceLevel": around.trace_level,
        "precision": around.precision,
    }
    run.library = frozenset(script.place.source for script in around.library)
    own = {name: Thunk.of(value, NOWHERE) for name, value in values.items()}
    scope = Outermost(run, own)
    scope.add(around.library)
    return scope


def _outcome(run: Evaluator, value: Value, built: Expression) -> Outcome:
    if isinstance(value, Built):
        return Outcome(value.network, tuple(run.faults))
    if not isinstance(value, Absent):
        run.note(BuildingFault("kind", "this has to be a network.", built.place))
    return Outcome(None, tuple(run.faults))
