"""The MEL functions that write nodes as text: what is known of the nodes at each call.

Knows nothing of the format of such a text.
"""

from __future__ import annotations

from netsharp_lsp.cntk.mel.editing import nodes_meant
from netsharp_lsp.cntk.mel.functions import INCLUDE_DATA, fits
from netsharp_lsp.cntk.mel.graph import Missing
from netsharp_lsp.cntk.mel.reading import parameter, unquoted, word
from netsharp_lsp.cntk.mel.surroundings import Dumped
from netsharp_lsp.cntk.vocabulary import TRUE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.mel.editing import Going
    from netsharp_lsp.cntk.mel.functions import Function
    from netsharp_lsp.cntk.mel.models import Model
    from netsharp_lsp.cntk.mel.reading import Statement
    from netsharp_lsp.cntk.networks.node import Network

    class Dumping(Going, Protocol):
        """An evaluation in progress, and the texts that it writes."""

        dumped: list[Dumped]

        def named(self, name: Traced, is_error: bool = True) -> Model | None:
            """Return a model by its name; record a fault if there is none."""


def dump_model(going: Dumping, statement: Statement, function: Function) -> None:
    """Dump all nodes (`DumpModel`), once statements of NDL are connected."""
    model = going.named(statement.arguments[0])
    if model is not None:
        network, why = _network(model)
        names = None if network is None else list(network.nodes)
        _note(going, statement, (network, why, names))
    going.writes = True


def dump_node(going: Dumping, statement: Statement, function: Function) -> None:
    """Dump the nodes of a name or a pattern (`DumpNode`)."""
    found = nodes_meant(going, statement.arguments[0])
    if found is not None:
        network, why = _network(found.model)
        _note(going, statement, (network, why, _spelt(network, found.names)))
    going.writes = True


def _note(
    going: Dumping,
    statement: Statement,
    what: tuple[Network | None, str, Sequence[str] | None],
) -> None:
    file = statement.arguments[1]
    path = word(unquoted(file))
    network, why, names = what
    if "$" in path:
        network, why = None, "The file's name has a variable without a value."
    has_numbers = _includes_data(statement)
    going.dumped.append(Dumped(path, network, why, names, has_numbers, statement.text))


def _network(model: Model) -> tuple[Network | None, str]:
    """Return the network of a model as it is now, or None and a known reason why it cannot be
    written.
    """
    found = model.network.finished()
    if isinstance(found, Missing):
        return None, (
            f"Input {found.number} of '{found.node.name}' (counted from 0) is not connected there."
        )
    if found is not None and found.troubles:
        trouble = found.troubles[0]
        return None, f"'{trouble.node.name}': {trouble.message}"
    return found, ""


def _spelt(network: Network | None, names: Sequence[str] | None) -> list[str] | None:
    """Return names as the network spells them, whatever their case; None if one is not a node of
    it.
    """
    if network is None or names is None:
        return None
    proper = {name.lower(): name for name in network.nodes}
    found = [proper.get(name.lower()) for name in names]
    known = [name for name in found if name is not None]
    return known if len(known) == len(found) else None


def _includes_data(statement: Statement) -> bool:
    """Return whether values are requested."""
    options = (found for one in statement.arguments[2:] if (found := parameter(one)) is not None)
    return any(
        fits(word(one.name), INCLUDE_DATA.names[0]) and word(one.value) in TRUE for one in options
    )


HANDLERS: dict[str, Callable[[Dumping, Statement, Function], None]] = {
    "DumpModel": dump_model,
    "DumpNode": dump_node,
}
