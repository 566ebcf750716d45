"""Marks in files of NDL and MEL that do not mean what they seem to: comments that are read."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.comments import code_span
from netsharp_lsp.cntk.configuration.variables import dollars
from netsharp_lsp.cntk.rules import EXPERIMENT, rule
from netsharp_lsp.cntk.rules.findings import Change, Finding, Place, Repair
from netsharp_lsp.cntk.rules.ndl.texts import ndl_texts
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.sources import Source
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity

_LINE = late(rb"[^\r\n]+")
#: At the beginning of a line, or after the end of a value; a path may begin with two, too.
_SLASHES = late(rb"\A[ \t]*(//)|[^=(,:\"\s\\/][ \t]*(?<=[ \t)\]}])(//)")
_SIGN = late(rb"[ \t]#")


@rule("ND055", "error", on=EXPERIMENT, language="ndl")
def slashes(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report `//` where BrainScript begins a comment: NDL reads on."""
    for source in _sources(experiment):
        for line in _LINE.finditer(source.text):
            text = line.group()
            found = _SLASHES.search(text[: code_span(text)[1]])
            if found is None:
                continue
            at = found.start(found.lastindex or 0)
            start = line.start() + at
            place = Place(source.name, start, start + 2)
            message = (
                "'//' does not begin a comment in NDL and MEL: the text after it is read as a "
                "statement. Write '#', with a blank before it."
            )
            sign = "#" if not at or text[at - 1] in b" \t" else " #"
            assigns = b"=" in text[at:]
            fix = Repair("Write '#'", [Change(place, sign)], safe=not assigns)
            severity: Severity | None = "warning" if assigns else None
            yield Finding("ND055", place, message, repair=fix, severity=severity)


@rule("ND056", "warning", on=EXPERIMENT, language="ndl")
def signs(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report a comment after a `#` that does not begin one: only the first `#` of a line can."""
    for source in _sources(experiment):
        for line in _LINE.finditer(source.text):
            text = line.group()
            if code_span(text) != (0, len(text)):
                continue
            first = text.find(b"#")
            found = _SIGN.search(text, first + 1) if first > 0 else None
            if found is not None:
                start = line.start() + found.start() + 1
                message = (
                    "This '#' does not begin a comment: only the first '#' of a line can, and "
                    "that one has no blank before it. Put the comment on its own line."
                )
                yield Finding("ND056", Place(source.name, start, start + 1), message)


@rule("CK019", "info", on=EXPERIMENT)
def variables(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report variables of a file of NDL or MEL without a known configuration, once per name."""
    if experiment.run.items:
        return
    for source in _sources(experiment):
        seen: set[bytes] = set()
        for line in _LINE.finditer(source.text):
            low, high = code_span(line.group())
            for _, found in dollars(source.text, line.start() + low, line.start() + high):
                if found is None or found.group(1).lower() in seen:
                    continue
                seen.add(found.group(1).lower())
                name = found.group(1).decode("utf-8", "replace")
                message = (
                    f"The variable '{name}' has no value here: it comes from the configuration "
                    "that names this file."
                )
                yield Finding("CK019", Place(source.name, *found.span()), message)


def _sources(experiment: Experiment) -> Iterator[Source]:
    """Yield the files of NDL and MEL that a run reads, each once, without configurations."""
    known = {source.name for source in experiment.configuration.layers.sources}
    traced = [text.script.text for text in ndl_texts(experiment)]
    traced += [edit.text.traced for edit in experiment.edits if edit.text.traced is not None]
    for text in traced:
        for piece in text.pieces:
            if piece.source.name not in known:
                known.add(piece.source.name)
                yield piece.source
