"""Rules on the groups of an evaluated network, whichever builder made it: criteria, labels,
features, and unused nodes.
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
#: Common names of labels.
LABEL = late(r"(?i)label|target|\btruth|^y$")
#: Options that name nodes of a network.
NAMING = late(rb"(?im)^[^\n#]*(?:node|nodes|nodenames?)\s*=\s*([^\n]*)")
#: Actions that minimize a criterion.
TRAINING = frozenset(("train", "trainrnn"))
WORD = late(rb"[^\s,:;=(){}\[\]\"'$]+")


def _whole(built: BuiltNetwork) -> Network | None:
    """Return a network that was built without faults; others are not known well enough."""
    if built.found is None or built.faults or built.network is None or not built.network.nodes:
        return None
    if any(node.operation == "Opaque" for node in built.network.nodes.values()):
        return None
    return built.network


@rule("BS058", "warning", on=NETWORK, language="brainscript")
def no_criterion(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """Report a network that cannot be trained because it has no criterion."""
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
    """Return whether the command of a network trains it, as one without an action does."""
    for command in experiment.commands:
        if command.name == built.command and command.listed:
            return not command.actions or not TRAINING.isdisjoint(map(str.lower, command.actions))
    return False


def _key(built: BuiltNetwork) -> Place:
    """Return the place of the builder's name in its configuration."""
    assert built.found is not None
    return placed(built.found.entry.assignments[-1].key)


@rule("BS059", "warning", on=NETWORK, language="brainscript")
def no_features(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """Report a network without an input."""
    network = _whole(built)
    if network is None or network.groups.get("feature"):
        return
    if any(node.operation in INPUTS for node in network.nodes.values()):
        return
    yield Finding(
        "BS059",
        _key(built),
        "This network has no input, so it uses none of the reader's data. Declare one with"
        " 'Input'.",
    )


@rule("BS060", "hint", on=NETWORK, language="brainscript")
def without_effect(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """Report nodes that no criterion, evaluation or output depends on."""
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
                f"No criterion, evaluation or output needs the {what} '{node.name}': it is not used"
                " unless a command names it.",
            )


def _inside(place: Place) -> bool:
    return not place.source or place.source.startswith("library:")


def _of(network: Network, group: str) -> tuple[Node, ...]:
    return network.groups.get(group, ())


def _reached(nodes: list[Node]) -> set[int]:
    """Return the identities of nodes and of all nodes that they depend on."""
    seen: set[int] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            waiting.extend(node.inputs)
    return seen


def _named(experiment: Experiment) -> set[str]:
    """Return the words in options that name nodes, in lower case."""
    return {
        word.decode("utf-8", "replace").lower()
        for source in experiment.configuration.layers.sources
        for value in NAMING.findall(source.text)
        for word in WORD.findall(value)
    }


@rule("BS062", "warning", on=NETWORK, language="brainscript")
def swapped(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """Report criteria whose label comes second."""
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
    """Return a fix that exchanges the first two arguments of a call, if both are names."""
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
    """Report labels that are only in the group of features, where `Input` puts them."""
    network = _whole(built)
    if network is None or built.language != "brainscript":
        return
    features = {id(node) for node in _of(network, "feature")}
    labels = {id(node) for node in _of(network, "label")}
    seen: set[int] = set()
    for node in network.nodes.values():
        if node.operation not in LABEL_FIRST or not node.inputs:
            continue
        label = node.inputs[0]
        if id(label) in seen or label.operation not in INPUTS:
            continue
        if id(label) in features and id(label) not in labels:
            seen.add(id(label))
            yield Finding(
                "BS063",
                Place(*label.where),
                f"'{label.name}' is a label of {node.operation}, and 'Input' puts it among the"
                " features: list it in 'labelNodes', or declare it with tag='label'.",
            )
