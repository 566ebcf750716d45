"""Explanations of text where it is not allowed.

Each explanation returns None where it does not fit; their order is decided elsewhere.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from netsharp_engine.activations import NAMES
from netsharp_lsp.netsharp.findings import Change, Finding, RelativeSpan, Repair
from netsharp_lsp.netsharp.reading.mistakes import (
    SECTION_WORDS,
    WORD_OPERATORS,
    lacking,
)
from netsharp_lsp.netsharp.reading.syntax import FIRST_KIND_WORDS
from netsharp_lsp.netsharp.rules.syntax.brackets import idle_comma
from netsharp_lsp.netsharp.rules.syntax.case import FAR
from netsharp_lsp.netsharp.rules.syntax.neighbours import (
    single_sign,
)
from netsharp_lsp.netsharp.rules.syntax.words import renamed
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.rules.syntax.case import Case

CLOSERS = ("]", ")", "}")
NAME_PIECE = late(r"\w*[-.]\w*\Z")
JOINED = late(r"\bfrom\s++\w++\s++(and|und|plus)\s++\w++\s*+\Z", re.IGNORECASE)
LAST_WORD = late(r"([A-Za-z_]\w{0,40})\W*+\Z")
SHOWN = 40
ONE_SOURCE = "A connection has one source: write one 'from' for each, in braces."


def keyword_name(case: Case) -> Finding | None:
    """Explain `input input [3]`: the second word was to be a name."""
    words = case.words
    if len(words) < 2 or words[0] not in SECTION_WORDS or words[1] not in SECTION_WORDS:
        return None
    return renamed(case.network, words[1], [case.place(1, 1)])


def nameless(case: Case) -> Finding | None:
    """Explain `hidden [5] from A all;`."""
    before = case.all_before()
    if (
        before is None
        or before.strip().lower() not in SECTION_WORDS
        or case.words[0] not in ("[", "auto")
    ):
        return None
    message = f"'{case.words[0]}' is not allowed here: a layer's name comes before its size."
    return Finding("NS026", case.place(0, 0), message)


def comma_before_parenthesis(case: Case) -> Finding | None:
    """Explain `where (s, d, ) => ...`."""
    _, after = case.around()
    rest = case.after().lstrip()
    idle = case.words == [","] and (after in b")]}" or rest[:1] in (")", "]", "}"))
    return idle_comma(case.place()) if idle else None


def joined_sources(case: Case) -> Finding | None:
    """Explain `from H and G all`."""
    before = case.before()
    found = JOINED.search(before)
    if found is None:
        return None
    start = case.since(before, found.start(1))
    place = RelativeSpan(case.declaration, start, start + len(found[1]))
    return Finding("NS026", place, ONE_SOURCE)


def share_without_braces(case: Case) -> Finding | None:
    """Explain `share A, B;`."""
    if case.words[0].lower() != "share" or "{" in case.words:
        return None
    place = case.place(0, 0).after()
    message = "Missing '{': write share { A, B }."
    return Finding("NS012", place, message)


def superfluous_closer(case: Case) -> Finding | None:
    """Explain a closing bracket with nothing to close."""
    if not all(word in CLOSERS for word in case.words):
        return None
    text = "".join(case.words)
    place = case.place()
    repair = Repair(f"Delete '{text}'", [Change(place, "")], safe=True)
    message = f"Unexpected '{text}': no bracket is open here that it could close."
    return Finding("NS001", place, message, repair=repair)


def mark_in_name(case: Case) -> Finding | None:
    """Explain `my-data`, `h.one`: a mark between the letters of a name."""
    marks = [word for word in case.words if word in ("-", ".")]
    if len(marks) != 1 or not NAME_PIECE.match(case.text(case.fault.start, case.fault.end)):
        return None
    before, after = case.around()
    at = case.words.index(marks[0])
    before = case.words[at - 1][-1:].encode() if at else before
    after = case.words[at + 1][:1].encode() if at + 1 < len(case.words) else after
    if not (is_letter(before) and is_letter(after)):
        return None
    place = case.place(at, at)
    repair = Repair("Replace by '_'", [Change(place, "_")], safe=True)
    message = f"Unexpected '{marks[0]}': a name contains letters, digits and '_' only."
    return Finding("NS001", place, message, repair=repair)


def is_letter(character: bytes) -> bool:
    """Return whether a character may be in a name."""
    return character.isalnum() or character == b"_"


def bare_number(case: Case) -> Finding | None:
    """Explain `hidden H 20 tanh from A all;`."""
    before = case.all_before()
    if case.types != ["number"] or before is None or len(before.split()) != 2:
        return None
    if not any(fault.text == "[" for fault in case.declaration.faults):
        return None
    place = case.place()
    changes = [Change(place.before(), "["), Change(place.after(), "]")]
    repair = Repair("Put it in square brackets", changes, safe=True)
    return Finding("NS021", place, "A size is written in square brackets.", repair=repair)


def word_operator(place: RelativeSpan, word: str) -> Finding:
    """Return the finding for `and`, `or`, `not`."""
    operator = WORD_OPERATORS[word.lower()]
    repair = None
    if operator != "!":  # `!` binds more tightly than a comparison, `not` in other languages less
        repair = Repair(f"Replace by '{operator}'", [Change(place, operator)], safe=True)
    return Finding(
        "NS026", place, f"'{word}' is not an operator; write '{operator}'.", repair=repair
    )


def operator_in_words(case: Case) -> Finding | None:
    """Explain `s[0] == 1 or s[0] == 2`."""
    if len(case.words) != 1 or case.words[0].lower() not in WORD_OPERATORS:
        return None
    return word_operator(case.place(), case.words[0])


def comparison(case: Case) -> Finding | None:
    """Explain `=` for `==`, `=<` for `<=`, inside a condition."""
    if case.words[0] not in ("=", "=<") or not in_condition(case):
        return None
    place = case.place(0, 0)
    if case.text(place.end, place.end + 1) in ("=", ">"):
        return None
    if case.words[0] == "=<":
        message = "'=<' is not an operator; write '<='."
        repair = Repair("Replace by '<='", [Change(place, "<=")], safe=True)
    else:
        message = "'=' is not allowed here; values are compared by '=='."
        repair = Repair("Replace by '=='", [Change(place, "==")], safe=True)
    return Finding("NS026", place, message, repair=repair)


def in_condition(case: Case) -> bool:
    """Return whether the stretch comes after the `=>` of a filter."""
    before = case.before(FAR)
    return "=>" in before[before.rfind("from") + 1 :]


def assigned_size(case: Case) -> Finding | None:
    """Explain `input Data = [10];`."""
    if case.words not in (["="], [":="], [":"]):
        return None
    place = case.place()
    repair = Repair(f"Delete '{case.words[0]}'", [Change(place, "")], safe=True)
    message = f"'{case.words[0]}' is not allowed here: a layer's size follows its name at once."
    return Finding("NS026", place, message, repair=repair)


def items_without_comma(case: Case) -> Finding | None:
    """Explain `share { A B }`."""
    if case.declaration.kind != "share" or not case.declaration.items:
        return None
    if case.types != ["identifier"] or case.fault.start < case.declaration.items[0].end:
        return None
    place = case.place()
    items = case.declaration.items
    last = items[bisect_right(items, place.start, key=lambda item: item.end) - 1].end
    comma = Change(RelativeSpan(case.declaration, last, last), ",")
    repair = Repair("Insert ','", [comma], safe=True)
    message = (
        f"',' is missing before '{case.words[0]}': the items of a share are separated by commas."
    )
    return Finding("NS026", place, message, repair=repair)


def several_sources(case: Case) -> Finding | None:
    """Explain `from A, B all`, `hidden H1, H2 [3]`."""
    if "," not in case.words:
        return None
    inside = case.before(FAR) + " ".join(case.words)
    if case.declaration.kind in ("hidden", "output", "unknown", "orphan") and "from" in inside:
        message = ONE_SOURCE
    elif case.declaration.kind in ("input", "hidden", "output"):
        message = "',' is not allowed here: declare every layer on its own, with its own size."
    else:
        return None
    at = case.words.index(",")
    return Finding("NS026", case.place(at, at), message)


def arrows_between(case: Case) -> Finding | None:
    """Explain `A -> H -> O;`."""
    if case.declaration.kind != "error" or not {"->", "=>"} & set(case.words):
        return None
    message = "Arrows are not allowed here: layers are connected by 'from'."
    return Finding("NS026", case.place(), message)


def foreign_characters(case: Case) -> Finding | None:
    """Explain single characters that begin no token."""
    if "ERROR" not in case.types or any(kind == "identifier" for kind in case.types):
        return None
    text = " ".join(case.text(case.fault.start, case.fault.end).split())
    place = case.place()
    plural = "s" if len(text) > 1 else ""
    if text in ("&", "|"):
        return single_sign(place, text)
    repair = Repair("Delete it", [Change(place, "")], safe=True)
    return Finding("NS001", place, f"Unexpected character{plural} '{text}'.", repair=repair)


def markup(case: Case) -> Finding | None:
    """Explain a tag of HTML."""
    text = case.text(case.fault.start, case.fault.end)
    if not re.match(r"</?[A-Za-z][A-Za-z0-9]*\s*/?>\Z", text):
        return None
    place = case.place()
    repair = Repair("Delete the HTML tag", [Change(place, "")], safe=True)
    message = f"Unexpected '{text}': this is HTML, probably from a web page."
    return Finding("NS001", place, message, repair=repair)


def source_without_from(case: Case) -> Finding | None:
    """Explain `hidden H [3] Data convolve { ... }`."""
    if case.types != ["identifier"]:
        return None
    after = case.after().split(None, 1)
    if not after or after[0].lower() not in FIRST_KIND_WORDS:
        return None
    place = case.place()
    repair = Repair("Insert 'from'", [Change(place.before(), "from ")], safe=True)
    return Finding("NS018", place, f"Missing 'from' before '{case.words[0]}'.", repair=repair)


def second_activation(case: Case) -> Finding | None:
    """Explain `hidden H [3] sigmoid tanh from A all;`."""
    if len(case.words) != 1 or case.words[0].lower() not in NAMES:
        return None
    message = f"'{case.words[0]}' is not allowed here: a layer has one activation, before 'from'."
    return Finding("NS026", case.place(), message)


def anything(case: Case) -> Finding:
    """Explain any other text, by its first line."""
    text = case.text(case.fault.start, case.fault.end)
    first = text.splitlines()[0].rstrip() if text.strip() else text
    start = case.fault.start
    end = start + len(first.encode("utf-8"))
    place = RelativeSpan(case.declaration, start, end)
    if len(first) > SHOWN:
        first = f"{first[:SHOWN].rstrip()} ..."
    message = f"'{first}' is not allowed here."
    before = LAST_WORD.search(case.before())
    words = (*case.words[:1], before[1] if before else "")
    has = next((sentence for sentence in map(lacking, words) if sentence), None)
    return Finding("NS026", place, f"{message} {has}" if has else message)
