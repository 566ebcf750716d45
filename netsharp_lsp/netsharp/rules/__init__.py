"""The rules of Net#, a folder a subject: each a page `NSnnn.md` and a function in a module there.

Both are found by being there.  A rule sees one subject at a time, so that what it said about
a declaration holds until that declaration, or what it refers to, changes.
"""

from __future__ import annotations

import os

from netsharp_lsp.diagnostics.rule_folders import import_rules
from netsharp_lsp.netsharp.findings import Rests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from netsharp_lsp.diagnostics.model import Severity
    from netsharp_lsp.netsharp.findings import Finding
    from netsharp_lsp.netsharp.meaning.network import Network

    Check = Callable[[Any, Network], Iterable[Finding]]
    #: What must hold of the network as a whole.
    Premise = Callable[[Network], bool]
    Kinds = tuple[str, ...] | None

FOLDER = os.path.dirname(__file__)

#: What a rule looks at: a syntax `Declaration`, a `Constant`, `Layer`, `Bundle` or `Share` of the
#: model, the `Network` as a whole, or, as "unsaid", a broken one of which nobody has told an error.
SUBJECTS = ("declaration", "constant", "layer", "bundle", "share", "network", "unsaid")


class Rule:
    """One rule: its code, how grave it is, what it looks at, and the function that looks.

    `kinds`: of a rule on bundles, the kinds of connection that it is about; all where None.
    """

    __slots__ = ("check", "code", "kinds", "severity", "subject")

    def __init__(
        self, code: str, severity: Severity, subject: str, kinds: Kinds, check: Check
    ) -> None:
        self.code = code
        self.severity = severity
        self.subject = subject
        self.kinds = kinds
        self.check = check


#: Codes whose findings count only where something holds of the network as a whole.
PREMISES: dict[str, Premise] = {}
#: Codes of which only the first finding in the text counts.
FIRST_ONLY: set[str] = set()


RULES: list[Rule] = []
#: How grave each code is, those included that are met while values are worked out.
SEVERITIES: dict[str, Severity] = {}
#: What must be readable for the findings of each code to hold.
RESTS: dict[str, Rests] = {}


def rule(
    code: str,
    severity: Severity,
    on: str,
    given: Premise | None = None,
    *,
    kinds: Kinds = None,
    first_only: bool = False,
    rests: Rests = Rests.ITEM,
) -> Callable[[Check], Check]:
    """Register a function ``(subject, network) -> findings`` for one code.

    It may read of other declarations what `meaning.revision` follows, and nothing else: its
    findings are kept.  What may change with any edit is left to ``given`` and ``first_only``.
    ``rests`` says what must be readable for its findings to hold.
    """

    def register(check: Check) -> Check:
        RULES.append(Rule(code, severity, on, kinds, check))
        SEVERITIES[code], RESTS[code] = severity, rests
        if given is not None:
            PREMISES[code] = given
        if first_only:
            FIRST_ONLY.add(code)
        return check

    return register


def emitted(code: str, severity: Severity, rests: Rests) -> None:
    """Declare a code whose findings are made elsewhere (while values are worked out)."""
    SEVERITIES[code], RESTS[code] = severity, rests


def load() -> list[Rule]:
    """Import every module of rules, once, and return the rules in the order of codes."""
    if not RULES:
        import_rules(__name__, FOLDER)
        RULES.sort(key=lambda rule: rule.code)
    return RULES
