"""The rules of CNTK's languages, a folder a subject: each a page and a function in a module there.

Both are found by being there.  `CK` is about configurations and experiments, `BS` about
BrainScript, `ND` about NDL, `ME` about MEL, `MG` about migration.
"""

from __future__ import annotations

import os

from netsharp_lsp.diagnostics.registry import CheckT, Registry, SubjectKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.configuration.sources import Source
    from netsharp_lsp.cntk.rules.findings import Finding
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.conflicts import FileConflict
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.cntk.run.programs import BrainScriptProgram
    from netsharp_lsp.cntk.run.texts import NetworkText
    from netsharp_lsp.diagnostics.model import Severity

    SubjectT = TypeVar("SubjectT")
    Check = Callable[[SubjectT, Experiment], Iterable[Finding]]

FOLDER = os.path.dirname(__file__)

#: The experiment as a whole.
EXPERIMENT: SubjectKind[Check[Experiment]] = SubjectKind("experiment")
#: The text of a configuration.
CONFIGURATION: SubjectKind[Check[Source]] = SubjectKind("configuration")
COMMAND: SubjectKind[Check[Command]] = SubjectKind("command")
NETWORK: SubjectKind[Check[BuiltNetwork]] = SubjectKind("network")
#: A builder's text with what it includes.
PROGRAM: SubjectKind[Check[BrainScriptProgram]] = SubjectKind("program")
#: A text as an experiment holds it.
BRAINSCRIPT: SubjectKind[Check[NetworkText]] = SubjectKind("brainscript")
NDL: SubjectKind[Check[NetworkText]] = SubjectKind("ndl")
MEL: SubjectKind[Check[NetworkText]] = SubjectKind("mel")
#: Of a file that is read once for each of its sides.
CONFLICT: SubjectKind[Check[FileConflict]] = SubjectKind("conflict")

#: Those of them that are texts.
TEXTS = (CONFIGURATION, BRAINSCRIPT, NDL, MEL)
#: Those of which a finding is about a network, with the network's language.
_NETWORKS = {PROGRAM: "brainscript", BRAINSCRIPT: "brainscript", NDL: "ndl"}


class Bearing:
    """What the findings of a code are about.

    `language`: that of the networks that they are about, empty where they are about none.
    `of_texts`: they rest on the texts of a run alone, so they hold where more is not known of it.
    `unknown`: they say that something of the run is not known, of which each file has one at most.
    """

    __slots__ = ("language", "of_texts", "unknown")

    def __init__(self, language: str, of_texts: bool = False, unknown: bool = False) -> None:
        self.language = language
        self.of_texts = of_texts
        self.unknown = unknown


RULES: Registry[Bearing] = Registry(__name__, FOLDER)


def rule(
    code: str,
    severity: Severity,
    on: SubjectKind[CheckT],
    *,
    of_texts: bool = False,
    language: str = "",
    unknown: bool = False,
) -> Callable[[CheckT], CheckT]:
    """Register a function ``(subject, experiment) -> findings`` for one code; see `Bearing`.

    Of a run with a layer that cannot be read the texts alone are known: rules on texts are asked,
    and those that say that they rest on them.  `language` is for where the subject does not tell.
    """
    language = language or _NETWORKS.get(on, "")
    return RULES.rule(code, severity, on, Bearing(language, of_texts or on in TEXTS, unknown))


def emitted(code: str, severity: Severity, *, language: str = "") -> None:
    """Declare a code whose findings another rule of its module makes, or an evaluation."""
    RULES.emitted(code, severity, Bearing(language))


def about_network(code: str, language: str | None = None) -> bool:
    """Whether findings of a code are about networks: of this language, or of any."""
    RULES.load()
    bearing = RULES.traits.get(code)
    told = bearing.language if bearing is not None else ""
    return told != "" and language in (None, told)


def tells_unknown(code: str) -> bool:
    """Whether findings of a code say that something of a run is not known."""
    RULES.load()
    bearing = RULES.traits.get(code)
    return bearing is not None and bearing.unknown
