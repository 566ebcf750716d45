"""The text of a node's values that the action write produces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of

if TYPE_CHECKING:
    from netsharp_engine.cntk.evaluation import Samples
    from netsharp_lsp.cntk.configuration.scope import Scope

_ESCAPES = {"\\n": "\n", "\\r": "\r", "\\t": "\t", "\\s": " "}
#: Digits and width as C's printf takes them; a longer number cannot be intended.
_DIGITS = re.compile(r"[-+ 0#]{0,5}[0-9]{0,3}(?:\.[0-9]{0,3})?")
_KINDS = ("real", "category", "sparse")


class Format(NamedTuple):
    """The format of written values; `labels` are the names of classes."""

    kind: str = "real"
    labels: Sequence[str] = ()
    by_sample: bool = True
    prologue: str = ""
    epilogue: str = ""
    sequence_separator: str = ""
    sequence_prologue: str = ""
    sequence_epilogue: str = "\n"
    element_separator: str = " "
    sample_separator: str = "\n"
    digits: str = ""


def format_of(scope: Scope | None, labels: Sequence[str]) -> Format:
    """Return the format that a block sets, `labels` read from its mapping file."""
    if scope is None:
        return Format()
    options = Options(scope)
    kind = options.text("type", "real").lower()
    if kind not in _KINDS:
        reason = f"the type '{kind}' is not one of {', '.join(_KINDS)}."
        raise Refused(RunRefusal(reason, where_of(scope.text)))
    digits = options.text("precisionFormat")
    if not _DIGITS.fullmatch(digits):
        reason = f"'precisionFormat' is '{digits}', and digits such as .4 are expected."
        raise Refused(RunRefusal(reason, where_of(scope.text)))

    def unescaped(name: str, otherwise: str = "") -> str:
        text = options.text(name, otherwise)
        for escape, meant in _ESCAPES.items():
            text = text.replace(escape, meant)
        return text

    return Format(
        kind,
        labels,
        options.truth("transpose", True),
        unescaped("prologue"),
        unescaped("epilogue"),
        unescaped("sequenceSeparator"),
        unescaped("sequencePrologue"),
        unescaped("sequenceEpilogue", "\n"),
        unescaped("elementSeparator", " "),
        unescaped("sampleSeparator", "\n"),
        digits,
    )


def texts(form: Format, node: str, shape: str, batches: Iterable[list[Samples]]) -> Iterable[str]:
    """Yield the text of a node's values, minibatch by minibatch and sequence by sequence."""

    def filled(text: str, minibatch: int = 0, sequence: int = 0) -> str:
        marks = {"%s": node, "%n": str(minibatch), "%d": str(sequence), "%x": shape}
        for mark, meant in marks.items():
            text = text.replace(mark, meant)
        return text

    yield filled(form.prologue)
    sequence = 0
    for minibatch, sequences in enumerate(batches):
        parts = []
        for samples in sequences:
            around = (filled(one, minibatch, sequence) for one in _around(form))
            before, after, between = around
            if sequence:
                parts.append(between)
            parts += (before, _sequence(form, samples), after)
            sequence += 1
        yield "".join(parts)
    yield filled(form.epilogue)


def _around(form: Format) -> tuple[str, str, str]:
    return form.sequence_prologue, form.sequence_epilogue, form.sequence_separator


def _sequence(form: Format, samples: Samples) -> str:
    """Return samples in order, or transposed so that each is a column."""
    lines = [_cells(form, values) for values in samples]
    if not form.by_sample and form.kind == "real":
        lines = [list(line) for line in zip(*lines, strict=True)]
    inner = form.element_separator if form.by_sample or len(samples) > 1 else form.sample_separator
    return form.sample_separator.join(inner.join(line) for line in lines)


def _cells(form: Format, values: list[float]) -> list[str]:
    """Return the numbers of a sample as they are written."""
    if form.kind == "category":
        last = max(range(len(values)), key=lambda place: (values[place], place))
        if form.labels:
            known = last < len(form.labels)
            return [f"%{form.digits}s" % form.labels[last] if known else str(last)]
        return [f"%{form.digits}d" % last]
    if form.kind == "sparse":
        return [f"{place}:{_real(form, one)}" for place, one in enumerate(values) if one]
    return [_real(form, one) for one in values]


def _real(form: Format, value: float) -> str:
    """Return a number as text; a negative zero has no sign."""
    return f"%{form.digits}f" % (value + 0.0)
