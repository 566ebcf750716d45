"""Works constants out after those that they refer to; knows no layers."""

from __future__ import annotations

from netsharp_lsp.netsharp.reading.expressions import names_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from netsharp_lsp.netsharp.meaning.evaluate import Value
    from netsharp_lsp.netsharp.meaning.model import Constant
    from netsharp_lsp.netsharp.meaning.network import Network


def evaluate_constants(constants: Iterable[Constant], network: Network) -> None:
    """Work constants out in the order of the text; all that refer to any of them are among them.

    The same circles are found as if every constant were worked out: whoever leads into a circle
    refers to it.
    """
    for constant in constants:
        constant.value, constant.state, constant.circular = None, "new", False
    for constant in constants:
        _evaluate(constant, network)


def _evaluate(constant: Constant, network: Network) -> None:
    """No recursion: chains may be long."""
    path: list[Constant] = []
    places: dict[Constant, int] = {}
    pending = [constant]
    while pending:
        current = pending[-1]
        if current.state == "new":
            current.state = "open"
            places[current] = len(path)
            path.append(current)
            pending.extend(_unknown(current, path, places, network))
            continue
        pending.pop()
        if current.state == "open" and current is path[-1]:
            path.pop()
            current.state = "done"
            if current.item.value is not None:
                unit = network.units[current.declaration]
                value = network.evaluate(unit.declaration, current.item.value, unit.report)
                vague = network.doubts.vague(unit.declaration, current.item.value)
                current.value = None if vague else value


def _unknown(
    constant: Constant, path: list[Constant], places: Mapping[Constant, int], network: Network
) -> list[Constant]:
    """The constants that ``constant`` refers to and that are to be worked out before it.

    ``path`` is what waits for it, ``places`` where each stands there.
    """
    found: list[Constant] = []
    if constant.item.value is None:
        return found
    for name in names_in(constant.item.value):
        other = network.constants.get(name.text)
        if other is not None and other.state == "open":
            if not (constant.circular or other.circular):
                circle = path[places[other] :]
                network.circular.append(circle)
                for member in circle:
                    member.circular = True
        elif other is not None and other.state == "new":
            found.append(other)
    return found


def same_constant(name: str, before: Mapping[str, Value | None], network: Network) -> bool:
    """Whether a name stands for the constant value that it stood for; not there is no value."""
    constant = network.constants.get(name)
    if name not in before or constant is None:
        return name not in before and constant is None
    return same_value(before[name], constant.value)


def same_value(first: Value | None, second: Value | None) -> bool:
    """Whether two values are equal and of one type, entry by entry."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(same_value, first, second))
    return type(first) is type(second) and first == second
