"""`share { A, B }` written as shares of connections and of biases, and back."""

from __future__ import annotations

from netsharp_lsp.ide.answers import Action
from netsharp_lsp.netsharp.meaning.counts.sharing import shared_groups
from netsharp_lsp.netsharp.meaning.values.attributes import WEIGHTED_KINDS
from netsharp_lsp.netsharp.repairs.restructuring import removed
from netsharp_lsp.text.edits import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.ide.refactorings.site import Site
    from netsharp_lsp.netsharp.meaning.model import Layer, Share

KIND = "refactor.rewrite.share"


def rewritten_shares(site: Site) -> Iterator[Action]:
    """Yield the other form of the share at a site, where it means the same."""
    found = [share for share in site.network.shares if share.declaration is site.declaration]
    if not found or len(found[0].entries) < 2 or _has_comment(site, found[0]):
        return
    share = found[0]
    kinds = {entry.what for entry in share.entries}
    if kinds == {"layer"}:
        yield from _lengthened(site, share)
    elif len(kinds) == 1:
        yield from _shortened(site, share)


def _lengthened(site: Site, share: Share) -> Iterator[Action]:
    layers = _plain_layers(share)
    if layers is None or not _is_sound(site, layers, [share]):
        return
    base = site.node_path.base
    names = ", ".join(f"{layer.bundles[0].source_name} => {layer.name}" for layer in layers)
    lines = [f"share {{ {names} }}"]
    if layers[0].has_biases:
        lines.append("share { " + ", ".join(f"1 => {layer.name}" for layer in layers) + " }")
    line = site.network.specification.line_end + site.indent_of(base)
    text = (line if site.begins_line(base) else " ").join(lines)
    edit = Edit(base, base + share.declaration.end, text)
    what = "connections and biases" if len(lines) > 1 else "connections"
    yield Action(f"Name the {what} that are shared", KIND, (edit,))


def _shortened(site: Site, share: Share) -> Iterator[Action]:
    layers = _plain_layers(share)
    if layers is None:
        return
    other = _counterpart(site, share, layers)
    if other is None and (layers[0].has_biases or share.entries[0].what == "biases"):
        return
    if other is not None and (other.declaration.faults or _has_comment(site, other)):
        return
    if not _is_sound(site, layers, [share, other]):
        return
    starts = site.network.specification.starts
    both = [one.declaration for one in (share, other) if one is not None]
    first, *rest = sorted(both, key=lambda declaration: starts[declaration])
    text = "share { " + ", ".join(layer.name for layer in layers) + " }"
    edits = [Edit(starts[first], starts[first] + first.end, text)]
    edits += [site.removal(removed(one, 0, one.end)) for one in rest]
    yield Action("Share whole layers", KIND, tuple(edits))


def _plain_layers(share: Share) -> list[Layer] | None:
    """Return the layers of a share if each is in it once and has one connection with weights."""
    layers = [entry.layer for entry in share.entries if entry.layer is not None]
    plain = all(
        layer.trainable
        and layer.first
        and len(layer.bundles) == 1
        and layer.bundles[0].kind in WEIGHTED_KINDS
        and layer.bundles[0].source is not None
        for layer in layers
    )
    counted = len(set(layers)) == len(layers) == len(share.entries)
    return layers if plain and counted and _is_exact(share) else None


def _is_sound(site: Site, layers: list[Layer], shares: list[Share | None]) -> bool:
    """Return whether the layers share all that they have, and nothing by other shares."""
    groups = shared_groups(site.network)
    weights = {groups.bundle_leader.get(layer.bundles[0]) for layer in layers}
    biased = {layer.has_biases for layer in layers}
    biases = {groups.bias_leader.get(layer) for layer in layers}
    others = (share for share in site.network.shares if share not in shares)
    apart = not any(entry.layer in layers for share in others for entry in share.entries)
    whole = weights != {None} and len(weights) == len(biased) == len(biases) == 1
    return apart and whole and (biases != {None}) == (biased == {True})


def _is_exact(share: Share) -> bool:
    """Return whether every entry that names a connection names the only one there is."""
    return all(entry.bundle is not None for entry in share.entries if entry.what == "bundle")


def _counterpart(site: Site, share: Share, layers: list[Layer]) -> Share | None:
    """Return the share of the same layers' biases, or of their connections."""
    wanted = "biases" if share.entries[0].what == "bundle" else "bundle"
    for other in site.network.shares:
        alike = all(entry.what == wanted for entry in other.entries) and _is_exact(other)
        same = {entry.layer for entry in other.entries} == set(layers)
        if other is not share and alike and same and len(other.entries) == len(layers):
            return other
    return None


def _has_comment(site: Site, share: Share) -> bool:
    """Return whether a comment is in a share, or one suppresses its diagnostics."""
    base = site.network.specification.starts[share.declaration]
    span = base, base + share.declaration.end
    return site.has_comment(*span) or site.is_silenced(*span)
