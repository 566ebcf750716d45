"""The network that a specification describes, resolved from syntax and context alone.

Faults of evaluation are kept; all other faults are found by rules. A declaration depends on its own
syntax, on the constants and layers that it names, on the readers of its layers, and, where a name
is unknown, on all names; `revision.py` follows these when the text is edited, and the network is
then what it would be were the text read for the first time.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Finding, NewLine, Note, RelativeSpan, Repair, Top
from netsharp_lsp.netsharp.meaning.connections import circles
from netsharp_lsp.netsharp.meaning.counts.parameters import Parameters
from netsharp_lsp.netsharp.meaning.doubts import Doubts
from netsharp_lsp.netsharp.meaning.index import Index
from netsharp_lsp.netsharp.meaning.spelling import Spellings
from netsharp_lsp.netsharp.meaning.values import faults
from netsharp_lsp.netsharp.meaning.values.evaluate import Evaluator
from netsharp_lsp.netsharp.reading.expressions import constant_names, layer_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.context import Context
    from netsharp_lsp.netsharp.meaning.model import Bundle, Constant, Layer, Share
    from netsharp_lsp.netsharp.meaning.units import Unit
    from netsharp_lsp.netsharp.meaning.values.evaluate import Report, Value
    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Declaration, Expression, Name

#: What may be wrong with connections: an unknown source, a layer's own, none, one from below.
UNKNOWN, OWN, BARE, FORWARD = 1, 2, 4, 8
#: An unknown name is compared with the known ones where the unknown times the known are no more.
#: A long text without its declarations has more to look for than what was meant.
HINT_COMPARISONS = 200_000


class Network:
    """The meaning of a specification, resolved as far as possible.

    `constants` and `layers` map a name to its first declaration; `all_constants` and `all_layers`
    have every one. All are in text order.
    """

    def __init__(self, specification: Specification, context: Context) -> None:
        self.specification = specification
        #: What costly conditions have taken, in evaluations.
        self.evaluated = 0
        self.doubts = Doubts.of(specification)
        self.context = context
        self.units: dict[Declaration, Unit] = {}
        self.all_constants: list[Constant] = []
        self.all_layers: list[Layer] = []
        self.constants: dict[str, Constant] = {}
        self.layers: dict[str, Layer] = {}
        self.shares: list[Share] = []
        #: Constants that refer to each other in a circle, each circle in the order of reference.
        self.circular: list[list[Constant]] = []
        #: The units that declare a name, that read a layer, that use a constant, that share.
        self.declaring: Index[Unit] = Index()
        self.reading: Index[Unit] = Index()
        self.using: Index[Unit] = Index()
        self.sharing: Index[Unit] = Index()
        #: What is wrong with the connections of a unit, for the few where anything is.
        self.troubles: dict[Unit, int] = {}
        #: Names that are used and declared nowhere.
        self.unknown_constants: set[str] = set()
        self.unknown_layers: set[str] = set()
        #: Names in lower case that are written in more ways than one.
        self.clashing: set[str] = set()
        self.constant_spellings = Spellings()
        self.layer_spellings = Spellings()
        self.parameters = Parameters(self)
        #: The units that depend on all names, and those that would if they were not too many.
        self.asking: set[Unit] = set()
        self.resigned: set[Unit] = set()
        #: The unit that is being resolved.
        self.subject: Unit | None = None
        #: The units that depend on wherever a name is used.
        self.following: dict[str, set[Unit]] = {}
        self._hints: dict[tuple[str, bool], str | None] = {}
        self._by_kind: dict[str, list[Layer]] = {}
        self._circles: list[list[Bundle]] | None = None

    # Questions that rules, descriptions and editors ask.

    @property
    def findings(self) -> list[Finding]:
        """Return the faults found by evaluation."""
        declarations = self.specification.declarations
        return [finding for one in declarations for finding in self.units[one].faults]

    @property
    def inputs(self) -> list[Layer]:
        """Return the input layers in order: they take the features in this order."""
        return self._of_kind("input")

    @property
    def outputs(self) -> list[Layer]:
        """Return the output layers; a valid network has one."""
        return self._of_kind("output")

    def _of_kind(self, kind: str) -> list[Layer]:
        if kind not in self._by_kind:
            self._by_kind[kind] = [layer for layer in self.all_layers if layer.kind == kind]
        return self._by_kind[kind]

    def bundles(self) -> Iterator[Bundle]:
        """Yield every bundle in text order."""
        for layer in self.all_layers:
            yield from layer.bundles

    def text(self, place: RelativeSpan) -> str:
        """Return the text of a place."""
        start, end = place.offsets(self.specification)
        return self.specification.data[start:end].decode("utf-8", "replace")

    def evaluate(self, declaration: Declaration, node: Expression, report: Report) -> Value | None:
        """Return the value of an expression outside any predicate."""
        before, self.subject = self.subject, self.units[declaration]
        value = NetworkEvaluator(declaration, self, report).value(node)
        self.subject = before
        return value

    def value_of(self, name: str) -> tuple[bool, Value | None]:
        """Return whether a constant is known, and its value."""
        constant = self.constants.get(name)
        return (False, None) if constant is None else (True, constant.value)

    # Readers and sources.

    def reads_of(self, layer: Layer) -> Iterator[Bundle]:
        """Yield the bundles that read a layer, its own too, in no order."""
        if self.layers.get(layer.name) is not layer:
            return
        for unit in self.reading[layer.name]:
            for reader in unit.layers:
                for bundle in reader.bundles_from(layer.name):
                    if bundle.source is layer:
                        yield bundle

    def readers(self, layer: Layer) -> list[Bundle]:
        """Return the bundles of other layers that read a layer, in text order."""
        found = (bundle for bundle in self.reads_of(layer) if bundle.layer is not layer)
        return sorted(found, key=lambda bundle: (bundle.layer.order, bundle.item.start))

    def is_read(self, layer: Layer) -> bool:
        """Return whether another layer reads a layer."""
        return any(bundle.layer is not layer for bundle in self.reads_of(layer))

    @property
    def bare_layers(self) -> list[Layer]:
        """Return the hidden and output layers without any connection, in text order."""
        units = (unit for unit, troubles in self.troubles.items() if troubles & BARE)
        layers = (layer for unit in units for layer in unit.layers)
        found = (layer for layer in layers if layer.trainable and not layer.bundles)
        return sorted(found, key=lambda layer: layer.order)

    @property
    def every_source_known(self) -> bool:
        """Return whether every connection comes from a layer that exists."""
        return not any(troubles & UNKNOWN for troubles in self.troubles.values())

    @property
    def circles(self) -> list[list[Bundle]]:
        """Return cycles of layers that feed each other; see `connections.circles`."""
        if self._circles is None:
            # A cycle has a layer that reads one declared after it.
            self._circles = circles(self.all_layers) if self.reads_ahead else []
        return self._circles

    @property
    def reads_ahead(self) -> bool:
        """Return whether any layer reads one declared after it."""
        return any(troubles & FORWARD for troubles in self.troubles.values())

    @property
    def connected(self) -> bool:
        """Return whether every connection is known, so that reachability is defined.

        There is one output, every name belongs to one layer, every source exists, every trainable
        layer has a bundle, and there is no cycle.
        """
        outputs = self.outputs
        if len(outputs) != 1 or len(self.layers) != len(self.all_layers):
            return False
        if any(troubles & (UNKNOWN | OWN | BARE) for troubles in self.troubles.values()):
            return False
        return not any(self.reads_of(outputs[0])) and not self.circles

    # Names.

    def is_used(self, constant: Constant) -> bool:
        """Return whether anything refers to a constant, conditions included."""
        return constant.name in self.using

    def uses_of(self, named: Constant | Layer) -> list[tuple[Declaration, Name]]:
        """Return the places that name a constant or layer, in text order.

        They mean the first of several with one name.
        """
        name = named.name
        if self.subject is not None:
            self.following.setdefault(name, set()).add(self.subject)
        if named is self.constants.get(name):
            units, names_of = {*self.using[name]}, constant_names
        elif named is self.layers.get(name):
            units, names_of = {*self.reading[name], *self.sharing[name]}, layer_names
        else:
            return []
        starts = self.specification.starts
        declarations = sorted((unit.declaration for unit in units), key=starts.__getitem__)
        return [(one, use) for one in declarations for use in names_of(one) if use.text == name]

    def is_shared(self, name: str) -> bool:
        """Return whether a share names a layer whose parameters it shares."""
        shares = (unit.share for unit in self.sharing[name] if unit.share is not None)
        return any(entry.item.name.text == name for share in shares for entry in share.entries)

    def declared_like(self, lowered: str) -> list[Constant | Layer]:
        """Return the constants and layers with a name in any case, in text order."""
        names = self.constant_spellings.spelt(lowered), self.layer_spellings.spelt(lowered)
        found: list[Constant | Layer] = [self.constants[name] for name in names[0]]
        found += [self.layers[name] for name in names[1]]
        return sorted(found, key=lambda one: one.place.offsets(self.specification))

    def is_taken(self, name: str) -> bool:
        """Return whether a layer or a constant has a name, in any case."""
        lowered = name.lower()
        return bool(self.layer_spellings.spelt(lowered) or self.constant_spellings.spelt(lowered))

    def depend_on_all_names(self, *, sought: bool = True) -> None:
        """Note that findings on the current unit may change with any name.

        Where near names are not ``sought`` they may change when they are.
        """
        if self.subject is not None:
            (self.asking if sought else self.resigned).add(self.subject)

    @property
    def seeks(self) -> tuple[bool, bool]:
        """Return whether unknown constants, and layers, are compared with the existing ones."""
        return (
            len(self.unknown_constants) * len(self.constants) <= HINT_COMPARISONS,
            len(self.unknown_layers) * len(self.layers) <= HINT_COMPARISONS,
        )

    def nearest_constant(self, name: str) -> str | None:
        """Return the constant that an unknown name may mean."""
        self.depend_on_all_names(sought=self.seeks[0])
        key = (name, False)
        if key not in self._hints:
            found = self.constant_spellings.nearest(name, bool) if self.seeks[0] else []
            self._hints[key] = min(found, key=lambda n: self.constants[n].order, default=None)
        return self._hints[key]

    def nearest_layer(self, name: str) -> Layer | None:
        """Return the layer that an unknown name may mean."""
        self.depend_on_all_names(sought=self.seeks[1])
        key = (name, True)
        if key not in self._hints:
            self._hints[key] = self.nearest_layer_but(name, ())
        hint = self._hints[key]
        return None if hint is None else self.layers[hint]

    def nearest_layer_but(
        self, name: str, taken: Iterable[Layer | None], *, trainable: bool = False
    ) -> str | None:
        """Return the layer that an unknown name may mean, except some, or all inputs."""
        self.depend_on_all_names(sought=self.seeks[1])

        def valid(one: str) -> bool:
            layer = self.layers[one]
            return layer not in taken and (layer.trainable or not trainable)

        found = self.layer_spellings.nearest(name, valid) if self.seeks[1] else []
        return min(found, key=lambda one: self.layers[one].order, default=None)

    # What a revision leaves to be computed again.

    def forget_kinds(self, kinds: Iterable[str]) -> None:
        """Forget what depends on layers of these kinds: some were added, removed or moved."""
        for kind in kinds:
            self._by_kind.pop(kind, None)

    def forget_hints(self) -> None:
        """Forget what depends on names: some were added, removed or moved."""
        self._hints.clear()

    def forget_circles(self, *, all_of_them: bool) -> None:
        """Forget cycles: connections changed, or, unless ``all_of_them``, bundles were replaced."""
        if all_of_them or self._circles:
            self._circles = None


class NetworkEvaluator(Evaluator):
    """An evaluator that knows the network's constants and proposes their names."""

    def __init__(self, declaration: Declaration, network: Network, report: Report) -> None:
        super().__init__(declaration, network.value_of, report)
        self.network = network

    def undefined(self, node: Name) -> None:
        """Report NS030 with the nearest constant."""
        place = RelativeSpan.of(self.declaration, node)
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
            declare = NewLine(Top(), f"const {node.text} = 1;")
            repair = Repair(f"Declare the constant '{node.text}'", [declare], safe=False)
        self.report(Finding(faults.UNDEFINED.code, place, message, notes, repair))
