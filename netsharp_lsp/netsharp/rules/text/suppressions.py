"""Codes whose findings are made where suppression comments are matched with diagnostics."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Rests
from netsharp_lsp.netsharp.rules import emitted

for _code in ("NS126", "NS127"):
    emitted(_code, "warning", Rests.TEXT)
