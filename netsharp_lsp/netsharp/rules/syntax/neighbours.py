"""Explanations of mistakes by the words beside them, for the rule on unexpected text, which knows
why each stretch was not parsed.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from netsharp_lsp.diagnostics.nearest import edit_distance
from netsharp_lsp.netsharp.findings import Change, Finding, Note, RelativeSpan, Repair
from netsharp_lsp.netsharp.reading.syntax import LayerItem
from netsharp_lsp.netsharp.rules.syntax.case import FAR
from netsharp_lsp.netsharp.rules.syntax.layers import is_activation
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.rules.syntax.case import Case

OPENERS = {"]": "[", ")": "("}
#: The names of the two kinds of pooling elsewhere.
POOLS = {"avg": "mean", "ave": "mean", "average": "mean", "maximum": "max", "maxi": "max"}
LAST_WORD = late(r"(?<!\w)(\w++)\s*+\Z")
LAST_NUMBER = late(r"(?<![\w.])[0-9.]+\Z")
GIVEN_NAME = late(r"(?<!\w)(\w++)\s*+=\s*+\Z")
CONST = late(rb"\bconst\s*\Z", re.IGNORECASE)
#: How far back the keyword of a constant is looked for, in bytes.
REACH = 64


def wrong_closer(case: Case) -> Finding | None:
    """Explain `[3, 4)`: a bracket is closed, by the other kind."""
    word = case.words[0]
    if len(case.words) != 1 or word not in OPENERS:
        return None
    for missing in case.declaration.faults:
        at_once = missing.kind == "missing" and missing.start == case.fault.start
        if at_once and missing.text in OPENERS and missing.opener is not None:
            place, opener = case.place(), RelativeSpan(case.declaration, *missing.opener)
            message = f"Missing '{missing.text}' to close this '{OPENERS[missing.text]}'"
            note = Note(f"This '{OPENERS[missing.text]}' is not closed by '{word}'.", opener)
            repair = Repair(
                f"Replace by '{missing.text}'", [Change(place, missing.text)], safe=True
            )
            return Finding("NS012", place, f"{message}; found '{word}'.", [note], repair)
    return None


def letters_after_number(case: Case) -> Finding | None:
    """Explain `1.5f`: a suffix of other languages."""
    number = LAST_NUMBER.search(case.before()) if case.types == ["identifier"] else None
    if number is None:
        return None
    place = RelativeSpan(case.declaration, case.fault.start - len(number[0]), case.fault.end)
    return Finding("NS005", place, f"Malformed number '{number[0]}{case.words[0]}'.")


def foreign_pool(case: Case) -> Finding | None:
    """Explain `from A avg pool { ... }`."""
    if [text.lower() for text in case.words] != ["pool"]:
        return None
    before = case.before()
    word = LAST_WORD.search(before)
    if word is None:
        return None
    start = case.since(before, word.start(1))
    place = RelativeSpan(case.declaration, start, case.fault.end)
    meant = POOLS.get(word[1].lower())
    message = f"Unknown connection kind '{word[1]} {case.words[0]}'."
    if meant is None:
        return Finding("NS019", place, f"{message} Net# has max pool and mean pool.")
    repair = Repair(f"Replace by '{meant} pool'", [Change(place, f"{meant} pool")], safe=True)
    return Finding("NS019", place, f"{message} Did you mean '{meant} pool'?", repair=repair)


def misspelt_where(case: Case) -> Finding | None:
    """Explain `from A wher (s, d) => ...`."""
    if case.words[0] != "(":
        return None
    before = case.before()
    word = LAST_WORD.search(before)
    if word is None or edit_distance(word[1].lower(), "where", 3) > 2:
        return None
    start = case.since(before, word.start(1))
    place = RelativeSpan(case.declaration, start, start + len(word[1]))
    message = f"Unknown connection kind '{word[1]}'. Did you mean 'where'?"
    repair = Repair("Replace by 'where'", [Change(place, "where")], safe=True)
    return Finding("NS019", place, message, repair=repair)


def doubled_equals(case: Case) -> Finding | None:
    """Explain `Stride == [2, 2];` and `Stride => [2, 2];`: the first `=` was enough."""
    if case.words not in (["="], [">"]) or not case.in_attributes():
        return None
    name = GIVEN_NAME.search(case.before())
    if name is None:
        return None
    repair = Repair("Use '='", [Change(case.place(), "")], safe=True)
    message = f"Use '=' to give '{name[1]}' a value."
    return Finding("NS022", case.place(), message, repair=repair)


def constant_without_equals(case: Case) -> Finding | None:
    """Explain `const X: 3;` and `const X 3;`."""
    data = case.network.specification.data
    led = CONST.search(data[max(0, case.base - REACH) : case.base])
    if case.types[:1] != ["identifier"] or len(case.words) < 2 or not led:
        return None
    sign = case.words[1] in (":", ":=")
    place = case.place(1, 1) if sign else case.place(0, 0)
    change = Change(place, "=") if sign else Change(place.after(), " =")
    repair = Repair("Use '='", [change], safe=True)
    return Finding("NS022", place, f"Use '=' to give '{case.words[0]}' a value.", repair=repair)


def constants_with_commas(case: Case) -> Finding | None:
    """Explain `const { X = 3, Y = 4; }`."""
    if case.words != [","] or case.declaration.kind != "const":
        return None
    repair = Repair("Replace by ';'", [Change(case.place(), ";")], safe=True)
    return Finding("NS023", case.place(), "Constants end with ';', not ','.", repair=repair)


def values_without_comma(case: Case) -> Finding | None:
    """Explain `input A [3 4];`."""
    if set(case.types) not in ({"number"}, {"identifier"}):
        return None
    before = case.before(FAR)
    if before.rfind("[") <= max(before.rfind("]"), before.rfind("=>")):
        return None
    last = case.since(before, len(before.rstrip()))
    if "//" in before.rstrip().rpartition("\n")[2] or before.rstrip().endswith("*/"):
        last = case.fault.start  # a `,` in a comment separates nothing
    ends = [last, *(end for _, _, end in case.fault.tokens)][:-1]
    commas = [Change(RelativeSpan(case.declaration, end, end), ",") for end in ends]
    message = f"',' is missing before '{case.words[0]}': values are separated by commas."
    repair = Repair("Insert ','", commas, safe=True)
    return Finding("NS026", case.place(), message, repair=repair)


def activation_before_size(case: Case) -> Finding | None:
    """Explain `hidden H tanh [4] from A all;`: the activation was parsed as the name."""
    items = case.declaration.items
    next_one = bisect_left(items, case.fault.end, key=lambda item: item.start)
    for item in items[next_one : next_one + 1]:
        if not isinstance(item, LayerItem) or not is_activation(item.name.text):
            continue
        if item.size is None or item.activation is not None:
            continue
        name = item.name
        place = RelativeSpan.of(case.declaration, name)
        size = RelativeSpan.of(case.declaration, item.size)
        gap = RelativeSpan(case.declaration, name.start, size.start)
        changes = [Change(gap, ""), Change(size.after(), f" {name.text}")]
        repair = Repair(f"Move '{name.text}' after the size", changes, safe=True)
        message = f"The activation belongs before 'from': hidden X [n] {name.text} from ..."
        return Finding("NS016", place, message, repair=repair)
    return None


def called_activation(place: RelativeSpan) -> Finding:
    """Return the finding for `tanh()`."""
    repair = Repair("Delete '()'", [Change(place, "")], safe=True)
    message = "'()' is not allowed here: an activation is written without parentheses."
    return Finding("NS026", place, message, repair=repair)


def single_sign(place: RelativeSpan, text: str) -> Finding:
    """Return the finding for `a & b` and `a | b`."""
    repair = Repair(f"Replace by '{text * 2}'", [Change(place, text * 2)], safe=True)
    message = f"Unexpected character '{text}'. Conditions are joined by '{text * 2}'."
    return Finding("NS001", place, message, repair=repair)
