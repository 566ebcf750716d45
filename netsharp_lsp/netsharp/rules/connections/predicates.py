"""Rules about the conditions of filtered bundles: what they connect and what they leave out."""

from __future__ import annotations

from netsharp_lsp.limits import CONDITION_EVALUATIONS
from netsharp_lsp.netsharp.findings import Change, Finding, Note, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.meaning.counts.predicates import EVALUATION_LIMIT, conjuncts, count_edges
from netsharp_lsp.netsharp.meaning.values.attributes import FILTERED
from netsharp_lsp.netsharp.reading.syntax import Binary, Index, Name, Number
from netsharp_lsp.netsharp.rules import BUNDLE, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.conditions.edges import Edges
    from netsharp_lsp.netsharp.meaning.model import Bundle
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Expression


def condition_place(bundle: Bundle) -> RelativeSpan:
    """Return the place of the condition."""
    predicate = bundle.item.predicate
    assert predicate is not None
    return RelativeSpan.of(bundle.declaration, predicate.condition)


def counted(bundle: Bundle, network: Network) -> Edges | None:
    """Return the edges of a filtered bundle whose condition is valid and was walked."""
    edges = count_edges(bundle, network)
    return edges if edges is not None and edges.count is not None else None


def written(index: tuple[int, ...]) -> str:
    """Return an index as Net# writes it."""
    return "[" + ", ".join(str(part) for part in index) + "]"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


@rule("NS048", "error", on=BUNDLE, kinds=FILTERED, rests=Rests.WORDS)
def condition_faults(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report all faults that keep a condition from having a value, whatever their code."""
    edges = count_edges(bundle, network)
    if edges is not None:
        yield from edges.faults


@rule("NS091", "error", on=BUNDLE, kinds=FILTERED)
def never_true(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a condition that connects nothing."""
    edges = counted(bundle, network)
    if edges is not None and edges.count == 0:
        message = "The condition is never true: no connections."
        yield Finding("NS091", condition_place(bundle), message)


@rule("NS092", "hint", on=BUNDLE, kinds=FILTERED)
def always_true(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a condition that connects everything."""
    edges = counted(bundle, network)
    if edges is None or bundle.source is None:
        return
    source, destination = bundle.source.nodes, bundle.layer.nodes
    if source is None or destination is None or edges.count != source * destination:
        return
    predicate = bundle.item.predicate
    assert predicate is not None
    place = condition_place(bundle)
    start, _end = bundle.item.kind_span
    replace = Change(RelativeSpan(bundle.declaration, start, predicate.end), "all")
    yield Finding(
        "NS092",
        place,
        "The condition is always true; use 'all'.",
        repair=Repair("Replace by 'all'", [replace], safe=True),
    )


@rule("NS093", "warning", on=BUNDLE, kinds=FILTERED)
def idle_destinations(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report destination nodes that the only bundle of their layer leaves without an edge.

    A note names the cause where the destination has the longer range of two that are compared.
    """
    edges = counted(bundle, network)
    if edges is None or not edges.count or len(bundle.layer.bundles) > 1:
        return
    differing = differing_ranges(bundle)
    if differing and not destination_is_longer(bundle, differing):
        return
    notes = [
        Note(f"{ranges(bundle, term, network)}.", RelativeSpan.of(bundle.declaration, term[0]))
        for term in differing
    ]
    idle, first = edges.empty_destinations()
    if first is not None:
        verb = "has" if idle == 1 else "have"
        output = "it outputs a constant" if idle == 1 else "they output a constant"
        nodes = plural(idle, "destination node")
        message = f"{nodes} {verb} no connection (first: {written(first)}); {output}."
        yield Finding("NS093", condition_place(bundle), message, notes)


def every_source_known(network: Network) -> bool:
    """Return whether every source is known: an unknown one may read the rest."""
    return network.every_source_known


@rule("NS094", "warning", on=BUNDLE, given=every_source_known, kinds=FILTERED)
def unread_sources(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report source nodes that the only bundle from their layer never reads."""
    if bundle.kind != "where" or bundle.source is None:
        return
    if any(other is not bundle for other in network.reads_of(bundle.source)):
        return
    edges = counted(bundle, network)
    if edges is None or not edges.count or differing_ranges(bundle):
        return
    unread, first = edges.unused_sources()
    if first is not None:
        verb = "is" if unread == 1 else "are"
        message = f"{plural(unread, 'source node')} {verb} never used (first: {written(first)})."
        yield Finding("NS094", condition_place(bundle), message)


def differing_ranges(bundle: Bundle) -> list[tuple[Binary, int, int]]:
    """Return the terms `s[i] == d[j]` over different ranges, with the two sizes."""
    predicate, source = bundle.item.predicate, bundle.source
    if predicate is None or source is None or not (source.shape and bundle.layer.shape):
        return []
    shapes = {predicate.source.text: source.shape, predicate.destination.text: bundle.layer.shape}
    found = []
    for term in conjuncts(predicate.condition):
        if isinstance(term, Binary) and term.operator == "==":
            left, right = index_range(term.left, shapes), index_range(term.right, shapes)
            if left and right and left[0] != right[0] and left[1] != right[1]:
                found.append((term, left[1], right[1]))
    return found


@rule("NS095", "warning", on=BUNDLE, kinds=FILTERED)
def ranges_differ(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report two indices that must be equal but have different ranges.

    Where nodes of the destination are left over, NS093 counts them and has this as a note.
    """
    differing = differing_ranges(bundle)
    alone = len(bundle.layer.bundles) == 1 and counted(bundle, network) is not None
    if alone and destination_is_longer(bundle, differing):
        return
    for term in differing:
        assert bundle.source is not None
        yield Finding(
            "NS095",
            RelativeSpan.of(bundle.declaration, term[0]),
            f"{ranges(bundle, term, network)}.",
            [Note(f"'{bundle.source.name}' is declared here.", bundle.source.place)],
        )


def destination_is_longer(bundle: Bundle, differing: list[tuple[Binary, int, int]]) -> bool:
    """Return whether the destination's range is the longer one in each of the terms."""
    predicate = bundle.item.predicate
    assert predicate is not None
    return bool(differing) and all(
        (left > right) == is_index_of(term.left, predicate.destination)
        for term, left, right in differing
    )


def is_index_of(node: Expression, parameter: Name) -> bool:
    """Return whether an expression is a parameter's index."""
    return (
        isinstance(node, Index)
        and isinstance(node.target, Name)
        and node.target.text == parameter.text
    )


def ranges(bundle: Bundle, term: tuple[Binary, int, int], network: Network) -> str:
    """Return the two ranges of a comparison in words."""
    binary, left, right = term
    first, second = (
        network.text(RelativeSpan.of(bundle.declaration, node))
        for node in (binary.left, binary.right)
    )
    return f"{first} runs 0..{left - 1} but {second} runs 0..{right - 1}"


def index_range(node: Expression, shapes: dict[str, tuple[int, ...]]) -> tuple[str, int] | None:
    """Return the parameter and the size of the dimension of `s[0]`; None for anything else."""
    if not isinstance(node, Index) or not isinstance(node.target, Name):
        return None
    shape, position = shapes.get(node.target.text), node.position
    if shape is None or not isinstance(position, Number):
        return None
    if not isinstance(position.value, int) or not 0 <= position.value < len(shape):
        return None
    return node.target.text, shape[position.value]


@rule("NS111", "warning", on=BUNDLE, kinds=FILTERED)
def too_many_evaluations(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a condition too costly to count while typing."""
    edges = count_edges(bundle, network)
    if edges is not None and edges.sound and edges.evaluations > EVALUATION_LIMIT:
        needs = f"The condition needs {edges.evaluations:,}"
        if edges.evaluations > CONDITION_EVALUATIONS.most:
            message = (
                f"{needs} of at most {CONDITION_EVALUATIONS}: `run` refuses it, unless it can be"
                " evaluated for whole ranges of nodes at once."
            )
        else:
            message = (
                f"{needs} evaluations (more than {EVALUATION_LIMIT:,}); it is counted by"
                " `describe`."
            )
        yield Finding("NS111", condition_place(bundle), message)


@rule("NS128", "hint", on=BUNDLE, kinds=FILTERED)
def unused_index(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report destination indices that the condition never reads: their nodes see equal sources."""
    edges = counted(bundle, network)
    predicate = bundle.item.predicate
    if edges is None or predicate is None or not edges.count:
        return
    unused = [i for i in edges.unused_destination_indices if edges.destination[i] > 1]
    if not unused or len(unused) == len(edges.destination):
        return
    name = predicate.destination.text
    indices = " and ".join(f"'{name}[{i}]'" for i in unused)
    one = len(unused) == 1
    verb, whose = ("is", "its") if one else ("are", "their")
    message = f"Index {indices} {verb} not used: all {whose} rows have equal edges."
    yield Finding("NS128", RelativeSpan.of(bundle.declaration, predicate.destination), message)
