"""What an expression denotes as far as the text alone says it: records, functions, their results.

What depends on a parameter, a choice or an operator is not known, and nothing is said of it.
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

#: Steps from name to name that are followed.
FARTHEST = 60


class Denoted(NamedTuple):
    """What an expression comes to: an expression that names no other, and the scope it is in.

    `parameters` are those of a function, whose body the expression then is.
    """

    expression: Expression
    scope: Scope
    parameters: tuple[Parameter, ...] | None = None
    declaration: Declaration | None = None


class Resolver:
    """Follows names through the scopes of a walk, and remembers where they lead."""

    def __init__(self, scopes: dict[int, Scope]) -> None:
        self.scopes = scopes
        #: What expressions come to, with each: a name is its own as long as it lives.
        self._known: dict[int, tuple[Expression, Denoted | None]] = {}
        self._steps = 0

    def denoted(self, expression: Expression, scope: Scope) -> Denoted | None:
        """What an expression comes to, None where the text does not say it."""
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
        """What stands behind a declaration."""
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
        """The scope of the record that an expression comes to, None where that is not known."""
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
        """The record that every element of an array is: of `x[i:0..n] = { ... }`."""
        if not isinstance(e.target, Name):
            return None
        declaration = scope.find(e.target.name)
        if declaration is None or not declaration.index or declaration.parameters is not None:
            return None
        if declaration.value is None or not isinstance(declaration.value, RecordLiteral):
            return None
        return self.scopes.get(id(declaration.value))

    def signature(self, e: Expression, scope: Scope) -> Signature | None:
        """What the function that an expression comes to takes."""
        found = self.denoted(e, scope)
        if found is None or found.parameters is None:
            return None
        return Signature(found.parameters, found.declaration)

    def member_use(self, e: Select, around: Around) -> Use:
        """The name behind a `.` as a use."""
        record = self.record(e.record, around.scope)
        if record is None and isinstance(e.record, Index):
            record = self.element(e.record, around.scope)
        use = Use(e.name, e.name_place, record, True)
        use.eager, use.within = around.eager, around.within
        use.declaration = record.find(e.name) if record is not None else None
        use.certain = record is not None and not record.incomplete
        return use
