"""Networks that SimpleNetworkBuilder cannot build although each of its options is valid."""

from __future__ import annotations

from netsharp_lsp.cntk.rules import NETWORK, rule
from netsharp_lsp.cntk.rules.findings import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.experiment import Experiment

#: Faults of an evaluation that no rule on options reports.
KINDS = frozenset(("unsupported-criterion", "unsupported-kind", "layer-sizes", "unbuildable"))


@rule("CK118", "error", on=NETWORK)
def unbuildable(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """Report sizes, kinds and criteria that do not form a network together."""
    if built.language == "simple":
        for fault in built.faults:
            if fault.kind in KINDS:
                sentence = f"{fault.message[:1].upper()}{fault.message[1:].rstrip('.')}."
                yield Finding("CK118", fault.place, sentence)
