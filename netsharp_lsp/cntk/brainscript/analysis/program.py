"""A whole program: a text with everything that it includes, in the scope of the library.

It answers what every name and every call means, for whoever checks or edits the texts.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

from netsharp_lsp.cntk.brainscript.analysis.declaring import Around, Survey
from netsharp_lsp.cntk.brainscript.analysis.resolving import Resolver
from netsharp_lsp.cntk.brainscript.analysis.scopes import (
    GIVEN,
    OUTER,
    RECORD,
    Declaration,
    Scope,
    Use,
)
from netsharp_lsp.cntk.brainscript.reading.identity import Identified
from netsharp_lsp.cntk.brainscript.reading.syntax import New, RecordLiteral
from netsharp_lsp.cntk.networks.faults import Place
from netsharp_lsp.giving_way import go_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from netsharp_lsp.cntk.brainscript.analysis.declaring import Splicer
    from netsharp_lsp.cntk.brainscript.analysis.scopes import Application, Signature
    from netsharp_lsp.cntk.brainscript.reading.syntax import Expression, Include, Script

#: What the program defines beside the library.
OUTER_NAMES = ("deviceId", "traceLevel", "precision", "network")
NOWHERE = Place("", 0, 0)


class Library:
    """The scope that every network stands in."""

    def __init__(self, sources: frozenset[str], scope: Scope, survey: Survey) -> None:
        self.sources = sources
        self.scope = scope
        self.declarations = survey.declarations
        self.scopes = survey.scopes

    def find(self, qualified: str) -> Declaration | None:
        """A function by its name with points: `BS.RNNs.GRU`."""
        scope: Scope | None = self.scope
        found = None
        for name in qualified.split("."):
            found = scope.declared.get(name) if scope is not None else None
            if found is None or found.value is None:
                return found
            scope = self.scopes.get(id(found.value))
        return found


def library_of(scripts: tuple[Script, ...]) -> Library:
    """The library of these texts, worked out once."""
    return _library_of(Identified(scripts))


@lru_cache(maxsize=4)
def _library_of(identified: Identified) -> Library:
    scripts = identified.scripts
    scope = Scope(OUTER, None, NOWHERE)
    survey = Survey(nothing_included)
    entries = [entry for script in scripts for entry in script.entries]
    survey.fill(scope, entries, False)
    for declaration in survey.declarations:
        declaration.library = True
    for name in OUTER_NAMES:
        given = Declaration(name, GIVEN, (NOWHERE, NOWHERE), scope)
        given.library = True
        scope.declared.setdefault(name, given)
    return Library(frozenset(script.place.source for script in scripts), scope, survey)


def nothing_included(entry: Include) -> None:
    """No file is there to be included."""


class Program:
    """Everything that names mean in a text and what it includes.

    `network` is the scope of the network's members, None where the text describes none.
    """

    def __init__(
        self, script: Script, library: Library, survey: Survey, network: Scope | None
    ) -> None:
        #: Scopes are found by the identity of its expressions, so it is kept.
        self.script = script
        self.library = library
        self.survey = survey
        self.network = network
        self.resolver = Resolver({**library.scopes, **survey.scopes})

    @cached_property
    def uses(self) -> list[Use]:
        """Every name that is looked up; nobody waits for these who asks for one place."""
        return list(_uses(self.survey, self.resolver))

    @property
    def declarations(self) -> list[Declaration]:
        """Every name that the texts declare, in their order."""
        return self.survey.declarations

    @property
    def applications(self) -> list[Application]:
        """Every call."""
        return self.survey.applications

    def signature(self, application: Application) -> Signature | None:
        """What the function of a call takes, None where that is not known."""
        return self.resolver.signature(application.call.function, application.scope)

    def uses_named(self, names: Container[str]) -> Iterator[Use]:
        """The uses of some names, in the order of all."""
        yield from _uses(self.survey, self.resolver, names)

    def uses_of(self, declaration: Declaration) -> list[Use]:
        """Where a declaration is used by name."""
        return [use for use in self.uses if use.declaration is declaration]

    def use_at(self, source: str, offset: int) -> Use | None:
        """The use whose name stands at an offset, its end included."""
        return next((use for use in self.uses if _around(use.place, source, offset)), None)

    def declaration_at(self, source: str, offset: int) -> Declaration | None:
        """What is declared at an offset, or what the name there stands for."""
        for declaration in self.declarations:
            if _around(declaration.place, source, offset):
                return declaration
        use = self.use_at(source, offset)
        return use.declaration if use is not None else None

    def scope_at(self, source: str, offset: int) -> Scope:
        """The innermost scope around an offset."""
        best = self.network or self.library.scope
        size = None
        for declaration in self.declarations:
            whole = declaration.whole
            if whole.source == source and whole.start <= offset <= whole.end:
                best, size = self._narrower(declaration.inner, whole, best, size)
        for record, scope in self.survey.records:
            if record.place.source == source and record.place.start < offset < record.place.end:
                best, size = self._narrower(scope, record.place, best, size)
        return best

    def _narrower(
        self, scope: Scope, place: Place, best: Scope, size: int | None
    ) -> tuple[Scope, int]:
        length = place.end - place.start
        return (scope, length) if size is None or length < size else (best, size)

    def call_at(self, source: str, offset: int) -> Application | None:
        """The innermost call around whose arguments an offset stands."""
        found = [
            one
            for one in self.applications
            if one.call.arguments_place.source == source
            and one.call.arguments_place.start < offset <= one.call.arguments_place.end
        ]
        return min(
            found,
            key=lambda one: one.call.arguments_place.end - one.call.arguments_place.start,
            default=None,
        )

    def members_of(self, e: Expression, scope: Scope) -> dict[str, Declaration]:
        """What may stand behind `e.`, empty where that is not known."""
        record = self.resolver.record(e, scope)
        return dict(record.declared) if record is not None and record.kind == RECORD else {}


def analysed(script: Script, library: Library, splice: Splicer) -> Program:
    """The program of a text; `splice` gives the entries of a file that is included."""
    survey = Survey(splice)
    network = _surveyed(script, survey, Around(library.scope, None, True))
    return Program(script, library, survey, network)


def _surveyed(script: Script, survey: Survey, outer: Around) -> Scope | None:
    """The scope of the network's members, once all of a text is surveyed."""
    built = script.built
    if built is None or isinstance(built, RecordLiteral):
        return survey.network(built or RecordLiteral(script.place, script.entries), outer)
    survey.walk(built, outer)
    if isinstance(built, New) and isinstance(built.arguments, RecordLiteral):
        return survey.scopes.get(id(built.arguments))
    return None


def _uses(survey: Survey, resolver: Resolver, names: Container[str] | None = None) -> Iterator[Use]:
    """The uses of names, of all where none are given."""
    for name, around in survey.names:
        go_on()
        if names is not None and name.name not in names:
            continue
        use = Use(name.name, name.place, around.scope, False)
        use.declaration = around.scope.find(name.name)
        use.certain = use.declaration is not None or not around.scope.incomplete
        use.eager, use.within = around.eager, around.within
        yield use
    for one, around in survey.selects:
        if names is None or one.name in names:
            yield resolver.member_use(one, around)


def _around(place: Place, source: str, offset: int) -> bool:
    return place.source == source and place.start <= offset <= place.end and place.end > place.start
