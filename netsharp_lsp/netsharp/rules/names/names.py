"""Rules about names: of constants, of layers and of the parameters of conditions."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Finding, Note, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.meaning.values.attributes import FILTERED
from netsharp_lsp.netsharp.reading.syntax import FIRST_KIND_WORDS
from netsharp_lsp.netsharp.repairs.restructuring import fresh_name, removed_item, renamed
from netsharp_lsp.netsharp.rules import BUNDLE, CONSTANT, LAYER, NETWORK, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle, Constant, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

#: How many members of a long circle are named.
SHOWN = 5


def circle_in_words(names: list[str]) -> str:
    """Return `X, Y, X`, shortened in the middle where it is long."""
    shown = names
    if len(names) > 2 * SHOWN:
        shown = [*names[:SHOWN], f"... ({len(names) - SHOWN:,} more)"]
    return ", ".join([*shown, names[0]])


@rule("NS031", "error", on=CONSTANT, rests=Rests.WORDS)
def constant_defined_twice(constant: Constant, network: Network) -> Iterator[Finding]:
    """Report a constant whose name an earlier one has."""
    first = network.constants[constant.name]
    if first is not constant:
        message = f"Constant '{constant.name}' is already defined; the first definition counts."
        yield Finding("NS031", constant.place, message, [Note("First defined here.", first.place)])


@rule("NS032", "error", on=NETWORK, rests=Rests.WORDS)
def constants_in_circle(network: Network, _network: Network) -> Iterator[Finding]:
    """Report constants that refer to each other in a cycle."""
    for circle in network.circular:
        first = circle.index(min(circle, key=lambda constant: constant.order))
        turned = circle[first:] + circle[:first]
        names = circle_in_words([constant.name for constant in turned])
        message = f"Constants refer to each other in a circle: {names}."
        if len(turned) == 1:
            message = f"Constant '{turned[0].name}' refers to itself."
        notes = [Note(f"'{c.name}' is part of it.", c.place) for c in turned[1 : 2 * SHOWN]]
        also = [constant.place for constant in turned]
        yield Finding("NS032", turned[0].place, message, notes, also=also)


@rule("NS033", "hint", on=CONSTANT, rests=Rests.NAME)
def constant_unused(constant: Constant, network: Network) -> Iterator[Finding]:
    """Report a constant that nothing refers to, conditions included."""
    doubled = network.constants[constant.name] is not constant
    if constant.value is None or doubled or network.is_used(constant):
        return
    removal = removed_item(constant.declaration, constant.item)
    message = f"Constant '{constant.name}' is never used."
    repair = Repair(f"Remove '{constant.name}'", [removal], safe=False)
    yield Finding("NS033", constant.place, message, repair=repair, also=[constant.place])


@rule("NS034", "warning", on=NETWORK)
def constant_named_like_layer(network: Network, _network: Network) -> Iterator[Finding]:
    """Report a name of both a constant and a layer."""
    for name in network.constants.keys() & network.layers.keys():
        constant, layer = network.constants[name], network.layers[name]
        new = fresh_name(network, name)
        changes = renamed(constant, new, network)
        repair = Repair(f"Rename the constant to '{new}'", changes, safe=False)
        note = Note(f"Layer '{name}' is declared here.", layer.place)
        message = f"'{name}' names both a constant and a layer."
        yield Finding("NS034", constant.place, message, [note], repair)


@rule("NS035", "error", on=BUNDLE, rests=Rests.UNDECLARED)
def source_undefined(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a connection from a layer that does not exist."""
    name, place = bundle.source_name, bundle.source_place
    if bundle.source is not None or not name or name[0].isdigit() or names_kind(bundle):
        return
    if name in network.constants:
        note = Note("The constant is defined here.", network.constants[name].place)
        message = f"Layer '{name}' is not defined; '{name}' is a constant."
        yield Finding("NS035", place, message, [note])
        return
    hint = network.nearest_layer(name)
    if hint is None or hint is bundle.layer or hint.kind == "output":
        yield Finding("NS035", place, f"Layer '{name}' is not defined.")
        return
    message = f"Layer '{name}' is not defined. Did you mean '{hint.name}'?"
    repair = Repair(f"Replace by '{hint.name}'", [Change(place, hint.name)], safe=True)
    yield Finding(
        "NS035", place, message, [Note(f"'{hint.name}' is declared here.", hint.place)], repair
    )


def names_kind(bundle: Bundle) -> bool:
    """Return whether the kind of a connection is in its source's place, which NS019 reports."""
    return bundle.kind is None and bundle.source_name in (*FIRST_KIND_WORDS, "from")


@rule("NS036", "error", on=LAYER, rests=Rests.NAME)
def layer_defined_twice(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report a layer whose name an earlier one has."""
    if layer.first or not layer.name:
        return
    first = network.layers[layer.name]
    new = fresh_name(network, layer.name)
    repair = Repair(f"Rename this layer to '{new}'", [Change(layer.place, new)], safe=False)
    message = f"Layer '{layer.name}' is already defined; connections mean the first one."
    note, also = Note("First defined here.", first.place), [layer.place, first.place]
    yield Finding("NS036", layer.place, message, [note], repair, also=also)


@rule("NS037", "warning", on=NETWORK, rests=Rests.WORDS)
def names_differ_in_case(network: Network, _network: Network) -> Iterator[Finding]:
    """Report two names that differ in case alone."""
    for lowered in network.clashing:
        spelt = network.declared_like(lowered)
        first, reported = spelt[0], {spelt[0].name}
        for one in spelt[1:]:
            if one.name in reported:
                continue
            reported.add(one.name)
            new = fresh_name(network, one.name)
            changes = renamed(one, new, network)
            repair = Repair(f"Rename '{one.name}' to '{new}'", changes, safe=False)
            message = f"'{one.name}' and '{first.name}' differ only in case."
            note = Note(f"'{first.name}' is declared here.", first.place)
            yield Finding("NS037", one.place, message, [note], repair)


@rule("NS038", "error", on=BUNDLE, kinds=FILTERED, rests=Rests.WORDS)
def parameters_equal(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a condition whose two parameters have one name."""
    predicate = bundle.item.predicate
    if predicate is None or not predicate.source.text:
        return
    name = predicate.source.text
    if name != predicate.destination.text:
        return
    place = RelativeSpan.of(bundle.declaration, predicate.destination)
    new = "d" if name != "d" else "d2"
    message = f"Predicate parameters must have two different names; both are '{name}'."
    note = Note("The source's parameter.", RelativeSpan.of(bundle.declaration, predicate.source))
    repair = Repair(f"Rename the destination's to '{new}'", [Change(place, new)], safe=False)
    yield Finding("NS038", place, message, [note], repair)
