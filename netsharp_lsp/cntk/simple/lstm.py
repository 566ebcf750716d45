"""The LSTM of simple networks, composed of products and sums.

Of nested nodes the later argument is created first, as in CNTK.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.cntk.simple.construction import Construction

    Sizes = tuple[int | None, int | None]

#: The gates in the order of their delays, and the input of each: the output, or the cell.
_DELAYS = ("HI", "HF", "HO", "HC", "CI", "CF", "CC")


def lstm(net: Construction, layer: int, sizes: Sizes, before: Node) -> Node:
    """Return one LSTM over an input: `sizes` are the width of the input and the size of the
    cell.
    """
    width, size = sizes
    parameters = _parameters(net, layer, width, size)
    return _Lstm(net, parameters, {name: net.delay(size) for name in _DELAYS}).over(before)


def _parameters(
    net: Construction, layer: int, width: int | None, size: int | None
) -> dict[str, Node]:
    """Return the parameters, created in CNTK's order."""
    made = {}
    for gate in ("O", "I", "F", "C"):
        made[f"WX{gate}"] = net.weights(f"WX{gate}{layer}", size, width)
    values = net.settings.gate_values
    starts = {"o": values[2], "c": 0.0, "i": values[0], "f": values[1]}
    for gate, value in starts.items():
        made[f"b{gate}"] = net.constant(f"b{gate}{layer}", size, 1, value)
    for gate in ("I", "F", "O"):
        made[f"WH{gate}"] = net.weights(f"WH{gate}{layer}", size, size)
        made[f"WC{gate}"] = net.weights(f"WC{gate}{layer}", size, 1)
    made["WHC"] = net.weights(f"WHC{layer}", size, size)
    return made


class _Lstm:
    """The parameters of one layer, and by name the delays of its previous outputs."""

    def __init__(
        self, net: Construction, parameters: dict[str, Node], past: dict[str, Node]
    ) -> None:
        self.net = net
        self.parameters = parameters
        self.past = past

    def over(self, before: Node) -> Node:
        """Return the output of the cell, with dropout after it if that is configured."""
        net = self.net
        constant_input, constant_forget, constant_output = net.settings.constant_gates
        entering = None if constant_input else self._gate("I", before, self.past["CI"])
        candidate = self._candidate(before)
        if entering is not None:
            candidate = net.node("ElementTimes", entering, candidate)
        kept = self.past["CC"]
        if not constant_forget:
            kept = net.node("ElementTimes", self._gate("F", before, self.past["CF"]), kept)
        cell = net.node("Plus", kept, candidate)
        leaving = None if constant_output else self._gate("O", before, cell)
        output = net.node("Tanh", cell)
        if leaving is not None:
            output = net.node("ElementTimes", leaving, output)
        for name, past in self.past.items():
            past.inputs = (output,) if name.startswith("H") else (cell,)
        return net.dropped(output)

    def _gate(self, gate: str, before: Node, cell: Node) -> Node:
        net, parameters = self.net, self.parameters
        peephole = net.node("DiagTimes", parameters[f"WC{gate}"], cell)
        back = net.node("Times", parameters[f"WH{gate}"], self.past[f"H{gate}"])
        total = net.node("Times", parameters[f"WX{gate}"], before)
        for one in (parameters[f"b{gate.lower()}"], back, peephole):
            total = net.node("Plus", total, one)
        return net.activated(total, 0)

    def _candidate(self, before: Node) -> Node:
        net, parameters = self.net, self.parameters
        back = net.node("Times", parameters["WHC"], self.past["HC"])
        biased = net.node("Plus", back, parameters["bc"])
        total = net.node("Plus", net.node("Times", parameters["WXC"], before), biased)
        return net.node("Tanh", total)
