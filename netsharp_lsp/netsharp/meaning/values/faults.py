"""The possible faults of a value: the one table of faults of evaluation.

It knows neither values nor rules; rules register its rows beside their own codes.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Rests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.diagnostics.model import Severity


class ValueFault:
    """One row: its code, its severity, and what a finding of it depends on.

    `of_value`: whether it depends on a value and not on a type, so that it does not apply to values
    that are never computed.
    """

    __slots__ = ("code", "of_value", "rests", "severity")

    def __init__(
        self,
        code: str,
        *,
        of_value: bool = False,
        severity: Severity = "error",
        rests: Rests = Rests.WORDS,
    ) -> None:
        self.code = code
        self.of_value = of_value
        self.severity: Severity = severity
        self.rests = rests


TOO_LARGE = ValueFault("NS008", rests=Rests.TEXT)
UNDEFINED = ValueFault("NS030", rests=Rests.UNDECLARED)
PLACEHOLDER = ValueFault("NS039")
WRONG_TYPE = ValueFault("NS040")
DIVISION_BY_ZERO = ValueFault("NS041", of_value=True)
NOT_WHOLE = ValueFault("NS042")
OUT_OF_RANGE = ValueFault("NS043", of_value=True)
NO_FUNCTION = ValueFault("NS044")
WRONG_ARGUMENTS = ValueFault("NS045")
NO_ENTRY = ValueFault("NS046", of_value=True)
NO_TUPLE = ValueFault("NS047")
NO_CONDITION = ValueFault("NS048")
REMAINDER = ValueFault("NS049", of_value=True, severity="warning")
BELOW_ONE = ValueFault("NS050")

VALUE_FAULTS = (
    TOO_LARGE,
    UNDEFINED,
    PLACEHOLDER,
    WRONG_TYPE,
    DIVISION_BY_ZERO,
    NOT_WHOLE,
    OUT_OF_RANGE,
    NO_FUNCTION,
    WRONG_ARGUMENTS,
    NO_ENTRY,
    NO_TUPLE,
    NO_CONDITION,
    REMAINDER,
    BELOW_ONE,
)
