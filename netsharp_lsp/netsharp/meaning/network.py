"""The network that a specification describes, resolved from syntax and context alone.

Faults met while values are worked out are kept; nothing else is judged here: rules do that.
A bundle depends only on its own declaration, on the constants it names and on its source's
declared size, so a change elsewhere leaves it as it is.
"""

from __future__ import annotations

import math

from netsharp_lsp.diagnostics.nearest import nearest
from netsharp_lsp.netsharp.findings import Change, Finding, Note, Place, Repair
from netsharp_lsp.netsharp.meaning.attributes import BY_NAME, LAYER_FORMS
from netsharp_lsp.netsharp.meaning.doubts import Doubts
from netsharp_lsp.netsharp.meaning.evaluate import Evaluator, show, type_name
from netsharp_lsp.netsharp.meaning.inforce import (
    activation_in_force,
    geometry_of,
    hidden_nodes_in_force,
    integers_of,
    maps_in_force,
    needed_outputs,
    numbers_of,
    spread,
    spread_booleans,
    suits,
    wanted,
)
from netsharp_lsp.netsharp.meaning.model import Bundle, Constant, Given, Layer, Share, ShareEntry
from netsharp_lsp.netsharp.reading.expressions import names_in
from netsharp_lsp.netsharp.reading.slips import section_meant
from netsharp_lsp.netsharp.reading.syntax import (
    Auto,
    ConstantItem,
    LayerItem,
    Name,
    ShareItem,
    Tuple,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from netsharp_lsp.context import Context
    from netsharp_lsp.netsharp.meaning.attributes import AttributeForm
    from netsharp_lsp.netsharp.meaning.evaluate import Value
    from netsharp_lsp.netsharp.meaning.predicates import Edges
    from netsharp_lsp.netsharp.reading.syntax import (
        Attribute,
        Declaration,
        Expression,
        Specification,
    )

#: How many pairs of names are compared in search of the constant that was meant.
HINT_COMPARISONS = 200_000


class Network:
    """Everything a specification says, resolved as far as it can be.

    `constants` and `layers` map a name to its first declaration; `all_constants` and
    `all_layers` hold every one in the order of the text.  `findings` are the faults met while
    values were worked out.
    """

    def __init__(self, specification: Specification, context: Context) -> None:
        self.specification = specification
        self.doubts = Doubts(specification)
        self.context = context
        self.findings: list[Finding] = []
        self.all_constants: list[Constant] = []
        self.all_layers: list[Layer] = []
        self.constants: dict[str, Constant] = {}
        self.layers: dict[str, Layer] = {}
        self.shares: list[Share] = []
        #: The edges of filtered bundles, kept by `predicates.count_edges`.
        self.edges: dict[Bundle, Edges] = {}
        #: Constants that refer to each other in a circle, each circle in the order of reference.
        self.circular: list[list[Constant]] = []
        self._hints: dict[tuple[str, bool], str | None] = {}
        self._comparisons = HINT_COMPARISONS
        #: Every name in lower case, filled in by the first fix that looks for a free one.
        self.taken_names: set[str] = set()
        self.free_names: dict[str, str] = {}
        self._collect()
        for constant in self.all_constants:
            self._evaluate_constant(constant)
        for layer in self.all_layers:
            self._resolve_size(layer)
        self._resolve_auto()
        for layer in self.all_layers:
            self._resolve_bundles(layer)
        self._resolve_shares()

    # Questions that rules, descriptions and editors ask.

    @property
    def inputs(self) -> list[Layer]:
        """The input layers in order: they take the features in this order."""
        return [layer for layer in self.all_layers if layer.kind == "input"]

    @property
    def outputs(self) -> list[Layer]:
        """The output layers; a lawful network has one."""
        return [layer for layer in self.all_layers if layer.kind == "output"]

    def bundles(self) -> Iterator[Bundle]:
        """Every bundle in the order of the text."""
        for layer in self.all_layers:
            yield from layer.bundles

    def text(self, place: Place) -> str:
        """The text of a place."""
        start, end = place.offsets(self.specification)
        return self.specification.data[start:end].decode("utf-8", "replace")

    # Names.

    def _collect(self) -> None:
        for declaration, item in self.specification.items():
            if isinstance(item, ConstantItem):
                constant = Constant(declaration, item)
                self.all_constants.append(constant)
                self.constants.setdefault(constant.name, constant)
            elif isinstance(item, LayerItem):
                layer = Layer(
                    declaration, item, layer_kind(declaration, item), len(self.all_layers)
                )
                self.all_layers.append(layer)
                layer.first = self.layers.setdefault(layer.name, layer) is layer

    def _lookup(self, name: str) -> tuple[bool, Value | None]:
        constant = self.constants.get(name)
        if constant is None:
            return False, None
        constant.used = True
        return True, constant.value

    def _evaluate_constant(self, constant: Constant) -> None:
        """Work a constant out after those that it refers to; no recursion, chains may be long."""
        path: list[Constant] = []
        pending = [constant]
        while pending:
            current = pending[-1]
            if current.state == "new":
                current.state = "open"
                path.append(current)
                pending.extend(self._unknown_constants(current, path))
                continue
            pending.pop()
            if current.state == "open" and current is path[-1]:
                path.pop()
                current.state = "done"
                if current.item.value is not None:
                    current.value = self.evaluate(current.declaration, current.item.value)

    def _unknown_constants(self, constant: Constant, path: list[Constant]) -> list[Constant]:
        """The constants that ``constant`` refers to and that are to be worked out before it."""
        found: list[Constant] = []
        if constant.item.value is None:
            return found
        for name in names_in(constant.item.value):
            other = self.constants.get(name.text)
            if other is not None and other.state == "open":
                if not (constant.circular or other.circular):
                    self._note_circle(path[path.index(other) :])
            elif other is not None and other.state == "new":
                found.append(other)
        return found

    def _note_circle(self, circle: list[Constant]) -> None:
        self.circular.append(circle)
        for constant in circle:
            constant.circular = True

    def nearest_constant(self, name: str) -> str | None:
        """The constant that an unknown name may mean."""
        return self._nearest(name, self.constants)

    def nearest_layer(self, name: str) -> Layer | None:
        """The layer that an unknown name may mean."""
        hint = self._nearest(name, self.layers)
        return None if hint is None else self.layers[hint]

    def _nearest(self, name: str, candidates: Mapping[str, Constant | Layer]) -> str | None:
        """The nearest of the names; None after `HINT_COMPARISONS` comparisons.

        A long text without its declarations has more to look for than hints.
        """
        key = (name, candidates is self.layers)
        if key not in self._hints:
            self._comparisons -= len(candidates)
            self._hints[key] = None if self._comparisons < 0 else nearest(name, candidates)
        return self._hints[key]

    def _evaluator(self, declaration: Declaration) -> NetworkEvaluator:
        return NetworkEvaluator(declaration, self)

    def evaluate(self, declaration: Declaration, node: Expression) -> Value | None:
        """The value of an expression outside any predicate; faults go to `findings`."""
        return self._evaluator(declaration).value(node)

    # Sizes.

    def _resolve_size(self, layer: Layer) -> None:
        size = layer.item.size
        if size is None or isinstance(size, Auto):
            return
        items = size.items if isinstance(size, Tuple) else (size,)
        dimensions = [self._dimension(layer, item) for item in items]
        known = [dimension for dimension in dimensions if dimension is not None]
        if known and len(known) == len(dimensions):
            layer.shape = tuple(known)

    def _dimension(self, layer: Layer, node: Expression) -> int | None:
        value = self.evaluate(layer.declaration, node)
        if value is None:
            return None
        place = Place.of(layer.declaration, node)
        if isinstance(value, float):
            message = f"Size must be a whole number, found {show(value)}."
            repair = rounding(value, place)
            self.findings.append(Finding("NS042", place, message, repair=repair))
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            message = f"A dimension must be a whole number, found {type_name(value)}."
            self.findings.append(Finding("NS040", place, message))
            return None
        if value < 1:
            message = f"Every dimension must be at least 1, found {value}."
            self.findings.append(Finding("NS050", place, message))
            return None
        return value

    def _resolve_auto(self) -> None:
        context = self.context
        inputs = [layer for layer in self.inputs if layer.first]
        autos = [layer for layer in inputs if layer.auto]
        if len(autos) == 1 and context.features is not None:
            sized = [layer.nodes for layer in inputs if not layer.auto]
            if all(nodes is not None for nodes in sized):
                rest = context.features - sum(nodes for nodes in sized if nodes is not None)
                if rest > 0:
                    self._give(autos[0], rest, "features")
        for layer in self.all_layers:
            if layer.auto and layer.kind == "hidden":
                hidden_nodes = hidden_nodes_in_force(context)
                if hidden_nodes is not None:
                    self._give(
                        layer, hidden_nodes, "hidden_nodes" if context.hidden_nodes else "host"
                    )
            elif layer.auto and layer.kind == "output":
                outputs = needed_outputs(context)
                if outputs is not None:
                    self._give(layer, outputs, "outputs" if context.outputs else "task")

    def _give(self, layer: Layer, nodes: int, field: str) -> None:
        layer.shape = (nodes,)
        layer.origin = self.context.origin.get(field, "")

    # Bundles.

    def _resolve_bundles(self, layer: Layer) -> None:
        seen: dict[str, int] = {}
        for item in layer.item.bundles:
            seen[item.source.text] = seen.get(item.source.text, 0) + 1
            bundle = Bundle(layer, item, seen[item.source.text])
            bundle.source = self.layers.get(bundle.source_name)
            for attribute in item.attributes:
                self._give_attribute(layer, bundle.given, attribute, BY_NAME, bundle.kind)
            layer.bundles.append(bundle)
            if bundle.has_kernel:
                self._resolve_kernel(bundle)
        for attribute in layer.item.attributes:
            self._give_attribute(layer, layer.given, attribute, LAYER_FORMS)
        layer.biases_given = numbers_of(layer.given.get("Biases"))
        layer.activation = activation_in_force(layer, self.context.task)

    def _give_attribute(
        self,
        layer: Layer,
        given: dict[str, Given],
        attribute: Attribute,
        forms: dict[str, AttributeForm],
        kind: str | None = None,
    ) -> None:
        form = forms.get(attribute.name.text.lower())
        value = (
            None if attribute.value is None else self.evaluate(layer.declaration, attribute.value)
        )
        if form is None or form.name in given:
            return
        if kind is not None and kind not in form.kinds:
            value = None
        if value is not None:
            value = self._typed(layer.declaration, form, attribute, value)
        given[form.name] = Given(form, attribute, value)

    def _typed(
        self, declaration: Declaration, form: AttributeForm, attribute: Attribute, value: Value
    ) -> Value | None:
        """The value if its type suits the attribute; else the fault is reported (NS040)."""
        entries = value if isinstance(value, tuple) else (value,)
        node = attribute.value
        assert node is not None
        if isinstance(value, tuple) and form.shape == "scalar":
            self._wrong_type(declaration, form, attribute, node, "a tuple", entries)
            return None
        if not isinstance(value, tuple) and form.shape in ("tuple", "list"):
            self._wrong_type(declaration, form, attribute, node, type_name(value), entries)
            return None
        for position, entry in enumerate(entries):
            if not suits(entry, form.element):
                at = node
                if isinstance(node, Tuple) and position < len(node.items):
                    at = node.items[position]
                self._wrong_type(declaration, form, attribute, at, type_name(entry), entries)
                return None
        return value

    def _wrong_type(
        self,
        declaration: Declaration,
        form: AttributeForm,
        attribute: Attribute,
        node: Expression,
        found: str,
        entries: tuple[Value, ...],
    ) -> None:
        message = f"{form.name} must be {wanted(form)}, found {found}."
        repair = None
        if form.name == "Stride" and all(isinstance(entry, bool) for entry in entries):
            message += " Did you mean Sharing?"
            place = Place.of(declaration, attribute.name)
            repair = Repair("Rename to Sharing", [Change(place, "Sharing")], safe=False)
        self.findings.append(Finding("NS040", Place.of(declaration, node), message, repair=repair))

    def _resolve_kernel(self, bundle: Bundle) -> None:
        bundle.input_shape = integers_of(bundle.given.get("InputShape"))
        bundle.kernel_shape = integers_of(bundle.given.get("KernelShape"))
        if bundle.input_shape is None:
            return
        rank = len(bundle.input_shape)
        bundle.stride = spread(bundle, "Stride", 1, rank)
        bundle.padding = spread_booleans(bundle, "Padding", False, rank)
        bundle.lower_pad = spread(bundle, "LowerPad", 0, rank)
        bundle.upper_pad = spread(bundle, "UpperPad", 0, rank)
        bundle.sharing = spread_booleans(bundle, "Sharing", True, rank)
        bundle.map_count = maps_in_force(bundle, rank)
        bundle.geometry = geometry_of(bundle)

    # Sharing.

    def _resolve_shares(self) -> None:
        for declaration in self.specification.declarations:
            items = [item for item in declaration.items if isinstance(item, ShareItem)]
            if declaration.kind == "share":
                entries = (
                    ShareEntry(declaration, item, self.layers.get(item.name.text)) for item in items
                )
                self.shares.append(Share(declaration, tuple(entries)))


def rounding(value: float, place: Place) -> Repair | None:
    """The fix for a size that is no whole number; halves go down, as in a division of sizes."""
    rounded = math.ceil(value - 0.5)
    if rounded < 1:
        return None
    return Repair(f"Round to {rounded}", [Change(place, str(rounded))], safe=rounded == value)


class NetworkEvaluator(Evaluator):
    """An evaluator that knows the network's constants and proposes their names."""

    def __init__(self, declaration: Declaration, network: Network) -> None:
        super().__init__(declaration, network._lookup, network.findings.append)
        self.network = network

    def undefined(self, node: Name) -> None:
        """Report NS030 with the nearest constant."""
        place = Place.of(self.declaration, node)
        hint = self.network.nearest_constant(node.text)
        message = f"Constant '{node.text}' is not defined."
        notes: list[Note] = []
        repair = None
        if hint:
            message += f" Did you mean '{hint}'?"
            notes.append(Note(f"'{hint}' is defined here.", self.network.constants[hint].place))
            repair = Repair(f"Replace by '{hint}'", [Change(place, hint)], safe=True)
        elif node.text in self.network.layers:
            message = f"Constant '{node.text}' is not defined; '{node.text}' is a layer."
            layer = self.network.layers[node.text]
            notes.append(Note(f"Layer '{node.text}' is declared here.", layer.place))
        else:
            specification = self.network.specification
            line = f"const {node.text} = 1;{specification.line_end}"
            declare = Change(Place(specification.declarations[0], 0, 0), line)
            repair = Repair(f"Declare the constant '{node.text}'", [declare], safe=False)
        self.report(Finding("NS030", place, message, notes, repair))


def layer_kind(declaration: Declaration, item: LayerItem) -> str:
    """The kind of a layer; where its keyword is misspelt or gone, the one that it looks like."""
    kind = declaration.kind
    if kind == "unknown" and declaration.keyword is not None:
        kind = section_meant(declaration.keyword.text) or ""
    if kind in ("input", "hidden", "output"):
        return kind
    return "hidden" if item.bundles or item.body is not None else "input"
