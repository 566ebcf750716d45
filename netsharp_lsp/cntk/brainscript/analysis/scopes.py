"""Scopes with their declarations and uses, as values; does not know how they are found.

A scope is a record, the parameters of a function, or the texts around a program.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.brainscript.reading.syntax import BrainScriptCall, Expression, Parameter
    from netsharp_lsp.cntk.networks.faults import Place

#: The kinds of scopes and of declarations.
RECORD, PARAMETERS, OUTER = "record", "parameters", "outer"
MEMBER, FUNCTION, PARAMETER, INDEX, GIVEN = "member", "function", "parameter", "index", "given"


class Scope:
    """Names that can use each other, within an enclosing scope.

    `holes`: a part could not be parsed or found, so that it may declare more names. `holder` is the
    declaration whose value the scope belongs to.
    """

    __slots__ = ("declared", "holder", "holes", "kind", "parent", "place")

    def __init__(
        self, kind: str, parent: Scope | None, place: Place, holder: Declaration | None = None
    ) -> None:
        self.kind = kind
        self.parent = parent
        self.place = place
        self.holder = holder
        self.declared: dict[str, Declaration] = {}
        self.holes = False

    def chain(self) -> Iterator[Scope]:
        """Yield this scope and those around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def find(self, name: str) -> Declaration | None:
        """Return the declaration of a name in this scope or those around it."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.declared.get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def visible(self) -> dict[str, Declaration]:
        """Return all names in scope with their declarations; inner names hide outer ones."""
        found: dict[str, Declaration] = {}
        for scope in self.chain():
            for name, declaration in scope.declared.items():
                found.setdefault(name, declaration)
        return found

    @property
    def incomplete(self) -> bool:
        """Return whether an unparsed or missing part of this scope, or one around it, may declare
        names.
        """
        scope: Scope | None = self
        while scope is not None and not scope.holes:
            scope = scope.parent
        return scope is not None


class Declaration:
    """A name and its declaration.

    `place` is that of the name, `whole` that of the member or parameter.  `value` is evaluated in
    `inner`: the scope of the parameters of a function, otherwise that of the name.  `parameters`
    are those of a function, None for other declarations; `index`: the value is an array of such
    elements.
    """

    __slots__ = (
        "_qualified",
        "braced",
        "index",
        "inner",
        "kind",
        "library",
        "name",
        "parameters",
        "place",
        "scope",
        "value",
        "whole",
    )

    def __init__(self, name: str, kind: str, places: tuple[Place, Place], scope: Scope) -> None:
        self.name = name
        self.kind = kind
        self.place, self.whole = places
        self.scope = scope
        self.inner = scope
        self.value: Expression | None = None
        self.parameters: tuple[Parameter, ...] | None = None
        self.index = False
        self.braced = False
        self.library = False
        self._qualified = ""

    def __repr__(self) -> str:
        return f"Declaration({self.qualified!r}, {self.kind!r})"

    @property
    def qualified(self) -> str:
        """Return the name with those of the records around it: `BS.RNNs.LSTMP`."""
        if not self._qualified:
            records = (one for one in self.scope.chain() if one.kind == RECORD)
            holders = [one.holder.name for one in records if one.holder is not None]
            self._qualified = ".".join((*reversed(holders), self.name))
        return self._qualified


class Use:
    """A use of a name; `declaration` is None if there is none.

    `member`: it is after a `.`, and `scope` is the record before it, None if that is unknown
    without evaluation.  `certain`: no unparsed or missing text can declare it. `eager`: evaluated
    with the member `within`, whatever is called or chosen.
    """

    __slots__ = ("certain", "declaration", "eager", "member", "name", "place", "scope", "within")

    def __init__(self, name: str, place: Place, scope: Scope | None, member: bool) -> None:
        self.name = name
        self.place = place
        self.scope = scope
        self.member = member
        self.declaration: Declaration | None = None
        self.certain = True
        self.eager = False
        self.within: Declaration | None = None

    def __repr__(self) -> str:
        return f"Use({self.name!r}, {self.place!r})"


class Signature:
    """The parameters of a function: required ones by position, optional ones by name."""

    __slots__ = ("declaration", "optional", "required")

    def __init__(
        self, parameters: tuple[Parameter, ...], declaration: Declaration | None = None
    ) -> None:
        self.required = tuple(one.name for one in parameters if one.default is None)
        self.optional = tuple(one for one in parameters if one.default is not None)
        self.declaration = declaration

    @property
    def named(self) -> tuple[str, ...]:
        """Return the names of the optional parameters."""
        return tuple(one.name for one in self.optional)

    @property
    def name(self) -> str:
        """Return the name of the function, empty for one without a name."""
        return self.declaration.qualified if self.declaration is not None else ""


class Application:
    """A call and its scope."""

    __slots__ = ("call", "eager", "scope", "within")

    def __init__(
        self, call: BrainScriptCall, scope: Scope, within: Declaration | None, eager: bool
    ) -> None:
        self.call = call
        self.scope = scope
        self.within = within
        self.eager = eager
