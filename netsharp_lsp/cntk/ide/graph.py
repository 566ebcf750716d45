"""The network as a picture: its description, the positions of boxes and arrows, and the places of
the nodes' names in the text.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ide.places.nodes import named_nodes
from netsharp_lsp.cntk.networks.description import described
from netsharp_lsp.cntk.networks.node import Network
from netsharp_lsp.cntk.run.elsewhere import network_for
from netsharp_lsp.cntk.run.models import model_of
from netsharp_lsp.description.folding import folded
from netsharp_lsp.description.nodes import as_layers
from netsharp_lsp.description.picture import drawn, lay_out
from netsharp_lsp.ide.answers import Graph, Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.experiment import Experiment


def graph_of(edited: Edited) -> Graph:
    """Return the first network that is built in the text, else the first of its runs, else that of
    the model that a command of them reads; for an edit in MEL the network that it writes last.
    """
    experiment, built = _meant(edited)
    network = built.network if built is not None else None
    description = described(network if network is not None else Network({}, {}))
    description = folded({**description, "layers": as_layers(description)})
    description["command"] = built.command if built is not None else ""
    description["builder"] = built.builder if built is not None else ""
    description["picture"] = drawn(lay_out(description))
    graph = Graph(description)
    for named in named_nodes(edited).values():
        if named.built is built:
            place = named.name
            graph.places[named.node.name] = Target(place.start, place.end, place.start, place.end)
    for number, call in enumerate(description["calls"]):
        if experiment is not None and edited.is_here(experiment, call["file"]):
            start, end = call["start"], call["end"]
            graph.call_places[number] = Target(start, end, start, end)
    return graph


def _meant(edited: Edited) -> tuple[Experiment, BuiltNetwork] | tuple[None, None]:
    if edited.language == "mel":
        return _written(edited) or (None, None)
    first: tuple[Experiment, BuiltNetwork] | None = None
    for experiment, built in edited.networks():
        if built.network is None:
            continue
        first = first or (experiment, built)
        if edited.is_here(experiment, built.place.source):
            return experiment, built
    return first or _read(edited) or (None, None)


def _written(edited: Edited) -> tuple[Experiment, BuiltNetwork] | None:
    """Return the network that a MEL script writes last, in the first run that knows all of it."""
    for experiment in edited.experiments:
        for edit in experiment.edits:
            last = next(reversed(edit.written.values()), None)
            if last is not None and edited.is_here(experiment, edit.text.name):
                return experiment, last
    return None


def _read(edited: Edited) -> tuple[Experiment, BuiltNetwork] | None:
    """Return the network of the first model that a command reads, whatever run trains it."""
    for experiment in edited.experiments:
        for command in experiment.commands if edited.language == "cntk" else ():
            path = model_of(command)
            if command.listed and command.builder is None and path is not None:
                others = experiment.beside(path)
                found = network_for(command, experiment, edited.name, others)
                if not isinstance(found, str) and found.built.network is not None:
                    return found.experiment, found.built
    return None
