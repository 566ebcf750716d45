"""The actions that show a model as text, dumpNode and plot.

A program that draws is started only where the user allows it.
"""

from __future__ import annotations

import re
import subprocess
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.descent.reports import FINISHED
from netsharp_engine.ops.tensors import STATISTICS
from netsharp_lsp.cntk.networks.node import GROUPS, PARAMETER, elements, reached, written
from netsharp_lsp.cntk.training.networks.models import StoredModelError
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of
from netsharp_lsp.cntk.training.splits import REPEATED_GROUP
from netsharp_lsp.cntk.training.work import (
    network_of,
    refuse_model_outside,
    refuse_outside,
    work_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.networks.node import Network, Node
    from netsharp_lsp.cntk.training.networks.models import LearntNetwork
    from netsharp_lsp.cntk.training.reporting import RunReporter
    from netsharp_lsp.cntk.training.work import CommandWork, Workshop

_ALL = "__AllNodes__"
_RULE = "#" * 68
#: The digits that bring a number back, by its type.
_DIGITS = {"float32": "%.9g", "float64": "%.17g"}
#: How the nodes of a kind are drawn, in the order of the file.
_STYLES = {
    PARAMETER: 'node [ shape = box     , color = gray , style = "filled, rounded"  ]; ',
    "feature": "node [ shape = ellipse , color = red  , fillcolor = white ]; ",
    "label": "node [ shape = diamond, color = brown, style = bold ] ;  ",
    "criterion": "node [ shape = doublecircle , color =  red , fillcolor = white  ]; ",
    "statistic": (
        'node [ shape = box    , color = black, style = "dashed, filled",  fillcolor= limegreen ] ;'
    ),
    "PastValue": (
        'node [ shape = box3d  , color = lightgray, style = "filled" , fillcolor = white ] '
    ),
    "FutureValue": 'node [ shape = box3d  , color = red, style = "filled" , fillcolor = white ] ',
}
_STYLE = "node [ shape = ellipse, color = blue, fillcolor = white, style = solid ]; "
_DELAYS = {"PastValue": "lightgray", "FutureValue": "red"}


class DumpNodes(NamedTuple):
    """The action dumpNode, under any of its names."""

    work: CommandWork
    name: str
    pattern: re.Pattern[str] | None
    values: bool
    metadata: bool
    target: str

    def run(self, reporter: RunReporter) -> str:
        """Write the nodes of the model as it is in its file now."""
        reporter.begun()
        model = self.work.store.load(self.work.model_path)
        found = in_order_of_names(model.network)
        if self.pattern is not None:
            found = [node for node in found if self.pattern.fullmatch(node.name)]
            reporter.line(
                f"DumpNodeInfo: {len(found)} nodes matching RegEx({self.pattern.pattern}): "
            )
            for node in found:
                reporter.line(f"\t{node.name}")
            how = "with" if self.values else "without"
            reporter.line(
                f"DumpNodeInfo: dumping node info ({how} printing values) to {self.target}"
            )
        elif self.name in model.network.nodes:
            found = [model.network.nodes[self.name]]
        else:
            reporter.line(
                f"Warning: node name '{self.name}' does not exist in the network. dumping all "
                "nodes instead."
            )
            if self.name != _ALL:
                reporter.notice(f"no node '{self.name}' exists: all nodes are shown.")
        texts = (one for node in found for one in dumped(node, model, self.values, self.metadata))
        _write(self.work, reporter, self.target, texts)
        return FINISHED


def dump_nodes(command: Command, action: str, shop: Workshop) -> DumpNodes:
    """Prepare the action dumpNode of a command."""
    work = _shown_work(command, action, shop)
    options = work.options
    name = options.text("nodeName", _ALL)
    values, metadata = options.truth("printValues", True), options.truth("printMetadata", True)
    if not values and not metadata:
        raise work.refused("printValues and printMetadata are both false: nothing would be shown.")
    target = options.path("outputFile") or f"{work.model_name}.{name}.txt"
    refuse_outside(work, shop.path(target))
    return DumpNodes(work, name, _pattern(work), values, metadata, target)


def _pattern(work: CommandWork) -> re.Pattern[str] | None:
    found = work.options.found("nodeNameRegex")
    text = work.options.text("nodeNameRegex")
    if found is None or not text:
        return None
    if REPEATED_GROUP.search(text):
        reason = (
            f"'nodeNameRegex={text}' repeats a group, which is not supported. Write the pattern "
            "without it."
        )
        raise Refused(RunRefusal(reason, where_of(found.text)))
    try:
        return re.compile(text)
    except re.error as error:
        reason = f"'nodeNameRegex={text}' is not a valid pattern: {error}."
        raise Refused(RunRefusal(reason, where_of(found.text))) from None


class Plot(NamedTuple):
    """The action plot; ``drawing`` is the command that draws, which is started only where the user
    who started the run allows it.
    """

    work: CommandWork
    target: str
    drawing: str

    def run(self, reporter: RunReporter) -> str:
        """Write the model as it is in its file now as a graph."""
        reporter.begun()
        model = self.work.store.load(self.work.model_path)
        _write(self.work, reporter, self.target, _graph(model.network))
        reporter.line(f"Created network description in dot format: {self.target}")
        if self.drawing:
            self._draw(reporter)
        reporter.line("Done.")
        return FINISHED

    def _draw(self, reporter: RunReporter) -> None:
        if not self.work.shop.starts_programs:
            reporter.notice(
                "no program is started without --allow-commands; the command would be: "
                f"{self.drawing}"
            )
            return
        reporter.line(f"Executing third-party tool for rendering dot:\n{self.drawing}")
        started = subprocess.run(
            self.drawing,
            shell=True,
            cwd=self.work.shop.folder,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if started.returncode:
            raise StoredModelError(
                f"'{self.drawing}' ended with the exit code {started.returncode}."
            )


def plot(command: Command, action: str, shop: Workshop) -> Plot:
    """Prepare the action plot of a command."""
    work = _shown_work(command, action, shop)
    options = work.options
    target = options.path("outputDotFile") or f"{work.model_name}.dot"
    refuse_outside(work, shop.path(target))
    picture, drawing = options.path("outputFile"), options.text("renderCmd")
    if picture:
        refuse_outside(work, shop.path(picture))
    if picture and not drawing:
        raise work.refused("'outputFile' is given without a 'renderCmd' that draws it.")
    if picture:
        drawing = drawing.replace("<IN>", target).replace("<OUT>", picture)
    return Plot(work, target, drawing)


def _shown_work(command: Command, action: str, shop: Workshop) -> CommandWork:
    """Return the work on a model that exists, or that an earlier command writes."""
    work = work_of(command, action, shop)
    refuse_model_outside(work)
    network_of(work)
    return work


def write_shown(
    work: CommandWork, reporter: RunReporter, target: str, texts: Iterable[str]
) -> None:
    """Write texts as CNTK does: with a blank before each."""
    work.store.write_text(work.shop.path(target), (f" {text}" for text in texts))
    reporter.wrote(target)


def _write(work: CommandWork, reporter: RunReporter, target: str, texts: Iterable[str]) -> None:
    write_shown(work, reporter, target, texts)
    reporter.done()


def in_order_of_names(network: Network) -> list[Node]:
    """Return the nodes in CNTK's order: by name, case-insensitively."""
    return sorted(network.nodes.values(), key=lambda node: (node.name.lower(), node.name))


def dumped(node: Node, model: LearntNetwork, values: bool, metadata: bool) -> Iterator[str]:
    """Yield the description of a node, piece by piece: numbers of parameters and of statistics
    only, not the sample count of a normalization [CNTK: ComputationNode::DumpNodeInfo and its
    overrides].
    """
    shows = node.operation == PARAMETER or node.operation in STATISTICS
    held = model.values.get(node.name) if shows else None
    if metadata:
        yield f"\n{node.name}={node.operation}"
        if node.inputs:
            yield "("
            for number, one in enumerate(node.inputs):
                yield from (",", one.name) if number else (one.name,)
            yield ")"
        yield from _described(node)
    if values and held is not None:
        if metadata:
            yield "\n"
        rows, digits = (node.shape or (held.size,))[0], _DIGITS[model.dtype]
        for row in held.reshape(-1, rows).T if held.size else ():
            yield from (digits % one for one in row.tolist())
            yield "\n"
        if metadata:
            yield _RULE


def _described(node: Node) -> Iterator[str]:
    if node.operation == PARAMETER:
        rows = (node.shape or (1,))[0]
        yield f"[{rows},{elements(node.shape or ()) // max(rows, 1)}]  "
        rate = node.attributes.get("learningRateMultiplier", 1.0)
        learns = "true" if node.trainable else "false"
        yield f"learningRateMultiplier={rate:f}  NeedsGradient={learns}"
    elif node.operation in STATISTICS:
        yield f"[{written(node.shape)}]  "
        yield "HasComputed=true"
    elif node.operation.endswith("InputValue"):
        yield from ("[", written(node.shape), "]")


def _graph(network: Network) -> Iterator[str]:
    """Yield a network in the DOT language, line by line."""
    nodes = in_order_of_names(network)
    groups: Mapping[str, Iterable[Node]] = {
        PARAMETER: [node for node in nodes if node.operation == PARAMETER],
        "statistic": [node for node in nodes if node.operation in STATISTICS],
        **{kind: [node for node in nodes if node.operation == kind] for kind in _DELAYS},
        **network.groups,
    }
    yield "strict digraph {\n"
    yield "rankdir = BT ;  \n"
    yield "// special nodes \n"
    for kind, style in _STYLES.items():
        names = _names(groups.get(kind, ()))
        yield f"{style}{names}; \n" if names else ""
    yield f"{_STYLE}\n"
    yield "\n// add labels and operation name\n"
    for node in nodes:
        axis = " x *" if node.axis is not None else ""
        label = f"{_quoted(node.name)} [{written(node.shape)}{axis}]\\n{node.operation}"
        yield f' "{_quoted(node.name)}" [ label = "{label}" ] ;\n'
    sinks = [one for kind in ("criterion", "output", "evaluation") for one in network.groups[kind]]
    for rank, ends in (("source", network.groups["feature"]), ("sink", sinks)):
        yield "subgraph {\n"
        yield f"\t\t rank={rank} ; "
        yield f"{_names(ends)}\n}}\n"
    for user, source in _edges(network):
        color = _DELAYS.get(source.operation)
        name = _quoted(source.name)
        if color is not None:
            name = f"{name}.dummy"
            yield (
                f'node [ shape = box3d  , color = {color}, style = "filled" , label = '
                f'"{_quoted(source.name)}\\n({source.operation})" ] ; "{name}"\n'
                f'"{name}" -> "{_quoted(user.name)}" ; \n'
            )
        else:
            yield f'"{name}" -> "{_quoted(user.name)}" ; \n'
    yield "\n}\n"


def _edges(network: Network) -> Iterator[tuple[Node, Node]]:
    """Yield each node that a group reaches with each of its inputs, the last input first."""
    for node in reached(chain.from_iterable(network.groups[group] for group in GROUPS)):
        yield from ((node, one) for one in node.inputs)


def _names(nodes: Iterable[Node]) -> str:
    return "".join(f'"{_quoted(node.name)}" ' for node in nodes)


def _quoted(name: str) -> str:
    """Return a name escaped for quotes."""
    return name.replace("\\", "\\\\").replace('"', '\\"')
