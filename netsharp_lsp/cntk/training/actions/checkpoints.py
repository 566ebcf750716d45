"""The models and states that a training saves after its epochs, and resuming from them.

It knows how models and states are named, written and read, but not which network is trained, on
what data, or where a training begins without them.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.descent.adjusting import AFTER, Control, as_numbers, from_numbers
from netsharp_engine.cntk.descent.reports import State
from netsharp_engine.cntk.descent.rules import StoredMemory, recalled, remembered
from netsharp_engine.cntk.stored.checkpoints import Checkpoint
from netsharp_engine.program import Memory
from netsharp_lsp.cntk.networks.node import elements
from netsharp_lsp.cntk.training.networks.lowering import held
from netsharp_lsp.cntk.training.networks.models import LearntNetwork, Position
from netsharp_lsp.cntk.training.plans.sharing import require_fitting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from netsharp_engine.cntk.descent.adjusting import Adjusting
    from netsharp_engine.cntk.descent.reports import (
        EpochBegun,
        EpochEnded,
        RateChanged,
        RolledBack,
        Shown,
        Tried,
    )
    from netsharp_engine.cntk.descent.training import TrainingPlan
    from netsharp_engine.distributed.ranks import Ranks
    from netsharp_lsp.cntk.networks.node import Network, Node
    from netsharp_lsp.cntk.training.reporting import RunReporter
    from netsharp_lsp.cntk.training.work import CommandWork


class Checkpoints(NamedTuple):
    """The models of a training, each with the state beside it, by their numbers of epochs.

    ``parameters`` are those that are trained, in order of the names; an epoch without a state has
    ``epoch_size`` samples.  ``keeps``: states that are no longer needed are kept, too.
    ``ranks`` are the processes that train together, of which the first alone writes.
    """

    work: CommandWork
    network: Network
    parameters: Sequence[Node]
    plan: TrainingPlan
    epoch_size: int
    keeps: bool
    ranks: Ranks

    def name_of(self, epoch: int) -> str:
        """Return the model after ``epoch`` epochs, as named in the configuration."""
        last = epoch == self.plan.epochs
        return self.work.model_name if last else f"{self.work.model_name}.{epoch}"

    def path_of(self, epoch: int) -> str:
        """Return the path of the model after an epoch."""
        return self.work.shop.path(self.name_of(epoch))

    def newest(self) -> int | None:
        """Return the epochs of the newest model of a former run; None without one."""
        for epoch in range(self.plan.epochs, -1, -1):
            path, before = self.path_of(epoch), self.path_of(epoch - 1)
            if os.path.exists(path) and (
                not os.path.exists(before) or os.path.getmtime(path) >= os.path.getmtime(before)
            ):
                return epoch
        return None

    def require_room(self, state: State) -> None:
        """Refuse a training whose next model has no room on the disk."""
        names = [node.name for node in self.parameters]
        self.work.store.require_room(
            self.path_of(state.epochs + 1), self._model(state.values), names
        )

    def begun_with(self, values: dict[str, Any]) -> State:
        """Return the state before the first epoch, after saving its values."""
        self.work.store.remove_state(self.path_of(0))
        self.save(self.path_of(0), values)
        return State(0, 0, values, Memory(0, {}))

    def resumed(self, epoch: int, reporter: RunReporter) -> tuple[State, Position]:
        """Return the state that a former run left, and its position."""
        path = self.path_of(epoch)
        model = self.work.store.load(path)
        if _held(model.network) != _held(self.network) or model.dtype != self.work.dtype:
            raise self.work.refused(
                f"'{path}' is the model of another network. Remove it, or set makeMode=false to "
                "begin again."
            )
        reporter.notice(f"continues after epoch {epoch}.")
        state, position = self._state(epoch, model)
        if epoch and not state.memory.arrays:
            reporter.notice(f"'{path}.ckp' is missing: momentum starts again at 0.")
        explicit = len(self.plan.schedule.rates)
        if epoch >= explicit and self.plan.adjusting.when == AFTER and not state.memory.arrays:
            raise self.work.refused(
                f"'{path}.ckp' is not there, and no learning rate is given for epoch {epoch + 1}. "
                "Give one, or set makeMode=false to begin again."
            )
        return state, position

    def recalled(self, epoch: int) -> State:
        """Return the state after an epoch of this run, which its first process has written.

        That rewrites it next, so all have to read it before any continues.
        """
        self.ranks.comm.barrier()
        state, _ = self._state(epoch, self.work.store.load(self.path_of(epoch)))
        self.ranks.comm.barrier()
        return state

    def save(self, path: str, values: Mapping[str, Any]) -> None:
        """Save a model."""
        self.work.store.save(path, self._model(values))

    def save_state(self, state: State, steps: int, seconds: float) -> None:
        """Save the state beside the model of an epoch, after ``steps`` minibatches."""
        control, path = state.control, self.path_of(state.epochs)
        names = [node.name for node in self.parameters]
        smoothed, counts = remembered(self.plan.updates.kind, state.memory, names)
        rate, previous, size = control.rate, control.previous, control.minibatch
        checkpoint = Checkpoint(state.samples, rate, previous, size, smoothed, counts)
        numbers = as_numbers(control) if self.plan.adjusting.learns else ()
        position = Position(steps, state.memory.updates, seconds, numbers, state.blocks)
        self.work.store.save_state(path, checkpoint, position)

    def forget(self, epoch: int) -> None:
        """Remove the states that are not needed after ``epoch`` epochs, unless all are kept."""
        if self.keeps:
            return
        for one in _forgotten(self.plan.adjusting, epoch):
            self.work.store.remove_state(self.path_of(one))

    def _model(self, values: Mapping[str, Any]) -> LearntNetwork:
        return LearntNetwork(self.network, values, self.work.dtype)

    def _state(self, epoch: int, model: LearntNetwork) -> tuple[State, Position]:
        """Return the state beside a model with its values; defaults for missing files."""
        path, kind = self.path_of(epoch), self.plan.updates.kind
        kept = self.work.store.load_state(path, len(self.parameters))
        values, interval = dict(model.values), self.plan.adjusting.interval
        if kept is None:
            control = Control(uncounted=epoch % interval)
            restarted = State(epoch, epoch * self.epoch_size, values, Memory(0, {}), control)
            return restarted, Position()
        position = self.work.store.load_position(path) or Position(updates=epoch)
        given = StoredMemory(kept.smoothed, kept.counts)
        sizes = {node.name: elements(node.shape or ()) for node in self.parameters}
        try:
            memory = Memory(position.updates, recalled(kind, given, sizes))
        except ValueError:
            raise self.work.refused(
                f"'{path}.ckp' holds what another gradUpdateType remembers. Remove it to go on "
                "without, or set makeMode=false to begin again."
            ) from None
        uncounted = epoch % interval
        control = Control(kept.rate, kept.loss, uncounted=uncounted, minibatch=kept.minibatch)
        try:
            if position.control:
                control = from_numbers(position.control, self.plan.adjusting.former)
            require_fitting(position.blocks, values, sizes)
        except ValueError as error:
            raise self.work.refused(
                f"'{path}.ckp.safetensors' is damaged ({error}). Remove it, or set "
                "makeMode=false to begin again."
            ) from None
        return State(epoch, kept.samples, values, memory, control, position.blocks), position


class Keeper:
    """Reports the events of a training, and saves every epoch."""

    def __init__(
        self, kept: Checkpoints, reporter: RunReporter, state: State, position: Position
    ) -> None:
        self._kept, self._reporter = kept, reporter
        self._values = dict(state.values)
        self._started = time.perf_counter() - position.seconds
        self._steps = position.steps
        #: What was kept last.
        self.model = kept.name_of(state.epochs)

    def begun(self, event: EpochBegun) -> None:
        """Report it."""
        self._reporter.epoch_begun(event)

    def shown(self, event: Shown) -> None:
        """Report it."""
        self._reporter.minibatches(event)

    def ended(self, event: EpochEnded) -> None:
        """Count its minibatches, and report it."""
        self._steps += event.minibatches
        self._reporter.epoch_ended(event, self._steps, self._seconds)

    def kept(self, state: State) -> None:
        """Save the state after an epoch."""
        epoch = state.epochs
        # A resumed run looks for the model, so its state has to be there before.
        self._kept.save_state(state, self._steps, self._seconds)
        self._save(self._kept.path_of(epoch), state)
        self.model = self._kept.name_of(epoch)
        self._reporter.saved(self.model)
        self._kept.forget(epoch)

    def tried(self, event: Tried) -> None:
        """Report it."""
        self._reporter.tried(event)

    def changed(self, event: RateChanged) -> None:
        """Report it."""
        self._reporter.rate_changed(event)

    def recalled(self, epoch: int) -> State:
        """Return the state after an epoch of this run."""
        self._reporter.rolling_back(self._kept.name_of(epoch))
        return self._kept.recalled(epoch)

    def rolled_back(self, event: RolledBack, state: State) -> None:
        """Remove the models after the epoch that training went back to."""
        self._reporter.rolled_back(event)
        # The newest is removed last, and before the state is replaced: a run that is resumed in
        # between comes back here.
        store = self._kept.work.store
        for epoch in range(event.epoch + 1, event.last):
            store.remove(self._kept.path_of(epoch))
        self._kept.save_state(state, self._steps, self._seconds)
        self.model = self._kept.name_of(event.epoch)

    def completed(self, state: State) -> None:
        """Save the model of the whole training."""
        work = self._kept.work
        self._save(work.model_path, state)
        self.model = work.model_name

    def stops(self) -> bool:
        """Return whether a stop is requested."""
        return self._reporter.stops()

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self._started

    def _save(self, path: str, state: State) -> None:
        self._values.update(state.values)
        self._kept.save(path, self._values)


def _held(network: Network) -> list[object]:
    """Return the parts that two networks must have in common for one to take the values of the
    other.
    """
    return [(node.name, node.operation, node.shape) for node in held(network)]


def _forgotten(adjusting: Adjusting, epoch: int) -> list[int]:
    """Return the epochs whose state is not needed after ``epoch`` epochs."""
    if adjusting.when != AFTER or not adjusting.goes_back:
        return [epoch - 1]
    place = (epoch - 1) % adjusting.interval + 1
    found = [epoch - 1] if place != 1 else []
    return found + ([epoch - adjusting.interval] if place == adjusting.interval else [])
