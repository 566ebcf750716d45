"""The action train: from the configuration, or from where a former run stopped, to a model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.computing import Computing, beside
from netsharp_engine.cntk.descent.reports import FINISHED, State
from netsharp_engine.cntk.descent.training import Descent, require_parameters
from netsharp_engine.cntk.evaluation import Evaluation, Passes
from netsharp_engine.cntk.starts import Start
from netsharp_engine.cntk.statistics import measured, precomputed
from netsharp_engine.distributed.ranks import ALONE, Ranks
from netsharp_lsp.cntk.run.edits import normal
from netsharp_lsp.cntk.run.models import built_for, may_resume, writers_of
from netsharp_lsp.cntk.training.actions.checkpoints import Checkpoints, Keeper
from netsharp_lsp.cntk.training.actions.taken import Made, TakenNumbers, made_of
from netsharp_lsp.cntk.training.networks.left_out import TRACE
from netsharp_lsp.cntk.training.networks.lowering import (
    learning,
    lowered,
    statistics,
    trained,
)
from netsharp_lsp.cntk.training.networks.models import (
    Position,
    StoredModelError,
)
from netsharp_lsp.cntk.training.networks.network_lines import parameter_lines, validation_lines
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.plans.auto_adjust import NOT_NEGATIVE, demand, ignored_options
from netsharp_lsp.cntk.training.plans.devices import (
    facts_of,
    forward_job,
    training_job,
    unit_of,
)
from netsharp_lsp.cntk.training.plans.sgd import plan_of
from netsharp_lsp.cntk.training.plans.sharing import TrainedTogether, trained_together
from netsharp_lsp.cntk.training.plans.truncating import (
    Truncation,
    require_cuttable,
    truncation,
)
from netsharp_lsp.cntk.training.work import (
    built_of,
    network_in,
    network_in_text,
    nodes_named,
    refuse_outside,
    samples_of,
    split_before,
    work_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from netsharp_engine.cntk.descent.reports import (
        CriterionMeans,
    )
    from netsharp_engine.cntk.descent.training import TrainingPlan, Validate
    from netsharp_engine.cntk.samples.minibatches import Sweeps
    from netsharp_engine.graph import Graph
    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.networks.node import Network, Node
    from netsharp_lsp.cntk.training.reporting import RunReporter
    from netsharp_lsp.cntk.training.work import CommandWork, Workshop


class TrainedBy(NamedTuple):
    """What computes a training, the validation after its epochs, and the statistics before it."""

    training: Computing = Computing("float32")
    validation: Computing | None = None
    statistics: Computing | None = None


class Train(NamedTuple):
    """The action train: a network, evaluating nodes (the trained one first), the plan, the data."""

    work: CommandWork
    network: Network
    criteria: list[Node]
    graph: Graph
    truncation: Truncation
    starts: Mapping[str, Start]
    source: Sweeps
    may_resume: bool
    keeps: bool
    validation: Sweeps | None = None
    ignored_options: Sequence[str] = ()
    sharing: TrainedTogether = TrainedTogether()
    #: The command that makes the model with which training begins, if there is one.
    begins_with: str = ""
    by: TrainedBy = TrainedBy()

    @property
    def plan(self) -> TrainingPlan:
        """Return the training plan."""
        return self.truncation.plan

    @property
    def ranks(self) -> Ranks:
        """The processes that train together."""
        return self.work.shop.ranks if self.sharing.shares else ALONE

    def run(self, reporter: RunReporter) -> str:
        """Train from where a former run stopped, else from the beginning."""
        reporter.begun()
        reporter.warned(self.source.sequences.warnings)
        line, notice, exchanged, _ = self.sharing
        if line:
            reporter.line(line)
        if notice:
            reporter.notice(notice)
        traces = [one.name for one in self.network.nodes.values() if one.operation == TRACE]
        if traces:
            names = ", ".join(f"'{name}'" for name in traces)
            reporter.notice(f"{names} of type {TRACE}: passed on, and not printed.")
        if self.truncation.notice:
            reporter.notice(self.truncation.notice)
        if self.ignored_options:
            reporter.notice(
                f"{', '.join(self.ignored_options)} of SGD: without effect, as no AutoAdjust is "
                "given."
            )
        self.work.store.make_folder_of(self.work.model_path)
        ranks = self.ranks
        kept = self._checkpoints()
        begun = kept.newest() if self.may_resume else None
        ranks.comm.barrier()  # all have checked before the first writes
        if begun == self.plan.epochs:
            reporter.line("No further training is necessary.")
            reporter.notice(
                f"the model '{self.work.model_name}' exists, so nothing is trained. Remove it to "
                "continue from the last checkpoint, or set makeMode=false to start again."
            )
            reporter.done()
            return FINISHED
        self._report_network(None if begun is None else kept.name_of(begun), reporter)
        if begun is None:
            state, position = self._first(kept, reporter), Position()
        else:
            state, position = kept.resumed(begun, reporter)
            if exchanged.keeps_blocks(begun) and not (ranks.alone or state.blocks):
                reporter.notice(
                    f"no momentum of blocks is stored for '{kept.name_of(begun)}': it starts again "
                    "at 0."
                )
        kept.require_room(state)
        steps = -(-kept.epoch_size // self.truncation.size(state.epochs))
        sized = bool(self.plan.epoch_size)
        facts = facts_of(
            self.by.training, validation=self.by.validation, statistics=self.by.statistics
        )
        reporter.started(self.plan.epochs, steps, self.source.count, sized, facts)
        reporter.resuming(position.steps, position.seconds)
        if self.validation is not None:
            reporter.warned(self.validation.sequences.warnings)
        validate = self._validate()
        given = (self.plan, state, validate, exchanged, ranks)
        descent = Descent(self.graph, self.source, *given)
        keeper = Keeper(kept, reporter, state, position)
        ending = descent.run(keeper)
        if ending.message:
            reporter.notice(ending.message)
        if ending.status == FINISHED:
            if keeper.model != self.work.model_name:
                reporter.notice(
                    f"'{self.work.model_name}' is not written, as CNTK writes it after "
                    f"the last epoch alone; '{keeper.model}' is the last model."
                )
            reporter.trained(keeper.model)
            reporter.done()
        return ending.status

    def _checkpoints(self) -> Checkpoints:
        """Return the models and states that it saves after its epochs."""
        size = self.plan.epoch_size or self.source.count
        learnt = trained(self.network, self.criteria[0])
        return Checkpoints(self.work, self.network, learnt, self.plan, size, self.keeps, self.ranks)

    def _report_network(self, begun: str | None, reporter: RunReporter) -> None:
        """Print CNTK's log lines on the network before the first epoch, or after loading the model
        ``begun``.
        """
        if begun is not None:
            reporter.line(f"Starting from checkpoint. Loading network from '{begun}'.")
        if self.work.options.whole("traceLevel", 0) > 0:
            if begun is None:
                reporter.line("Creating virgin network.")
                reporter.lines(parameter_lines(self.network, self.starts, reporter.old))
            reporter.lines(validation_lines(self.network))
        unit = unit_of(self.by.training.facts)
        reporter.made(len(self.network.nodes), begun is not None, unit)
        counted = learning(self.network, self.criteria[0])
        reporter.training(self.network, trained(self.network, self.criteria[0]), counted)

    def _validate(self) -> Validate | None:
        """Return the evaluation of the network on the validation data; None without such data."""
        if self.validation is None or self.by.validation is None:
            return None
        evaluation = Evaluation(self.graph, self.validation, self.by.validation)

        def validate(values: Mapping[str, Any], size: int) -> CriterionMeans:
            means, _ = evaluation.figures(values, Passes(size, every=0), lambda *_: None)
            return means

        return validate

    def _first(self, kept: Checkpoints, reporter: RunReporter) -> State:
        """Return the state of a new training, with statistics computed from the data."""
        if self.begins_with and not os.path.exists(kept.path_of(0)):
            raise StoredModelError(
                f"'{kept.name_of(0)}' does not exist, with which '{self.begins_with}' starts the "
                "training. Run it first, or set makeMode=false to start with the network here."
            )
        values = TakenNumbers(self.work).of(Made(self.network, self.starts))
        counted = [node for node in statistics(self.network) if node.name not in values]
        if counted:
            reporter.precomputing(len(counted))
            size = self.plan.schedule.size(0)
            batches, rows = self.source.epoch(0, 0, size), self.source.widest(size)
            graph, by = lowered(self.network, counted), self.by.statistics
            assert by is not None
            values |= precomputed(graph, batches, values, rows, by)
            reporter.precomputed()
        return kept.begun_with(values)


def train(command: Command, action: str, shop: Workshop) -> Train:
    """Prepare the action train of a command."""
    work = work_of(command, action, shop)
    refuse_outside(work, work.model_path)
    begun = _begun_with(work)
    built = built_of(work) if begun is None else shop.experiment.network_of(command.name)
    network = begun.network if begun is not None else network_in_text(work, built)
    block = work.options.found("SGD")
    if built is None or block is None:
        lacking = "builder of a network" if built is None else "SGD"
        raise work.refused(f"'{work.name}' has no {lacking}.")
    options = Options(work.options.scope.inside(block))
    criteria = _criteria(
        work,
        network,
        options.text("trainCriterionNodeName"),
        options.text("evalCriterionNodeName"),
    )
    plan = plan_of(options, work.dtype, network, _adjusting_criterion(network, criteria, options))
    graph = lowered(network, criteria, criteria)
    together = trained_together(work.options, options, work.dtype, shop.ranks.comm.size)
    by = shop.requested.training(training_job(graph, plan, together))
    plan = plan._replace(backend=by.backend)
    require_parameters(graph, plan)
    counted = lowered(network, statistics(network))
    read = [*graph.inputs, *counted.inputs]
    reader = samples_of(work, shuffled=True)
    reader.fit(network.nodes[name] for name in dict.fromkeys(node.name for node in read))
    cutting = truncation(plan, options, reader.options)
    held_out = None
    if work.options.found("cvReader") is not None:
        held_out = samples_of(work, shuffled=True, name="cvReader")
        held_out.fit(network.nodes[node.name] for node in graph.inputs)
    if begun is None:
        offset = _seed_offset(command)
        starts = made_of(work, network, built.language, offset, computes=True).starts
    else:
        starts = {}
    source = reader.source(work.dtype, cutting.cut)
    require_cuttable(graph, network, source, plan.schedule.sizes)
    validation = None if held_out is None else held_out.source(work.dtype)
    if validation is not None:
        require_cuttable(graph, network, validation, plan.schedule.sizes)
    return Train(
        work,
        network,
        criteria,
        graph,
        cutting,
        starts,
        source,
        work.options.truth("makeMode", True),
        options.truth("keepCheckPointFiles", False),
        validation,
        ignored_options(options),
        together,
        "" if begun is None else begun.editor,
        TrainedBy(
            by,
            None if validation is None else beside(by, forward_job(graph, plan)),
            beside(by, forward_job(counted, plan), measured(counted)) if counted.nodes else None,
        ),
    )


class _Begun(NamedTuple):
    """The network of a model that an edit or the action SVD writes as the epoch 0 of a training,
    and the command that does.
    """

    network: Network
    editor: str


def _begun_with(work: CommandWork) -> _Begun | None:
    """Return the model from which an edit or the action SVD starts a training, whatever its own
    builder is; else None.

    SGDLib/SGD.cpp, DetermineStartEpoch: the newest existing model is loaded.
    """
    if not work.options.truth("makeMode", True):
        return None
    experiment, path = work.shop.experiment, f"{work.model_name}.0"
    writers = writers_of(normal(path), experiment)
    editors = [one for one in writers if not {"edit", "SVD"}.isdisjoint(one.actions)]
    if not editors:
        return None
    split = split_before(work, path)
    if split is not None:
        return _Begun(split, editors[-1].name)
    built = built_for(work.command, experiment) if may_resume(work.command, experiment) else ""
    if not isinstance(built, str) and built.network is not None:
        return _Begun(built.network, editors[-1].name)
    if os.path.exists(work.shop.path(path)):
        return _Begun(network_in(work, [path]), editors[-1].name)
    return None


def _seed_offset(command: Command) -> int:
    """Return the number that the builder of a command adds to seeds."""
    if command.scope is None or command.builder is None:
        return 0
    options = Options(command.scope.inside(command.builder))
    found = options.whole("randomSeedOffset", 0)
    demand(options, "randomSeedOffset", found >= 0, NOT_NEGATIVE)
    return found


def _adjusting_criterion(network: Network, criteria: list[Node], options: Options) -> str:
    """Return the node that evaluates epochs instead of the criterion: the first evaluation node."""
    name = options.text("evalCriterionNodeName")
    if name:
        return name
    evaluating = network.groups["evaluation"]
    return evaluating[0].name if evaluating else ""


def _criteria(work: CommandWork, network: Network, wanted: str, evaluation: str) -> list[Node]:
    """Return the criterion that is trained, and the nodes that evaluate epochs in addition."""
    named = nodes_named(work, network, [wanted] if wanted else [])
    first = (named or list(network.groups["criterion"]))[:1]
    if not first:
        raise work.refused(f"the network of '{work.name}' has no criterion to train.")
    evaluating = nodes_named(work, network, [evaluation] if evaluation else [])
    return list(dict.fromkeys((*first, *(evaluating or network.groups["evaluation"]))))
