"""Evaluates constants after those that they refer to; knows no layers."""

from __future__ import annotations

from netsharp_lsp.netsharp.reading.expressions import names_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from netsharp_lsp.netsharp.meaning.model import Constant
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value

#: A cycle around another one is reported if it has no more constants: each of a nest of cycles
#: would have all of those within it.
LONGEST_AROUND = 100


def evaluate_constants(constants: Iterable[Constant], network: Network) -> None:
    """Evaluate constants in text order; all that refer to any of them are among them.

    The same cycles are found as if every constant were evaluated: a constant that leads into a
    cycle refers to it.
    """
    for constant in constants:
        constant.value, constant.state, constant.circular = None, "new", False
    for constant in constants:
        _evaluate(constant, network)


class _Path:
    """The constants that wait for each other, from the first one on."""

    __slots__ = ("_circular_up_to", "_places", "constants")

    def __init__(self) -> None:
        self.constants: list[Constant] = []
        self._places: dict[Constant, int] = {}
        #: For each of them: the place of the last one up to it that is in a circle, -1 for none.
        self._circular_up_to: list[int] = []

    def push(self, constant: Constant) -> None:
        self._places[constant] = len(self.constants)
        self.constants.append(constant)
        self._circular_up_to.append(self._circular_up_to[-1] if self._circular_up_to else -1)

    def pop(self) -> None:
        self.constants.pop()
        self._circular_up_to.pop()

    def circle_to(self, other: Constant) -> list[Constant]:
        """Return the constants from one of them to the last; none if too many, see above."""
        first = self._places[other]
        length = len(self.constants) - first
        around = self._circular_up_to[-1] >= first
        if around and length > LONGEST_AROUND:
            self._mark(first)
            self._mark(first + length - 1)
            return []
        for place in range(first, first + length):
            self._mark(place)
        return self.constants[first:]

    def _mark(self, place: int) -> None:
        self.constants[place].circular = True
        self._circular_up_to[place] = max(place, self._circular_up_to[place])


def _evaluate(constant: Constant, network: Network) -> None:
    """Evaluate a constant without recursion: chains may be long."""
    path = _Path()
    pending = [constant]
    while pending:
        current = pending[-1]
        if current.state == "new":
            current.state = "open"
            path.push(current)
            pending.extend(_unknown(current, path, network))
            continue
        pending.pop()
        if current.state == "open" and current is path.constants[-1]:
            path.pop()
            current.state = "done"
            if current.item.value is not None:
                unit = network.units[current.declaration]
                value = network.evaluate(unit.declaration, current.item.value, unit.report)
                vague = network.doubts.is_uncertain(unit.declaration, current.item.value)
                current.value = None if vague else value


def _unknown(constant: Constant, path: _Path, network: Network) -> list[Constant]:
    """Return the constants that ``constant`` refers to and that are to be evaluated before it.

    ``path`` has those that wait for it.
    """
    found: list[Constant] = []
    if constant.item.value is None:
        return found
    for name in names_in(constant.item.value):
        other = network.constants.get(name.text)
        if other is not None and other.state == "open":
            if not (constant.circular or other.circular):
                circle = path.circle_to(other)
                if circle:
                    network.circular.append(circle)
        elif other is not None and other.state == "new":
            found.append(other)
    return found


def same_constant(name: str, before: Mapping[str, Value | None], network: Network) -> bool:
    """Return whether a name has the constant value that it had; a missing one has no value."""
    constant = network.constants.get(name)
    if name not in before or constant is None:
        return name not in before and constant is None
    return same_value(before[name], constant.value)


def same_value(first: Value | None, second: Value | None) -> bool:
    """Return whether two values are equal and of one type, entry by entry."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(same_value, first, second))
    return type(first) is type(second) and first == second
