"""The rules of migration: each has a page here, most a function that edits the texts of one
network.

A rule can be switched off; it knows no other rule.
"""

from __future__ import annotations

import os

from netsharp_lsp.diagnostics.registry import Registry, SubjectKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from netsharp_lsp.cntk.migration.editing.edits import Edit, Todo
    from netsharp_lsp.cntk.migration.networks.network import MigratedNetwork
    from netsharp_lsp.diagnostics.model import Severity

    Work = Callable[[MigratedNetwork], Iterable[Edit | Todo]]

#: Applied silently; applied as documented, with a choice that is listed; for a person to decide.
AUTOMATIC: Severity = "hint"
CHOICE: Severity = "info"
PERSON: Severity = "warning"

FOLDER = os.path.dirname(__file__)
NETWORK: SubjectKind[Work] = SubjectKind("network")


class Manner:
    """The manner in which a rule is applied: on request only, and to a name everywhere or
    nowhere.
    """

    __slots__ = ("everywhere", "requested")

    def __init__(self, requested: bool = False, everywhere: bool = False) -> None:
        self.requested = requested
        self.everywhere = everywhere


RULES: Registry[Manner] = Registry(__name__, FOLDER)
#: The rules that edit a configuration, and not the text of a network.
for _code, _severity in (
    ("MG01", AUTOMATIC),
    ("MG02", AUTOMATIC),
    ("MG03", CHOICE),
    ("MG40", AUTOMATIC),
    ("MG43", AUTOMATIC),
    ("MG44", PERSON),
    ("MG45", AUTOMATIC),
):
    RULES.emitted(_code, _severity, Manner())


def rule(
    code: str, severity: Severity, *, requested: bool = False, everywhere: bool = False
) -> Callable[[Work], Work]:
    """Register a rule's function; see `Manner`."""
    return RULES.rule(code, severity, NETWORK, Manner(requested, everywhere))
