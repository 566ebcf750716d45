"""CNTK's languages with the interface of `language.py`; each method imports what it needs on use.

Diagnostics of a text depend on the runs that use it: the context's workspace knows them.
"""

from __future__ import annotations

import os

from netsharp_lsp.diagnostics.model import Result
from netsharp_lsp.diagnostics.pages import RuleBook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from netsharp_lsp.cntk.ide.snapshot import Snapshot
    from netsharp_lsp.context import Context
    from netsharp_lsp.description.comparison import Comparison
    from netsharp_lsp.layout.options import FormatOptions, Formatted

    Text = tuple[bytes, Context]

_HERE = os.path.dirname(__file__)
#: The pages of all four languages: a fault of one text is often met through another.
RULES = RuleBook(os.path.join(_HERE, "rules"), os.path.join(_HERE, "migration", "rules"))


class CntkLanguage:
    """One of CNTK's languages."""

    __slots__ = ("comment_marks", "id")

    rules = RULES
    suppression_codes = ("CK001", "CK002")
    unused_codes: tuple[str, ...] = ("CK001",)
    asked_codes: tuple[str, ...] = ()
    conflict_code = "CK123"

    def __init__(self, language_id: str, *comment_marks: str) -> None:
        self.id = language_id
        self.comment_marks = comment_marks

    def check(self, data: bytes, context: Context) -> Result:
        """Return the diagnostics of a text in any run that uses it, and its comments."""
        from netsharp_lsp.cntk.checking.analysis import diagnostics_of
        from netsharp_lsp.cntk.checking.comments import comments_of

        found = diagnostics_of(self.id, data, context.workspace)
        return Result(found, comments_of(self.id, data))

    def format(self, data: bytes, options: FormatOptions) -> Formatted:
        """Return the formatted text; see `netsharp_lsp.cntk.formatting`."""
        from netsharp_lsp.cntk.formatting import format_text

        return format_text(data, self.id, options)

    def describe(self, data: bytes, context: Context) -> dict[str, Any]:
        """Return the description of the network that applies among those of the first run."""
        from netsharp_lsp.cntk.description.network import describe
        from netsharp_lsp.cntk.ide.places.edited import Edited

        return describe(Edited(self.id, data, context).main)

    def compare(self, before: Text, after: Text) -> Comparison:
        """Return the differences between the first runs of two texts; see `cntk.description`."""
        from netsharp_lsp.cntk.description.comparison import compare
        from netsharp_lsp.cntk.ide.places.edited import Edited

        return compare(*(Edited(self.id, data, context).main for data, context in (before, after)))

    def open(self, data: bytes, context: Context) -> Snapshot:
        """Return the text for editing; see `netsharp_lsp.cntk.ide.snapshot`."""
        from netsharp_lsp.cntk.ide.snapshot import Snapshot

        return Snapshot.opened(self, data, context)


CONFIGURATION = CntkLanguage("cntk", "#")
BRAINSCRIPT = CntkLanguage("brainscript", "#", "//")
NDL = CntkLanguage("ndl", "#")
MEL = CntkLanguage("mel", "#")
BY_ID = {one.id: one for one in (CONFIGURATION, BRAINSCRIPT, NDL, MEL)}
