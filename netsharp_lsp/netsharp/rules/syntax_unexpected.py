"""What stands where it cannot: sorts the text that the parser could not place into findings."""

from __future__ import annotations

import re

from netsharp_engine.activations import NAMES
from netsharp_lsp.netsharp.findings import Change, Finding, Note, Place, Repair
from netsharp_lsp.netsharp.reading.expressions import attributes_of
from netsharp_lsp.netsharp.reading.gaps import Gaps
from netsharp_lsp.netsharp.reading.slips import (
    ACTIVATION_ATTRIBUTES,
    KIND_WORDS,
    SECTION_WORDS,
    WORD_OPERATORS,
    is_unconnected,
    section_meant,
    unreadable_filter,
)
from netsharp_lsp.netsharp.reading.syntax import (
    BundleItem,
    LayerItem,
    WordItem,
)
from netsharp_lsp.netsharp.rules import rule
from netsharp_lsp.netsharp.rules.syntax_brackets import bare_value, idle_comma
from netsharp_lsp.netsharp.rules.syntax_layers import is_activation, lone_activation, says_from
from netsharp_lsp.netsharp.rules.syntax_neighbours import (
    activation_before_size,
    called_activation,
    constant_without_equals,
    constants_with_commas,
    doubled_equals,
    foreign_pool,
    letters_behind_number,
    misspelt_where,
    single_sign,
    values_without_comma,
    wrong_closer,
)
from netsharp_lsp.netsharp.rules.syntax_tuples import bracketless_tuples, curly_size
from netsharp_lsp.netsharp.rules.syntax_words import renamed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Declaration, Fault

CLOSERS = ("]", ")", "}")
LAST_WORD = re.compile(r"([A-Za-z]+)\s*\Z")
EMPTY_PARENTHESES = re.compile(r"\(\s*\)")
FIRST_TOKEN = re.compile(r"\w+|[^\w\s]+")
NAME_PIECE = re.compile(r"\w*[-.]\w*\Z")
SHOWN = 40
ONE_SOURCE = "A connection has one source: write one 'from' for each, in braces."


class Case:
    """One unreadable stretch of a declaration, with what an explanation may ask about it."""

    __slots__ = ("base", "declaration", "fault", "network", "types", "words")

    def __init__(self, declaration: Declaration, fault: Fault, network: Network) -> None:
        self.declaration = declaration
        self.fault = fault
        self.network = network
        self.base = network.specification.starts[declaration]
        self.types = [kind for kind, _, _ in fault.tokens]
        self.words = [self.text(start, end) for _, start, end in fault.tokens]

    def text(self, start: int, end: int) -> str:
        """The text of a span of the declaration."""
        return self.network.specification.text(self.declaration, start, end)

    def place(self, first: int = 0, last: int = -1) -> Place:
        """The span of some of its tokens."""
        tokens = self.fault.tokens
        return Place(self.declaration, tokens[first][1], tokens[last][2])

    def in_attributes(self) -> bool:
        """Whether it stands in the braces of a connection."""
        spans = (
            bundle.block
            for item in self.declaration.items
            if isinstance(item, LayerItem)
            for bundle in item.bundles
        )
        return any(span and span[0] < self.fault.start < span[1] for span in spans)

    def around(self) -> tuple[bytes, bytes]:
        """The characters right before and right behind it."""
        data = self.network.specification.data
        start, end = self.base + self.fault.start, self.base + self.fault.end
        return data[max(0, start - 1) : start], data[end : end + 1]


# Explanations, the most telling first; each answers None where it does not fit.


def keyword_name(case: Case) -> Finding | None:
    """`input input [3]`: the second word was to be a name."""
    words = case.words
    if len(words) < 2 or words[0] not in SECTION_WORDS or words[1] not in SECTION_WORDS:
        return None
    return renamed(case.network, words[1], [case.place(1, 1)])


def nameless(case: Case) -> Finding | None:
    """`hidden [5] from A all;`."""
    before = case.text(0, case.fault.start).strip()
    if before.lower() not in SECTION_WORDS or case.words[0] not in ("[", "auto"):
        return None
    message = f"'{case.words[0]}' is not allowed here: a layer's name comes before its size."
    return Finding("NS026", case.place(0, 0), message)


def comma_before_parenthesis(case: Case) -> Finding | None:
    """`where (s, d, ) => ...`."""
    _, behind = case.around()
    rest = case.text(case.fault.end, case.declaration.end).lstrip()
    idle = case.words == [","] and (behind in b")]}" or rest[:1] in (")", "]", "}"))
    return idle_comma(case.place()) if idle else None


def joined_sources(case: Case) -> Finding | None:
    """`from H and G all`."""
    before = case.text(0, case.fault.start)
    found = re.search(r"\bfrom\s+\w+\s+(and|und|plus)\s+\w+\s*\Z", before, re.IGNORECASE)
    if found is None:
        return None
    start = len(before[: found.start(1)].encode("utf-8"))
    place = Place(case.declaration, start, start + len(found[1]))
    return Finding("NS026", place, ONE_SOURCE)


def share_without_braces(case: Case) -> Finding | None:
    """`share A, B;`."""
    if case.words[0].lower() != "share" or "{" in case.words:
        return None
    place = case.place(0, 0).after()
    message = "Missing '{': write share { A, B }."
    return Finding("NS012", place, message)


def superfluous_closer(case: Case) -> Finding | None:
    """A closing bracket with nothing to close."""
    if not all(word in CLOSERS for word in case.words):
        return None
    text = "".join(case.words)
    place = case.place()
    repair = Repair(f"Delete '{text}'", [Change(place, "")], safe=True)
    message = f"Unexpected '{text}': no bracket is open here that it could close."
    return Finding("NS001", place, message, repair=repair)


def mark_in_name(case: Case) -> Finding | None:
    """`my-data`, `h.one`: a mark between the letters of a name."""
    marks = [word for word in case.words if word in ("-", ".")]
    if len(marks) != 1 or not NAME_PIECE.match(case.text(case.fault.start, case.fault.end)):
        return None
    before, behind = case.around()
    at = case.words.index(marks[0])
    before = case.words[at - 1][-1:].encode() if at else before
    behind = case.words[at + 1][:1].encode() if at + 1 < len(case.words) else behind
    if not (is_letter(before) and is_letter(behind)):
        return None
    place = case.place(at, at)
    repair = Repair("Replace by '_'", [Change(place, "_")], safe=True)
    message = f"Unexpected '{marks[0]}': a name holds letters, digits and '_' only."
    return Finding("NS001", place, message, repair=repair)


def is_letter(character: bytes) -> bool:
    """Whether a character may stand in a name."""
    return character.isalnum() or character == b"_"


def bare_number(case: Case) -> Finding | None:
    """`hidden H 20 tanh from A all;`."""
    head = case.text(0, case.fault.start).split()
    lacks_size = any(fault.text == "[" for fault in case.declaration.faults)
    if len(case.words) != 1 or case.types != ["number"] or len(head) != 2 or not lacks_size:
        return None
    place = case.place()
    changes = [Change(place.before(), "["), Change(place.after(), "]")]
    repair = Repair("Put it in square brackets", changes, safe=True)
    return Finding("NS021", place, "A size stands in square brackets.", repair=repair)


def operator_in_words(case: Case) -> Finding | None:
    """`s[0] == 1 or s[0] == 2`."""
    if len(case.words) != 1 or case.words[0].lower() not in WORD_OPERATORS:
        return None
    return word_operator(case.place(), case.words[0])


def comparison(case: Case) -> Finding | None:
    """`=` for `==`, `=<` for `<=`, inside a condition."""
    if case.words[0] not in ("=", "=<") or not in_condition(case):
        return None
    place = case.place(0, 0)
    if case.text(place.end, place.end + 1) in ("=", ">"):
        return None
    if case.words[0] == "=<":
        message = "'=<' is no operator; write '<='."
        repair = Repair("Replace by '<='", [Change(place, "<=")], safe=True)
    else:
        message = "'=' is not allowed here; values are compared by '=='."
        repair = Repair("Replace by '=='", [Change(place, "==")], safe=True)
    return Finding("NS026", place, message, repair=repair)


def in_condition(case: Case) -> bool:
    """Whether the stretch stands behind the `=>` of a filter."""
    before = case.text(0, case.fault.start)
    return "=>" in before[before.rfind("from") + 1 :]


def assigned_size(case: Case) -> Finding | None:
    """`input Data = [10];`."""
    if case.words not in (["="], [":="], [":"]):
        return None
    place = case.place()
    repair = Repair(f"Delete '{case.words[0]}'", [Change(place, "")], safe=True)
    message = f"'{case.words[0]}' is not allowed here: a layer's size follows its name at once."
    return Finding("NS026", place, message, repair=repair)


def items_without_comma(case: Case) -> Finding | None:
    """`share { A B }`."""
    if case.declaration.kind != "share" or not case.declaration.items:
        return None
    if case.types != ["identifier"] or case.fault.start < case.declaration.items[0].end:
        return None
    place = case.place()
    last = max(item.end for item in case.declaration.items if item.end <= place.start)
    comma = Change(Place(case.declaration, last, last), ",")
    repair = Repair("Insert ','", [comma], safe=True)
    message = f"',' is missing before '{case.words[0]}': the items of a share stand between commas."
    return Finding("NS026", place, message, repair=repair)


def several_sources(case: Case) -> Finding | None:
    """`from A, B all`, `hidden H1, H2 [3]`."""
    if "," not in case.words:
        return None
    inside = case.text(0, case.fault.end)
    if case.declaration.kind in ("hidden", "output", "unknown", "orphan") and "from" in inside:
        message = ONE_SOURCE
    elif case.declaration.kind in ("input", "hidden", "output"):
        message = "',' is not allowed here: declare every layer on its own, with its own size."
    else:
        return None
    at = case.words.index(",")
    return Finding("NS026", case.place(at, at), message)


def arrows_between(case: Case) -> Finding | None:
    """`A -> H -> O;`."""
    if case.declaration.kind != "error" or not {"->", "=>"} & set(case.words):
        return None
    message = "Arrows are not allowed here: layers are connected by 'from'."
    return Finding("NS026", case.place(), message)


def foreign_characters(case: Case) -> Finding | None:
    """Single characters that begin no token."""
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
    """A tag of HTML."""
    text = case.text(case.fault.start, case.fault.end)
    if not re.match(r"</?[A-Za-z][A-Za-z0-9]*\s*/?>\Z", text):
        return None
    place = case.place()
    repair = Repair("Delete the HTML tag", [Change(place, "")], safe=True)
    message = f"Unexpected '{text}': this is HTML, probably from a web page."
    return Finding("NS001", place, message, repair=repair)


def source_without_from(case: Case) -> Finding | None:
    """`hidden H [3] Data convolve { ... }`."""
    behind = case.text(case.fault.end, case.declaration.end).split()
    kind = behind[0].lower() if behind else ""
    if case.types != ["identifier"] or kind not in KIND_WORDS:
        return None
    place = case.place()
    repair = Repair("Insert 'from'", [Change(place.before(), "from ")], safe=True)
    return Finding("NS018", place, f"Missing 'from' before '{case.words[0]}'.", repair=repair)


def second_activation(case: Case) -> Finding | None:
    """`hidden H [3] sigmoid tanh from A all;`."""
    if len(case.words) != 1 or case.words[0].lower() not in NAMES:
        return None
    message = f"'{case.words[0]}' is not allowed here: a layer has one activation, before 'from'."
    return Finding("NS026", case.place(), message)


def anything(case: Case) -> Finding:
    """Whatever else: the first line of it."""
    text = case.text(case.fault.start, case.fault.end)
    first = text.splitlines()[0].rstrip() if text.strip() else text
    start = case.fault.start
    end = start + len(first.encode("utf-8"))
    place = Place(case.declaration, start, end)
    if len(first) > SHOWN:
        first = f"{first[:SHOWN].rstrip()} ..."
    return Finding("NS026", place, f"'{first}' is not allowed here.")


EXPLANATIONS: tuple[Callable[[Case], Finding | None], ...] = (
    keyword_name,
    nameless,
    comma_before_parenthesis,
    joined_sources,
    share_without_braces,
    wrong_closer,
    superfluous_closer,
    mark_in_name,
    bare_number,
    operator_in_words,
    doubled_equals,
    comparison,
    assigned_size,
    constants_with_commas,
    constant_without_equals,
    misspelt_where,
    foreign_pool,
    letters_behind_number,
    activation_before_size,
    items_without_comma,
    several_sources,
    arrows_between,
    markup,
    foreign_characters,
    source_without_from,
    second_activation,
    values_without_comma,
)


@rule("NS026", "error", on="network")
def unexpected_text(network: Network, _: Network) -> Iterator[Finding]:
    """Everything the parser could not place; each stretch once."""
    doubts = network.doubts
    if not doubts.broken or doubts.foreign:
        return
    declarations = network.specification.declarations
    for declaration, before in zip(declarations, (None, *declarations), strict=False):
        if declaration in doubts.debris.covered:
            continue
        if declaration in doubts.debris.culprits:
            finding = continuation(declaration, doubts.debris.culprits[declaration], network)
            if finding is not None:
                yield finding
        elif not is_unknown(declaration) and not moved(declaration, before):
            yield from unexpected_in(declaration, network)
        if declaration.kind == "stray":
            yield from stray_brace(declaration, network)
    for group, (inside, stray) in doubts.debris.displaced.items():
        if doubts.explained(inside):
            continue
        yield displaced(group, inside, stray, network)


def moved(declaration: Declaration, before: Declaration | None) -> bool:
    """Whether it is an activation behind a layer's braces, which NS016 tells."""
    last = before.items[-1] if before is not None and before.items else None
    return isinstance(last, LayerItem) and lone_activation(declaration) is not None


def is_unknown(declaration: Declaration) -> bool:
    """Whether a declaration's keyword is no keyword at all, so that its rest means nothing."""
    keyword = declaration.keyword
    unknown = declaration.kind == "unknown" and keyword is not None
    meant = section_meant(keyword.text if keyword else "")
    return unknown and (meant is None or meant == "share")


def unexpected_in(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """The findings for the unreadable stretches of one declaration."""
    told = [curly_size(item, declaration, network) for item in declaration.items]
    told += [
        bare_value(declaration, attribute, network) for attribute in attributes_of(declaration)
    ]
    told += bracketless_tuples(declaration, network)
    told += Gaps(declaration).lost_values()
    end = -1
    for fault in sorted(declaration.faults, key=lambda fault: fault.start):
        if fault.kind != "unexpected" or not fault.tokens:
            continue
        inside = any(span and span[0] <= fault.start < span[1] for span in told)
        if inside or fault.start <= end or network.doubts.marked(declaration, fault):
            continue
        end = declaration.end if unreadable_filter(fault) else fault.end + 1
        case = Case(declaration, fault, network)
        found = (explain(case) for explain in EXPLANATIONS)
        yield next((finding for finding in found if finding is not None), None) or anything(case)


def stray_brace(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """A `}` that closes nothing."""
    if network.specification.text(declaration, 0, declaration.end) in ("}", "｝"):
        place = Place(declaration, 0, declaration.end)
        repair = Repair("Delete the '}'", [Change(place, "")], safe=True)
        message = "Unexpected '}': no '{' is open here that it could close."
        yield Finding("NS001", place, message, repair=repair)


def continuation(declaration: Declaration, before: Declaration, network: Network) -> Finding | None:
    """The finding for text that goes on where a declaration should have ended."""
    last = before.items[-1] if before.items else None
    if isinstance(last, LayerItem) and not last.bundles and says_from(last):
        return None
    empty = EMPTY_PARENTHESES.match(network.specification.text(declaration, 0, declaration.end))
    if empty and isinstance(last, LayerItem) and last.activation is not None:
        return called_activation(Place(declaration, 0, empty.end()))
    if isinstance(last, LayerItem) and is_unconnected(before, last):
        return missing_from(declaration, before, last)
    item = declaration.items[0] if declaration.items else None
    if isinstance(item, WordItem) and is_activation(item.word.text):
        return None
    if isinstance(item, BundleItem) and isinstance(last, LayerItem) and last.bundles:
        return second_bundle(declaration, item, before, last)
    text = network.specification.text(before, 0, before.end)
    word = LAST_WORD.search(text)
    if word and word[1].lower() in WORD_OPERATORS:
        end = before.end - len(text) + word.end(1)
        return word_operator(Place(before, end - len(word[1]), end), word[1])
    first = FIRST_TOKEN.match(network.specification.text(declaration, 0, declaration.end))
    token = first[0] if first else ""
    place = Place(declaration, 0, len(token.encode("utf-8")))
    if token.lower() in WORD_OPERATORS:
        return word_operator(place, token)
    message = f"'{token}' is not allowed here."
    if isinstance(item, LayerItem):
        message += " Every declaration ends with ';' and begins with a keyword."
    return Finding("NS026", place, message)


def missing_from(declaration: Declaration, before: Declaration, layer: LayerItem) -> Finding:
    """The finding for `output O [2] softmax H all;`."""
    place = Place(declaration, 0, 0)
    name = layer.activation
    if name is not None and name.text.lower() in ACTIVATION_ATTRIBUTES:
        message = f"Unknown activation '{name.text}'. Write the activation's own name alone."
        return Finding("NS017", Place.of(before, name), message)
    if name is not None and not is_activation(name.text):
        place = Place.of(before, name)
    repair = Repair("Insert 'from'", [Change(place.before(), "from ")], safe=True)
    message = f"Layer '{layer.name.text}' needs 'from' before its source."
    return Finding("NS018", place, message, repair=repair)


def word_operator(place: Place, word: str) -> Finding:
    """The finding for `and`, `or`, `not`."""
    operator = WORD_OPERATORS[word.lower()]
    repair = None
    if operator != "!":  # `!` binds more tightly than a comparison, `not` in other languages less
        repair = Repair(f"Replace by '{operator}'", [Change(place, operator)], safe=True)
    return Finding("NS026", place, f"'{word}' is no operator; write '{operator}'.", repair=repair)


def second_bundle(
    declaration: Declaration, item: BundleItem, before: Declaration, layer: LayerItem
) -> Finding:
    """The finding for a second `from` of a layer without braces."""
    place = Place.of(declaration, item.keyword)
    repair = None
    if layer.body is None:
        changes = [
            Change(Place.of(before, layer.bundles[0]).before(), "{ "),
            Change(Place(before, before.end, before.end), ";"),
            Change(Place(declaration, declaration.end, declaration.end), " }"),
        ]
        repair = Repair("Put the connections in braces", changes, safe=True)
    message = "'from' is not allowed here: a layer with several connections puts them in braces."
    return Finding("NS026", place, message, repair=repair)


def displaced(
    group: Declaration, inside: Declaration, stray: Declaration, network: Network
) -> Finding:
    """The finding for a declaration in the middle of a group."""
    word = FIRST_TOKEN.match(network.specification.text(inside, 0, inside.end))
    name = word[0] if word else "this"
    place = Place(inside, 0, len(name.encode("utf-8")))
    keyword = group.keyword.text if group.keyword else "group"
    message = f"'{name}' is not allowed here: it stands inside '{keyword} {{ }}'."
    notes = []
    if group.group is not None:
        opener = Place(group, group.group[0], group.group[0] + 1)
        notes.append(Note("The group opened here goes on to the '}' below.", opener))
    if inside.items and isinstance(inside.items[0], BundleItem):
        message = f"'{name}' is not allowed here: it stands inside the braces of another one."
        return Finding("NS026", place, message)
    changes = [
        Change(Place(group, group.end, group.end), "\n}"),
        Change(Place(stray, 0, stray.end), ""),
    ]
    repair = Repair(f"Close '{keyword} {{' before '{name}'", changes, safe=True)
    return Finding("NS026", place, message, notes, repair)
