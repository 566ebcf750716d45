"""Rules on the attributes of connections: which exist, which are needed, and their values."""

from __future__ import annotations

from netsharp_lsp.diagnostics.nearest import nearest
from netsharp_lsp.netsharp.arithmetic import counted
from netsharp_lsp.netsharp.findings import Change, Finding, Note, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.meaning.inforce import suits
from netsharp_lsp.netsharp.meaning.values.attributes import (
    BY_NAME,
    CONVOLVE,
    FORMS,
    KERNEL_KINDS,
    LAYER_FORMS,
)
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.reading.mistakes import is_half_typed, lacking, lacks_from
from netsharp_lsp.netsharp.repairs.proposals import proposed_value
from netsharp_lsp.netsharp.repairs.readings import (
    FIGURES,
    FILLERS,
    agrees,
    readings,
    settled,
    with_figures,
)
from netsharp_lsp.netsharp.repairs.restructuring import removed
from netsharp_lsp.netsharp.repairs.rewriting import (
    added_attribute,
    changed_entry,
    widened_tuple,
)
from netsharp_lsp.netsharp.rules import BUNDLE, LAYER, rule
from netsharp_lsp.netsharp.rules.syntax.layers import activation_attribute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.values.attributes import AttributeForm
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value
    from netsharp_lsp.netsharp.reading.syntax import Attribute, Declaration

#: How messages name the kinds of connection.
KIND_NAMES = {
    "all": "'all'",
    "where": "'where'",
    "convolve": "convolution",
    "max pool": "max pool",
    "mean pool": "mean pool",
    "response norm": "response norm",
}

#: The names of these attributes in other tools.
FOREIGN_NAMES = {
    "filtershape": "KernelShape",
    "filtersize": "KernelShape",
    "kernel": "KernelShape",
    "kernelsize": "KernelShape",
    "windowsize": "KernelShape",
    "poolsize": "KernelShape",
    "step": "Stride",
    "filters": "MapCount",
    "outputmaps": "MapCount",
    "outchannels": "MapCount",
    "nbfilters": "MapCount",
    "nfilters": "MapCount",
    "kernels": "MapCount",
    "strides": "Stride",
    "subsample": "Stride",
    "numfilters": "MapCount",
    "autopadding": "Padding",
    "pad": "Padding",
    "weightsharing": "Sharing",
    "includepad": "AvgOverFullKernel",
    "initialweights": "Weights",
}


def applicable(kind: str | None) -> list[AttributeForm]:
    """Return the attributes that a kind of connection takes."""
    return [form for form in FORMS if kind in form.kinds]


@rule("NS061", "error", on=LAYER, rests=Rests.WORDS)
def unknown_attribute(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report an attribute that no connection has, or no layer; of `all` NS020 reports it."""
    for bundle in layer.bundles:
        free = free_names(bundle)
        for attribute in unknown_attributes(bundle) if bundle.kind != "all" else ():
            hint = suggested_name(attribute.name.text, free)
            if is_attribute(attribute):
                fits = hint in free and may_be(bundle, attribute, hint, network)
                yield misnamed(layer.declaration, attribute, hint, hint in free, safe=fits)
    for attribute in filter(is_attribute, layer.item.attributes if layer.trainable else ()):
        form = BY_NAME.get(attribute.name.text.lower())
        place = RelativeSpan.of(layer.declaration, attribute.name)
        if form is not None:
            message = f"'{form.name}' belongs in the braces of a connection, not of a layer."
            yield Finding("NS061", place, message)
        elif attribute.name.text.lower() not in LAYER_FORMS and not is_activation(attribute):
            hint = nearest(attribute.name.text, ["Biases"])
            free_name = "Biases" not in layer.given
            yield misnamed(layer.declaration, attribute, hint, free_name, safe=True)


def is_attribute(attribute: Attribute) -> bool:
    """Return whether it has a value and is not a connection without `from`, a fault of syntax."""
    return attribute.value is not None and not lacks_from(attribute)


def is_activation(attribute: Attribute) -> bool:
    """Return whether an attribute tries to give the activation, which NS016 reports."""
    return activation_attribute(attribute) is not None


def unknown_attributes(bundle: Bundle) -> Iterator[Attribute]:
    """Yield the attributes of a bundle with unknown names."""
    for attribute in bundle.item.attributes:
        lowered = attribute.name.text.lower()
        if lowered not in BY_NAME and lowered not in LAYER_FORMS and not is_activation(attribute):
            yield attribute


def free_names(bundle: Bundle) -> list[str]:
    """Return the attributes that a bundle takes and does not have yet."""
    return [form.name for form in applicable(bundle.kind) if form.name not in bundle.given]


def suggested_name(word: str, free: list[str]) -> str | None:
    """Return the attribute most likely meant, of those still free if possible."""
    foreign = FOREIGN_NAMES.get(word.lower().replace("_", ""))
    if foreign in free:
        return foreign
    started = [name for name in free if name.lower().startswith(word.lower())]
    if len(started) == 1 and len(word) > 2:
        return started[0]
    return nearest(word, free) or nearest(word, [form.name for form in FORMS])


def may_be(bundle: Bundle, attribute: Attribute, name: str, network: Network) -> bool:
    """Return whether an attribute under another name would have no known fault."""
    if attribute.value is None:
        return False
    value = network.evaluate(bundle.declaration, attribute.value, lambda finding: None)
    form = BY_NAME[name.lower()]
    if value is None or not takes(form, value):
        return False
    rank = len(bundle.input_shape or ())
    if name not in FIGURES or not isinstance(value, tuple) or not rank:
        return True
    return len(value) == rank and agrees(bundle, {name: value}, unnamed=1)


def takes(form: AttributeForm, value: Value) -> bool:
    """Return whether a value has the type that an attribute requires."""
    if isinstance(value, tuple):
        return form.shape != "scalar" and all(suits(entry, form.element) for entry in value)
    return form.shape not in ("tuple", "list") and suits(value, form.element)


def misnamed(
    declaration: Declaration, attribute: Attribute, hint: str | None, free: bool, *, safe: bool
) -> Finding:
    """Return the finding for an unknown attribute, with its new name where that is still free."""
    place = RelativeSpan.of(declaration, attribute.name)
    message = f"Unknown attribute '{attribute.name.text}'."
    if hint is None:
        has = lacking(attribute.name.text)
        return Finding("NS061", place, f"{message} {has}" if has else message)
    repair = Repair(f"Rename to '{hint}'", [Change(place, hint)], safe=safe) if free else None
    return Finding("NS061", place, f"{message} Did you mean '{hint}'?", repair=repair)


@rule("NS014", "info", on=LAYER, rests=Rests.TEXT)
def odd_attribute_case(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report a known attribute in unusual capitals."""
    blocks = [(bundle.item.attributes, BY_NAME) for bundle in layer.bundles]
    for attributes, forms in (*blocks, (layer.item.attributes, LAYER_FORMS)):
        for attribute in attributes:
            form = forms.get(attribute.name.text.lower())
            if form is None or form.name == attribute.name.text:
                continue
            place = RelativeSpan.of(layer.declaration, attribute.name)
            message = f"Attribute '{attribute.name.text}' is normally written '{form.name}'."
            repair = Repair(f"Write '{form.name}'", [Change(place, form.name)], safe=True)
            yield Finding("NS014", place, message, repair=repair)


@rule("NS062", "error", on=LAYER, rests=Rests.WORDS)
def repeated_attribute(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report an attribute given a second time; the first mention is the one in force."""
    blocks = [(b.item.attributes, b.item.block, BY_NAME) for b in layer.bundles]
    blocks.append((layer.item.attributes, layer.item.body, LAYER_FORMS))
    for attributes, block, forms in blocks:
        first: dict[str, Attribute] = {}
        for attribute in attributes:
            form = forms.get(attribute.name.text.lower())
            if form is None or first.setdefault(form.name, attribute) is attribute:
                continue
            yield repeated(layer, form.name, (first[form.name], attribute), block, network)


def repeated(
    layer: Layer,
    name: str,
    mentions: tuple[Attribute, Attribute],
    block: tuple[int, int] | None,
    network: Network,
) -> Finding:
    """Return the finding for a second mention; removing it is safe where both are equal."""
    declaration, (first, second) = layer.declaration, mentions
    repair = None
    if block is not None:
        same = value_text(declaration, first, network) == value_text(declaration, second, network)
        change = removed(declaration, second.start, second.end)
        repair = Repair(f"Remove the second '{name}'", [change], safe=same)
    note = Note("The first one is here.", RelativeSpan.of(declaration, first.name))
    message = f"Attribute '{name}' is given twice; the first one counts."
    return Finding("NS062", RelativeSpan.of(declaration, second.name), message, [note], repair)


def value_text(declaration: Declaration, attribute: Attribute, network: Network) -> str:
    """Return the text of an attribute's value without blanks."""
    if attribute.value is None:
        return ""
    return "".join(network.text(RelativeSpan.of(declaration, attribute.value)).split())


@rule("NS063", "error", on=BUNDLE, kinds=KERNEL_KINDS)
def needed_attribute(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report an attribute without which there is no kernel, or no norm; the fix gives a value."""
    if not bundle.has_kernel or bundle.kind is None:
        return
    if any(map(is_half_typed, bundle.item.attributes)):
        return
    free = free_names(bundle)
    misspelt = {suggested_name(a.name.text, free) for a in unknown_attributes(bundle)}
    for form in FORMS:
        if bundle.kind not in form.required or form.name in misspelt:
            continue
        given = bundle.given.get(form.name)
        if given is not None and given.value != ():
            continue
        kind = KIND_NAMES[bundle.kind]
        value = proposed_value(bundle, form.name)
        if given is not None:
            message = f"{kind.capitalize()} needs at least one dimension in '{form.name}'."
            yield Finding("NS063", bundle.value_place(form.name), message)
            continue
        repair = None
        if value is not None:
            title = f"Insert {form.name} = {show(value)}"
            change = added_attribute(bundle, form.name, value, network)
            repair = Repair(title, [change], safe=is_declared(bundle, form.name, value))
        message = f"{kind.capitalize()} needs attribute '{form.name}'."
        yield Finding("NS063", bundle.place, message, repair=repair)


def is_declared(bundle: Bundle, name: str, value: Value) -> bool:
    """Return whether a proposed value is the source's declared shape and the kernels fit."""
    if name != "InputShape" or bundle.source is None or value != bundle.source.shape:
        return False
    if "KernelShape" not in bundle.given:
        return True
    assert isinstance(value, tuple)
    figures = {"InputShape": value}
    return with_figures(bundle, figures) is not None and agrees(bundle, figures)


@rule("NS064", "error", on=LAYER)
def foreign_attribute(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report a known attribute on a kind of connection that does not take it."""
    for bundle in layer.bundles:
        if bundle.kind is None or bundle.kind == "all":
            continue
        for attribute in bundle.item.attributes:
            lowered = attribute.name.text.lower()
            form = BY_NAME.get(lowered) or LAYER_FORMS.get(lowered)
            if form is None or bundle.kind in form.kinds or bundle.item.block is None:
                continue
            message = f"'{form.name}' does not apply to {KIND_NAMES[bundle.kind]} bundles"
            message += " but to a layer." if lowered in LAYER_FORMS else "."
            change = removed(layer.declaration, attribute.start, attribute.end)
            repair = Repair(f"Remove '{form.name}'", [change], safe=True)
            place = RelativeSpan.of(layer.declaration, attribute.name)
            yield Finding("NS064", place, message, repair=repair)


@rule("NS065", "error", on=BUNDLE, kinds=KERNEL_KINDS)
def wrong_rank(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a tuple with more or fewer entries than InputShape has."""
    if bundle.input_shape is None:
        return
    rank = len(bundle.input_shape)
    wrong = {
        name: entries
        for name in FILLERS
        if (entries := tuple_of(bundle, name)) is not None and len(entries) != rank
    }
    if not wrong:
        return
    possible = {name: readings(name, wrong[name], bundle.input_shape) for name in wrong}
    meant = settled(bundle, possible)
    for name, found in wrong.items():
        number = f"{len(found)} entr{'y' if len(found) == 1 else 'ies'}"
        message = (
            f"'{name}' has {number}; the bundle has {counted(rank, 'dimension')} (from InputShape)."
        )
        note = Note(f"InputShape is {show(bundle.input_shape)}.", bundle.value_place("InputShape"))
        repair = refilled(bundle, name, found, meant.get(name))
        yield Finding("NS065", bundle.value_place(name), message, [note], repair)


def tuple_of(bundle: Bundle, name: str) -> tuple[Value, ...] | None:
    """Return the entries of a given tuple; NS063 reports a kernel without any."""
    given = bundle.given.get(name)
    value = given.value if given is not None else None
    return value if isinstance(value, tuple) and (value or name != "KernelShape") else None


def refilled(
    bundle: Bundle, name: str, entries: tuple[Value, ...], meant: tuple[Value, ...] | None
) -> Repair | None:
    """Return the reading that agrees with the declared size, else neutral entries in front.

    Entries with an effect are not removed.
    """
    filler, rank = FILLERS[name], len(bundle.input_shape or ())
    missing = rank - len(entries)
    if missing <= 0:
        if any(entry != filler for entry in entries[:-rank]):
            return None
        rest = entries[-rank:]
        change = Change(bundle.value_place(name), show(rest))
        return Repair(f"Shorten to {show(rest)}", [change], safe=meant == rest)
    front = (filler,) * missing
    if meant is None or meant == front + entries:
        change = widened_tuple(bundle, name, missing, filler)
        return Repair(f"Put {show(front)[1:-1]} in front", [change], safe=meant is not None)
    change = Change(bundle.value_place(name), show(meant))
    return Repair(f"Replace by {show(meant)}", [change], safe=True)


@rule("NS069", "error", on=BUNDLE, kinds=KERNEL_KINDS)
def below_one(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a size or a step of zero or less, or a negative pad."""
    if not bundle.has_kernel:
        return
    for name in ("InputShape", "KernelShape", "Stride", "LowerPad", "UpperPad"):
        given = bundle.given.get(name)
        least = 0 if name.endswith("Pad") else 1
        if given is None or not isinstance(given.value, tuple):
            continue
        for dimension, entry in enumerate(given.value):
            if isinstance(entry, int) and entry < least:
                yield Finding(
                    "NS069",
                    bundle.entry_place(name, dimension),
                    f"{name}[{dimension}] must be at least {least}, found {entry}.",
                    repair=raised(bundle, name, dimension, least),
                )


def raised(bundle: Bundle, name: str, dimension: int, least: int) -> Repair:
    """Return the fix: the least value of an entry, or its value unsigned if the size needs that."""
    entries = bundle.given[name].value
    assert isinstance(entries, tuple)
    before, (entry, *after) = entries[:dimension], entries[dimension:]
    assert isinstance(entry, int)
    possible = [(*before, one, *after) for one in dict.fromkeys((least, max(-entry, least)))]
    meant = settled(bundle, {name: possible}).get(name)
    value = least if meant is None else meant[dimension]
    change = changed_entry(bundle, name, dimension, value)
    return Repair(f"Replace by {show(value)}", [change], safe=meant is not None)


@rule("NS070", "error", on=BUNDLE, kinds=KERNEL_KINDS)
def two_paddings(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report Padding beside explicit pads: the guide allows one of the two."""
    padding = bundle.given.get("Padding")
    pads = [bundle.given[name] for name in ("LowerPad", "UpperPad") if name in bundle.given]
    if padding is None or not pads or not bundle.has_kernel or bundle.item.block is None:
        return
    idle = entries_of(padding.value) <= {False}
    dropped = [padding] if idle else pads
    changes = [
        removed(bundle.declaration, given.attribute.start, given.attribute.end) for given in dropped
    ]
    names = " and ".join(given.form.name for given in dropped)
    safe = idle or all(entries_of(given.value) <= {0} for given in pads)
    latest = max([padding, *pads], key=lambda given: given.attribute.start)
    other = pads[0] if latest is padding else padding
    yield Finding(
        "NS070",
        RelativeSpan.of(bundle.declaration, latest.attribute.name),
        "Padding cannot be combined with LowerPad or UpperPad.",
        [
            Note(
                f"{other.form.name} is here.",
                RelativeSpan.of(bundle.declaration, other.attribute.name),
            )
        ],
        Repair(f"Remove {names}", changes, safe=safe),
    )


def entries_of(value: Value | None) -> set[Value | None]:
    """Return the distinct entries of a value."""
    return set(value) if isinstance(value, tuple) else {value}


@rule("NS076", "error", on=BUNDLE, kinds=KERNEL_KINDS)
def map_count(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a MapCount of zero or less."""
    given = bundle.given.get("MapCount")
    if given is None or bundle.kind != CONVOLVE:
        return
    entries = given.value if isinstance(given.value, tuple) else (given.value,)
    for dimension, entry in enumerate(entries):
        if isinstance(entry, int) and entry < 1:
            message = f"MapCount must be a positive whole number, found {entry}."
            yield Finding("NS076", bundle.entry_place("MapCount", dimension), message)
