"""The work of a command that all actions share: options, network, reader, and where files are
written.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.computing import Requested
from netsharp_engine.distributed.ranks import ALONE, Ranks
from netsharp_lsp.cntk.run.edits import normal
from netsharp_lsp.cntk.run.elsewhere import held_by
from netsharp_lsp.cntk.run.models import splitter_of, trained_before
from netsharp_lsp.cntk.training.networks.models import StoredModelError, not_written
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of
from netsharp_lsp.cntk.training.samples.reader import reader_of
from netsharp_lsp.cntk.training.splits import split_network
from netsharp_lsp.workspace import outside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.networks.node import Network, Node
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.cntk.training.networks.lowering import Seeds
    from netsharp_lsp.cntk.training.networks.models import ModelFiles
    from netsharp_lsp.cntk.training.samples.reader import SampleReader

_PRECISIONS = {"float": "float32", "double": "float64"}


class Workshop(NamedTuple):
    """The state that all actions of a run share: the folder that paths are relative to, the access
    to models and written files, the seeds of parameters, whether programs may be started, and the
    requested device.

    ``ahead`` collects the paths of models that an earlier command will write and whose shapes are
    only partly known; it is None once the earlier commands have run, so that files can be read.
    ``ranks`` are the processes of the run, of which only the first writes.
    """

    experiment: Experiment
    folder: str
    store: ModelFiles
    seeds: Seeds
    starts_programs: bool = False
    ahead: list[str] | None = None
    ranks: Ranks = ALONE
    requested: Requested = Requested()

    def path(self, path: str) -> str:
        """Return the location of a path in the configuration."""
        return os.path.join(self.folder, path)


class CommandWork(NamedTuple):
    """An action of a command: its options, the dtype of its numbers, and its model."""

    action: str
    command: Command
    shop: Workshop
    options: Options
    dtype: str
    model_name: str

    @property
    def name(self) -> str:
        """Return the name of the command."""
        return self.command.name

    @property
    def model_path(self) -> str:
        """Return the path of its model."""
        return self.shop.path(self.model_name)

    @property
    def store(self) -> ModelFiles:
        """The access to models and written files."""
        return self.shop.store

    @property
    def is_followed(self) -> bool:
        """Return whether later commands of the run may read what it writes."""
        listed = [one for one in self.shop.experiment.commands if one.listed]
        return self.command in listed[:-1]

    def refused(self, message: str) -> Refused:
        """Return a refusal of the whole command."""
        return Refused(RunRefusal(message, where_of(self.options.scope.text)))


def work_of(
    command: Command, action: str, shop: Workshop, model_key: str = "modelPath"
) -> CommandWork:
    """Return the work of a command for any action; where no key names its model it has none."""
    assert command.scope is not None
    options = Options(command.scope)
    model = options.required_path(model_key, command.name) if model_key else ""
    precision = options.text("precision", "float")
    work = CommandWork(action, command, shop, options, _PRECISIONS.get(precision, ""), model)
    if not work.dtype:
        raise work.refused(f"'precision' is '{precision}', and neither float nor double.")
    return work


def network_of(work: CommandWork) -> Network:
    """Return the network of a command: its own, or that of the model that it reads."""
    if work.command.builder is not None:
        return network_in_text(work, built_of(work))
    return network_in(work, [work.model_name])


def network_in_text(work: CommandWork, built: BuiltNetwork | None) -> Network:
    """Return the network that a builder gave; Refused where it gave none."""
    if built is None or built.network is None:
        why = "" if built is None else f": {built.why_not}"
        raise work.refused(f"the network of '{work.name}' is unknown{why}")
    return built.network


def built_of(work: CommandWork) -> BuiltNetwork | None:
    """Return the result of a command's builder; None where it has none.

    A text may load models that the action SVD writes earlier in the run: these are known only to
    the command of that action, and later from their files.
    """
    command, experiment = work.command, work.shop.experiment
    built = experiment.network_of(work.name)
    if built is None or not any("SVD" in one.actions for one in experiment.commands):
        return built

    def held(path: str) -> Network | str | None:
        found = split_before(work, path)
        return held_by(path, command, experiment) if found is None else found

    return experiment.builders.build(command, held)


def split_before(work: CommandWork, path: str) -> Network | None:
    """Return the network of a model that the action SVD writes before a command reads it, from its
    file once that exists; None for any other model.
    """
    splitter = splitter_of(normal(path), work.command, work.shop.experiment)
    if splitter is None:
        return None
    if work.shop.ahead is None:
        return _there(work, path)
    work.shop.ahead.append(path)
    return _split_by(splitter, work, path)


def network_in(work: CommandWork, models: Sequence[str]) -> Network:
    """Return the network of the first of some models that an earlier command writes, or that
    exists.

    Of a model that the action SVD writes, some dimensions are known only once it exists.
    """
    before = trained_before(normal(models[0]), work.command, work.shop.experiment)
    if not isinstance(before, str) and before.network is not None:
        return before.network
    splitter = splitter_of(normal(models[0]), work.command, work.shop.experiment)
    if splitter is not None and work.shop.ahead is not None:
        return _split_by(splitter, work, models[0])
    there = (one for one in models if os.path.exists(work.shop.path(one)))
    return _there(work, next(there, models[-1]))


def _split_by(splitter: Command, work: CommandWork, path: str) -> Network:
    """Return the network that a command of the action SVD will write to a path."""
    splitting = work_of(splitter, "SVD", work.shop)
    return split_network(network_of(splitting), splitting.options, work.shop.experiment.files, path)


def _there(work: CommandWork, path: str) -> Network:
    try:
        return work.store.load(work.shop.path(path)).network
    except StoredModelError as error:
        raise _of_model(work, str(error)) from None


def refuse_model_outside(work: CommandWork) -> None:
    """Refuse a model that may not be read."""
    if not work.store.readable(work.model_path):
        raise _of_model(work, outside(work.model_name))


def _of_model(work: CommandWork, message: str) -> Refused:
    found = work.options.found("modelPath")
    text = work.options.scope.text if found is None else found.text
    return Refused(RunRefusal(message, where_of(text)))


def samples_of(
    work: CommandWork, shuffled: bool, may_randomize: bool = True, name: str = "reader"
) -> SampleReader:
    """Return the reader of a command; see `SampleReader`."""
    found = work.options.found(name)
    if found is None:
        raise work.refused(f"'{work.name}' has no {name}.")
    return reader_of(found, work.options.scope, work.shop.experiment.files, shuffled, may_randomize)


def refuse_outside(work: CommandWork, path: str) -> None:
    """Refuse a path that may not be written to."""
    if not work.store.writable(path):
        raise work.refused(not_written(path))


def nodes_named(work: CommandWork, network: Network, names: Sequence[str]) -> list[Node]:
    """Return nodes by name."""
    for name in names:
        if name not in network.nodes:
            raise work.refused(f"the network has no node '{name}'.")
    return [network.nodes[name] for name in names]
