"""Resolves expressions as far as the text alone determines them: records, functions, their results.

What depends on a parameter, a choice or an operator is unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.brainscript.analysis.scopes import (
    INDEX,
    PARAMETER,
    Declaration,
    Scope,
    Signature,
    Use,
)
from netsharp_lsp.cntk.brainscript.reading.syntax import (
    BrainScriptCall,
    Index,
    Lambda,
    Name,
    RecordLiteral,
    Select,
)

if TYPE_CHECKING:
    from netsharp_lsp.cntk.brainscript.analysis.declaring import Around
    from netsharp_lsp.cntk.brainscript.reading.syntax import Expression, Parameter

#: The most steps from name to name that are followed.
FARTHEST = 60


class Denoted(NamedTuple):
    """The target of an expression: an expression that does not name another one, and its scope.

    `parameters` are those of a function, whose body the expression then is.
    """

    expression: Expression
    scope: Scope
    parameters: tuple[Parameter, ...] | None = None
    declaration: Declaration | None = None


class Resolver:
    """Follows names through the scopes of a walk, and caches their targets."""

    def __init__(self, scopes: dict[int, Scope]) -> None:
        self.scopes = scopes
        #: The targets of expressions by identity, with the expressions, which keeps these alive.
        self._known: dict[int, tuple[Expression, Denoted | None]] = {}
        self._steps = 0

    def denoted(self, expression: Expression, scope: Scope) -> Denoted | None:
        """Return the target of an expression, None if the text does not determine it."""
        key = id(expression)
        if key in self._known:
            return self._known[key][1]
        if self._steps >= FARTHEST:
            return None
        self._known[key] = (expression, None)
        self._steps += 1
        try:
            found = self._follow(expression, scope)
        finally:
            self._steps -= 1
        self._known[key] = (expression, found)
        return found

    def _follow(self, e: Expression, scope: Scope) -> Denoted | None:
        if isinstance(e, Name):
            declaration = scope.find(e.name)
            return self.of(declaration) if declaration is not None else None
        if isinstance(e, Select):
            return self._member(e, scope)
        if isinstance(e, BrainScriptCall):
            function = self.denoted(e.function, scope)
            if function is None or function.parameters is None:
                return None
            return self.denoted(function.expression, function.scope)
        if isinstance(e, Lambda):
            return Denoted(e.body, self.scopes[id(e)], e.parameters)
        return Denoted(e, scope)

    def of(self, declaration: Declaration) -> Denoted | None:
        """Return the target of a declaration."""
        if declaration.kind in (PARAMETER, INDEX) or declaration.value is None or declaration.index:
            return None
        if declaration.parameters is not None:
            return Denoted(
                declaration.value, declaration.inner, declaration.parameters, declaration
            )
        found = self.denoted(declaration.value, declaration.inner)
        if found is not None and found.parameters is not None and found.declaration is None:
            return found._replace(declaration=declaration)
        return found

    def record(self, e: Expression, scope: Scope) -> Scope | None:
        """Return the scope of the record that an expression evaluates to, None if it is unknown."""
        found = self.denoted(e, scope)
        if found is None or found.parameters is not None:
            return None
        return (
            self.scopes.get(id(found.expression))
            if isinstance(found.expression, RecordLiteral)
            else None
        )

    def _member(self, e: Select, scope: Scope) -> Denoted | None:
        record = self.record(e.record, scope)
        declaration = record.find(e.name) if record is not None else None
        return self.of(declaration) if declaration is not None else None

    def element(self, e: Index, scope: Scope) -> Scope | None:
        """Return the record of every element of an array: of `x[i:0..n] = { ... }`."""
        if not isinstance(e.target, Name):
            return None
        declaration = scope.find(e.target.name)
        if declaration is None or not declaration.index or declaration.parameters is not None:
            return None
        if declaration.value is None or not isinstance(declaration.value, RecordLiteral):
            return None
        return self.scopes.get(id(declaration.value))

    def signature(self, e: Expression, scope: Scope) -> Signature | None:
        """Return the signature of the function that an expression evaluates to."""
        found = self.denoted(e, scope)
        if found is None or found.parameters is None:
            return None
        return Signature(found.parameters, found.declaration)

    def member_use(self, e: Select, around: Around) -> Use:
        """Return the name after a `.` as a use."""
        record = self.record(e.record, around.scope)
        if record is None and isinstance(e.record, Index):
            record = self.element(e.record, around.scope)
        use = Use(e.name, e.name_place, record, True)
        use.eager, use.within = around.eager, around.within
        use.declaration = record.find(e.name) if record is not None else None
        use.certain = record is not None and not record.incomplete
        return use
