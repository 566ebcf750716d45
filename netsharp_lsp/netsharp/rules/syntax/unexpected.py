"""Turns text that the parser could not place into findings."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Finding, Note, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.reading.expressions import attributes_of
from netsharp_lsp.netsharp.reading.gaps import Gaps
from netsharp_lsp.netsharp.reading.mistakes import (
    ACTIVATION_ATTRIBUTES,
    WORD_OPERATORS,
    is_unconnected,
    lacking,
    section_meant,
    unreadable_filter,
)
from netsharp_lsp.netsharp.reading.syntax import (
    FIRST_KIND_WORDS,
    BundleItem,
    LayerItem,
    WordItem,
)
from netsharp_lsp.netsharp.rules import DECLARATION, UNREPORTED, rule
from netsharp_lsp.netsharp.rules.syntax.brackets import bare_value
from netsharp_lsp.netsharp.rules.syntax.bundles import kind_meant
from netsharp_lsp.netsharp.rules.syntax.case import REACH, Case, blocks_of
from netsharp_lsp.netsharp.rules.syntax.explanations import (
    anything,
    arrows_between,
    assigned_size,
    bare_number,
    comma_before_parenthesis,
    comparison,
    foreign_characters,
    items_without_comma,
    joined_sources,
    keyword_name,
    mark_in_name,
    markup,
    nameless,
    operator_in_words,
    second_activation,
    several_sources,
    share_without_braces,
    source_without_from,
    superfluous_closer,
    word_operator,
)
from netsharp_lsp.netsharp.rules.syntax.layers import (
    has_misspelt_from,
    is_activation,
    lone_activation,
)
from netsharp_lsp.netsharp.rules.syntax.neighbours import (
    activation_before_size,
    called_activation,
    constant_without_equals,
    constants_with_commas,
    doubled_equals,
    foreign_pool,
    letters_after_number,
    misspelt_where,
    values_without_comma,
    wrong_closer,
)
from netsharp_lsp.netsharp.rules.syntax.tuples import bracketless_tuples, curly_size
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Declaration

LAST_WORD = late(r"(?<![A-Za-z])([A-Za-z]++)\s*+\Z")
EMPTY_PARENTHESES = late(r"\(\s*\)")
#: Up to three words or marks.
WORDS_AHEAD = late(r"(\w+|[^\w\s]+)\s*(\w*|[^\w\s]+)\s*(\w*|[^\w\s]+)")
#: What is in the place of `from`.
INSTEAD_OF_FROM = frozenset(("to", "of", "with", "by", "on", "->", "<-", "<<"))
FIRST_TOKEN = late(r"\w+|[^\w\s]+")


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
    letters_after_number,
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


@rule("NS026", "error", on=DECLARATION, rests=Rests.TEXT)
def unexpected_text(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report all text that the parser could not place; each stretch once."""
    doubts = network.doubts
    debris = doubts.debris
    if not doubts.broken or doubts.foreign:
        return
    odd = declaration.doubtful or declaration in debris.culprits
    if odd and declaration not in debris.covered:
        yield from unexpected_here(declaration, network)
    if declaration in debris.interrupting and not doubts.explained(declaration):
        group, stray = debris.interrupting[declaration]
        yield displaced(group, declaration, stray, network)


@rule("NS026", "error", on=UNREPORTED, rests=Rests.TEXT)
def unreadable_text(network: Network, _network: Network) -> Iterator[Finding]:
    """Report the first fault of a text in which no rule has found any."""
    doubtful = network.specification.doubtful
    declaration = next((one for one in doubtful if one.faults), None)
    if declaration is not None:
        place = RelativeSpan.of(declaration, declaration.faults[0])
        yield Finding("NS026", place, "The text cannot be read from here on.")


def unexpected_here(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Yield the findings for one declaration that no other explains."""
    culprits = network.doubts.debris.culprits
    before = network.specification.before(declaration)
    if declaration in culprits:
        finding = continuation(declaration, culprits[declaration], network)
        if finding is not None:
            yield finding
    elif not is_unknown(declaration) and not moved(declaration, before):
        yield from unexpected_in(declaration, network)
    if declaration.kind == "stray":
        yield from stray_brace(declaration, network)


def moved(declaration: Declaration, before: Declaration | None) -> bool:
    """Return whether it is an activation after a layer's braces, which NS016 reports."""
    last = before.items[-1] if before is not None and before.items else None
    return isinstance(last, LayerItem) and lone_activation(declaration) is not None


def is_unknown(declaration: Declaration) -> bool:
    """Return whether a declaration's keyword is unknown, so that its rest means nothing."""
    keyword = declaration.keyword
    unknown = declaration.kind == "unknown" and keyword is not None
    meant = section_meant(keyword.text if keyword else "")
    return unknown and (meant is None or meant == "share")


def unexpected_in(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Yield the findings for the unparsed stretches of one declaration."""
    findings = [curly_size(item, declaration, network) for item in declaration.items]
    findings += [
        bare_value(declaration, attribute, network) for attribute in attributes_of(declaration)
    ]
    findings += bracketless_tuples(declaration, network)
    findings += Gaps(declaration).lost_values()
    spans = sorted((span for span in findings if span), reverse=True)
    blocks = blocks_of(declaration)
    end = until = -1
    for fault in sorted(declaration.faults, key=lambda fault: fault.start):
        if fault.kind != "unexpected" or not fault.tokens:
            continue
        while spans and spans[-1][0] <= fault.start:
            until = max(until, spans.pop()[1])
        if fault.start < until or fault.start <= end or network.doubts.marked(declaration, fault):
            continue
        end = declaration.end if unreadable_filter(fault) else fault.end + 1
        case = Case(declaration, fault, network, blocks)
        found = (explain(case) for explain in EXPLANATIONS)
        yield next((finding for finding in found if finding is not None), None) or anything(case)


def stray_brace(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report a `}` that closes nothing."""
    if network.specification.text(declaration, 0, declaration.end) in ("}", "｝"):
        place = RelativeSpan(declaration, 0, declaration.end)
        repair = Repair("Delete the '}'", [Change(place, "")], safe=True)
        message = "Unexpected '}': no '{' is open here that it could close."
        yield Finding("NS001", place, message, repair=repair)


def continuation(declaration: Declaration, before: Declaration, network: Network) -> Finding | None:
    """Return the finding for text that continues where a declaration should have ended."""
    last = before.items[-1] if before.items else None
    if isinstance(last, LayerItem) and not last.bundles and has_misspelt_from(last):
        return None
    empty = EMPTY_PARENTHESES.match(network.specification.text(declaration, 0, declaration.end))
    if empty and isinstance(last, LayerItem) and last.activation is not None:
        return called_activation(RelativeSpan(declaration, 0, empty.end()))
    if isinstance(last, LayerItem) and is_unconnected(before, last):
        return missing_from(declaration, before, last, network)
    item = declaration.items[0] if declaration.items else None
    if isinstance(item, WordItem) and is_activation(item.word.text):
        return None
    if isinstance(item, BundleItem) and isinstance(last, LayerItem) and last.bundles:
        return second_bundle(declaration, item, before, last)
    text = network.specification.text(before, max(0, before.end - REACH), before.end)
    word = LAST_WORD.search(text)
    if word and word[1].lower() in WORD_OPERATORS:
        end = before.end - len(text) + word.end(1)
        return word_operator(RelativeSpan(before, end - len(word[1]), end), word[1])
    first = FIRST_TOKEN.match(network.specification.text(declaration, 0, declaration.end))
    token = first[0] if first else ""
    place = RelativeSpan(declaration, 0, len(token.encode("utf-8")))
    if token.lower() in WORD_OPERATORS:
        return word_operator(place, token)
    message = f"'{token}' is not allowed here."
    if isinstance(item, LayerItem):
        message += " Every declaration ends with ';' and begins with a keyword."
    return Finding("NS026", place, message)


def missing_from(
    declaration: Declaration, before: Declaration, layer: LayerItem, network: Network
) -> Finding:
    """Return the finding for `output O [2] softmax H all;`."""
    place = RelativeSpan(declaration, 0, 0)
    text = network.specification.text(declaration, 0, min(declaration.end, REACH))
    name = layer.activation
    if name is not None and name.text.lower() in ACTIVATION_ATTRIBUTES:
        message = f"Unknown activation '{name.text}'. Write the activation's own name alone."
        return Finding("NS017", RelativeSpan.of(before, name), message)
    if name is not None and not is_activation(name.text):
        place = RelativeSpan.of(before, name)
    message = f"Layer '{layer.name.text}' needs 'from' before its source."
    words = WORDS_AHEAD.match(text)
    if words is not None and words[1].lower() in INSTEAD_OF_FROM and leads_on(words[2], words[3]):
        place = RelativeSpan(declaration, 0, len(words[1]))
        repair = Repair("Replace by 'from'", [Change(place, "from")], safe=True)
        return Finding("NS018", place, f"{message[:-1]}; found '{words[1]}'.", repair=repair)
    first = FIRST_TOKEN.match(text)
    candidates = (first[0] if first else "", name.text if name is not None else "")
    has = next((sentence for sentence in map(lacking, candidates) if sentence), None)
    if has is not None:
        return Finding("NS018", place, f"{message} {has}")
    sure = words is not None and leads_on(words[1], words[2])
    repair = Repair("Insert 'from'", [Change(place.before(), "from ")], safe=sure)
    return Finding("NS018", place, message, repair=repair)


def leads_on(source: str, kind: str) -> bool:
    """Return whether two words are a source and a kind of connection, or one of the two."""
    kinds = ("", ";", *FIRST_KIND_WORDS)
    return source[:1].isalpha() and (kind.lower() in kinds or kind_meant(kind) is not None)


def second_bundle(
    declaration: Declaration, item: BundleItem, before: Declaration, layer: LayerItem
) -> Finding:
    """Return the finding for a second `from` of a layer without braces."""
    place = RelativeSpan.of(declaration, item.keyword)
    repair = None
    if layer.body is None:
        changes = [
            Change(RelativeSpan.of(before, layer.bundles[0]).before(), "{ "),
            Change(RelativeSpan(before, before.end, before.end), ";"),
            Change(RelativeSpan(declaration, declaration.end, declaration.end), " }"),
        ]
        repair = Repair("Put the connections in braces", changes, safe=True)
    message = "'from' is not allowed here: a layer with several connections puts them in braces."
    return Finding("NS026", place, message, repair=repair)


def displaced(
    group: Declaration, inside: Declaration, stray: Declaration, network: Network
) -> Finding:
    """Return the finding for a declaration in the middle of a group."""
    word = FIRST_TOKEN.match(network.specification.text(inside, 0, inside.end))
    name = word[0] if word else "this"
    place = RelativeSpan(inside, 0, len(name.encode("utf-8")))
    keyword = group.keyword.text if group.keyword else "group"
    message = f"'{name}' is not allowed here: it is inside '{keyword} {{ }}'."
    notes = []
    if group.group is not None:
        opener = RelativeSpan(group, group.group[0], group.group[0] + 1)
        notes.append(Note("The group opened here continues to the '}' below.", opener))
    if inside.items and isinstance(inside.items[0], BundleItem):
        message = f"'{name}' is not allowed here: it is inside the braces of another one."
        return Finding("NS026", place, message)
    changes = [
        Change(RelativeSpan(group, group.end, group.end), "\n}"),
        Change(RelativeSpan(stray, 0, stray.end), ""),
    ]
    repair = Repair(f"Close '{keyword} {{' before '{name}'", changes, safe=True)
    return Finding("NS026", place, message, notes, repair)
