"""Rules on the names in a program of BrainScript, resolved in their scopes."""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.analysis.scopes import (
    MEMBER,
    PARAMETER,
    PARAMETERS,
)
from netsharp_lsp.cntk.brainscript.evaluation.classes import CLASSES
from netsharp_lsp.cntk.brainscript.reading.syntax import (
    Binary,
    BrainScriptCall,
    Choice,
    Include,
    Index,
    Name,
    Select,
    Unary,
)
from netsharp_lsp.cntk.library.versions import of_function
from netsharp_lsp.cntk.networks.node import GROUPS
from netsharp_lsp.cntk.rules import PROGRAM, emitted, rule
from netsharp_lsp.cntk.rules.brainscript.facts import facts, severity
from netsharp_lsp.cntk.rules.findings import Change, Finding, Note, Repair
from netsharp_lsp.cntk.rules.paths import not_a_file
from netsharp_lsp.cntk.rules.proposals import NONE, MeantWord, proposal, proposed
from netsharp_lsp.cntk.versions import ALWAYS
from netsharp_lsp.cntk.vocabulary import LAYOUTS, STARTS
from netsharp_lsp.diagnostics.nearest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.cntk.brainscript.analysis.scopes import Declaration, Use
    from netsharp_lsp.cntk.brainscript.reading.syntax import Expression
    from netsharp_lsp.cntk.networks.faults import Place
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.cntk.run.programs import BrainScriptProgram
    from netsharp_lsp.cntk.versions import Releases
    from netsharp_lsp.diagnostics.model import Severity

#: Names of functions in older texts and in NDL.
OLD_NAMES = {
    "InputValue": "Input",
    "ImageInputValue": "ImageInput",
    "SparseInputValue": "SparseInput",
    "Const": "Constant",
    "Power": "**",
    "Cos": "Cosine",
    "Ln": "Log",
    "Relu": "ReLU",
}
#: The most unknown names of one program that get a proposal.
MOST_PROPOSALS = 300
SPECIAL = tuple(f"{group}Nodes" for group in GROUPS)
OLD_SPECIAL = {
    "evalnodes": "evaluationNodes",
    "evalnode": "evaluationNodes",
    "criterianodes": "criterionNodes",
    "criteriannodes": "criterionNodes",
    "criteria": "criterionNodes",
    "labelsnodes": "labelNodes",
    "featuresnodes": "featureNodes",
}
#: Values of options that are strings; without quotes they are undefined names.
OPTION_TEXTS = frozenset(
    (
        *STARTS,
        *LAYOUTS,
        *("feature", "label", "criterion", "criteria", "eval", "evaluation", "output"),
        *("lstm", "gru", "max", "average"),
    )
)


@rule("BS020", "error", on=PROGRAM)
def unknown_names(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report names that are not declared."""
    known = facts(program)
    options = _named_values(program)
    siblings = {use.place for use, _ in _sibling_defaults(program)}
    proposals = 0
    for use in program.program.uses:
        if use.member or use.declaration is not None or not use.certain:
            continue
        if known.sketch or use.name in known.lost or use.place in siblings:
            continue
        if use.name in OPTION_TEXTS and use.place in options:
            yield _unquoted(program, use)
            continue
        place = program.outside(use.place)
        proposals += 1
        meant = _meant(program, use, experiment) if proposals <= MOST_PROPOSALS else NONE
        yield Finding(
            "BS020",
            place,
            f"'{use.name}' is not defined in this scope{_proposal(meant)}",
            repair=_rename(program, use, meant),
            severity=severity(program, place, use, _alone(use, meant.word)),
        )


emitted("BS077", "error", language="brainscript")


def _unquoted(program: BrainScriptProgram, use: Use) -> Finding:
    place = program.outside(use.place)
    return Finding(
        "BS077",
        place,
        f"The value of an option is a string: without quotes '{use.name}' is a name, and it is"
        f" not defined. Write '{use.name}'.",
        repair=Repair("Write it in quotes", [Change(place, f"'{use.name}'")], safe=True),
        severity=severity(program, place, use),
    )


def _named_values(program: BrainScriptProgram) -> set[Place]:
    """Return the places of names that are the whole value of a named argument."""
    return {
        one.value.place
        for application in program.program.applications
        for one in application.call.arguments
        if one.name and isinstance(one.value, Name)
    }


def _meant(program: BrainScriptProgram, use: Use, experiment: Experiment) -> MeantWord:
    """Return the likely intended word for an undefined name."""
    if use.name in OLD_NAMES:
        return MeantWord(OLD_NAMES[use.name])
    scope = use.scope
    for declaration in program.program.library.declarations:
        if declaration.name == use.name and _in_records(declaration):
            return proposed(declaration.qualified, _known(declaration), experiment)
    visible = scope.visible() if scope is not None else {}
    own = use.within.name if use.within is not None else ""
    among = ((name, _known(one)) for name, one in visible.items() if name != own)
    return proposal(use.name, among, experiment)


def _known(declaration: Declaration) -> Releases:
    """Return the releases that have the declaration of a name."""
    return of_function(declaration.qualified) if declaration.library else ALWAYS


def _in_records(declaration: Declaration) -> bool:
    """Return whether a declaration can be reached by dotted names alone."""
    holder = declaration.scope.holder
    if declaration.scope.kind == PARAMETERS or (holder is not None and holder.kind != MEMBER):
        return False
    return holder is None or _in_records(holder)


def _alone(use: Use, meant: str | None) -> Severity:
    """Return the severity in a file that another may include, which defines no library names."""
    return "warning" if meant is not None and meant.endswith(f".{use.name}") else "hint"


def _proposal(meant: MeantWord) -> str:
    return f": did you mean '{meant.word}'?" if meant.word else f".{meant.other}"


def _rename(program: BrainScriptProgram, use: Use, meant: MeantWord) -> Repair | None:
    word = meant.word
    if not word or not word.replace(".", "").isidentifier():
        return None
    return Repair(f"Write '{word}'", [Change(program.outside(use.place), word)], safe=False)


@rule("BS021", "error", on=PROGRAM)
def unknown_members(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report names after a point that the record before it does not have."""
    for use in program.program.uses:
        if not use.member or use.declaration is not None or not use.certain or not use.name:
            continue
        assert use.scope is not None
        place = program.outside(use.place)
        among = ((name, _known(one)) for name, one in use.scope.declared.items())
        meant = proposal(use.name, among, experiment)
        holder = use.scope.holder
        named = f"'{holder.qualified}'" if holder is not None and holder.name else "This record"
        yield Finding(
            "BS021",
            place,
            f"{named} has no member '{use.name}'{_proposal(meant)}",
            repair=_rename(program, use, meant),
            severity=severity(program, place, use),
        )


@rule("BS013", "error", on=PROGRAM)
def defined_twice(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report members of one record, and optional parameters of one function, with the same name."""
    for second, first in program.program.survey.duplicates:
        if second.kind == PARAMETER and (second.value is None or first.value is None):
            continue
        parameter = second.kind == PARAMETER
        what = "parameter of this function" if parameter else "member of this record"
        yield Finding(
            "BS014" if parameter else "BS013",
            program.outside(second.place),
            f"'{second.name}' is already a {what}: names must be unique. Rename or remove one.",
            [Note("It is first defined here.", program.outside(first.place))],
        )


emitted("BS014", "error", language="brainscript")


@rule("BS025", "error", on=PROGRAM)
def circles(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report members that depend on themselves, where they are not evaluated."""
    met = facts(program).met
    for way in _circles(program.program.declarations):
        places = [program.outside(one.value.place) for one in way if one.value is not None]
        if any("circular" in met.get(place, ()) for place in places):
            continue
        names = " → ".join(f"'{one.name}'" for one in (*way, way[0]))
        yield Finding(
            "BS025",
            program.outside(way[0].place),
            f"'{way[0].name}' needs its own value: {names} is a cycle. A name in a record means"
            " the member of that record, never one further out.",
            [Note(f"'{one.name}' is defined here.", program.outside(one.place)) for one in way[1:]],
            severity="warning",
        )


def _circles(declarations: Iterable[Declaration]) -> Iterator[list[Declaration]]:
    """Yield each cycle of members that need one another's value at once."""
    done: set[int] = set()
    for start in declarations:
        path: dict[int, Declaration] = {}
        current: Declaration | None = start
        while current is not None and id(current) not in done and id(current) not in path:
            path[id(current)] = current
            current = next(iter(_needed(current)), None)
        if current is not None and id(current) in path:
            yield list(path.values())[list(path).index(id(current)) :]
        done.update(path)


def _needed(declaration: Declaration) -> Iterator[Declaration]:
    """Yield the members that are evaluated whenever this one is."""
    if declaration.kind != MEMBER or declaration.index or declaration.value is None:
        return
    for name in _strict(declaration.value):
        found = declaration.inner.find(name.name)
        if found is not None and found.kind == MEMBER and not found.library:
            yield found


def _strict(e: Expression) -> Iterator[Name]:
    """Yield the names that are looked up first when an expression is evaluated."""
    if isinstance(e, Name):
        yield e
    elif isinstance(e, Select):
        yield from _strict(e.record)
    elif isinstance(e, BrainScriptCall):
        yield from _strict(e.function)
    elif isinstance(e, Index):
        yield from _strict(e.target)
    elif isinstance(e, Unary):
        yield from _strict(e.operand)
    elif isinstance(e, Binary):
        yield from _strict(e.left)
    elif isinstance(e, Choice):
        yield from _strict(e.condition)


@rule("BS027", "error", on=PROGRAM)
def unknown_classes(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report `new` with a name that is not a class."""
    for new, around in program.program.survey.news:
        if new.class_name in CLASSES or not new.class_name:
            continue
        place = program.outside(new.class_place)
        met = place in facts(program).met or around.eager
        meant = MeantWord(nearest(new.class_name, CLASSES))
        yield Finding(
            "BS027",
            place,
            f"There is no class '{new.class_name}'{_proposal(meant)}",
            severity="error" if met and facts(program).failed else "warning",
        )


@rule("BS028", "warning", on=PROGRAM)
def special_nodes(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report members whose names are close to those of node groups."""
    network = program.program.network
    for name, declaration in (network.declared if network is not None else {}).items():
        if name in SPECIAL:
            continue
        meant = OLD_SPECIAL.get(name.lower())
        if meant is None and name.lower().endswith("nodes"):
            meant = nearest(name, SPECIAL)
        if meant is None or declaration.kind != MEMBER:
            continue
        place = program.outside(declaration.place)
        special = ", ".join(f"'{one}'" for one in SPECIAL)
        yield Finding(
            "BS028",
            place,
            f"'{name}' is an ordinary member: only {special} list"
            f" groups of nodes, spelt exactly so. Did you mean '{meant}'?",
            repair=Repair(f"Write '{meant}'", [Change(place, meant)], safe=False),
        )


@rule("BS029", "error", on=PROGRAM)
def sibling_defaults(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report defaults that name another parameter of their function."""
    for use, function in _sibling_defaults(program):
        place = program.outside(use.place)
        outer = use.declaration is not None
        fails = (
            f"it refers to the '{use.name}' outside of the function"
            if outer
            else "the name is not defined there, so a call that uses the default fails"
        )
        yield Finding(
            "BS029",
            place,
            f"A default cannot use the parameter '{use.name}' of '{function.name}': {fails}."
            " Compute the default in the body.",
            severity="hint" if outer else "error" if place in facts(program).met else "info",
        )


def _sibling_defaults(program: BrainScriptProgram) -> Iterator[tuple[Use, Declaration]]:
    """Yield uses in defaults that look like parameters of the same function, with that function."""
    by_place = {use.place: use for use in program.program.uses if not use.member}
    for function in program.program.declarations:
        names = {one.name for one in function.parameters or ()}
        for one in function.parameters or ():
            for name in _strict(one.default) if one.default is not None else ():
                if name.name in names and name.place in by_place:
                    yield by_place[name.place], function


@rule("BS018", "error", on=PROGRAM)
def missing_includes(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report includes whose file does not exist, or that include themselves."""
    left_open = program.left_open
    for entry in program.program.survey.missing:
        if entry.place in program.refused or experiment.files.outside(entry.path):
            continue
        if program.outside(entry.place) in left_open:
            continue
        yield _include(
            program,
            entry,
            "BS018",
            not_a_file(entry.path, kind)
            if (kind := experiment.files.not_a_file(entry.path)) is not None
            else f"'{entry.path}' is not found. CNTK looks for the path as"
            " written, then for its last component next to the including files and in the"
            " folders of the configurations.",
        )
    for entry in program.cycles:
        yield _include(
            program,
            entry,
            "BS019",
            f"'{entry.path}' is already being included: CNTK"
            " hangs here. Remove one of the includes.",
        )


emitted("BS019", "error", language="brainscript")


def _include(program: BrainScriptProgram, entry: Include, code: str, message: str) -> Finding:
    return Finding(code, program.outside(entry.place), message)
