"""The actions that use a model without training it: test, cv, and write as text files."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.computing import Computing
from netsharp_engine.cntk.descent.reports import FINISHED, INTERRUPTED
from netsharp_engine.cntk.evaluation import Passes, computed, evaluated
from netsharp_engine.program import Job
from netsharp_lsp.cntk.networks.node import written
from netsharp_lsp.cntk.training.actions.taken import Made, TakenNumbers, made_of
from netsharp_lsp.cntk.training.actions.writing import format_of, texts
from netsharp_lsp.cntk.training.networks.lowering import BRAINSCRIPT, lowered
from netsharp_lsp.cntk.training.networks.models import LearntNetwork, StoredModelError
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.plans.truncating import require_cuttable
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of
from netsharp_lsp.cntk.training.work import (
    network_in,
    network_of,
    nodes_named,
    refuse_model_outside,
    refuse_outside,
    samples_of,
    work_of,
)
from netsharp_lsp.limits import MODELS_COMPARED
from netsharp_lsp.workspace import outside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from netsharp_engine.cntk.evaluation import Samples
    from netsharp_engine.cntk.samples.minibatches import Sweeps
    from netsharp_engine.graph import Graph
    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.networks.node import Network, Node
    from netsharp_lsp.cntk.training.actions.writing import Format
    from netsharp_lsp.cntk.training.reporting import RunReporter
    from netsharp_lsp.cntk.training.work import CommandWork, Workshop


#: The longest sleep between two checks for a stop in a pause, in seconds.
_MOMENT = 0.1


class Test(NamedTuple):
    """The actions test and eval."""

    work: CommandWork
    source: Sweeps
    passes: Passes
    by: Computing
    #: What a text of the command makes of other models.
    made: Made | None = None

    def run(self, reporter: RunReporter) -> str:
        """Evaluate the model as it is in its file now."""
        reporter.begun()
        reporter.computed_by(self.by.facts)
        reporter.warned(self.source.sequences.warnings)
        self.evaluate(_model(self.work, self.made), reporter)
        reporter.done()
        return FINISHED

    def evaluate(
        self, model: LearntNetwork, reporter: RunReporter, epoch: int = 0
    ) -> Mapping[str, float]:
        """Return the criteria and evaluation values of a model over all data, by node name."""
        graph = _evaluation_graph(self.work, model.network)
        kinds = {node.name: node.op for node in graph.criteria}
        figures, count = evaluated(
            graph,
            model.values,
            self.source,
            self.passes,
            self.by,
            lambda start, end, of_batch: reporter.tested(start, end, of_batch, kinds),
        )
        reporter.evaluated(count, figures, kinds, epoch)
        return figures.means


class CrossValidation(NamedTuple):
    """The action cv: models of several epochs, evaluated on the same data."""

    test: Test
    epochs: range
    pause: int

    @property
    def work(self) -> CommandWork:
        """The parameters of its command."""
        return self.test.work

    def run(self, reporter: RunReporter) -> str:
        """Evaluate each model that exists, and report which are best."""
        reporter.begun()
        reporter.computed_by(self.test.by.facts)
        reporter.warned(self.test.source.sequences.warnings)
        found: list[tuple[str, Mapping[str, float]]] = []
        for epoch, name in self._models(reporter):
            if reporter.stops() or (found and not self._waited(reporter)):
                reporter.notice(f"Stopped before {name}.")
                return INTERRUPTED
            reporter.plain_line(f"Model {name} --> ")
            path = self.test.work.shop.path(name)
            model = self.work.store.load(path)
            found.append((name, self.test.evaluate(model, reporter, epoch)))
        if not found:
            raise StoredModelError(
                f"{self.test.work.model_name}: no model exists of epochs {self.epochs.start} to "
                f"{self.epochs.stop - 1} to be evaluated."
            )
        reporter.plain_line("Best models:")
        reporter.plain_line("------------")
        for number, criterion in enumerate(found[0][1]):
            best, means = min(found, key=lambda one: one[1][criterion])
            least = f"{means[criterion]:.8g}"
            reporter.plain_line(f"Based on Err[{number}]: Best model = {best} with min err {least}")
            reporter.results.append(f"{self.test.work.name}: best {criterion} {least} of {best}")
        reporter.done()
        return FINISHED

    def _models(self, reporter: RunReporter) -> Iterator[tuple[int, str]]:
        """Yield the models that exist; once the final one in place of one that is missing."""
        work, is_spent = self.test.work, False
        for epoch in self.epochs:
            name = f"{work.model_name}.{epoch}"
            if not os.path.exists(work.shop.path(name)):
                reporter.line(f"Model {name} does not exist.")
                if is_spent or not os.path.exists(work.model_path):
                    continue
                name, is_spent = work.model_name, True
            yield epoch, name

    def _waited(self, reporter: RunReporter) -> bool:
        """Pause between two models, and return whether no stop was requested."""
        end = time.monotonic() + self.pause
        while (left := end - time.monotonic()) > 0:
            if reporter.stops():
                return False
            time.sleep(min(left, _MOMENT))
        return True


def cross_validate(command: Command, action: str, shop: Workshop) -> CrossValidation:
    """Prepare the action cv of a command."""
    work = work_of(command, action, shop)
    refuse_model_outside(work)
    interval = work.options.wholes("crossValidationInterval")
    if len(interval) != 3 or interval[1] < 1 or not 0 <= interval[0] <= interval[2]:
        raise work.refused(
            "'crossValidationInterval' has to be the first epoch, a step of 1 or more, and the "
            "last epoch, as in 2:1:10."
        )
    first, step, last = interval
    epochs = range(first, last + 1, step)
    if len(epochs) > MODELS_COMPARED.most:
        raise work.refused(
            f"'crossValidationInterval' names {len(epochs):,} models, and at most "
            f"{MODELS_COMPARED} are compared. Choose a larger step."
        )
    models = [f"{work.model_name}.{epoch}" for epoch in epochs]
    test = _tested(work, network_in(work, [*models, work.model_name]))
    return CrossValidation(test, epochs, work.options.whole("sleepTimeBetweenRuns", 0))


def test(command: Command, action: str, shop: Workshop) -> Test:
    """Prepare the actions test and eval of a command."""
    work = _work_of(command, action, shop)
    network = network_of(work)
    return _tested(work, network)._replace(made=_made(work, network))


def _tested(work: CommandWork, network: Network) -> Test:
    """Prepare the evaluation of a network: its data and its nodes."""
    reader = samples_of(work, shuffled=work.action == "cv")
    graph = _evaluation_graph(work, network)
    reader.fit(network.nodes[node.name] for node in graph.inputs)
    options = work.options
    passes = Passes(
        (options.wholes("minibatchSize") or [40960])[0],
        options.whole("epochSize", 0),
        options.whole("numMBsToShowResult", 100),
        options.whole("firstMBsToShowResult", 0),
    )
    source = reader.source(work.dtype)
    require_cuttable(graph, network, source, [passes.minibatch])
    job = Job(graph, source.widest(passes.minibatch), work.dtype)
    return Test(work, source, passes, work.shop.requested.forward(job))


def _evaluation_graph(work: CommandWork, network: Network) -> Graph:
    """Return the graph of the nodes that evaluate a network, then of its criteria."""
    groups = network.groups
    named = nodes_named(work, network, work.options.names("evalNodeNames"))
    nodes = list(dict.fromkeys(named or [*groups["evaluation"], *groups["criterion"]]))
    if not nodes:
        raise work.refused(f"the network of '{work.name}' has no evaluation or criterion node.")
    return lowered(network, nodes, nodes)


class Write(NamedTuple):
    """The action write, as text files."""

    work: CommandWork
    source: Sweeps
    passes: Passes
    form: Format
    target: str
    by: Computing
    #: What a text of the command makes of other models.
    made: Made | None = None

    def run(self, reporter: RunReporter) -> str:
        """Write the values that the model in its file now has for the data."""
        reporter.begun()
        reporter.computed_by(self.by.facts)
        reporter.warned(self.source.sequences.warnings)
        model = _model(self.work, self.made)
        nodes = _written(self.work, model.network)
        graph = lowered(model.network, nodes)
        values: dict[str, list[list[Samples]]] = {node.name: [] for node in nodes}
        names, count = list(values), 0
        found = computed(graph, names, model.values, self.source, self.passes, self.by)
        for number, (batch, of_batch) in enumerate(found):
            count += batch.columns
            for name, sequences in of_batch.items():
                values[name].append(sequences)
            reporter.line(f"Minibatch[{number}]: ActualMBSize = {batch.columns}")
        for node in nodes:
            parts = texts(self.form, node.name, written(node.shape), values[node.name])
            self.work.store.write_text(f"{self.work.shop.path(self.target)}.{node.name}", parts)
            reporter.wrote(f"{self.target}.{node.name}")
        reporter.plain_line(f"Written to {self.target}*")
        reporter.plain_line(f"Total Samples Evaluated = {count}")
        reporter.done()
        return FINISHED


def write(command: Command, action: str, shop: Workshop) -> Write:
    """Prepare the action write of a command."""
    work = _work_of(command, action, shop)
    options = work.options
    network = network_of(work)
    target = options.required_path("outputPath", work.name)
    if target == "-":
        raise work.refused("'outputPath' is '-', and nothing is printed. Name a file.")
    refuse_outside(work, shop.path(target))
    nodes = _written(work, network)
    for node in nodes:
        refuse_outside(work, f"{shop.path(target)}.{node.name}")
    reader = samples_of(work, shuffled=False, may_randomize=False)
    graph = lowered(network, nodes)
    reader.fit(network.nodes[node.name] for node in graph.inputs)
    block = options.found("format")
    scope = None if block is None else options.scope.inside(block)
    form = format_of(scope, _labels(work, Options(scope)) if scope is not None else ())
    passes = Passes((options.wholes("minibatchSize") or [2048])[0], options.whole("epochSize", 0))
    source = reader.source(work.dtype)
    require_cuttable(graph, network, source, [passes.minibatch])
    names = {node.name for node in nodes}
    job = Job(graph, source.widest(passes.minibatch), work.dtype)
    by = work.shop.requested.forward(job, [node for node in graph.nodes if node.name in names])
    return Write(work, source, passes, form, target, by, _made(work, network))


def _work_of(command: Command, action: str, shop: Workshop) -> CommandWork:
    """Return the work of an action that reads a model, or the models that a builder loads
    instead.
    """
    assert command.scope is not None
    named = command.builder is None or Options(command.scope).found("modelPath") is not None
    work = work_of(command, action, shop, "modelPath" if named else "")
    if named:
        refuse_model_outside(work)
    return work


def _made(work: CommandWork, network: Network) -> Made | None:
    """Return the network that a builder derives from other models; None where it reads none.

    ActionsLib/NetworkFactory.cpp, GetModelFromConfig.
    """
    taken = any(node.saved is not None for node in network.nodes.values())
    if work.command.builder is None or not taken:
        work.options.required_path("modelPath", work.name)
        return None
    return made_of(work, network, BRAINSCRIPT)


def _model(work: CommandWork, made: Made | None) -> LearntNetwork:
    """Return the model to evaluate, as it is now."""
    if made is None:
        return work.store.load(work.model_path)
    return LearntNetwork(made.network, TakenNumbers(work).of(made), work.dtype)


def _written(work: CommandWork, network: Network) -> list[Node]:
    """Return the nodes whose values are written."""
    named = nodes_named(work, network, work.options.names("outputNodeNames"))
    nodes = named or list(network.groups["output"])
    if not nodes:
        raise work.refused(f"'{work.name}' names no node to write.")
    return nodes


def _labels(work: CommandWork, options: Options) -> list[str]:
    """Return the names of the classes."""
    found = options.found("labelMappingFile")
    path = options.path("labelMappingFile")
    if found is None or not path:
        return []
    files = work.shop.experiment.files
    if files.outside(path):
        raise Refused(RunRefusal(outside(path), where_of(found.text)))
    data = files.read(path)
    if data is None:
        reason = f"the file of labels '{path}' does not exist."
        raise Refused(RunRefusal(reason, where_of(found.text)))
    return data.decode("utf-8", "replace").split()
