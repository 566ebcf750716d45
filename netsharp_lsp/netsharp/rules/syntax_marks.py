"""Rules on marks: missing `;` and brackets, superfluous ones, and marks of other languages."""

from __future__ import annotations

import re

from netsharp_lsp.netsharp.expressions import attributes_of, expressions_of, operands
from netsharp_lsp.netsharp.findings import Change, Finding, Note, Place, Repair
from netsharp_lsp.netsharp.rules import rule
from netsharp_lsp.netsharp.slips import is_open_end, lacks_from, unreadable_filter
from netsharp_lsp.netsharp.syntax import ConstantItem, LayerItem, Name, Number, Tuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.network import Network
    from netsharp_lsp.netsharp.syntax import Attribute, Declaration, Fault, Item

TOKEN_BEFORE = re.compile(r"(\w[\w.]*|[^\w\s])\s*\Z")
#: Tokens of a plain tuple's inside.
VALUES = frozenset(("number", "identifier", ",", "+", "-", "*", "/", "^", "[", "]"))
OPENERS = {"}": "{", "]": "[", ")": "("}
#: What a tuple in curly brackets may hold: `{28, 28}`.
BARE_REST = re.compile(r"[\w\s.,+-]*\]")
PLAIN_SIZE = re.compile(r"\{[\w\s,.*+/^-]*\}\Z")


def written(declaration: Declaration, network: Network, start: int, end: int) -> str:
    """The text of a span of a declaration."""
    return network.specification.text(declaration, start, end)


def line_of(data: bytes, offset: int) -> int:
    """The number, from 1, of the line that holds an offset."""
    before = data[:offset]
    return 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")


# NS011.


@rule("NS011", "error", on="declaration")
def missing_semicolon(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """A constant, layer, connection or attribute that ends without `;`."""
    doubts = network.doubts
    if not declaration.faults or doubts.explained(declaration):
        return
    unfinished = unfinished_ends(declaration)
    for fault in declaration.faults:
        if fault.kind != "missing" or fault.text != ";" or fault.start in unfinished:
            continue
        continued = declaration in doubts.debris.continued and is_open_end(declaration, fault)
        swallowed = doubts.swallows(declaration, fault)
        if continued or swallowed or follows_unexpected(declaration, fault):
            continue
        place = Place(declaration, fault.start, fault.start)
        before = TOKEN_BEFORE.search(written(declaration, network, 0, fault.start))
        after = f" after '{before[1]}'" if before else ""
        repair = Repair("Insert ';'", [Change(place, ";")], safe=True)
        yield Finding("NS011", place, f"Missing ';'{after}.", repair=repair)


def unfinished_ends(declaration: Declaration) -> set[int]:
    """Where something stops before it is complete: the missing `;` is then not the fault."""
    ends = {attribute.end for attribute in attributes_of(declaration) if attribute.value is None}
    for item in declaration.items:
        constant = isinstance(item, ConstantItem) and item.value is None
        if constant or (isinstance(item, LayerItem) and stops_early(declaration, item)):
            ends.add(item.end)
    return ends


def stops_early(declaration: Declaration, item: LayerItem) -> bool:
    """Whether a layer ends before its connections."""
    trained = declaration.kind in ("hidden", "output", "const")
    return trained and not item.bundles and item.body is None


def follows_unexpected(declaration: Declaration, missing: Fault) -> bool:
    """Whether unreadable text, or a missing bracket, stands right before a missing mark."""
    for fault in declaration.faults:
        end = declaration.end if unreadable_filter(fault) else fault.end + 1
        told = fault.kind in ("unexpected", "incomplete")
        if told and fault.start <= missing.start <= end:
            return True
        if missing.text == ";" and fault.text in ("]", ")") and fault.start == missing.start:
            return True
    return False


# NS012.


@rule("NS012", "error", on="network")
def missing_bracket(network: Network, _: Network) -> Iterator[Finding]:
    """A bracket without its partner, or a comma with no value behind it."""
    doubts = network.doubts
    for declaration in network.specification.declarations:
        if declaration.faults and not doubts.explained(declaration):
            yield from missing_partners(declaration, network)
            yield from missing_openers(declaration, network)
            yield from idle_commas(declaration, network)


def missing_partners(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Faults "missing" of one declaration, but for `;` and what another rule explains."""
    bare = [size for size in unopened(declaration) if not closes(declaration, size)]
    explained = {(size.start, "[") for size in bare} | {(size.end, "]") for size in bare}
    for fault in declaration.faults:
        if fault.kind != "missing" or fault.text == ";":
            continue
        known = (fault.start, fault.text) in explained or network.doubts.swallows(
            declaration, fault
        )
        if not unclosed_spans(declaration, fault):
            known = known or follows_unexpected(declaration, fault)
        told = (
            declaration in network.doubts.debris.displaced
            or declaration in network.doubts.debris.curly
        )
        if known or (fault.text == "}" and told):
            continue
        if declaration.kind == "share" and fault.text == "{":
            yield share_braces(declaration, fault)
            return
        if fault.text == "(":
            closer = closer_of(declaration, fault)
            explained |= {(closer.start, ")")} if closer else set()
            yield parameters(declaration, fault, closer)
        else:
            yield partner_finding(declaration, fault, network)


def missing_openers(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """The findings for `KernelShape = 5, 5];`."""
    for attribute in attributes_of(declaration):
        value = attribute.value
        if value is not None and bare_value(declaration, attribute, network):
            place = Place(declaration, value.start, value.start)
            repair = Repair("Insert '['", [Change(place, "[")], safe=True)
            first = written(declaration, network, value.start, value.end)
            yield Finding("NS012", place, f"Missing '[' before '{first}'.", repair=repair)


def bare_value(
    declaration: Declaration, attribute: Attribute, network: Network
) -> tuple[int, int] | None:
    """The span of a tuple that lacks its opening bracket, from its value on."""
    if attribute.terminator != "," or not isinstance(attribute.value, Number | Name):
        return None
    rest = written(declaration, network, attribute.end, declaration.end)
    found = BARE_REST.match(rest)
    return None if found is None else (attribute.value.start, attribute.end + len(found[0]))


def share_braces(declaration: Declaration, opener: Fault) -> Finding:
    """The finding for `share A, B;`."""
    place = Place(declaration, opener.start, opener.start)
    changes = [Change(place, " {")]
    for fault in declaration.faults:
        if fault.kind == "separator" and fault.start > declaration.items[-1].start:
            changes.append(Change(Place.of(declaration, fault), ""))
        elif fault.kind == "missing" and fault.text == "}":
            changes.append(Change(Place.of(declaration, fault), " }"))
    repair = Repair("Put the items in braces", changes, safe=True)
    return Finding("NS012", place, "Missing '{': write share { A, B }.", repair=repair)


def closer_of(declaration: Declaration, opener: Fault) -> Fault | None:
    """The missing `)` that belongs to a missing `(`."""
    closers = (fault for fault in declaration.faults if fault.text == ")" and not fault.opener)
    return next((fault for fault in closers if fault.start > opener.start), None)


def parameters(declaration: Declaration, opener: Fault, closer: Fault | None) -> Finding:
    """The finding for `where s, d => ...`."""
    place = Place(declaration, opener.start, opener.start)
    changes = [Change(place, " (")]
    if closer is not None:
        changes.append(Change(Place(declaration, closer.start, closer.start), ")"))
    repair = Repair("Put the two names in parentheses", changes, safe=True)
    message = "Missing '(' behind 'where': write where (source, destination) => condition."
    return Finding("NS012", place, message, repair=repair)


def partner_finding(declaration: Declaration, fault: Fault, network: Network) -> Finding:
    """The finding for one missing bracket."""
    mark = fault.text
    place = Place(declaration, fault.start, fault.start)
    repair = Repair(
        f"Insert '{mark}'", [Change(place, inserted(declaration, fault, network))], safe=True
    )
    if mark not in OPENERS or fault.opener is None:
        behind = written(declaration, network, fault.start, declaration.end).split()
        word = re.match(r"\w+|\W", behind[0]) if behind else None
        before = f" before '{word[0]}'" if word else ""
        if not fault.text or fault.text[0].isalpha():
            return Finding("NS012", place, f"A name is missing{before}.")
        return Finding("NS012", place, f"Missing '{mark}'{before}.", repair=repair)
    for start, end in unclosed_spans(declaration, fault)[:1]:
        place = Place(declaration, start, end)
        repair = Repair(f"Insert '{mark}'", [Change(place, mark)], safe=True)
    opener = Place(declaration, *fault.opener)
    line = line_of(network.specification.data, opener.offsets(network.specification)[0])
    message = f"Missing '{mark}' to close the '{OPENERS[mark]}' opened at line {line}."
    note = Note(f"This '{OPENERS[mark]}' is never closed.", opener)
    return Finding("NS012", place, message, [note], repair)


def unclosed_spans(declaration: Declaration, missing: Fault | None = None) -> list[tuple[int, int]]:
    """Values that found no place because the `]` behind them is missing: `[10 tanh from ...`.

    Each span starts behind the values, where the bracket belongs, if `missing` is the bracket;
    without it the spans hold the values themselves, for every bracket.
    """
    spans: list[tuple[int, int]] = []
    for fault in declaration.faults:
        if fault.kind != "unexpected" or any(k not in VALUES for k, _, _ in fault.tokens):
            continue
        for bracket in (missing,) if missing else declaration.faults:
            opener = bracket.opener if bracket.text == "]" else None
            if opener and opener[1] <= fault.start and fault.end <= bracket.start:
                spans.append((fault.end if missing else fault.start, fault.end))
    return spans


def inserted(declaration: Declaration, fault: Fault, network: Network) -> str:
    """The text that supplies a mark: a closing brace of a tall block gets its own line."""
    if fault.text == "{":
        return " {"
    if fault.text != "}" or fault.opener is None:
        return fault.text
    data = network.specification.data
    base = network.specification.starts[declaration]
    opener = base + fault.opener[0]
    if line_of(data, opener) == line_of(data, base + fault.start):
        return " }"
    first = max(data.rfind(b"\n", 0, opener), data.rfind(b"\r", 0, opener)) + 1
    line = data[first:opener]
    indent = line[: len(line) - len(line.lstrip())].decode("utf-8", "replace")
    return f"\n{indent}}}"


def idle_commas(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Commas with no value behind them, in tuples and shares."""
    missing = {fault.start for fault in declaration.faults if fault.kind == "missing"}
    for fault in declaration.faults:
        known = fault.end in missing or network.doubts.marked(declaration, fault)
        if fault.kind == "idle" and not known:
            yield idle_comma(Place.of(declaration, fault))


def idle_comma(place: Place) -> Finding:
    """The finding for a comma with no value behind it."""
    repair = Repair("Delete the ','", [Change(place, "")], safe=True)
    return Finding("NS012", place, "A value is missing at this ','.", repair=repair)


# NS013.


@rule("NS013", "info", on="declaration")
def needless_semicolon(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """A `;` that ends nothing."""
    if network.doubts.explained(declaration):
        return
    for start, end in declaration.semicolons:
        if written(declaration, network, start, end) == ";":
            place = Place(declaration, start, end)
            repair = Repair("Delete the ';'", [Change(place, "")], safe=True)
            yield Finding("NS013", place, "This ';' is not needed.", repair=repair)


# NS021.


def bare_sizes(declaration: Declaration) -> Iterator[Tuple]:
    """Sizes without an opening bracket; in a group of constants they are no sizes."""
    if declaration.kind != "const":
        yield from unopened(declaration)


def unopened(declaration: Declaration) -> Iterator[Tuple]:
    """Whatever was read as a size without an opening bracket."""
    for item in declaration.items:
        if isinstance(item, LayerItem) and isinstance(item.size, Tuple) and not item.size.bracket:
            yield item.size


def closes(declaration: Declaration, size: Tuple) -> bool:
    """Whether a size without an opening bracket has a closing one."""
    return not any(fault.text == "]" and fault.start == size.end for fault in declaration.faults)


def unread(declaration: Declaration, size: Tuple) -> bool:
    """Whether unreadable text, or a missing `)`, makes a tuple's extent doubtful."""
    return any(
        size.start - 1 <= fault.end and fault.start <= size.end
        for fault in declaration.faults
        if fault.kind == "unexpected" or (fault.text == ")" and fault.kind == "missing")
    )


def curly_size(item: Item, declaration: Declaration, network: Network) -> tuple[int, int] | None:
    """The span of a size in curly brackets: `input Image {28, 28};`."""
    if not isinstance(item, LayerItem) or item.size is not None or item.body is None:
        return None
    plain = PLAIN_SIZE.match(written(declaration, network, *item.body))
    empty = item.bundles or item.attributes or not network.doubts.touches(declaration, *item.body)
    return None if empty or not plain else item.body


@rule("NS021", "error", on="declaration")
def tuple_brackets(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """A tuple in round or curly brackets, or in none."""
    if network.doubts.explained(declaration):
        return
    spans = []
    base = network.specification.starts[declaration]
    if network.specification.data.find(b"(", base, base + declaration.end) >= 0:
        spans += [
            (node.start, node.end)
            for node in operands(expressions_of(declaration))
            if isinstance(node, Tuple) and node.bracket == "(" and not unread(declaration, node)
        ]
    for item in declaration.items:
        curly = curly_size(item, declaration, network)
        if curly is not None:
            spans.append(curly)
    if declaration in network.doubts.debris.curly:
        start, end = network.doubts.debris.curly[declaration]
        spans.append((start - base, end - base))
    for start, end in spans:
        place = Place(declaration, start, end)
        text = written(declaration, network, start, end)
        repair = None
        if text.endswith((")", "}")):
            changes = [
                Change(Place(declaration, start, start + 1), "["),
                Change(Place(declaration, end - 1, end), "]"),
            ]
            repair = Repair("Replace by square brackets", changes, safe=True)
        yield Finding("NS021", place, "Tuples use square brackets.", repair=repair)
    for size in bare_sizes(declaration):
        if not closes(declaration, size) and not unread(declaration, size):
            start = size.items[0].start if size.items else size.start
            place = Place(declaration, start, size.end)
            changes = [Change(place.before(), "["), Change(place.after(), "]")]
            repair = Repair("Put it in square brackets", changes, safe=True)
            yield Finding("NS021", place, "A size stands in square brackets.", repair=repair)


# NS022, NS023.


@rule("NS022", "error", on="declaration")
def attribute_separator(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """An attribute without `=`, or with `:` in its place."""
    if network.doubts.explained(declaration):
        return
    for attribute in attributes_of(declaration):
        if attribute.value is None or not attribute.separator.isascii():
            continue
        if lacks_from(attribute):
            place = Place.of(declaration, attribute.name)
            repair = Repair("Insert 'from'", [Change(place.before(), "from ")], safe=True)
            message = f"Missing 'from' before '{attribute.name.text}'."
            yield Finding("NS018", place, message, repair=repair)
            continue
        separator = Place(declaration, *attribute.separator_span)
        if attribute.separator != "=":
            glued = separator.start == attribute.name.end
            place = separator if attribute.separator else Place.of(declaration, attribute.name)
            repair = Repair("Use '='", [Change(separator, " =" if glued else "=")], safe=True)
            message = f"Use '=' to give '{attribute.name.text}' a value."
            yield Finding("NS022", place, message, repair=repair)


@rule("NS023", "error", on="declaration")
def attribute_terminator(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """An attribute that ends with `,`."""
    if network.doubts.explained(declaration):
        return
    for attribute in attributes_of(declaration):
        if attribute.terminator == "," and not bare_value(declaration, attribute, network):
            place = Place(declaration, *attribute.terminator_span)
            repair = Repair("Replace by ';'", [Change(place, ";")], safe=True)
            yield Finding("NS023", place, "Attributes end with ';', not ','.", repair=repair)
