"""Resolves the layers of one declaration: sizes, attributes, kernels.

It asks the network for constants and names, and never for another layer.
"""

from __future__ import annotations

import math

from netsharp_lsp.netsharp.findings import Change, Finding, RelativeSpan, Repair
from netsharp_lsp.netsharp.meaning.inforce import (
    activation_in_force,
    figures_over,
    geometry_of,
    hidden_nodes_in_force,
    integers_of,
    needed_outputs,
    numbers_of,
    suits,
    wanted,
)
from netsharp_lsp.netsharp.meaning.model import NOTHING_GIVEN, Bundle, Given
from netsharp_lsp.netsharp.meaning.network import NetworkEvaluator
from netsharp_lsp.netsharp.meaning.values import faults
from netsharp_lsp.netsharp.meaning.values.attributes import BY_NAME, LAYER_FORMS, PADDING_WORDS
from netsharp_lsp.netsharp.meaning.values.evaluate import show, type_name
from netsharp_lsp.netsharp.reading.mistakes import ACTIVATION_ATTRIBUTES, lacks_from
from netsharp_lsp.netsharp.reading.syntax import Auto, Name, Tuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.context import Context
    from netsharp_lsp.netsharp.meaning.model import Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.values.attributes import AttributeForm
    from netsharp_lsp.netsharp.meaning.values.evaluate import Report, Value
    from netsharp_lsp.netsharp.meaning.values.faults import ValueFault
    from netsharp_lsp.netsharp.reading.syntax import Attribute, Declaration, Expression


class Resolver:
    """Resolves the layers of one declaration; every fault goes to ``report``."""

    def __init__(self, declaration: Declaration, network: Network, report: Report) -> None:
        self.declaration = declaration
        self.network = network
        self.report = report
        self.evaluator = NetworkEvaluator(declaration, network, report)

    def fault(
        self, fault: ValueFault, node: Expression, message: str, repair: Repair | None = None
    ) -> None:
        """Report a fault at an expression."""
        self.report(
            Finding(fault.code, RelativeSpan.of(self.declaration, node), message, repair=repair)
        )

    # Sizes.

    def size(self, layer: Layer) -> None:
        """Set the declared dimensions, or the context's value of `auto`, except for inputs."""
        size = layer.item.size
        layer.shape, layer.origin = None, ""
        if size is None:
            return
        if isinstance(size, Auto):
            give_by_context(layer, self.network.context)
            return
        items = size.items if isinstance(size, Tuple) else (size,)
        dimensions = [self._dimension(item) for item in items]
        known = [dimension for dimension in dimensions if dimension is not None]
        vague = self.network.doubts.is_uncertain(self.declaration, size)
        if known and len(known) == len(dimensions) and not vague:
            layer.shape = tuple(known)

    def _dimension(self, node: Expression) -> int | None:
        value = self.evaluator.value(node)
        if value is None:
            return None
        if isinstance(value, float):
            message = f"Size must be a whole number, found {show(value)}."
            repair = rounding(value, RelativeSpan.of(self.declaration, node))
            self.fault(faults.NOT_WHOLE, node, message, repair)
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            message = f"A dimension must be a whole number, found {type_name(value)}."
            self.fault(faults.WRONG_TYPE, node, message)
            return None
        if value < 1:
            self.fault(
                faults.BELOW_ONE, node, f"Every dimension must be at least 1, found {value}."
            )
            return None
        return value

    # Bundles.

    def bundles(self, layer: Layer) -> None:
        """Set the bundles of a layer with their attributes, and the layer's own."""
        seen: dict[str, int] = {}
        bundles = []
        for item in layer.item.bundles:
            name = item.source.text
            seen[name] = seen.get(name, 0) + 1
            bundle = Bundle(layer, item, seen[name])
            bundle.source = self.network.layers.get(name)
            bundle.given = self._given(item.attributes, BY_NAME, bundle.kind)
            bundles.append(bundle)
            if bundle.has_kernel:
                resolve_kernel(bundle)
        layer.take_bundles(bundles)
        layer.given = self._given(layer.item.attributes, LAYER_FORMS)
        layer.biases_given = numbers_of(layer.given.get("Biases"))
        layer.activation = activation_in_force(layer, self.network.context.task)

    def _given(
        self,
        attributes: Iterable[Attribute],
        forms: dict[str, AttributeForm],
        kind: str | None = None,
    ) -> dict[str, Given]:
        """Return each attribute's first mention by its proper name."""
        given: dict[str, Given] = {}
        for attribute in attributes:
            form = forms.get(attribute.name.text.lower())
            value = None
            if form is not None and self._is_padding_word(form, attribute):
                pass
            elif attribute.value is not None and not is_other_construct(attribute):
                value = self.evaluator.value(attribute.value)
            if form is None or form.name in given:
                continue
            if kind is not None and kind not in form.kinds:
                value = None
            if value is not None:
                value = self._typed(form, attribute, value)
            given[form.name] = Given(form, attribute, value)
        return given or NOTHING_GIVEN

    def _is_padding_word(self, form: AttributeForm, attribute: Attribute) -> bool:
        """Return whether padding is given in other tools' words, which is reported.

        A constant of that name may be meant.
        """
        word = attribute.value
        if form.name != "Padding" or not isinstance(word, Name):
            return False
        meant = PADDING_WORDS.get(word.text.lower())
        if meant is None or self.network.value_of(word.text)[0]:
            return False
        message = f"Padding must be true or false; what other tools call '{word.text}' is {meant}."
        place = RelativeSpan.of(self.declaration, word)
        repair = Repair(f"Replace by {meant}", [Change(place, meant)], safe=False)
        self.fault(faults.WRONG_TYPE, word, message, repair)
        return True

    def _typed(self, form: AttributeForm, attribute: Attribute, value: Value) -> Value | None:
        """Return the value if its type suits the attribute; else report the fault (NS040)."""
        entries = value if isinstance(value, tuple) else (value,)
        node = attribute.value
        assert node is not None
        if isinstance(value, tuple) and form.shape == "scalar":
            self._wrong_type(form, attribute, (node, "a tuple"), entries)
            return None
        if not isinstance(value, tuple) and form.shape in ("tuple", "list"):
            self._wrong_type(form, attribute, (node, type_name(value)), entries)
            return None
        for position, entry in enumerate(entries):
            if not suits(entry, form.element):
                at = node
                if isinstance(node, Tuple) and position < len(node.items):
                    at = node.items[position]
                self._wrong_type(form, attribute, (at, type_name(entry)), entries)
                return None
        return value

    def _wrong_type(
        self,
        form: AttributeForm,
        attribute: Attribute,
        found: tuple[Expression, str],
        entries: tuple[Value, ...],
    ) -> None:
        message = f"{form.name} must be {wanted(form)}, found {found[1]}."
        repair = None
        if form.name == "Stride" and all(isinstance(entry, bool) for entry in entries):
            message += " Did you mean Sharing?"
            place = RelativeSpan.of(self.declaration, attribute.name)
            repair = Repair("Rename to Sharing", [Change(place, "Sharing")], safe=False)
        self.fault(faults.WRONG_TYPE, found[0], message, repair)


def is_other_construct(attribute: Attribute) -> bool:
    """Return whether an attribute gives the activation, or is a connection without `from`."""
    return attribute.name.text.lower() in ACTIVATION_ATTRIBUTES or lacks_from(attribute)


def give_by_context(layer: Layer, context: Context) -> None:
    """Set the size of a hidden or output layer's `auto` from the context."""
    if layer.kind == "hidden":
        nodes = hidden_nodes_in_force(context)
        field = "hidden_nodes" if context.hidden_nodes else "host"
    elif layer.kind == "output":
        nodes = needed_outputs(context)
        field = "outputs" if context.outputs else "task"
    else:
        return
    if nodes is not None:
        layer.shape = (nodes,)
        layer.origin = context.origin.get(field, "")


def give_features(inputs: list[Layer], context: Context) -> None:
    """Give the only `auto` of the input layers the features that the others do not take."""
    firsts = [layer for layer in inputs if layer.first]
    autos = [layer for layer in firsts if layer.auto]
    for layer in inputs:
        if layer.auto:
            layer.shape, layer.origin = None, ""
    if len(autos) != 1 or context.features is None:
        return
    sized = [layer.nodes for layer in firsts if not layer.auto]
    known = [nodes for nodes in sized if nodes is not None]
    rest = context.features - sum(known)
    if len(known) == len(sized) and rest > 0:
        autos[0].shape = (rest,)
        autos[0].origin = context.origin.get("features", "")


def resolve_kernel(bundle: Bundle) -> None:
    """Set the figures in force of a convolution, a pool or a norm."""
    bundle.input_shape = integers_of(bundle.given.get("InputShape"))
    bundle.kernel_shape = integers_of(bundle.given.get("KernelShape"))
    if bundle.input_shape is None:
        return
    for figure, entries in figures_over(bundle, len(bundle.input_shape)).items():
        setattr(bundle, figure, entries)
    bundle.geometry = geometry_of(bundle)


def rounding(value: float, place: RelativeSpan) -> Repair | None:
    """Return the fix for a size that is not a whole number; halves go down, as in a division."""
    rounded = math.ceil(value - 0.5)
    if rounded < 1:
        return None
    return Repair(f"Round to {rounded}", [Change(place, str(rounded))], safe=rounded == value)
