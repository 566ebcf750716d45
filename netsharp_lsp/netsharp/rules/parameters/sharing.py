"""Rules on share declarations: what may be shared, and with what."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Finding, Note, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.meaning.counts.sharing import (
    biased_layer,
    biases_differ,
    bundle_differences,
    shared_bundle,
)
from netsharp_lsp.netsharp.meaning.values.attributes import NORM, POOLS
from netsharp_lsp.netsharp.reading.syntax import Name, Number
from netsharp_lsp.netsharp.repairs.restructuring import removed
from netsharp_lsp.netsharp.rules import NETWORK, SHARE, rule
from netsharp_lsp.netsharp.rules.parameters.weights import why_none

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle, Given, Layer, Share, ShareEntry
    from netsharp_lsp.netsharp.meaning.network import Network

UNTRAINED = (*POOLS, NORM)


def named(entry: ShareEntry) -> str:
    """Return an entry as it is written: H1, Data => H1, 1 => H1."""
    source = entry.item.source
    return entry.item.name.text if source is None else f"{source.text} => {entry.item.name.text}"


def trained(entry: ShareEntry) -> Layer | None:
    """Return the layer of an entry, None unless it is a hidden or output layer."""
    return entry.layer if entry.layer is not None and entry.layer.trainable else None


@rule("NS100", "error", on=SHARE, rests=Rests.UNDECLARED)
def not_a_layer(share: Share, network: Network) -> Iterator[Finding]:
    """Report a name in a share that is not a layer, or an input layer, which has no parameters."""
    taken = {entry.layer for entry in share.entries}
    for entry in share.entries:
        if entry.layer is None:
            name = entry.item.name
            hint = network.nearest_layer_but(name.text, taken, trainable=True)
            yield unknown_layer(share, name, hint)
        elif not entry.layer.trainable:
            place = RelativeSpan.of(share.declaration, entry.item.name)
            message = f"'{entry.layer.name}' in share is an input layer, which has no parameters."
            note = Note(f"'{entry.layer.name}' is declared here.", entry.layer.place)
            yield Finding("NS100", place, message, [note])
        if isinstance(entry.item.source, Number) and entry.item.source.text != "1":
            place = RelativeSpan.of(share.declaration, entry.item.source)
            message = (
                f"'{entry.item.source.text}' in share is not a layer; biases are written 1 => "
            )
            repair = Repair("Replace by 1", [Change(place, "1")], safe=True)
            yield Finding("NS100", place, f"{message}{entry.item.name.text}.", repair=repair)
        if isinstance(entry.item.source, Name) and entry.item.source.text not in network.layers:
            source = entry.item.source
            yield unknown_layer(share, source, network.nearest_layer_but(source.text, ()))


def unknown_layer(share: Share, name: Name, hint: str | None) -> Finding:
    """Return the finding for an unknown layer, and the one that may be meant."""
    place = RelativeSpan.of(share.declaration, name)
    message = f"'{name.text}' in share is not a layer."
    if hint is None:
        return Finding("NS100", place, message)
    repair = Repair(f"Replace by '{hint}'", [Change(place, hint)], safe=True)
    return Finding("NS100", place, f"{message} Did you mean '{hint}'?", repair=repair)


@rule("NS101", "error", on=SHARE, rests=Rests.LAYERS)
def lone_item(share: Share, network: Network) -> Iterator[Finding]:
    """Report a share with one item, or with none."""
    if not share.entries and share.declaration.group is not None:
        place = RelativeSpan(share.declaration, *share.declaration.group)
        yield Finding("NS101", place, "share needs at least two items; this one has none.")
    if len(share.entries) == 1:
        entry = share.entries[0]
        message = f"share needs at least two items; '{named(entry)}' is alone."
        yield Finding("NS101", entry.place, message)


@rule("NS103", "error", on=SHARE)
def several_connections(share: Share, network: Network) -> Iterator[Finding]:
    """Report the short form on a layer with several connections, which is ambiguous."""
    for entry in share.entries:
        if entry.what != "layer" or trained(entry) is None or entry.matches < 2:
            continue
        assert entry.layer is not None
        message = f"'{entry.layer.name}' has several connections; name the bundle as Source => "
        notes = [Note(f"From '{b.source_name}'.", b.source_place) for b in entry.layer.bundles]
        repair = spelt_out(share, network)
        sentence = f"{message}{entry.layer.name}."
        yield Finding("NS103", entry.place, sentence, notes, repair, also=[entry.layer.place])


def spelt_out(share: Share, network: Network) -> Repair | None:
    """Write the short form as shares of bundles and one of biases, if it is unambiguous."""
    layers = [trained(entry) for entry in share.entries if entry.what == "layer"]
    known = [layer for layer in layers if layer is not None]
    if len(known) != len(share.entries) or len(known) < 2:
        return None
    lines = []
    for bundles in counterparts(known, network):
        if len(bundles) != len(known):
            return None
        items = ", ".join(f"{bundle.source_name} => {bundle.layer.name}" for bundle in bundles)
        lines.append(f"share {{ {items} }}")
    if all(layer.has_biases for layer in known):
        lines.append("share { " + ", ".join(f"1 => {layer.name}" for layer in known) + " }")
    change = Change(RelativeSpan.of(share.declaration, share.declaration), "\n".join(lines))
    return Repair("Name each bundle", [change], safe=False)


def counterparts(layers: list[Layer], network: Network) -> Iterator[list[Bundle]]:
    """Yield for each bundle of the layer with the fewest the one of every layer that may share.

    A list is short where a layer has none that may, or several.
    """
    shortest = min(layers, key=lambda layer: len(layer.bundles))
    for number, bundle in enumerate(shortest.bundles):
        if bundle.kind in UNTRAINED:
            continue
        found = []
        for layer in layers:
            alike = [b for b in layer.bundles if not any(bundle_differences(bundle, b, network))]
            if len(layer.bundles) == len(shortest.bundles):
                alike = [b for b in alike if b is layer.bundles[number]]
            found += alike if len(alike) == 1 else []
        yield found


@rule("NS104", "error", on=SHARE)
def no_such_connection(share: Share, network: Network) -> Iterator[Finding]:
    """Report a bundle in a share that the layer does not have, or has twice."""
    for entry in share.entries:
        source, layer = entry.item.source, trained(entry)
        if entry.what != "bundle" or layer is None or not isinstance(source, Name):
            continue
        if entry.matches == 1 or source.text not in network.layers:
            continue
        number = "no" if entry.matches == 0 else "more than one"
        message = f"There is {number} connection from '{source.text}' to '{layer.name}'."
        notes = [
            Note(f"'{layer.name}' is connected from '{b.source_name}'.", b.source_place)
            for b in layer.bundles
            if entry.matches == 0 or b.source_name == source.text
        ]
        also = [layer.place, network.layers[source.text].place]
        yield Finding("NS104", entry.place, message, notes, also=also)


@rule("NS105", "error", on=SHARE)
def mixed_items(share: Share, network: Network) -> Iterator[Finding]:
    """Report layers, bundles and biases in one share."""
    entries = share.entries
    other = next((entry for entry in entries if entry.what != entries[0].what), None)
    if other is None:
        return
    note = Note(f"'{named(entries[0])}' names {kind_words(entries[0])}.", entries[0].place)
    message = f"One share cannot mix layers, bundles and biases: '{named(other)}' names "
    yield Finding("NS105", other.place, f"{message}{kind_words(other)}.", [note], unmixed(share))


def kind_words(entry: ShareEntry) -> str:
    """Return the kind of an entry in words."""
    return {"layer": "a layer", "bundle": "a bundle", "biases": "biases"}[entry.what]


def unmixed(share: Share) -> Repair | None:
    """Write one share per kind of item; where one would be alone, layers are named as bundles."""
    groups: dict[str, list[str]] = {}
    for entry in share.entries:
        groups.setdefault(entry.what, []).append(named(entry))
    place = RelativeSpan.of(share.declaration, share.declaration)
    if all(len(group) > 1 for group in groups.values()):
        lines = ["share { " + ", ".join(group) + " }" for group in groups.values()]
        return Repair("Split into one share each", [Change(place, "\n".join(lines))], safe=True)
    if set(groups) != {"layer", "bundle"}:
        return None
    changes = []
    for entry in share.entries:
        if entry.what == "layer" and entry.bundle is None:
            return None
        if entry.what == "layer" and entry.bundle is not None:
            text = f"{entry.bundle.source_name} => {entry.item.name.text}"
            changes.append(Change(entry.place, text))
    return Repair("Name each bundle", changes, safe=False)


@rule("NS107", "error", on=SHARE)
def nothing_to_share(share: Share, network: Network) -> Iterator[Finding]:
    """Report a pool or a norm in a share."""
    for entry in share.entries:
        bundle = entry.bundle if entry.what != "biases" else None
        layer = trained(entry)
        if bundle is not None and bundle.kind in UNTRAINED:
            message = f"'{named(entry)}': pooling and response norm have nothing to share."
            note = Note(f"This is a {bundle.kind}.", bundle.place)
            yield Finding("NS107", entry.place, message, [note])
        elif entry.what == "biases" and layer is not None and layer.only_summarises():
            message = f"'{named(entry)}': pooling and response norm have nothing to share."
            note = Note(f"This is a {layer.bundles[0].kind}.", layer.bundles[0].place)
            yield Finding("NS107", entry.place, message, [note])


@rule("NS102", "error", on=SHARE)
def unlike_items(share: Share, network: Network) -> Iterator[Finding]:
    """Report two bundles or layers of different structure."""
    entries = [entry for entry in share.entries if shared_bundle(entry) is not None]
    for entry in entries[1:]:
        first, second = shared_bundle(entries[0]), shared_bundle(entry)
        if first is None or second is None:
            continue
        sentences = [
            f"{what} differs ({left} against {right})"
            for what, left, right in bundle_differences(first, second, network)
        ]
        if sentences:
            message = f"'{named(entries[0])}' and '{named(entry)}' cannot share: {sentences[0]}."
            notes = [Note(f"Also {sentence}.", second.place) for sentence in sentences[1:]]
            notes.append(Note(f"'{named(entries[0])}' is declared here.", first.place))
            also = [first.place, second.place]
            yield Finding("NS102", entry.place, message, notes, also=also)


@rule("NS108", "error", on=SHARE)
def unlike_biases(share: Share, network: Network) -> Iterator[Finding]:
    """Report biases of layers of different sizes, or of a layer that has none."""
    entries = [entry for entry in share.entries if entry.what == "biases"]
    known = [layer for layer in map(biased_layer, entries) if layer is not None]
    for entry in entries:
        layer = trained(entry)
        if layer is None or not layer.bundles or layer.only_summarises():
            continue
        if not layer.has_biases and all(bundle.kind is not None for bundle in layer.bundles):
            message = f"Layer '{layer.name}' has no biases to share {why_none(layer)}."
            yield Finding("NS108", entry.place, message, also=[layer.place])
        elif known and biases_differ(known[0], layer):
            message = (
                f"Bias share needs equal sizes: '{known[0].name}' has {known[0].nodes} nodes, "
                f"'{layer.name}' {layer.nodes}."
            )
            note = Note(f"'{known[0].name}' is declared here.", known[0].size_place)
            also = [known[0].place, layer.place]
            yield Finding("NS108", entry.place, message, [note], also=also)


@rule("NS109", "error", on=SHARE)
def unlike_values(share: Share, network: Network) -> Iterator[Finding]:
    """Report different initial values given for one set of parameters."""
    first: dict[str, tuple[ShareEntry, Layer, Given]] = {}
    for entry in share.entries:
        bundle, layer = shared_bundle(entry), biased_layer(entry)
        owners = (
            ("Weights", bundle.layer if bundle else None, bundle.given if bundle else {}),
            ("Biases", layer, layer.given if layer else {}),
        )
        for name, owner, given in owners:
            if owner is None or name not in given:
                continue
            mention = (entry, owner, given[name])
            other = first.setdefault(name, mention)
            if unlike(other[2], given[name]):
                yield two_beginnings(name, other, mention)


def unlike(first: Given, second: Given) -> bool:
    """Return whether two lists of one length differ; NS096 or NS102 report other lengths."""
    a, b = first.value, second.value
    return isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) and a != b


def two_beginnings(
    name: str, first: tuple[ShareEntry, Layer, Given], second: tuple[ShareEntry, Layer, Given]
) -> Finding:
    """Return the finding for two lists of initial values."""
    what = "bundles" if name == "Weights" else "biases"
    words = [named(mention[0]) for mention in (first, second)]
    message = f"Shared {what} start from different {name}: '{words[0]}' and '{words[1]}'."
    notes = [
        Note(f"{name} of '{word}'.", RelativeSpan.of(layer.declaration, given.attribute))
        for word, (_, layer, given) in zip(words, (first, second), strict=True)
    ]
    also = [first[1].place, second[1].place]
    return Finding("NS109", second[0].place, message, notes, also=also)


@rule("NS106", "error", on=NETWORK)
def shared_twice(network: Network, _network: Network) -> Iterator[Finding]:
    """Report an item in two shares, or twice in one."""
    first: dict[tuple[str, Bundle | Layer], tuple[Share, ShareEntry]] = {}
    for share in network.shares:
        for entry in share.entries:
            items: list[tuple[str, Bundle | Layer]] = []
            bundle, layer = shared_bundle(entry), biased_layer(entry)
            if bundle is not None:
                items.append(("weights", bundle))
            if layer is not None:
                items.append(("biases", layer))
            earlier = [first[item] for item in items if item in first]
            for item in items:
                first.setdefault(item, (share, entry))
            if earlier:
                yield twice(share, entry, earlier[0], network)


def twice(
    share: Share, entry: ShareEntry, earlier: tuple[Share, ShareEntry], network: Network
) -> Finding:
    """Return the finding for a second mention, with a merger if both shares are of one kind."""
    message = f"'{named(entry)}' is already shared."
    note = Note(f"'{named(earlier[1])}' is shared here.", earlier[1].place)
    repair = merged(earlier[0], share, network) if earlier[0] is not share else None
    return Finding("NS106", entry.place, message, [note], repair)


def merged(first: Share, second: Share, network: Network) -> Repair | None:
    """Put the second share's items into the first one."""
    if len({entry.what for entry in (*first.entries, *second.entries)}) != 1:
        return None
    known = {named(entry) for entry in first.entries}
    added = [named(entry) for entry in second.entries if named(entry) not in known]
    changes = [removed(second.declaration, 0, second.declaration.end)]
    if added:
        changes.insert(0, Change(first.entries[-1].place.after(), "".join(f", {n}" for n in added)))
    return Repair("Merge the two shares", changes, safe=True)
