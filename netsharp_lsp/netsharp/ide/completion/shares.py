"""Proposals inside a share: layers, connections or biases that fit those named before them."""

from __future__ import annotations

from netsharp_lsp.netsharp.ide.completion.connections import layer_detail
from netsharp_lsp.netsharp.ide.completion.place import Proposal
from netsharp_lsp.netsharp.ide.templates import Template
from netsharp_lsp.netsharp.meaning.attributes import WEIGHTED_KINDS
from netsharp_lsp.netsharp.meaning.sharing import biases_differ, bundle_differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.ide.completion.place import Cursor
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer

#: Conditions are compared by their text here, not by their edges.
FEW_EVALUATIONS = 1


def shares_opened(cursor: Cursor) -> Iterator[Proposal]:
    """Behind `share`."""
    template = Template("{ ").hole("H1").add(", ").hole("H2").add(" }")
    yield Proposal("{ …, … }", "snippet", template, topic="keyword:share")


def shares(cursor: Cursor) -> Iterator[Proposal]:
    """An entry of a share, in the form of the first one."""
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
    """The connection that the first entry means."""
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
    for layer in cursor.network.layers.values():
        one = len(layer.bundles) == 1 and layer.name not in words
        if one and _weighted(layer) and _alike(first, layer.bundles[0], cursor):
            yield Proposal(
                layer.name, "layer", detail=layer_detail(layer), topic=f"layer:{layer.name}"
            )


def _bundles(cursor: Cursor, words: list[str]) -> Iterator[Proposal]:
    first = _first_bundle(cursor, words)
    taken = {
        (words[position - 1], words[position + 1])
        for position in range(1, len(words) - 1)
        if words[position] == "=>"
    }
    for layer in cursor.network.layers.values():
        for bundle in _weighted(layer):
            pair = (bundle.source_name, layer.name)
            if pair not in taken and _alike(first, bundle, cursor):
                yield Proposal(
                    " => ".join(pair),
                    "layer",
                    detail=f"weights, {bundle.kind}",
                    topic=f"layer:{layer.name}",
                )


def _biases(cursor: Cursor, words: list[str]) -> Iterator[Proposal]:
    first = cursor.network.layers.get(words[2]) if len(words) > 2 else None
    for layer in cursor.network.layers.values():
        fits = first is None or not biases_differ(first, layer)
        if fits and layer.has_biases and layer.name not in words:
            yield Proposal(
                f"1 => {layer.name}", "layer", detail="biases", topic=f"layer:{layer.name}"
            )


def _destinations(cursor: Cursor, source: str) -> Iterator[Proposal]:
    """Behind `=>`: the layers that read the source, or that have biases."""
    for layer in cursor.network.layers.values():
        reads = any(bundle.source_name == source for bundle in _weighted(layer))
        if reads or (source == "1" and layer.has_biases):
            yield Proposal(
                layer.name, "layer", detail=layer_detail(layer), topic=f"layer:{layer.name}"
            )
