"""The rules of migration: each a page here, most a function that edits the texts of one network.

A rule can be switched off; it knows no other rule.
"""

from __future__ import annotations

import os
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from netsharp_lsp.cntk.migration.edits import Edit, Todo
    from netsharp_lsp.cntk.migration.network import MigratedNetwork

    Work = Callable[[MigratedNetwork], Iterable[Edit | Todo]]

#: Done without asking; done as documented, with a choice that is listed; for a person to look at.
AUTOMATIC, CHOICE, PERSON = "A", "B", "C"
FOLDER = os.path.dirname(__file__)
#: The modules whose rules there are.
_MODULES = ("names", "functions", "arguments", "options", "texts")


class Rule:
    """A rule: its code, its kind, what it does; `requested` ones are done only on request."""

    __slots__ = ("code", "kind", "requested", "work")

    def __init__(self, code: str, kind: str, work: Work, requested: bool) -> None:
        self.code = code
        self.kind = kind
        self.work = work
        self.requested = requested


RULES: dict[str, Rule] = {}
#: The rules that work on a configuration, which is no network's text: code and kind.
AROUND = {
    "MG01": AUTOMATIC,
    "MG02": AUTOMATIC,
    "MG03": CHOICE,
    "MG40": AUTOMATIC,
    "MG43": AUTOMATIC,
    "MG44": PERSON,
    "MG45": AUTOMATIC,
}


def rule(code: str, kind: str, requested: bool = False) -> Callable[[Work], Work]:
    """Register what a rule does in the texts of a network."""

    def register(work: Work) -> Work:
        RULES[code] = Rule(code, kind, work, requested)
        return work

    return register


def load() -> dict[str, Rule]:
    """Every rule on texts, in the order of codes."""
    if not RULES:
        for name in _MODULES:
            import_module(f"{__name__}.{name}")
    return dict(sorted(RULES.items()))
