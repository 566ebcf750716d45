"""Rules on the parts of a layer: its size, its activation, its `from`."""

from __future__ import annotations

from netsharp_engine.activations import NAMES
from netsharp_lsp.diagnostics.nearest import edit_distance, nearest
from netsharp_lsp.netsharp.findings import Change, Finding, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.meaning.model import Layer
from netsharp_lsp.netsharp.reading.mistakes import ACTIVATION_ATTRIBUTES, KEYWORDS, lacking
from netsharp_lsp.netsharp.reading.syntax import LayerItem, Name, Tuple, WordItem
from netsharp_lsp.netsharp.rules import DECLARATION, LAYER, rule
from netsharp_lsp.netsharp.rules.syntax.tuples import curly_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Attribute, BundleItem, Declaration

#: The names of our activations in other frameworks.
ACTIVATION_ALIASES = {
    "relu": "rlinear",
    "rectifier": "rlinear",
    "rectified": "rlinear",
    "softplus": "srlinear",
    "smoothrelu": "srlinear",
    "softrelu": "srlinear",
    "identity": "linear",
    "none": "linear",
    "id": "linear",
    "purelin": "linear",
    "logistic": "sigmoid",
    "logsig": "sigmoid",
    "logit": "sigmoid",
    "sigm": "sigmoid",
    "tansig": "tanh",
    "tanhyp": "tanh",
    "relu1": "brlinear",
    "hard": "brlinear",
    "hardsigmoid": "brlinear",
    "hard_sigmoid": "brlinear",
    "brelu": "brlinear",
    "soft_max": "softmax",
    "absolute": "abs",
    "squared": "square",
}
#: Other functions with these names elsewhere, however near one of ours is.
OTHER_FUNCTIONS = frozenset(
    (
        "atan",
        "atanh",
        "hard",
        "hardsigmoid",
        "logit",
        "logsig",
        "sinh",
        "sinusoid",
        "softmin",
        "softsign",
        "sqr",
        "tan",
    )
)
#: `from` in translated pages of the guide.
FROM_ALIASES = ("aus", "von", "de", "depuis", "desde", "da")


def activation_meant(word: str) -> str | None:
    """Return the activation that a word means, None where none is close."""
    lower = word.lower()
    return lower if lower in NAMES else ACTIVATION_ALIASES.get(lower) or nearest(lower, NAMES)


def is_spelling(word: str) -> bool:
    """Return whether a word is another spelling of an activation, and computes the same.

    `log_softmax` has the name of one of ours in it and is another function.
    """
    lower = "".join(filter(str.isalnum, word.lower()))
    if word.lower() in NAMES:
        return True
    if lower in OTHER_FUNCTIONS:
        return False
    if word.lower() in ACTIVATION_ALIASES:
        return True
    rests = (lower.replace(name, "", 1) for name in NAMES if name in lower)
    return not any(len(rest) > 1 or rest.isdigit() for rest in rests)


def is_activation(word: str) -> bool:
    """Return whether a word is an activation's name, ours or another framework's."""
    return word.lower() in NAMES or word.lower() in ACTIVATION_ALIASES


def is_misspelt_from(word: str) -> bool:
    """Return whether a word in an activation's place was to be `from`."""
    lower = word.lower()
    return lower in FROM_ALIASES or (
        not is_activation(word) and edit_distance(lower, "from", 3) < 3
    )


def has_misspelt_from(item: LayerItem) -> bool:
    """Return whether a layer's activation is a misspelt `from`."""
    return item.activation is not None and is_misspelt_from(item.activation.text)


def head_in_doubt(layer: Layer, network: Network) -> bool:
    """Return whether the text before a layer's connections was not parsed."""
    item, declaration, doubts = layer.item, layer.declaration, network.doubts
    if item.size is None and item.name.text in KEYWORDS:
        return True
    end = item.end
    if item.bundles:
        end = item.bundles[0].start
    elif item.body is not None:
        end = item.body[0]
    elif network.text(RelativeSpan(declaration, end, end + 1)) == " ":
        end += 1
    return doubts.explained(declaration) or doubts.touches(declaration, item.start - 1, end)


# NS016.


@rule("NS016", "error", on=LAYER, rests=Rests.TEXT)
def misplaced_activation(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report an activation after the connection, or written as an attribute of it."""
    for bundle in layer.item.bundles:
        name = bundle.misplaced
        if name is not None and is_activation(name.text):
            removed = RelativeSpan(layer.declaration, kind_end(bundle), name.end)
            yield misplaced(layer, name, Change(removed, ""))
        elif bundle.kind is None and is_activation(bundle.kind_text):
            word = Name(*bundle.kind_span, bundle.kind_text)
            change = Change(RelativeSpan.of(layer.declaration, word), "all")
            if name is not None and name.text.lower() == "all":
                change = Change(RelativeSpan(layer.declaration, word.start, name.start), "")
            yield misplaced(layer, word, change)
        for attribute in (*bundle.attributes, *layer.item.attributes):
            word_given = activation_attribute(attribute)
            if word_given is not None:
                removed = RelativeSpan.of(layer.declaration, attribute)
                if len(bundle.attributes) == 1 and bundle.kind == "all" and bundle.block:
                    block = RelativeSpan(layer.declaration, bundle.kind_span[1], bundle.block[1])
                    yield misplaced(layer, word_given, Change(block, ";"))
                else:
                    yield misplaced(layer, word_given, Change(removed, ""))


def kind_end(bundle: BundleItem) -> int:
    """Return the end of a connection's kind, with the condition if it has one."""
    return bundle.kind_span[1] if bundle.predicate is None else bundle.predicate.end


def activation_attribute(attribute: Attribute) -> Name | None:
    """Return the value of `Activation = tanh`, as other languages write it."""
    if attribute.name.text.lower() not in ACTIVATION_ATTRIBUTES:
        return None
    return attribute.value if isinstance(attribute.value, Name) else None


def misplaced(layer: Layer, name: Name, removal: Change) -> Finding:
    """Return the finding for a misplaced activation; the fix moves it if there is room."""
    place = RelativeSpan.of(layer.declaration, name)
    meant = activation_meant(name.text) or name.text
    repair = None
    if layer.item.size is not None and layer.item.activation is None:
        insert = Change(layer.size_place.after(), f" {meant}")
        safe = is_spelling(name.text)
        repair = Repair(f"Move '{meant}' before 'from'", [insert, removal], safe=safe)
    message = f"The activation belongs before 'from': hidden X [n] {meant} from ..."
    return Finding("NS016", place, message, repair=repair)


@rule("NS016", "error", on=DECLARATION, rests=Rests.TEXT)
def activation_after_block(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report an activation after an attribute block: `from A convolve { ... } sigmoid;`."""
    word = lone_activation(declaration)
    if word is None or network.doubts.foreign:
        return
    before = network.specification.before(declaration)
    owners = network.units[before].layers if before is not None else ()
    if owners:
        removal = Change(RelativeSpan(declaration, 0, declaration.end), "")
        moved = misplaced(owners[-1], word, removal)
        place = RelativeSpan.of(declaration, word)
        yield Finding("NS016", place, moved.message, repair=moved.repair)


def lone_activation(declaration: Declaration) -> Name | None:
    """Return the activation that is all of a declaration, with or without a `;`."""
    item = declaration.items[0] if declaration.items else None
    word: Name | None = None
    if declaration.kind == "orphan" and isinstance(item, WordItem):
        word = item.word
    elif declaration.kind == "error" and len(declaration.faults) == 1:
        fault = declaration.faults[0]
        if [kind for kind, _, _ in fault.tokens] == ["identifier"]:
            word = Name(fault.start, fault.end, fault.text)
    return word if word is not None and is_activation(word.text) else None


# NS017.


@rule("NS017", "error", on=LAYER, rests=Rests.TEXT)
def unknown_activation(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report a word in the activation's place that is not one."""
    name = layer.item.activation
    if name is None or name.text.lower() in NAMES or layer.kind == "input":
        return
    if is_misspelt_from(name.text) and not layer.item.bundles:
        return
    if layer.declaration in network.doubts.debris.continued and not layer.item.bundles:
        return
    if head_in_doubt(layer, network):
        return
    place = RelativeSpan.of(layer.declaration, name)
    meant = activation_meant(name.text)
    if meant is None:
        has = lacking(name.text) or f"Net# has {', '.join(NAMES)}."
        message = f"Unknown activation '{name.text}'. {has}"
        yield Finding("NS017", place, message)
        return
    repair = Repair(f"Replace by '{meant}'", [Change(place, meant)], safe=is_spelling(name.text))
    message = f"Unknown activation '{name.text}'. Did you mean '{meant}'?"
    yield Finding("NS017", place, message, repair=repair)


# NS018.


@rule("NS018", "error", on=LAYER, rests=Rests.TEXT)
def missing_from(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report a hidden or output layer without any connection written."""
    item = layer.item
    unconnected = not item.bundles and item.body is None and layer.kind != "input"
    known = layer.declaration.kind in ("hidden", "output", "unknown")
    if unconnected and known and has_only_misspelt_from(layer, network):
        yield without_from(layer, next(above(layer, network), None))


def above(layer: Layer, network: Network) -> Iterator[Layer]:
    """Yield the layers before a layer that may feed it, the nearest first."""
    declaration: Declaration | None = layer.declaration
    while declaration is not None:
        for one in reversed(network.units[declaration].layers):
            if one.kind != "output" and (
                one.declaration is not layer.declaration or one.item.start < layer.item.start
            ):
                yield one
        declaration = network.specification.before(declaration)


def has_only_misspelt_from(layer: Layer, network: Network) -> bool:
    """Return whether a layer has only a misspelt `from` in place of its connection."""
    declaration, doubts = layer.declaration, network.doubts
    if has_misspelt_from(layer.item):
        return not doubts.explained(declaration)
    goes_on = declaration in doubts.debris.continued
    return not goes_on and not head_in_doubt(layer, network)


def without_from(layer: Layer, above: Layer | None) -> Finding:
    """Return the finding for one layer; `above` is the nearest layer before that may feed it."""
    item = layer.item
    message = f"Layer '{layer.name}' needs 'from': say which layer it takes its values from."
    word = item.activation
    if word is not None and is_misspelt_from(word.text):
        place = RelativeSpan.of(layer.declaration, word)
        message = f"Layer '{layer.name}' needs 'from'; found '{word.text}'."
        repair = Repair("Replace by 'from'", [Change(place, "from")], safe=True)
        return Finding("NS018", place, message, repair=repair)
    skeleton = None
    if above is not None and item.size is not None:
        end = RelativeSpan.of(layer.declaration, word or item.size).after()
        insert = Change(end, f" from {above.name} all")
        skeleton = Repair(f"Add 'from {above.name} all'", [insert], safe=False)
    return Finding("NS018", layer.place, message, repair=skeleton)


# NS025.


@rule("NS025", "error", on=LAYER, rests=Rests.TEXT)
def input_with_connection(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report an input layer with an activation, a connection or a body."""
    item = layer.item
    if layer.declaration.kind != "input" or head_in_doubt(layer, network):
        return
    if layer.declaration in network.doubts.debris.curly or curly_size(
        item, layer.declaration, network
    ):
        return
    if item.size is None and not item.bundles and item.body is None:
        return
    place, what = surplus(layer)
    if place is None:
        return
    rest = RelativeSpan(layer.declaration, layer.size_place.end, item.end)
    repair = Repair("Delete it", [Change(rest, ";")], safe=False)
    message = f"Input layer '{layer.name}' cannot have {what}."
    yield Finding("NS025", place, message, repair=repair)


def surplus(layer: Layer) -> tuple[RelativeSpan | None, str]:
    """Return the superfluous part of an input layer: the smallest place with it, and its name."""
    item = layer.item
    start = end = None
    what = "a connection"
    if item.bundles:
        bundle = item.bundles[0]
        start, end = bundle.start, max(bundle.source.end, bundle.kind_span[1])
    elif item.body is not None:
        start, end = item.body
    if item.activation is not None:
        what = "an activation" if start is None else "an activation or a connection"
        start, end = item.activation.start, max(item.activation.end, end or 0)
    if start is None or end is None:
        return None, what
    return RelativeSpan(layer.declaration, start, end), what


# NS027.


@rule("NS027", "error", on=LAYER, rests=Rests.TEXT)
def missing_size(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report a layer without a size."""
    item = layer.item
    if layer.declaration.kind in ("orphan", "error", "const"):
        return
    if isinstance(item.size, Tuple) and not item.size.items and item.size.trailing is None:
        yield from empty_size(layer, network)
    if item.size is not None:
        return
    if layer.declaration in network.doubts.debris.curly:
        return
    if curly_size(item, layer.declaration, network) or head_in_doubt(layer, network):
        return
    repair = Repair("Insert 'auto'", [Change(layer.place.after(), " auto")], safe=True)
    message = f"Layer '{layer.name}' has no size; write [n] or auto."
    yield Finding("NS027", layer.place, message, repair=repair)


def empty_size(layer: Layer, network: Network) -> Iterator[Finding]:
    """Yield the finding for `input A [];`."""
    place = layer.size_place
    if network.text(place).startswith("[") and not network.doubts.marked(
        layer.declaration, layer.item
    ):
        repair = Repair("Replace by 'auto'", [Change(place, "auto")], safe=True)
        message = f"Layer '{layer.name}' has no size; write [n] or auto."
        yield Finding("NS027", place, message, repair=repair)
