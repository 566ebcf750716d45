"""Nodes inside macros that are not reached: NDL builds every statement of a macro, BrainScript only
those that are used.
"""

from __future__ import annotations

from netsharp_lsp.cntk.migration.networks.names import Use
from netsharp_lsp.cntk.ndl.syntax import NdlCall, Word
from netsharp_lsp.cntk.networks.node import reached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.migration.networks.names import Names, Symbol
    from netsharp_lsp.cntk.networks.node import Network, Node

#: Macros within macros that are followed to what they give.
_DEEPEST = 50


def unreached(names: Names, network: Network) -> list[Use]:
    """Return the unreached nodes, by their dotted names in NDL; one for each unreached part of the
    network.
    """
    by_name = {name.lower(): node for name, node in network.nodes.items()}
    met = reached(_roots(names, by_name))
    rest = [node for node in network.nodes.values() if node not in met]
    found = []
    while rest:
        inner = {id(one) for node in rest for one in node.inputs if one is not node}
        start = next((node for node in rest if id(node) not in inner), rest[-1])
        use = _use(names, start)
        if use is not None:
            found.append(use)
        met |= reached([start])
        rest = [node for node in rest if node not in met]
    return found


def _roots(names: Names, by_name: dict[str, Node]) -> Iterator[Node]:
    """Yield the nodes that are the values of the network's variables."""
    unnamed: dict[str, list[Node]] = {}
    for name, node in by_name.items():
        unnamed.setdefault(_variable(name), []).append(node)
    for symbol in names.top.symbols.values():
        path = _path(names, symbol)
        yield from [by_name[path]] if path in by_name else unnamed.get(path, [])


def _variable(name: str) -> str:
    """Return the name of the variable that an unnamed node was made for."""
    path, _, last = name.rpartition(".")
    return path if last.lower().startswith("unnamed") else name


def _path(names: Names, symbol: Symbol) -> str:
    """Return the name in NDL, in lower case, of a variable's node."""
    parts = [symbol.word.text]
    at: Symbol | None = symbol
    for _ in range(_DEEPEST):
        macro = names.target(at) if at is not None and isinstance(at.value, NdlCall) else None
        at = macro.result if macro is not None else None
        if at is None:
            break
        parts.append(at.word.text)
    return ".".join(parts).lower()


def _use(names: Names, node: Node) -> Use | None:
    """Return a node's dotted name as a use; None where a part of it has no name in the text."""
    text = names.texts[-1]
    name = _variable(node.name)
    use = names.use_of(text, Word(name, 0, len(name)), names.top)
    if use is None or len(use.parts) < 2 or any(symbol is None for _, _, symbol in use.parts):
        return None
    return use
