"""The rules of Net#, a folder per subject: each a page `NSnnn.md` and a function in a module there.

Pages and modules are found in the folders. A rule checks one subject at a time, so that its
findings on a declaration hold until that declaration, or what it refers to, changes.
"""

from __future__ import annotations

import os

from netsharp_lsp.diagnostics.registry import CheckT, Registry, SubjectKind
from netsharp_lsp.netsharp.findings import Rests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from netsharp_lsp.diagnostics.model import Severity
    from netsharp_lsp.netsharp.findings import Finding
    from netsharp_lsp.netsharp.meaning.model import Bundle, Constant, Layer, Share
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Declaration
    from netsharp_lsp.text.conflicts import Conflict

    SubjectT = TypeVar("SubjectT")
    Check = Callable[[SubjectT, Network], Iterable[Finding]]
    #: What must hold of the network as a whole.
    Premise = Callable[[Network], bool]
    Kinds = tuple[str, ...] | None

FOLDER = os.path.dirname(__file__)

DECLARATION: SubjectKind[Check[Declaration]] = SubjectKind("declaration")
CONSTANT: SubjectKind[Check[Constant]] = SubjectKind("constant")
LAYER: SubjectKind[Check[Layer]] = SubjectKind("layer")
#: What a declaration gives a name: constants and layers.
NAMED: SubjectKind[Check[Constant | Layer]] = SubjectKind("named")
BUNDLE: SubjectKind[Check[Bundle]] = SubjectKind("bundle")
SHARE: SubjectKind[Check[Share]] = SubjectKind("share")
NETWORK: SubjectKind[Check[Network]] = SubjectKind("network")
#: A broken network for which no error was reported.
UNREPORTED: SubjectKind[Check[Network]] = SubjectKind("unsaid")
#: Of a text that is read once for each of its sides.
CONFLICT: SubjectKind[Check[Conflict]] = SubjectKind("conflict")


class Terms:
    """The conditions under which the findings of a code count.

    `rests`: what must be parsed for them to be true. `given`: what must be true of the network as a
    whole. `first_only`: only the first one in the text counts. `kinds`: of a rule on bundles, the
    kinds of connection that it is about; all where None.
    """

    __slots__ = ("first_only", "given", "kinds", "rests")

    def __init__(
        self,
        rests: Rests,
        given: Premise | None = None,
        kinds: Kinds = None,
        first_only: bool = False,
    ) -> None:
        self.rests = rests
        self.given = given
        self.kinds = kinds
        self.first_only = first_only


RULES: Registry[Terms] = Registry(__name__, FOLDER)


def rule(
    code: str,
    severity: Severity,
    on: SubjectKind[CheckT],
    given: Premise | None = None,
    *,
    kinds: Kinds = None,
    first_only: bool = False,
    rests: Rests = Rests.ITEM,
) -> Callable[[CheckT], CheckT]:
    """Register a function ``(subject, network) -> findings`` for one code; see `Terms`.

    It may read of other declarations what `meaning.steps.revision` follows, and nothing else: its
    findings are kept. What may change with any edit is left to ``given`` and ``first_only``.
    """
    return RULES.rule(code, severity, on, Terms(rests, given, kinds, first_only))


def emitted(code: str, severity: Severity, rests: Rests) -> None:
    """Declare a code whose findings are made elsewhere (during evaluation)."""
    RULES.emitted(code, severity, Terms(rests))
