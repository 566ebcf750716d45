"""The rules of CNTK's languages, a folder per subject: each rule is a page and a function in a
module there.

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
#: A text as it is in an experiment.
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
    """The subject of the findings of a code.

    `language`: the language of the networks that they are about, empty if they are not about
    networks. `of_texts`: they depend only on the texts of a run, so they hold where the rest of it
    is unknown. `unknown`: they report that a part of the run is unknown, and each file has at most
    one of them.
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

    If a layer of a run cannot be read, only its texts are known: then only rules on texts, and
    rules with `of_texts`, are called.  `language` is given where the subject does not determine it.
    """
    language = language or _NETWORKS.get(on, "")
    return RULES.rule(code, severity, on, Bearing(language, of_texts or on in TEXTS, unknown))


def emitted(code: str, severity: Severity, *, language: str = "") -> None:
    """Declare a code whose findings another rule of its module, or an evaluation, produces."""
    RULES.emitted(code, severity, Bearing(language))


def about_network(code: str, language: str | None = None) -> bool:
    """Return whether findings of a code are about networks, of this language if one is given."""
    RULES.load()
    bearing = RULES.traits.get(code)
    about = bearing.language if bearing is not None else ""
    return about != "" and language in (None, about)


def reports_unknown(code: str) -> bool:
    """Return whether findings of a code report that a part of a run is unknown."""
    RULES.load()
    bearing = RULES.traits.get(code)
    return bearing is not None and bearing.unknown
