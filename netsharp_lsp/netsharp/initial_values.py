"""Writes trained weights and biases into a specification's text; knows no model file.

Values become constants at the end of the text, and each bundle or layer refers to its own; the rest
of the text stays as it is.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.lower import biases_name, weights_name
from netsharp_lsp.netsharp.meaning.counts.sharing import shared_groups
from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
from netsharp_lsp.netsharp.meaning.values.attributes import WEIGHTED_KINDS
from netsharp_lsp.text.edits import Edit, apply_edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netsharp_lsp.netsharp.meaning.model import Given
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import BundleItem, Declaration


def with_initial_values(network: Network, values: Mapping[str, Sequence[str]]) -> bytes:
    """Return the text of a network without errors, with initial values for all trained parameters.

    ``values``: decimals in canonical order by parameter name (`LAYER/SOURCE/weights`,
    `LAYER/biases`). Of parameters that are shared the first one in the text gets them.
    """
    return Writing(network, values).text()


def real(decimal: str) -> str:
    """Return a number as Net# writes reals: with a point or an exponent."""
    return decimal if any(mark in decimal for mark in ".e") else f"{decimal}.0"


class Writing:
    """The edits and constants for one text."""

    def __init__(self, network: Network, values: Mapping[str, Sequence[str]]) -> None:
        self.network = network
        self.values = values
        self.shared = shared_groups(network)
        self.taken = {*network.constants, *network.layers}
        self.edits: list[Edit] = []
        self.constants: list[str] = []

    def text(self) -> bytes:
        """Return the text with all values."""
        for layer in self.network.layers.values():
            for bundle in layer.bundles:
                self._bundle(bundle)
            self._biases(layer)
        data = apply_edits(self.network.specification.data, self.edits)
        if not self.constants:
            return data
        separator = b"" if data.endswith(b"\n") else b"\n"
        return data + separator + "".join(self.constants).encode()

    def _constant(self, parameter: str) -> str:
        """Add a constant for a parameter and return its name."""
        name = "".join(c if c.isalnum() else "_" for c in parameter)
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        values = ", ".join(map(real, self.values[parameter]))
        self.constants.append(f"const {name} = [{values}];\n")
        return name

    def _bundle(self, bundle: Bundle) -> None:
        leader = self.shared.bundle_leader.get(bundle, bundle)
        if bundle.kind not in WEIGHTED_KINDS:
            return
        given = bundle.given.get("Weights")
        if leader is not bundle:
            # A follower's own values would have to be the leader's.
            self._drop(bundle.declaration, given)
            return
        name = self._constant(weights_name(bundle))
        if given is not None:
            self._replace(bundle.declaration, given, name)
        else:
            self._insert_weights(bundle.declaration, bundle.item, name)

    def _insert_weights(self, declaration: Declaration, item: BundleItem, name: str) -> None:
        base = self.network.specification.starts[declaration]
        if item.block is not None:
            end = base + item.block[1] - 1
            self.edits.append(Edit(end, end, f" Weights = {name}; "))
            return
        end = base + item.end
        self.edits.append(Edit(end - 1, end, f" {{ Weights = {name}; }}"))

    def _biases(self, layer: Layer) -> None:
        if not layer.has_biases:
            return
        given = layer.given.get("Biases")
        if self.shared.bias_leader.get(layer, layer) is not layer:
            self._drop(layer.declaration, given)
            return
        name = self._constant(biases_name(layer))
        base = self.network.specification.starts[layer.declaration]
        if given is not None:
            self._replace(layer.declaration, given, name)
        elif layer.item.body is not None:
            start = base + layer.item.body[0] + 1
            self.edits.append(Edit(start, start, f" Biases = {name};"))
        else:
            bundle = layer.item.bundles[0]
            start, end = base + bundle.start, base + bundle.end
            self.edits.append(Edit(start, start, f"{{ Biases = {name}; "))
            self.edits.append(Edit(end, end, " }"))

    def _replace(self, declaration: Declaration, given: Given, name: str) -> None:
        base = self.network.specification.starts[declaration]
        value = given.attribute.value
        assert value is not None
        self.edits.append(Edit(base + value.start, base + value.end, name))

    def _drop(self, declaration: Declaration, given: Given | None) -> None:
        if given is not None:
            base = self.network.specification.starts[declaration]
            start, end = given.attribute.start, given.attribute.end
            self.edits.append(Edit(base + start, base + end, ""))
