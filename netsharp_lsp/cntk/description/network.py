"""The network of one command of a run: the JSON of `netsharp describe` except for places.

A node's `start` and `end` are bytes here; reports convert them to lines.
"""

from __future__ import annotations

from netsharp_lsp.cntk.networks.description import BYTES, described
from netsharp_lsp.cntk.networks.node import Network

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.experiment import Experiment

#: Actions that train, in lower case.
TRAINING = frozenset(("train", "trainrnn"))


def default_network(experiment: Experiment) -> BuiltNetwork | None:
    """Return the network to use if no command is named: the first that a listed command trains,
    otherwise the first of all.
    """
    built = {one.command: one for one in experiment.networks}
    training = (
        built[command.name]
        for command in experiment.commands
        if command.listed
        and command.name in built
        and any(action.lower() in TRAINING for action in command.actions)
    )
    return next(training, next(iter(built.values()), None))


def describe(experiment: Experiment) -> dict[str, Any]:
    """Describe the default network; without one the description has no nodes."""
    built = default_network(experiment)
    if built is None or built.network is None:
        nothing: dict[str, Any] = {"command": None, "builder": None, "commands": []}
        return {**described(Network({}, {})), **nothing}
    return described_network(built, experiment)


def described_network(built: BuiltNetwork, experiment: Experiment) -> dict[str, Any]:
    """Describe a network that was built."""
    assert built.network is not None
    precision = experiment.configuration.root.option(b"precision", "float").lower()
    return {
        **described(built.network, precision if precision in BYTES else "float"),
        "command": built.command or None,
        "builder": built.builder or None,
        "commands": [one.command for one in experiment.networks if one.command],
        "release": experiment.version.as_json,
    }
