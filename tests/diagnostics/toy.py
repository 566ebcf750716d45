"""A toy language for tests of the language-free walls: `bad` is a fault, `todo` a hint.

`bad` has a safe fix that makes it `good`; `worse` an unsafe one that makes it `bad`. A comment
begins with `#`. The number of `features` of the context is a warning at the text's start.
"""

from __future__ import annotations

import re

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.model import Diagnostic, Edit, Fix, Related, Result

FAULTS = {
    b"bad": ("TY001", "error", "good", True),
    b"worse": ("TY002", "warning", "bad", False),
    b"todo": ("TY003", "hint", None, True),
}
CODES = ("TY001", "TY002", "TY003", "TY100", "TY126", "TY127")
COMMENT = re.compile(rb"#[^\r\n]*")
WORD = re.compile(rb"[a-z]+")


class ToyRules:
    codes = CODES


class Toy:
    id = "toy"
    comment_marks = ("#",)
    suppression_codes = ("TY126", "TY127")
    asked_codes = ()
    rules = ToyRules()

    def check(self, data: bytes, context: Context) -> Result:
        comments = [match.span() for match in COMMENT.finditer(data)]
        blanked = COMMENT.sub(lambda match: b" " * len(match[0]), data)
        found = [_fault(match) for match in WORD.finditer(blanked) if match[0] in FAULTS]
        return Result(found, comments)


def _fault(match: re.Match[bytes]) -> Diagnostic:
    code, severity, better, safe = FAULTS[match[0]]
    start, end = match.span()
    fix = None if better is None else Fix(f"Write {better}", safe, [Edit(start, end, better)])
    word = match[0].decode()
    return Diagnostic(
        code, severity, f"'{word}' is {word}.", start, end, [Related("here", start, end)], fix
    )


TOY = Toy()
