"""Rules on names of nodes in options, by the network that the command uses."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.networks.node import OPAQUE
from netsharp_lsp.cntk.rules import EXPERIMENT, emitted, rule
from netsharp_lsp.cntk.rules.findings import Change, Finding, Repair, placed
from netsharp_lsp.cntk.run.elsewhere import network_of
from netsharp_lsp.diagnostics.nearest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.networks.node import Network
    from netsharp_lsp.cntk.rules.findings import Place
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity

emitted("CK115", "error")

#: Options whose nodes CNTK must find; it skips unknown nodes of others with a line in the log.
_NEEDED = frozenset(("trainCriterionNodeName", "evalCriterionNodeName"))
#: Tables whose options name nodes of the network of their command.
_TABLES = frozenset(
    (
        *("train", "trainRNN", "test", "eval", "cv", "write", "bnstat", "command"),
        *("dumpNodes", "dumpNode", "dumpnode", "SGD", "writer"),
    )
)
_WILD = "*?["
#: The languages of texts of networks.
_LANGUAGES = ("brainscript", "ndl")


@rule("CK114", "warning", on=EXPERIMENT)
def unknown_nodes(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report names of nodes that no network of a command that uses them has."""
    known: set[Place] = set()
    unknown: dict[Place, tuple[bool, Finding]] = {}
    for visit in experiment.visits:
        if visit.table.name not in _TABLES or not visit.command.listed:
            continue
        network, trainer = network_of(visit.command, experiment)
        if network is None or network.troubles or _is_open(network):
            continue
        for option in visit.table:
            needed = option.name in _NEEDED or "cv" in visit.command.actions
            for element in _names(visit, option.name) if option.kind == "nodes" else ():
                place = placed(element.place(0, len(element)))
                finding = _checked(element, option.name, network, visit, needed, trainer)
                if finding is None:
                    known.add(place)
                elif not _may_be_declared(element, experiment):
                    unknown.setdefault(place, (needed, finding))
    for place, (needed, finding) in unknown.items():
        if needed or place not in known:
            yield finding


def _is_open(network: Network) -> bool:
    """Return whether a network may contain unknown nodes."""
    return any(node.operation == OPAQUE for node in network.nodes.values())


def _names(visit: Visit, option: str) -> list[Traced]:
    found = visit.option(option)
    if found is None or found.problem is not None:
        return []
    return [element for element in elements(found.text) or () if element.text.strip()]


def _may_be_declared(element: Traced, experiment: Experiment) -> bool:
    """Return whether the text of a faulty network contains the name: its declaration may be
    lost.
    """
    if not any(built.faults for built in experiment.networks):
        return False
    name = re.escape(element.text.strip().split(b".")[-1])
    word = re.compile(rb"(?<!\w)" + name + rb"(?!\w)", re.IGNORECASE)
    texts = (text for language in _LANGUAGES for text in experiment.texts(language))
    return any(word.search(text.data) is not None for text in texts)


def _result_of(call: str, network: Network) -> str | None:
    """Return the node in a macro's call that other nodes use; the call's name is not a node."""
    prefix = f"{call.lower()}."
    inner = {name for name in network.nodes if name.lower().startswith(prefix)}
    read = (one for node in network.nodes.values() if node.name not in inner for one in node.inputs)
    return next((one.name for one in read if one.name in inner), None)


def _checked(
    element: Traced, option: str, network: Network, visit: Visit, needed: bool, trainer: str
) -> Finding | None:
    """Return the finding on one name, None if the network has it."""
    name = element.text.decode("utf-8", "replace").strip()
    names = [one.lower() for one in network.nodes]
    wild = any(sign in name for sign in _WILD)
    if name.lower() in names or (wild and any(fnmatchcase(it, name.lower()) for it in names)):
        return None
    place = placed(element.place(0, len(element)))
    meant = _result_of(name, network) or nearest(name, network.nodes)
    then = "CNTK stops" if needed else "it is skipped"
    if option == "nodeName":
        then = "all nodes are shown instead"
    hint = f" Did you mean '{meant}'?" if meant is not None else ""
    severity: Severity | None = "warning" if trainer else None
    message = (
        f"{option}: the network of '{visit.command.name}'{trainer} has no node '{name}', so "
        f"{then}.{hint}"
    )
    repair = None
    if meant is not None and not element.uses:
        repair = Repair(f"Write '{meant}'", [Change(place, meant)], safe=False)
    code = "CK115" if needed else "CK114"
    return Finding(code, place, message, repair=repair, severity=severity)
