"""Codes whose findings are made while expressions and attributes are worked out."""

from __future__ import annotations

from netsharp_lsp.netsharp.rules import emitted

for _code in (
    "NS008",
    "NS030",
    "NS039",
    "NS040",
    "NS041",
    "NS042",
    "NS043",
    "NS044",
    "NS045",
    "NS046",
    "NS047",
    "NS050",
):
    emitted(_code, "error")
emitted("NS049", "warning")
