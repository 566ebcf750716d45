"""Rules on the streams of readers and the inputs of the network that they feed."""

from __future__ import annotations

from netsharp_lsp.cntk.networks.node import OPAQUE, elements, reached, written
from netsharp_lsp.cntk.networks.node_types import INPUTS
from netsharp_lsp.cntk.rules import EXPERIMENT, rule
from netsharp_lsp.cntk.rules.experiment.reader_streams import streams_of
from netsharp_lsp.cntk.rules.findings import Finding, Note, Place, placed
from netsharp_lsp.cntk.run.elsewhere import network_of
from netsharp_lsp.diagnostics.nearest import nearest, suggestion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.networks.node import Network, Node
    from netsharp_lsp.cntk.rules.experiment.reader_streams import Stream
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity

_READERS = ("reader", "cvreader")


class _Fed:
    """A reader with its streams, and the inputs of the network that they feed."""

    __slots__ = ("inputs", "network", "reader", "severity", "streams")

    def __init__(
        self,
        reader: Visit,
        streams: list[Stream],
        inputs: list[Node],
        network: Network,
        trainer: str,
    ) -> None:
        self.reader = reader
        self.streams = streams
        self.inputs = inputs
        self.network = network
        #: None for an error; a warning if another configuration trains the network, which may be
        #: run with other settings.
        self.severity: Severity | None = "warning" if trainer else None


def _fed(experiment: Experiment) -> Iterator[_Fed]:
    """Yield each reader whose streams are known, with a network that is known."""
    for visit in experiment.visits:
        command = visit.command
        outermost = visit.outer is not None and visit.outer.outer is None
        if not outermost or visit.name.lower() not in _READERS or not command.listed:
            continue
        network, trainer = network_of(command, experiment)
        streams = streams_of(visit, experiment.visits, experiment.files.labels)
        if network is None or not streams or _is_open(network):
            continue
        yield _Fed(visit, streams, _read_nodes(visit, network), network, trainer)


def _is_open(network: Network) -> bool:
    """Return whether a network may contain unknown nodes, or has faults that come first."""
    return bool(network.troubles) or any(one.operation == OPAQUE for one in network.nodes.values())


def _read_nodes(visit: Visit, network: Network) -> list[Node]:
    """Return the inputs whose data a command reads."""
    if visit.command.actions == ("write",):
        return _below(network, visit)
    groups = (*network.groups.get("feature", ()), *network.groups.get("label", ()))
    return list(dict.fromkeys(node for node in groups if node.operation in INPUTS))


def _below(network: Network, visit: Visit) -> list[Node]:
    """Return the inputs that the outputs depend on."""
    named = visit.command.scope.look_up(b"outputNodeNames") if visit.command.scope else None
    if named is not None:
        return []
    below = reached(network.groups.get("output", ()))
    return [node for node in below if node.operation in INPUTS]


def _made(node: Node) -> list[Note]:
    """Return a note on where an input is created, which is unknown for one in a model file."""
    place = Place(*node.where)
    return [Note(f"The input '{node.name}' is created here.", place)] if place.source else []


@rule("CK106", "error", on=EXPERIMENT)
def unfed_inputs(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report inputs of the network for which the reader has no stream."""
    seen: set[object] = set()
    for fed in _fed(experiment):
        names = [stream.name for stream in fed.streams]
        for node in fed.inputs:
            if node.name in names:
                continue
            meant = suggestion(node.name, names)
            message = (
                f"'{fed.reader.command.name}' needs data for the input '{node.name}', and the "
                f"reader has only {', '.join(names)}: CNTK stops.{meant}"
            )
            place = placed(fed.reader.found.entry.parts[-1].key)
            if (place, node.name) not in seen:
                seen.add((place, node.name))
                yield Finding("CK106", place, message, _made(node), severity=fed.severity)


@rule("CK107", "info", on=EXPERIMENT)
def unused_streams(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report streams that no command's network uses."""
    read: dict[Place, bool] = {}
    unused: dict[Place, Finding] = {}
    for fed in _fed(experiment):
        inputs = [node for node in fed.network.nodes.values() if node.operation in INPUTS]
        names = [node.name for node in inputs]
        unfed = {node.name for node in fed.inputs} - {stream.name for stream in fed.streams}
        for stream in fed.streams:
            place = placed(stream.entry.parts[-1].key)
            read[place] = read.get(place, False) or stream.name in names
            if nearest(stream.name, names) in unfed:
                # The intended input is reported to have no stream.
                read[place] = True
            meant = suggestion(stream.name, names)
            message = (
                f"The network of '{fed.reader.command.name}' has no input '{stream.name}', so this "
                f"stream is not used.{meant}"
            )
            severity: Severity | None = "warning" if meant else None
            unused[place] = Finding("CK107", place, message, severity=severity)
    for place, finding in unused.items():
        if not read[place]:
            yield finding


@rule("CK108", "error", on=EXPERIMENT)
def unequal_sizes(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report streams whose number of elements differs from the input that they feed."""
    seen: set[object] = set()
    for fed in _fed(experiment):
        streams = {stream.name: stream for stream in fed.streams}
        for node in fed.inputs:
            stream = streams.get(node.name)
            size = elements(node.shape or ())
            if stream is None or stream.size is None or not size or stream.size == size:
                continue
            found = stream.found.entry.parts[-1].value if stream.found is not None else None
            place = placed(found if found is not None else stream.entry.parts[-1].key)
            if (place, node.name) in seen:
                continue
            seen.add((place, node.name))
            many = len(node.shape or ()) > 1
            shape = f" ([{written(node.shape)}])" if many else ""
            message = (
                f"The stream '{stream.name}' has {stream.size} numbers per sample "
                f"({stream.why}), and the input '{node.name}' has {size}{shape}: they must be "
                "equal."
            )
            yield Finding("CK108", place, message, _made(node), severity=fed.severity)
