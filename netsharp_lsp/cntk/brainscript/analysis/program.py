"""A whole program: a text with all that it includes, in the scope of the library.

It resolves all names and calls, for checks and edits; evaluates nothing.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

from netsharp_lsp.cancellation import raise_if_cancelled
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from netsharp_lsp.cntk.brainscript.analysis.declaring import Splicer
    from netsharp_lsp.cntk.brainscript.analysis.scopes import Application, Signature
    from netsharp_lsp.cntk.brainscript.reading.syntax import Expression, Include, Script

#: Names that CNTK defines besides the library.
OUTER_NAMES = ("deviceId", "traceLevel", "precision", "network")
NOWHERE = Place("", 0, 0)


class Library:
    """The scope around every network."""

    def __init__(self, sources: frozenset[str], scope: Scope, survey: Survey) -> None:
        self.sources = sources
        self.scope = scope
        self.declarations = survey.declarations
        self.scopes = survey.scopes

    def find(self, qualified: str) -> Declaration | None:
        """Return a function by its qualified name: `BS.RNNs.GRU`."""
        scope: Scope | None = self.scope
        found = None
        for name in qualified.split("."):
            found = scope.declared.get(name) if scope is not None else None
            if found is None or found.value is None:
                return found
            scope = self.scopes.get(id(found.value))
        return found


def library_of(scripts: tuple[Script, ...]) -> Library:
    """Return the library of these texts, analysed once."""
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
    """Resolve an include to no text, as if its file did not exist."""


class Program:
    """The resolved names of a text and of what it includes.

    `network` is the scope of the network's members, None if the text describes no network.
    """

    def __init__(
        self, script: Script, library: Library, survey: Survey, network: Scope | None
    ) -> None:
        #: Kept because scopes are found by the identity of its expressions.
        self.script = script
        self.library = library
        self.survey = survey
        self.network = network
        self.resolver = Resolver({**library.scopes, **survey.scopes})

    @cached_property
    def uses(self) -> list[Use]:
        """Return all uses of names, resolved at the first access."""
        return list(_uses(self.survey, self.resolver))

    @property
    def declarations(self) -> list[Declaration]:
        """Return all names that the texts declare, in their order."""
        return self.survey.declarations

    @property
    def applications(self) -> list[Application]:
        """Return all calls."""
        return self.survey.applications

    def signature(self, application: Application) -> Signature | None:
        """Return the signature of a call's function, None if it is unknown."""
        return self.resolver.signature(application.call.function, application.scope)

    def uses_named(self, names: Container[str]) -> Iterator[Use]:
        """Yield the uses of some names, in the order of all."""
        yield from _uses(self.survey, self.resolver, names)

    def uses_of(self, declaration: Declaration) -> list[Use]:
        """Return the uses of a declaration."""
        return [use for use in self.uses if use.declaration is declaration]

    def use_at(self, source: str, offset: int) -> Use | None:
        """Return the use whose name is at an offset, its end included."""
        return next((use for use in self.uses if _around(use.place, source, offset)), None)

    def declaration_at(self, source: str, offset: int) -> Declaration | None:
        """Return the declaration at an offset, or that of the name used there."""
        for declaration in self.declarations:
            if _around(declaration.place, source, offset):
                return declaration
        use = self.use_at(source, offset)
        return use.declaration if use is not None else None

    def scope_at(self, source: str, offset: int) -> Scope:
        """Return the innermost scope around an offset."""
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
        """Return the innermost call whose arguments are around an offset."""
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
        """Return the possible members after `e.`, empty if they are unknown."""
        record = self.resolver.record(e, scope)
        return dict(record.declared) if record is not None and record.kind == RECORD else {}


def analysed(script: Script, library: Library, splice: Splicer) -> Program:
    """Return the program of a text; `splice` returns the entries of an included file."""
    survey = Survey(splice)
    network = _surveyed(script, survey, Around(library.scope, None, True))
    return Program(script, library, survey, network)


def _surveyed(script: Script, survey: Survey, outer: Around) -> Scope | None:
    """Return the scope of the network's members, after the whole text is walked."""
    built = script.built
    if built is None or isinstance(built, RecordLiteral):
        return survey.network(built or RecordLiteral(script.place, script.entries), outer)
    survey.walk(built, outer)
    if isinstance(built, New) and isinstance(built.arguments, RecordLiteral):
        return survey.scopes.get(id(built.arguments))
    return None


def _uses(survey: Survey, resolver: Resolver, names: Container[str] | None = None) -> Iterator[Use]:
    """Yield the uses of names, of all if none are given."""
    for name, around in survey.names:
        raise_if_cancelled()
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
