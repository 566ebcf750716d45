"""Rules on brackets: those without a partner, and commas without a value after them."""

from __future__ import annotations

import re
from functools import lru_cache

from netsharp_lsp.netsharp.findings import Change, Finding, Note, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.reading.expressions import attributes_of, expressions_of, operands
from netsharp_lsp.netsharp.reading.gaps import Gaps
from netsharp_lsp.netsharp.reading.syntax import Binary, Call, Index, Name, Number
from netsharp_lsp.netsharp.rules import DECLARATION, rule
from netsharp_lsp.netsharp.rules.syntax.tuples import unopened
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Attribute, Declaration, Expression, Fault

LINE_COMMENT = late(rb"//|#")
OPENERS = {"}": "{", "]": "[", ")": "("}
#: The rest of a tuple that lacks its opening bracket.
BARE_REST = late(r"[\w\s.,+-]*\]")
COMPARING = frozenset(("==", "!=", "<", "<=", ">", ">=", "&&", "||"))
#: How far ahead the word after a gap is searched for, in bytes.
REACH = 80


@rule("NS012", "error", on=DECLARATION, rests=Rests.TEXT)
def missing_bracket(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report a bracket without its partner, or a comma with no value after it."""
    if declaration.faults and not network.doubts.explained(declaration):
        yield from missing_partners(declaration, network)
        yield from missing_openers(declaration, network)
        yield from idle_commas(declaration, network)


def missing_partners(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Yield faults "missing" of one declaration, except `;` and those explained elsewhere."""
    gaps, doubts = Gaps(declaration), network.doubts
    bare = [size for size in unopened(declaration) if not gaps.closes(size)]
    explained = {(size.start, "[") for size in bare} | {(size.end, "]") for size in bare}
    debris = doubts.debris
    if declaration in debris.displaced or declaration in debris.curly:
        explained.add((declaration.end, "}"))
    for fault in gaps.missing:
        if fault.text == ";" or (fault.start, fault.text) in explained:
            continue
        values = next(gaps.values_before(fault), None)
        if doubts.may_hide(declaration, fault) or (not values and gaps.explained(fault)):
            continue
        if declaration.kind == "share" and fault.text == "{":
            yield share_braces(declaration, fault)
            return
        if fault.text == "(":
            closer = closer_of(gaps, fault)
            explained |= {(closer.start, ")")} if closer else set()
            yield parameters(declaration, fault, closer, network)
        else:
            yield partner_finding(declaration, fault, values, network)


def missing_openers(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Yield the findings for `KernelShape = 5, 5];`."""
    for attribute in attributes_of(declaration):
        value = attribute.value
        if value is not None and bare_value(declaration, attribute, network):
            place = RelativeSpan(declaration, value.start, value.start)
            repair = Repair("Insert '['", [Change(place, "[")], safe=True)
            first = network.specification.text(declaration, value.start, value.end)
            yield Finding("NS012", place, f"Missing '[' before '{first}'.", repair=repair)


def bare_value(
    declaration: Declaration, attribute: Attribute, network: Network
) -> tuple[int, int] | None:
    """Return the span of a tuple that lacks its opening bracket, from its value on."""
    if attribute.terminator != "," or not isinstance(attribute.value, Number | Name):
        return None
    rest = network.specification.text(declaration, attribute.end, declaration.end)
    found = BARE_REST.match(rest)
    return None if found is None else (attribute.value.start, attribute.end + len(found[0]))


def share_braces(declaration: Declaration, opener: Fault) -> Finding:
    """Return the finding for `share A, B;`."""
    place = RelativeSpan(declaration, opener.start, opener.start)
    changes = [Change(place, " {")]
    for fault in declaration.faults:
        if fault.kind == "separator" and fault.start > declaration.items[-1].start:
            changes.append(Change(RelativeSpan.of(declaration, fault), ""))
        elif fault.kind == "missing" and fault.text == "}":
            changes.append(Change(RelativeSpan.of(declaration, fault), " }"))
    repair = Repair("Put the items in braces", changes, safe=True)
    return Finding("NS012", place, "Missing '{': write share { A, B }.", repair=repair)


def closer_of(gaps: Gaps, opener: Fault) -> Fault | None:
    """Return the missing `)` that belongs to a missing `(`."""
    closers = (fault for fault in gaps.missing if fault.text == ")" and not fault.opener)
    return next((fault for fault in closers if fault.start > opener.start), None)


def parameters(
    declaration: Declaration, opener: Fault, closer: Fault | None, network: Network
) -> Finding:
    """Return the finding for `where s, d => ...`."""
    place = RelativeSpan(declaration, opener.start, opener.start)
    blank = RelativeSpan(declaration, opener.start, opener.start + 1)
    changes = [Change(blank if network.text(blank) == " " else place, " (")]
    if closer is not None:
        changes.append(Change(RelativeSpan(declaration, closer.start, closer.start), ")"))
    repair = Repair("Put the two names in parentheses", changes, safe=True)
    message = "Missing '(' after 'where': write where (source, destination) => condition."
    return Finding("NS012", place, message, repair=repair)


def partner_finding(
    declaration: Declaration, fault: Fault, values: tuple[int, int] | None, network: Network
) -> Finding:
    """Return the finding for one missing bracket; it belongs after ``values`` if there are any."""
    mark = fault.text
    if mark not in OPENERS or fault.opener is None:
        return unpaired(declaration, fault, network)
    place = RelativeSpan(declaration, fault.start, fault.start)
    text = inserted(declaration, fault, network)
    natural = values[1] if values is not None else operand_end(declaration, fault)
    if natural is not None:
        place, text = RelativeSpan(declaration, natural, natural), mark
    place = before_comment(place, network)
    opener = RelativeSpan(declaration, *fault.opener)
    lines = network.specification.lines
    line = lines.line_at(opener.offsets(network.specification)[0]) + 1
    message = f"Missing '{mark}' to close the '{OPENERS[mark]}' opened at line {line}."
    note = Note(f"This '{OPENERS[mark]}' is never closed.", opener)
    repair = Repair(f"Insert '{mark}'", [Change(place, text)], safe=True)
    return Finding("NS012", place, message, [note], repair)


def before_comment(place: RelativeSpan, network: Network) -> RelativeSpan:
    """Return a place, or the end of the code on its line where a line comment ends there."""
    at = place.offsets(network.specification)[0]
    data, lines = network.specification.data, network.specification.lines
    start, end = lines.span(lines.line_at(at))
    sign = comment_sign(data, start, end)
    if sign is None or sign[1] > at:
        return place
    end = start + len(data[start : sign[0]].rstrip())
    return RelativeSpan(None, end, end)


@lru_cache(maxsize=2)
def comment_sign(data: bytes, start: int, end: int) -> tuple[int, int] | None:
    """Return the first sign on a line that looks like a line comment's, for many faults."""
    found = LINE_COMMENT.search(data, start, end)
    return None if found is None else found.span()


def operand_end(declaration: Declaration, missing: Fault) -> int | None:
    """Return the end of an index or an argument that includes a comparison: `s[0 == d[0]`."""
    for node in operands(expressions_of(declaration)):
        if node.end != missing.start or not isinstance(node, Index | Call):
            continue
        inside = node.position if isinstance(node, Index) else last_of(node.arguments)
        if isinstance(inside, Binary) and inside.operator in COMPARING:
            while isinstance(inside, Binary) and inside.operator in COMPARING:
                inside = inside.left
            return inside.end
    return None


def last_of(arguments: tuple[Expression, ...]) -> Expression | None:
    """Return the last argument of a call, None where there is none."""
    return arguments[-1] if arguments else None


def unpaired(declaration: Declaration, fault: Fault, network: Network) -> Finding:
    """Return the finding for a missing mark, or name, that closes nothing."""
    place = RelativeSpan(declaration, fault.start, fault.start)
    end = min(declaration.end, fault.start + REACH)
    following = network.specification.text(declaration, fault.start, end).split()
    word = re.match(r"\w+|\W", following[0]) if following else None
    before = f" before '{word[0]}'" if word else ""
    if not fault.text or fault.text[0].isalpha():
        return Finding("NS012", place, f"A name is missing{before}.")
    text = " {" if fault.text == "{" else fault.text
    repair = Repair(f"Insert '{fault.text}'", [Change(place, text)], safe=True)
    return Finding("NS012", place, f"Missing '{fault.text}'{before}.", repair=repair)


def inserted(declaration: Declaration, fault: Fault, network: Network) -> str:
    """Return the text that supplies a mark: a closing brace of a tall block gets its own line."""
    if fault.text != "}" or fault.opener is None:
        return fault.text
    base, lines = network.specification.starts[declaration], network.specification.lines
    line = lines.line_at(base + fault.opener[0])
    if line == lines.line_at(base + fault.start):
        return " }"
    text = lines.line_text(line)
    return f"\n{text[: len(text) - len(text.lstrip())]}}}"


def idle_commas(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report commas with no value after them, in tuples and shares."""
    missing = {fault.start for fault in declaration.faults if fault.kind == "missing"}
    for fault in declaration.faults:
        known = fault.end in missing or network.doubts.marked(declaration, fault)
        if fault.kind == "idle" and not known:
            yield idle_comma(RelativeSpan.of(declaration, fault))


def idle_comma(place: RelativeSpan) -> Finding:
    """Return the finding for a comma with no value after it."""
    repair = Repair("Delete the ','", [Change(place, "")], safe=True)
    return Finding("NS012", place, "A value is missing at this ','.", repair=repair)
