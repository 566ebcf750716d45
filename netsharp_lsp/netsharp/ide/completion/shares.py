"""Proposals inside a share: layers, connections or biases that fit those named before them."""

from __future__ import annotations

from operator import attrgetter

from netsharp_lsp.netsharp.ide.completion.connections import layer_detail
from netsharp_lsp.netsharp.ide.completion.nearness import MOST, chosen, nearest
from netsharp_lsp.netsharp.ide.completion.place import Proposal
from netsharp_lsp.netsharp.ide.completion.templates import Template
from netsharp_lsp.netsharp.meaning.counts.sharing import biases_differ, bundle_differences
from netsharp_lsp.netsharp.meaning.values.attributes import WEIGHTED_KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from netsharp_lsp.netsharp.ide.completion.place import Cursor
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer

#: Conditions are compared by their text here, not by their edges.
FEW_EVALUATIONS = 1


def shares_opened(cursor: Cursor) -> Iterator[Proposal]:
    """Yield the braces after `share`."""
    template = Template("{ ").hole("H1").add(", ").hole("H2").add(" }")
    yield Proposal("{ …, … }", "snippet", template, topic="keyword:share")


def shares(cursor: Cursor) -> Iterator[Proposal]:
    """Yield entries of a share, in the form of the first one."""
    words = cursor.situation.entries
    if words and words[-1] not in (",", "=>"):
        return
    if words[-1:] == ["=>"]:
        yield from _destinations(cursor, words[-2] if len(words) > 1 else "")
        return
    form = words[0] if "=>" in words else ""
    if not words or "=>" not in words:
        yield from _layers(cursor, words)
    if not words or (form and form != "1"):
        yield from _bundles(cursor, words)
    if not words or form == "1":
        yield from _biases(cursor, words)


def _weighted(layer: Layer) -> list[Bundle]:
    return [bundle for bundle in layer.bundles if bundle.kind in WEIGHTED_KINDS]


def _first_bundle(cursor: Cursor, words: list[str]) -> Bundle | None:
    """Return the connection of the first entry."""
    if not words:
        return None
    paired = words[1:2] == ["=>"] and len(words) > 2
    layer = cursor.network.layers.get(words[2] if paired else words[0])
    if layer is None:
        return None
    source = words[0] if paired else None
    found = [bundle for bundle in layer.bundles if source in (None, bundle.source_name)]
    return found[0] if len(found) == 1 else None


def _alike(first: Bundle | None, bundle: Bundle, cursor: Cursor) -> bool:
    if first is None:
        return True
    return not any(bundle_differences(first, bundle, cursor.network, FEW_EVALUATIONS))


def _layers(cursor: Cursor, words: list[str]) -> Iterator[Proposal]:
    first = _first_bundle(cursor, words)

    def fits(layer: Layer) -> bool:
        one = len(layer.bundles) == 1 and layer.name not in words
        return one and bool(_weighted(layer)) and _alike(first, layer.bundles[0], cursor)

    for layer in _chosen_layers(cursor, fits):
        yield Proposal(layer.name, "layer", detail=layer_detail(layer), topic=f"layer:{layer.name}")


def _near(cursor: Cursor) -> Iterable[Layer]:
    """Return the layers: as they are declared, or, where they are many, the nearest first."""
    known = cursor.network.layers
    few = len(known) <= MOST
    return known.values() if few else nearest(cursor, cursor.network.all_layers)


def _chosen_layers(cursor: Cursor, fits: Callable[[Layer], bool]) -> Iterator[Layer]:
    return chosen(cursor, _near(cursor), attrgetter("name"), fits)


def _bundles(cursor: Cursor, words: list[str]) -> Iterator[Proposal]:
    first = _first_bundle(cursor, words)
    taken = {
        (words[position - 1], words[position + 1])
        for position in range(1, len(words) - 1)
        if words[position] == "=>"
    }

    def fits(bundle: Bundle) -> bool:
        pair = (bundle.source_name, bundle.layer.name)
        return pair not in taken and _alike(first, bundle, cursor)

    bundles = (bundle for layer in _near(cursor) for bundle in _weighted(layer))
    for bundle in chosen(cursor, bundles, _pair, fits):
        yield Proposal(
            _pair(bundle),
            "layer",
            detail=f"weights, {bundle.kind}",
            topic=f"layer:{bundle.layer.name}",
        )


def _pair(bundle: Bundle) -> str:
    return f"{bundle.source_name} => {bundle.layer.name}"


def _biases(cursor: Cursor, words: list[str]) -> Iterator[Proposal]:
    first = cursor.network.layers.get(words[2]) if len(words) > 2 else None

    def fits(layer: Layer) -> bool:
        free = layer.has_biases and layer.name not in words
        return free and (first is None or not biases_differ(first, layer))

    for layer in chosen(cursor, _near(cursor), _biases_of, fits):
        yield Proposal(_biases_of(layer), "layer", detail="biases", topic=f"layer:{layer.name}")


def _biases_of(layer: Layer) -> str:
    return f"1 => {layer.name}"


def _destinations(cursor: Cursor, source: str) -> Iterator[Proposal]:
    """Yield the layers that read the source, or that have biases, after `=>`."""

    def fits(layer: Layer) -> bool:
        reads = any(bundle.source_name == source for bundle in _weighted(layer))
        return reads or (source == "1" and layer.has_biases)

    for layer in _chosen_layers(cursor, fits):
        yield Proposal(layer.name, "layer", detail=layer_detail(layer), topic=f"layer:{layer.name}")
