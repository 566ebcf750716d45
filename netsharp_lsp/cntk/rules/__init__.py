"""The rules of CNTK's languages, a folder a subject: each a page and a function in a module there.

Both are found by being there.  `CK` is about configurations and experiments, `BS` about
BrainScript, `ND` about NDL, `ME` about MEL, `MG` about migration.
"""

from __future__ import annotations

import os

from netsharp_lsp.diagnostics.rule_folders import import_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from netsharp_lsp.cntk.rules.findings import Finding
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity

    Check = Callable[[Any, Experiment], Iterable[Finding]]

FOLDER = os.path.dirname(__file__)

#: What a rule looks at: the `Experiment` as a whole; a `Source` of a configuration as a text;
#: a `Command`; a `BuiltNetwork`; a `BrainScriptProgram`, a builder's text with what it includes;
#: a text of BrainScript, NDL or MEL as an experiment holds it.
SUBJECTS = (
    "experiment",
    "configuration",
    "command",
    "network",
    "program",
    "brainscript",
    "ndl",
    "mel",
)


#: Those of them that are texts.
TEXTS = frozenset(("configuration", "brainscript", "ndl", "mel"))


class Rule:
    """One rule: its code, how grave it is, what it looks at, and the function that looks.

    `of_texts`: it rests on the texts of a run alone, so it holds where more is not known of it.
    """

    __slots__ = ("check", "code", "of_texts", "severity", "subject")

    def __init__(
        self, code: str, severity: Severity, subject: str, check: Check, of_texts: bool
    ) -> None:
        self.code = code
        self.severity = severity
        self.subject = subject
        self.check = check
        self.of_texts = of_texts


RULES: list[Rule] = []
#: All of them in order, once every module is imported; some may be imported before.
_COMPLETE: list[Rule] = []
#: How grave each code is, those included that are met while something is evaluated.
SEVERITIES: dict[str, Severity] = {}


def rule(
    code: str, severity: Severity, on: str, *, of_texts: bool = False
) -> Callable[[Check], Check]:
    """Register a function ``(subject, experiment) -> findings`` for one code.

    Of a run with a layer that cannot be read the texts alone are known: rules on texts are asked,
    and those that say that they rest on them.
    """
    assert on in SUBJECTS, on

    def register(check: Check) -> Check:
        RULES.append(Rule(code, severity, on, check, of_texts or on in TEXTS))
        SEVERITIES[code] = severity
        return check

    return register


def emitted(code: str, severity: Severity) -> None:
    """Declare a code whose findings another rule of its module makes, or an evaluation."""
    SEVERITIES[code] = severity


def load() -> list[Rule]:
    """Import every module of rules, once, and return the rules in the order of codes."""
    if not _COMPLETE:
        import_rules(__name__, FOLDER)
        _COMPLETE.extend(sorted(RULES, key=lambda rule: rule.code))
    return _COMPLETE
