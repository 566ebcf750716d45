"""The files that parameters of a run's networks start from."""

from __future__ import annotations

from netsharp_lsp.cntk.networks.faults import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.run.experiment import Experiment

_OPTION = "initFromFilePath"


def files_of_starts(experiment: Experiment) -> Iterator[tuple[str, str, Place]]:
    """Yield the option, the path and the place of each parameter of a listed command's network."""
    listed = {command.name for command in experiment.commands if command.listed}
    for built in experiment.networks:
        network = built.network if built.command in listed or not built.command else None
        for node in network.nodes.values() if network is not None else ():
            if path := node.text(_OPTION):
                yield _OPTION, path, Place(*node.where)
