"""The action edit: models made of others, by BrainScript or a script of the editing language."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.descent.reports import FINISHED
from netsharp_engine.cntk.starts import Start, started
from netsharp_engine.ops.tensors import COUNTING, HELD
from netsharp_lsp.cntk.mel.arguments import function_of
from netsharp_lsp.cntk.networks.node import OPAQUE, Network, elements
from netsharp_lsp.cntk.run.edits import normal
from netsharp_lsp.cntk.training.networks.models import LearntNetwork, StoredModelError, unstorable
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of
from netsharp_lsp.cntk.training.work import refuse_outside, work_of
from netsharp_lsp.workspace import outside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.mel.reading import Statement
    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.cntk.training.telling import Telling
    from netsharp_lsp.cntk.training.work import CommandWork, Workshop

#: Functions of scripts that do something beside the network, or to its numbers.
_NOT_DONE = frozenset(("ReviseParameter", "DumpModel", "DumpNode"))


class Made(NamedTuple):
    """A network that is written, and how those of its parameters begin that nothing is known of."""

    network: Network
    starts: Mapping[str, Start]


class EditModels(NamedTuple):
    """The action edit: models by their paths."""

    work: CommandWork
    made: Mapping[str, Made]
    keeps: bool

    def run(self, telling: Telling) -> str:
        """Write the models."""
        telling.begun()
        if self.keeps and os.path.exists(self.work.model_path):
            name = self.work.model_name
            telling.line(
                f"'{name}' exists, skipping. Specify makeMode=false to force executing the action."
            )
            telling.notice(f"'{name}' is there, so nothing is done; makeMode=false makes it anew.")
            telling.done()
            return FINISHED
        learnt: dict[str, LearntNetwork] = {}
        models = [
            (path, LearntNetwork(one.network, self._values(one, learnt), self.work.dtype))
            for path, one in self.made.items()
        ]
        for path, model in models:
            self.work.store.save(self.work.shop.path(path), model)
            count = len(model.network.nodes)
            telling.line(f"Model with {count} nodes saved as '{path}'.")
            telling.wrote(path)
        telling.done()
        return FINISHED

    def _values(self, made: Made, learnt: dict[str, LearntNetwork]) -> dict[str, Any]:
        """The numbers of a network: those of models that it was made of, else how they begin."""
        return {
            node.name: self._value(node, made, learnt)
            for node in made.network.nodes.values()
            if node.operation in HELD or node.operation in COUNTING
        }

    def _value(self, node: Node, made: Made, learnt: dict[str, LearntNetwork]) -> Any:
        shape = (1,) if node.operation in COUNTING else node.shape or ()
        source = _origin(node, made.network)
        assert source is not None
        if source.saved is None:
            return started(shape, made.starts[source.name], self.work.dtype)
        path, name = source.saved
        model = learnt.get(path)
        if model is None:
            model = learnt[path] = self.work.store.load(self.work.shop.path(path))
        found = model.values.get(name)
        if found is None or found.size != elements(shape) or model.dtype != self.work.dtype:
            raise StoredModelError(
                f"{path} is not the model that '{self.work.name}' was prepared for: '{name}' is "
                f"not there with {elements(shape):,} numbers of type {self.work.dtype}."
            )
        return found


def _origin(node: Node, network: Network) -> Node | None:
    """The node that has the numbers of another in the same network; None where there is none."""
    seen: set[str] = set()
    while node.saved is not None and not node.saved[0]:
        if node.name in seen or node.saved[1] not in network.nodes:
            return None
        seen.add(node.name)
        node = network.nodes[node.saved[1]]
    return node


def edit(command: Command, action: str, shop: Workshop) -> EditModels:
    """The action edit of a command."""
    builder = command.builder
    if builder is not None and builder.entry.key.lower() == b"brainscriptnetworkbuilder":
        return _of_text(command, action, shop)
    return _of_script(command, action, shop)


def _of_text(command: Command, action: str, shop: Workshop) -> EditModels:
    """What a text of BrainScript makes."""
    work = work_of(command, action, shop, "outputModelPath")
    built = shop.experiment.network_of(command.name)
    if built is None or built.network is None:
        why = "" if built is None else f": {built.why_not}"
        raise work.refused(f"the network of '{work.name}' is not known{why}")
    made = {work.model_name: _made(work, built.network, "brainscript")}
    return EditModels(work, made, work.options.truth("makeMode", True))


def _of_script(command: Command, action: str, shop: Workshop) -> EditModels:
    """What a script of the editing language writes."""
    work = work_of(command, action, shop, "")
    place = shop.experiment.commands.index(command)
    edits = [one for one in shop.experiment.edits_before(place + 1) if one.command == command.name]
    if not edits:
        path = work.options.required_path("editPath", command.name)
        raise work.refused(f"'{path}' cannot be read.")
    script = edits[-1]
    refusals = list(_not_done(script.text.mel.statements))
    if refusals:
        raise Refused(*refusals)
    if not script.written:
        raise work.refused("the script writes no model.")
    made: dict[str, Made] = {}
    for path, built in script.written.items():
        network = None if built is None else built.network
        if network is None:
            why = next((one.message for one in script.faults if one.kind == "missing-file"), "")
            raise work.refused(
                f"the network that the script writes to '{path}' cannot be known. "
                f"{why or 'It loads or does what is not followed here.'}"
            )
        made[path] = _made(work, network, "ndl")
        refuse_outside(work, shop.path(path))
    return EditModels(work, made, keeps=False)


def _not_done(statements: list[Statement]) -> Iterator[RunRefusal]:
    for one in statements:
        found = function_of(one) if one.kind == "call" else None
        if found is not None and found.name in _NOT_DONE:
            reason = f"'{found.name}' of a script is not done yet. Leave it out."
            yield RunRefusal(reason, where_of(one.text))


def _made(work: CommandWork, network: Network, language: str) -> Made:
    """A network that is to be written; Refused where it cannot be."""
    nodes = list(network.nodes.values())
    opaque = next((node for node in nodes if node.operation == OPAQUE), None)
    if opaque is not None:
        raise work.refused(f"nothing is known of '{opaque.name}', which another model holds.")
    refusals = unstorable(network)
    if refusals:
        raise Refused(*refusals)
    for path in dict.fromkeys(normal(node.saved[0]) for node in nodes if node.saved):
        if path != "." and not work.store.readable(work.shop.path(path)):
            raise work.refused(outside(path))
    holding = [node for node in nodes if node.operation in HELD or node.operation in COUNTING]
    lost = next((node for node in holding if _origin(node, network) is None), None)
    if lost is not None:
        raise Refused(
            RunRefusal(f"where '{lost.name}' has its numbers from is not known.", lost.where)
        )
    own = {node.name: node for node in holding if node.saved is None}
    computed = [node for node in own.values() if node.operation != "LearnableParameter"]
    if computed:
        raise Refused(
            RunRefusal(
                f"'{computed[0].name}' is worked out of data, and an edit has none.",
                computed[0].where,
            )
        )
    shop = work.shop
    starts = shop.seeds.starts(Network(own, {}), language, shop.experiment.files)
    return Made(network, starts)
