"""Walks a text once: opens scopes, declares names, records all uses and calls; resolves nothing."""

from __future__ import annotations

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.cntk.brainscript.analysis.scopes import (
    FUNCTION,
    INDEX,
    MEMBER,
    PARAMETER,
    PARAMETERS,
    RECORD,
    Application,
    Declaration,
    Scope,
)
from netsharp_lsp.cntk.brainscript.reading.syntax import (
    ArrayConstructor,
    ArrayLiteral,
    Binary,
    BrainScriptCall,
    Choice,
    Elements,
    Include,
    Index,
    Lambda,
    Name,
    New,
    RecordLiteral,
    Select,
    Unary,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from netsharp_lsp.cntk.brainscript.reading.syntax import (
        Entry,
        Expression,
        Member,
        Parameter,
    )
    from netsharp_lsp.cntk.networks.faults import Place

    #: The entries of an included file, None where there is no such file.
    Splicer = Callable[[Include], "tuple[Entry, ...] | None"]


class Around:
    """The surroundings of an expression: its scope, the member it is in, and whether it is
    evaluated as soon as that member is.
    """

    __slots__ = ("eager", "scope", "within")

    def __init__(self, scope: Scope, within: Declaration | None, eager: bool) -> None:
        self.scope = scope
        self.within = within
        self.eager = eager

    def lazily(self) -> Around:
        """Return the same surroundings for what may never be evaluated."""
        return Around(self.scope, self.within, False) if self.eager else self


class Survey:
    """The result of one walk.  Scopes of records and functions are found by their expressions."""

    def __init__(self, splice: Splicer) -> None:
        self.splice = splice
        self.declarations: list[Declaration] = []
        self.duplicates: list[tuple[Declaration, Declaration]] = []
        self.names: list[tuple[Name, Around]] = []
        self.selects: list[tuple[Select, Around]] = []
        self.applications: list[Application] = []
        self.scopes: dict[int, Scope] = {}
        self.records: list[tuple[RecordLiteral, Scope]] = []
        self.news: list[tuple[New, Around]] = []
        self.choices: list[tuple[Choice, Around]] = []
        self.operations: list[tuple[Binary | Unary, Around]] = []
        self.missing: list[Include] = []
        #: Functions whose parameters a constructor may read by name.
        self.constructing: set[int] = set()

    def fill(self, scope: Scope, entries: Iterable[Entry], eager: bool) -> None:
        """Declare the members of a record, then walk their values."""
        members = [
            (member, self._declared(member, scope)) for member in self._spliced(entries, scope)
        ]
        for member, declaration in members:
            raise_if_cancelled()
            self._member(member, declaration, Around(scope, declaration, eager))

    def walk(self, expression: Expression, around: Around) -> None:
        """Walk an expression in a scope."""
        walker = WALKERS.get(type(expression))
        if walker is not None:
            walker(self, expression, around)

    def _spliced(self, entries: Iterable[Entry], scope: Scope) -> list[Member]:
        found: list[Member] = []
        for entry in entries:
            if not isinstance(entry, Include):
                found.append(entry)
                continue
            included = self.splice(entry)
            if included is None:
                scope.holes = True
                self.missing.append(entry)
            else:
                found += self._spliced(included, scope)
        return found

    def _declared(self, member: Member, scope: Scope) -> Declaration:
        kind = MEMBER if member.parameters is None else FUNCTION
        declaration = Declaration(member.name, kind, (member.name_place, member.place), scope)
        declaration.parameters = member.parameters
        declaration.value = member.value
        declaration.braced = member.braced
        declaration.index = member.index_range is not None
        self.declarations.append(declaration)
        if not member.name:
            return declaration
        first = scope.declared.setdefault(member.name, declaration)
        if first is not declaration:
            self.duplicates.append((declaration, first))
        return declaration

    def _member(self, member: Member, declaration: Declaration, around: Around) -> None:
        inner = around
        if member.index_range is not None:
            index = member.index_range
            self.walk(index.first, around)
            self.walk(index.last, around)
            scope = Scope(PARAMETERS, around.scope, member.place, declaration)
            self._declare_one(scope, index.name, (index.name_place, index.place), INDEX)
            inner = Around(scope, declaration, False)
        if member.parameters is not None:
            inner = self._function(member.parameters, (declaration, member.value), inner)
        declaration.inner = inner.scope
        self.walk(member.value, inner)

    def _function(
        self,
        parameters: tuple[Parameter, ...],
        owner: tuple[Declaration | None, Expression],
        around: Around,
    ) -> Around:
        """Return the scope of a function's parameters; their defaults are evaluated outside
        of it.
        """
        declaration, body = owner
        place = declaration.whole if declaration is not None else body.place
        scope = Scope(PARAMETERS, around.scope, place, declaration)
        for one in parameters:
            if one.default is not None:
                self.walk(one.default, around.lazily())
            declared = self._declare_one(scope, one.name, (one.place, one.place), PARAMETER)
            declared.value = one.default
        return Around(scope, declaration or around.within, False)

    def _declare_one(
        self, scope: Scope, name: str, places: tuple[Place, Place], kind: str
    ) -> Declaration:
        declaration = Declaration(name, kind, places, scope)
        self.declarations.append(declaration)
        first = scope.declared.setdefault(name, declaration) if name else declaration
        if first is not declaration:
            self.duplicates.append((declaration, first))
        return declaration

    def name(self, e: Name, around: Around) -> None:
        """Record a name that is looked up."""
        self.names.append((e, around))

    def select(self, e: Select, around: Around) -> None:
        """Walk a member access."""
        self.walk(e.record, around)
        self.selects.append((e, around))

    def call(self, e: BrainScriptCall, around: Around) -> None:
        """Walk a call; its arguments are evaluated if the function uses them."""
        self.walk(e.function, around)
        self.applications.append(Application(e, around.scope, around.within, around.eager))
        for one in e.arguments:
            self.walk(one.value, around)

    def function(self, e: Lambda, around: Around) -> None:
        """Walk a function without a name."""
        inner = self._function(e.parameters, (None, e.body), around)
        self.scopes[id(e)] = inner.scope
        self.walk(e.body, inner)

    def record(self, e: RecordLiteral, around: Around) -> None:
        """Walk a record: a scope of its own, whose members are evaluated when they are used."""
        scope = Scope(RECORD, around.scope, e.place, around.within)
        self.scopes[id(e)] = scope
        self.records.append((e, scope))
        self.fill(scope, e.entries, False)

    def network(self, e: RecordLiteral, around: Around) -> Scope:
        """Walk the record of a network, all members of which are evaluated."""
        scope = Scope(RECORD, around.scope, e.place)
        self.scopes[id(e)] = scope
        self.records.append((e, scope))
        self.fill(scope, e.entries, True)
        return scope

    def new(self, e: New, around: Around) -> None:
        """Walk an object; a constructor reads its parameters by name from the scopes around it."""
        self.news.append((e, around))
        for scope in around.scope.chain():
            self.constructing.add(id(scope))
        if e.class_name == "ComputationNetwork" and isinstance(e.arguments, RecordLiteral):
            self.network(e.arguments, around)
        else:
            self.walk(e.arguments, around)
            if isinstance(e.arguments, RecordLiteral):
                self.constructing.add(id(self.scopes[id(e.arguments)]))

    def choice(self, e: Choice, around: Around) -> None:
        """Walk a choice; only one of its branches is evaluated."""
        self.choices.append((e, around))
        self.walk(e.condition, around)
        self.walk(e.consequence, around.lazily())
        self.walk(e.alternative, around.lazily())

    def operation(self, e: Binary | Unary, around: Around) -> None:
        """Walk an operator with its operands."""
        self.operations.append((e, around))
        for operand in (e.operand,) if isinstance(e, Unary) else (e.left, e.right):
            self.walk(operand, around)

    def elements(self, e: Elements | ArrayLiteral, around: Around) -> None:
        """Walk the elements of an array."""
        for item in e.items:
            self.walk(item, around)

    def array(self, e: ArrayConstructor, around: Around) -> None:
        """Walk the bounds of an array and the function of its elements."""
        for part in (e.first, e.last, e.element):
            self.walk(part, around)

    def index(self, e: Index, around: Around) -> None:
        """Walk an element of an array."""
        self.walk(e.target, around)
        self.walk(e.position, around)


WALKERS: dict[type, Callable[..., object]] = {
    Name: Survey.name,
    Select: Survey.select,
    BrainScriptCall: Survey.call,
    Lambda: Survey.function,
    RecordLiteral: Survey.record,
    New: Survey.new,
    Choice: Survey.choice,
    Binary: Survey.operation,
    Unary: Survey.operation,
    Elements: Survey.elements,
    ArrayLiteral: Survey.elements,
    ArrayConstructor: Survey.array,
    Index: Survey.index,
}
