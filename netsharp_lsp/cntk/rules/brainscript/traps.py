"""Rules on texts of BrainScript that are valid, but do not mean what they seem to."""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.reading.syntax import (
    Binary,
    BrainScriptCall,
    Choice,
    Index,
    Number,
    RecordLiteral,
    Select,
    Truth,
    Unary,
    Variable,
)
from netsharp_lsp.cntk.rules import BRAINSCRIPT, EXPERIMENT, PROGRAM, rule
from netsharp_lsp.cntk.rules.brainscript.facts import facts
from netsharp_lsp.cntk.rules.findings import Change, Finding, Note, Repair
from netsharp_lsp.text.expressions import late
from netsharp_lsp.text.lines import first_on_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.brainscript.reading.syntax import Expression
    from netsharp_lsp.cntk.networks.faults import Place
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.cntk.run.programs import BrainScriptProgram
    from netsharp_lsp.cntk.run.texts import NetworkText

#: A closing mark that a block comment misses, because it reads a star too many.
UNSEEN_END = late(rb"(?<=[^/*])(?:\*\*)++/")
#: A bracket with nothing after it on its line: the line is meant to continue.
LONE_BRACKET = late(rb"[({\[][ \t]*(?:#[^\r\n]*|//[^\r\n]*)?(?:[\r\n]|\Z)")
SAME_LEVEL = ("*", "/", ".*", "%", "**")


@rule("BS037", "warning", on=BRAINSCRIPT)
def continued_line(text: NetworkText, experiment: Experiment) -> Iterator[Finding]:
    """Report a line that seems to begin a member and continues the one before it."""
    for expression, member in text.known.expressions:
        joint = _joint(text, expression)
        if joint is None or member is None:
            continue
        column = first_on_line(text.data, joint)
        if column is None or column > _indent(text.data, member.place.start):
            continue
        if LONE_BRACKET.match(text.data, joint):
            continue
        sign = text.data[joint : joint + 2].decode("utf-8", "replace").split()[0][:2]
        sign = sign if sign in (".*", "[|") else sign[:1]
        yield Finding(
            "BS037",
            text.place(joint, joint + len(sign)),
            f"This '{sign}' continues '{member.name}' above: a new line does not end a member."
            " If that is meant, indent the line; if not, write ';' at the end of the line before.",
            [Note(f"'{member.name}' begins here.", text.place(*member.name_place[1:]))],
        )


def _joint(text: NetworkText, expression: Expression) -> int | None:
    """Return the offset where an expression continues with a bracket, a point or a sign."""
    if isinstance(expression, BrainScriptCall):
        return expression.arguments_place.start
    if isinstance(expression, Index):
        return _after(text.data, expression.target.place.end, expression.position.place.start)
    if isinstance(expression, Select):
        return _after(text.data, expression.record.place.end, expression.name_place.start)
    if isinstance(expression, Binary) and expression.operator in ("+", "-"):
        return _after(text.data, expression.left.place.end, expression.right.place.start)
    return None


def _after(data: bytes, start: int, end: int) -> int | None:
    """Return the offset of the first sign between two operands, past closing brackets."""
    for offset in range(start, end):
        if data[offset : offset + 1] in (b"[", b".", b"+", b"-"):
            return offset
        if not (data[offset : offset + 1].isspace() or data[offset : offset + 1] == b")"):
            return None
    return None


def _indent(data: bytes, offset: int) -> int:
    """Return the indentation of the line at an offset, -1 if other text precedes it."""
    column = first_on_line(data, offset)
    return -1 if column is None else column


@rule("BS038", "warning", on=BRAINSCRIPT)
def power(text: NetworkText, experiment: Experiment) -> Iterator[Finding]:
    """Report powers that bind differently than in mathematics."""
    for expression, _ in text.known.expressions:
        if not isinstance(expression, Binary) or expression.operator != "**":
            continue
        left, right = expression.left, expression.right
        between = text.data[left.place.end : right.place.start]
        if b")" in between:
            continue
        reading = None
        if isinstance(left, Unary) and left.operator == "-":
            reading = "'-x ** y' is '(-x) ** y': a sign binds tightest"
        elif isinstance(left, Binary) and left.operator in SAME_LEVEL:
            reading = (
                f"'a {left.operator} b ** c' is '(a {left.operator} b) ** c': '**' has the"
                " precedence of '*' and is left-associative"
            )
        if reading:
            yield Finding(
                "BS038",
                text.place(expression.place.start, expression.place.end),
                f"{reading}. Write brackets to make the order explicit.",
                repair=Repair(
                    "Write the brackets as CNTK reads it",
                    [
                        Change(text.place(left.place.start, left.place.start), "("),
                        Change(text.place(left.place.end, left.place.end), ")"),
                    ],
                    safe=True,
                ),
            )


@rule("BS042", "error", on=PROGRAM)
def without_effect(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report `with` where it is not evaluated."""
    for operation, _ in program.program.survey.operations:
        if operation.operator == "with":
            place = program.outside(operation.place)
            if place not in facts(program).met:
                yield Finding(
                    "BS042",
                    place,
                    "'with' is parsed, but not implemented in CNTK: evaluating this fails."
                    " Write one record with all members.",
                    severity="warning",
                )


@rule("BS039", "info", on=BRAINSCRIPT)
def point_of_number(text: NetworkText, experiment: Experiment) -> Iterator[Finding]:
    """Report `2.*x`, where the point belongs to the number."""
    for expression, _ in text.known.expressions:
        if not isinstance(expression, Binary) or expression.operator not in ("*", "**"):
            continue
        left = expression.left
        end = left.place.end
        if isinstance(left, Number) and text.data[end - 1 : end + 1] == b".*":
            yield Finding(
                "BS039",
                text.place(left.place.start, end + 1),
                "The point belongs to the number: this is '2. * x', the operator '*' and not '.*'."
                " Write a blank to make it explicit.",
                repair=Repair(
                    "Write the number without its point",
                    [Change(text.place(end - 1, end), " ")],
                    safe=True,
                ),
            )


@rule("BS074", "warning", on=BRAINSCRIPT)
def unseen_end(text: NetworkText, experiment: Experiment) -> Iterator[Finding]:
    """Report a block comment that continues after `**/`."""
    for comment in text.script.comments:
        start, end = comment.place.start, comment.place.end
        data = text.data[start:end]
        found = UNSEEN_END.search(data, 2)
        if not data.startswith(b"/*") or found is None or not data.endswith(b"*/"):
            continue
        if found.end() < len(data):
            yield Finding(
                "BS074",
                text.place(start + found.start(), start + found.end()),
                f"'{found.group().decode()}' does not close this comment: a star is read together"
                " with the one after it. The comment continues to the next '*/'."
                " Write ' */'.",
                [Note("The comment begins here.", text.place(start, start + 2))],
            )


@rule("BS075", "error", on=BRAINSCRIPT)
def variable_in_file(text: NetworkText, experiment: Experiment) -> Iterator[Finding]:
    """Report `$name$` in a file, where no configuration substitutes it."""
    if text.traced is not None:
        return
    for expression, _ in text.known.expressions:
        if isinstance(expression, Variable):
            yield Finding(
                "BS075",
                text.place(expression.place.start, expression.place.end),
                f"'${expression.name}$' is not substituted in a file: a file is included after the"
                " configuration's variables are substituted. Define a member in the configuration,"
                f" '{expression.name} = ${expression.name}$', and use its name here.",
            )


@rule("BS076", "info", on=EXPERIMENT, of_texts=True, language="brainscript")
def old_records(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report records in `[ ]`, once per file."""
    found: dict[str, dict[Place, Place]] = {}
    damaged: set[str] = set()
    for text in subject.texts("brainscript"):
        for opens, closes in _old_records(text):
            found.setdefault(opens.source, {})[opens] = closes
            damaged.update((opens.source,) if text.known.damages else ())
    for source, brackets in found.items():
        first = min(brackets, key=lambda place: place.start)
        others = len(brackets) - 1
        more = f", and of {others} more in this file" if others else ""
        changes = [
            change
            for opens, closes in brackets.items()
            for change in (Change(opens, "{"), Change(closes, "}"))
        ]
        yield Finding(
            "BS076",
            first,
            f"'[ ]' around members is the old form of this record{more}: since CNTK 1.6 it is"
            " '{ }', which means the same.",
            repair=Repair("Write '{ }'", changes, safe=source not in damaged),
        )


def _old_records(text: NetworkText) -> Iterator[tuple[Place, Place]]:
    """Yield the opening and closing bracket of each such record."""
    for expression, _ in text.known.expressions:
        start, end = expression.place.start, expression.place.end
        if not isinstance(expression, RecordLiteral) or text.data[start : start + 1] != b"[":
            continue
        if text.data[end - 1 : end] == b"]" and end - start > 1:
            yield text.place(start, start + 1), text.place(end - 1, end)


@rule("BS036", "hint", on=BRAINSCRIPT)
def constant_condition(text: NetworkText, experiment: Experiment) -> Iterator[Finding]:
    """Report a condition that is a constant."""
    for expression, _ in text.known.expressions:
        if isinstance(expression, Choice) and isinstance(expression.condition, Truth):
            side = "then" if expression.condition.value else "else"
            condition = expression.condition.place
            yield Finding(
                "BS036",
                text.place(condition.start, condition.end),
                f"This condition is constant, so only the value after '{side}' is used.",
            )
