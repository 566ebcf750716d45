"""Codes whose findings are made while expressions and attributes are evaluated."""

from __future__ import annotations

from netsharp_lsp.netsharp.meaning.values.faults import VALUE_FAULTS
from netsharp_lsp.netsharp.rules import emitted

for _fault in VALUE_FAULTS:
    emitted(_fault.code, _fault.severity, _fault.rests)
