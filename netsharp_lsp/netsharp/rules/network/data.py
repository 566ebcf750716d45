"""Rules about the data that a run file names."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Finding, Rests
from netsharp_lsp.netsharp.rules import NETWORK, rule
from netsharp_lsp.workspace import outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.network import Network


@rule("NS130", "info", on=NETWORK, rests=Rests.TEXT)
def data_outside(network: Network, _network: Network) -> Iterator[Finding]:
    """Report a table for training outside of the folders that may be read."""
    path = network.context.outside
    first = next(iter(network.all_layers), None)
    if path is not None and first is not None:
        message = f"The run file is not used: {outside(path)}"
        yield Finding("NS130", first.place, message)
