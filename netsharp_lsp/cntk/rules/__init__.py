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
#: Those of which a finding is about a network, with the network's language.
_NETWORKS = {"program": "brainscript", "brainscript": "brainscript", "ndl": "ndl"}


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
#: The language of the networks that findings of a code are about, for those that are about any.
_LANGUAGES: dict[str, str] = {}
#: The codes that say that something of a run is not known.
_UNKNOWN: set[str] = set()


def rule(
    code: str,
    severity: Severity,
    on: str,
    *,
    of_texts: bool = False,
    language: str = "",
    unknown: bool = False,
) -> Callable[[Check], Check]:
    """Register a function ``(subject, experiment) -> findings`` for one code.

    Of a run with a layer that cannot be read the texts alone are known: rules on texts are asked,
    and those that say that they rest on them.  `language`: that of the networks that its findings
    are about, where the subject does not tell.  `unknown`: they say that something of the run is
    not known, of which each file has one at most.
    """
    assert on in SUBJECTS, on
    _note_language(code, language or _NETWORKS.get(on, ""))
    if unknown:
        _UNKNOWN.add(code)

    def register(check: Check) -> Check:
        RULES.append(Rule(code, severity, on, check, of_texts or on in TEXTS))
        SEVERITIES[code] = severity
        return check

    return register


def emitted(code: str, severity: Severity, *, language: str = "") -> None:
    """Declare a code whose findings another rule of its module makes, or an evaluation."""
    _note_language(code, language)
    SEVERITIES[code] = severity


def _note_language(code: str, language: str) -> None:
    if language:
        _LANGUAGES[code] = language


def about_network(code: str, language: str | None = None) -> bool:
    """Whether findings of a code are about networks: of this language, or of any."""
    load()
    return code in _LANGUAGES and language in (None, _LANGUAGES[code])


def tells_unknown(code: str) -> bool:
    """Whether findings of a code say that something of a run is not known."""
    load()
    return code in _UNKNOWN


def load() -> list[Rule]:
    """Import every module of rules, once, and return the rules in the order of codes."""
    if not _COMPLETE:
        import_rules(__name__, FOLDER)
        _COMPLETE.extend(sorted(RULES, key=lambda rule: rule.code))
    return _COMPLETE
