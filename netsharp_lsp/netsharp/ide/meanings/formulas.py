"""Counts of a network before its data is known: polynomials in n, h and k.

n is the number of features, h the nodes of a hidden `auto` layer, k those of an `auto` output. It
knows sizes and connections and shows nothing except the formulas themselves.
"""

from __future__ import annotations

from math import gcd

from netsharp_engine.geometry import product
from netsharp_lsp.netsharp.meaning.counts.predicates import count_edges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

    Powers = tuple[int, int, int]

SYMBOLS = ("n", "h", "k")
#: What a symbol stands for, by the kind of the layer that brings it in.
MEANINGS = {
    "n": "the number of features",
    "h": "the number of nodes of a hidden `auto` layer",
    "k": "the number of outputs",
}
UNIT: Powers = (0, 0, 0)


class Formula:
    """A polynomial in `SYMBOLS` with whole coefficients, none of them 0."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[Powers, int]) -> None:
        self.terms = {powers: number for powers, number in terms.items() if number}

    @classmethod
    def number(cls, value: int) -> Formula:
        """Return a plain number."""
        return cls({UNIT: value})

    @classmethod
    def symbol(cls, name: str) -> Formula:
        """Return one of the symbols."""
        first, second, third = (int(name == symbol) for symbol in SYMBOLS)
        return cls({(first, second, third): 1})

    @property
    def known(self) -> int | None:
        """Return its value if it has no symbols."""
        if not self.terms:
            return 0
        return self.terms[UNIT] if set(self.terms) == {UNIT} else None

    def __add__(self, other: Formula) -> Formula:
        terms = dict(self.terms)
        for powers, number in other.terms.items():
            terms[powers] = terms.get(powers, 0) + number
        return Formula(terms)

    def __mul__(self, other: Formula) -> Formula:
        terms: dict[Powers, int] = {}
        for (a, b, c), left in self.terms.items():
            for (d, e, f), right in other.terms.items():
                powers = (a + d, b + e, c + f)
                terms[powers] = terms.get(powers, 0) + left * right
        return Formula(terms)

    def symbols(self) -> list[str]:
        """Return the symbols in it."""
        return [name for i, name in enumerate(SYMBOLS) if any(powers[i] for powers in self.terms)]

    def __str__(self) -> str:
        """Return the text, as `200 (n + 1)`: common factors are before the brackets."""
        if len(self.terms) < 2:
            return _sum(self.terms)
        common = gcd(*self.terms.values())
        shared = tuple(min(powers[i] for powers in self.terms) for i in range(len(SYMBOLS)))
        rest = {
            (a - shared[0], b - shared[1], c - shared[2]): number // common
            for (a, b, c), number in self.terms.items()
        }
        if rest[max(rest)] != 1 or (common == 1 and not any(shared)):
            return _sum(self.terms)
        return f"{_term((shared[0], shared[1], shared[2]), common)} ({_sum(rest)})"

    def factor(self) -> str:
        """Return it as a factor of a product: sums in brackets."""
        text = str(self)
        return f"({text})" if " + " in text or " - " in text else text


def _sum(terms: dict[Powers, int]) -> str:
    if not terms:
        return "0"
    parts: list[str] = []
    for powers in sorted(terms, reverse=True):
        number = terms[powers]
        text = _term(powers, abs(number))
        sign = "- " if number < 0 else "+ " if parts else ""
        parts.append(sign + text)
    return " ".join(parts)


def _term(powers: Iterable[int], number: int) -> str:
    names = []
    for name, power in zip(SYMBOLS, powers, strict=True):
        if power:
            names.append(name if power == 1 else f"{name}^{power}")
    if number != 1 or not names:
        names.insert(0, f"{number:,}")
    return " ".join(names)


def total(formulas: Iterable[Formula | None]) -> Formula | None:
    """Return the sum; None if any part is."""
    found = Formula({})
    for formula in formulas:
        if formula is None:
            return None
        found += formula
    return found


# Sizes and counts.


def nodes_of(layer: Layer, network: Network) -> Formula | None:
    """Return the nodes of a layer; None where its size is faulty or cannot be known."""
    if layer.nodes is not None:
        return Formula.number(layer.nodes)
    if not layer.auto:
        return None
    if layer.kind != "input":
        return Formula.symbol("h" if layer.kind == "hidden" else "k")
    others = [other for other in network.inputs if other is not layer]
    taken = [other.nodes for other in others]
    if any(nodes is None for nodes in taken):
        return None
    return Formula.symbol("n") + Formula.number(-sum(nodes or 0 for nodes in taken))


def connections_of(bundle: Bundle, network: Network) -> Formula | None:
    """Return the edges from real source cells; None while unknown, or costly to count."""
    if bundle.kind == "where":
        edges = count_edges(bundle, network)
        return None if edges is None or edges.count is None else Formula.number(edges.count)
    if bundle.kind == "all":
        source = nodes_of(bundle.source, network) if bundle.source is not None else None
        destination = nodes_of(bundle.layer, network)
        return None if source is None or destination is None else source * destination
    if bundle.geometry is None:
        return None
    taps = product(tuple(axis.real_taps() for axis in bundle.geometry.axes))
    return Formula.number(taps * product(bundle.geometry.maps))


def parameters_of(bundle: Bundle, network: Network) -> Formula | None:
    """Return the trained numbers of a bundle."""
    if bundle.kind in ("all", "where"):
        return connections_of(bundle, network)
    if bundle.geometry is None:
        return None
    return Formula.number(bundle.geometry.kernels * bundle.geometry.weights_per_kernel)


def biases_of(layer: Layer, network: Network) -> Formula | None:
    """Return the biases that a layer has of its own."""
    return nodes_of(layer, network) if layer.has_biases else Formula({})


def layer_parameters(layer: Layer, network: Network) -> Formula | None:
    """Return the trained numbers of a layer: its bundles' and its own biases."""
    bundles = (parameters_of(bundle, network) for bundle in layer.bundles)
    return total((*bundles, biases_of(layer, network)))


def multiply_adds_of(bundle: Bundle, network: Network) -> Formula | None:
    """Return one multiply-add for each weighted edge; pools and norms have none."""
    if bundle.kind in ("all", "where", "convolve"):
        return connections_of(bundle, network)
    return Formula({})
