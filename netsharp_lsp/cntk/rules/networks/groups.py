"""Rules on the groups of an evaluated network, whoever built it: criteria, labels, features, and
nodes that lead nowhere.
"""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.reading.syntax import Name
from netsharp_lsp.cntk.networks.faults import Place
from netsharp_lsp.cntk.networks.node_types import INPUTS
from netsharp_lsp.cntk.rules import NETWORK, rule
from netsharp_lsp.cntk.rules.findings import Change, Finding, Note, Repair, placed
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.networks.node import Network, Node
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.experiment import Experiment

#: Criteria whose first input is the label; the others treat both alike.
LABEL_FIRST = frozenset(
    ("CrossEntropyWithSoftmax", "CrossEntropy", "ClassificationError", "Logistic")
)
#: What people call labels.
LABEL = late(r"(?i)label|target|\btruth|^y$")
#: Options that name nodes of a network.
NAMING = late(rb"(?im)^[^\n#]*(?:node|nodes|nodenames?)\s*=\s*([^\n]*)")
#: Actions that minimize a criterion.
TRAINING = frozenset(("train", "trainrnn"))
WORD = late(rb"[^\s,:;=(){}\[\]\"'$]+")


def _whole(built: BuiltNetwork) -> Network | None:
    """A network that was built without any fault; of others too much is not known."""
    if built.found is None or built.faults or built.network is None or not built.network.nodes:
        return None
    if any(node.operation == "Opaque" for node in built.network.nodes.values()):
        return None
    return built.network


@rule("BS058", "warning", on=NETWORK, language="brainscript")
def no_criterion(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """A network that cannot be trained: nothing says what to minimize."""
    network = _whole(built)
    if network is None or network.groups.get("criterion"):
        return
    if not _trains(built, experiment):
        return
    yield Finding(
        "BS058",
        _key(built),
        "This network has no criterion node, and training needs one: list it in 'criterionNodes',"
        " or give it tag='criterion'.",
    )


def _trains(built: BuiltNetwork, experiment: Experiment) -> bool:
    """Whether the command of a network trains it, as one without an action does."""
    for command in experiment.commands:
        if command.name == built.command and command.listed:
            return not command.actions or not TRAINING.isdisjoint(map(str.lower, command.actions))
    return False


def _key(built: BuiltNetwork) -> Place:
    """The name of the builder in its configuration."""
    assert built.found is not None
    return placed(built.found.entry.assignments[-1].key)


@rule("BS059", "warning", on=NETWORK, language="brainscript")
def no_features(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """A network that reads no data."""
    network = _whole(built)
    if network is None or network.groups.get("feature"):
        return
    if any(node.operation in INPUTS for node in network.nodes.values()):
        return
    yield Finding(
        "BS059",
        _key(built),
        "This network has no input, so nothing of the reader's data gets into it. Declare it with"
        " 'Input'.",
    )


@rule("BS060", "hint", on=NETWORK, language="brainscript")
def without_effect(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """Nodes that no criterion, evaluation or output needs."""
    network = _whole(built)
    if network is None or built.language == "simple":
        return
    wanted = [node for name in ("criterion", "evaluation", "output") for node in _of(network, name)]
    if not wanted:
        return
    needed = _reached(wanted)
    used = {id(one) for node in network.nodes.values() for one in node.inputs}
    named = _named(experiment)
    for node in network.nodes.values():
        place = Place(*node.where)
        loose = not (id(node) in needed or id(node) in used or node.operation == "DynamicAxis")
        if loose and node.name.lower() not in named and not _inside(place):
            what = "input" if node.operation in INPUTS else "node"
            yield Finding(
                "BS060",
                place,
                f"No criterion, evaluation or output needs the {what} '{node.name}': it is computed"
                " for nothing unless a command names it.",
            )


def _inside(place: Place) -> bool:
    return not place.source or place.source.startswith("library:")


def _of(network: Network, group: str) -> tuple[Node, ...]:
    return network.groups.get(group, ())


def _reached(nodes: list[Node]) -> set[int]:
    """The identities of nodes and everything that they are computed of."""
    seen: set[int] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            waiting.extend(node.inputs)
    return seen


def _named(experiment: Experiment) -> set[str]:
    """The words that a configuration gives to options that name nodes, in lower case."""
    return {
        word.decode("utf-8", "replace").lower()
        for source in experiment.configuration.layers.sources
        for value in NAMING.findall(source.text)
        for word in WORD.findall(value)
    }


@rule("BS062", "warning", on=NETWORK, language="brainscript")
def swapped(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """Criteria whose label stands second."""
    if built.network is None:
        return
    labels = {id(node) for node in _of(built.network, "label")}
    for node in built.network.nodes.values():
        if node.operation not in LABEL_FIRST or len(node.inputs) < 2:
            continue
        first, second = node.inputs[:2]
        if _is_label(first, labels) or not _is_label(second, labels):
            continue
        yield Finding(
            "BS062",
            Place(*node.where),
            f"{node.operation} takes the label first and the prediction second: here"
            f" '{second.name}' looks like the label and '{first.name}' like the prediction."
            " Exchange them.",
            [Note(f"'{second.name}' is declared here.", Place(*second.where))],
            _exchange(experiment, Place(*node.where)),
        )


def _exchange(experiment: Experiment, where: Place) -> Repair | None:
    """The first two arguments of a call exchanged, where both are names."""
    for program in experiment.programs:
        for application in program.program.applications:
            if program.outside(application.call.place) != where:
                continue
            values = [one.value for one in application.call.arguments if not one.name]
            if len(values) > 1 and isinstance(values[0], Name) and isinstance(values[1], Name):
                return Repair(
                    "Exchange them",
                    [
                        Change(program.outside(values[0].place), values[1].name),
                        Change(program.outside(values[1].place), values[0].name),
                    ],
                    safe=False,
                )
    return None


def _is_label(node: Node, labels: set[int]) -> bool:
    if id(node) in labels:
        return True
    return not labels and node.operation in INPUTS and bool(LABEL.search(node.name))


@rule("BS063", "hint", on=NETWORK, language="brainscript")
def labels_as_features(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """Labels that are in the group of features alone, as `Input` puts them there."""
    network = _whole(built)
    if network is None or built.language != "brainscript":
        return
    features = {id(node) for node in _of(network, "feature")}
    labels = {id(node) for node in _of(network, "label")}
    told: set[int] = set()
    for node in network.nodes.values():
        if node.operation not in LABEL_FIRST or not node.inputs:
            continue
        label = node.inputs[0]
        if id(label) in told or label.operation not in INPUTS:
            continue
        if id(label) in features and id(label) not in labels:
            told.add(id(label))
            yield Finding(
                "BS063",
                Place(*label.where),
                f"'{label.name}' is a label of {node.operation}, and 'Input' puts it among the"
                " features: list it in 'labelNodes', or declare it with tag='label'.",
            )
